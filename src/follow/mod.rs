//! Reads what a diagnosis needs, once or for as long as a rollout takes, and judges when the waiting is over.
//!
//! `status`, and every `--wait`, call this. It reads through a `kube::Client`, changes nothing, shows nothing, and leaves
//! every judgement on a single state to [`diagnose`](crate::diagnose).

mod feed;
mod follower;
mod gathered;
mod kind;
mod list;
mod look;
mod manager;
#[cfg(test)]
mod tests;
mod wait;
mod watch;

pub use follower::{Aim, Ending, Follower, Pin};
pub use gathered::{Gathered, Seen};
pub use list::ReadError;
pub use look::look;
pub use manager::presence;
pub use wait::{Followed, INTERVAL, Told, Waited, Waiting, wait};
pub use watch::Watch;
