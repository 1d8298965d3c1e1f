//! Following in virtual time on the embedded cluster, and random rollouts whose failures heal.

mod healing;
mod manager;
mod pinned;
mod times;
mod watching;
