//! What people and scripts see: streams, colour, tables, progress, escaping of untrusted text.
//!
//! Only this module and `main` write to the terminal. It consumes the engine's events and the core's data, decides
//! nothing, and knows no cluster.

pub mod age;
pub mod columns;
pub mod describe;
pub mod diff;
pub mod escape;
pub mod history;
pub mod image;
pub mod jsonpath;
pub mod line;
pub mod printer;
pub mod progress;
pub mod prompt;
pub mod rollout_status;
#[cfg(test)]
mod scene;
pub mod status;
pub mod step;
pub mod tables;
