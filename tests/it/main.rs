//! The engine against the embedded cluster, in process and in virtual time.

mod article;
mod reconcile;
mod world;
