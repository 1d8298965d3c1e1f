//! Lives of simulated pods, from creation to rest, with exact instants.

mod behaviours;
mod lives;
mod lost_nodes;
mod recorded;
mod scheduling;
mod takeover;
mod world;
