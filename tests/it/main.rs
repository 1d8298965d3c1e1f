//! The engine against the embedded cluster, in process and in virtual time.

mod reconcile;
mod world;
