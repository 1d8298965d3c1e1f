//! Lives of simulated pods, from creation to rest, with exact instants.

mod lives;
mod recorded;
mod world;
