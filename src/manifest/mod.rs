//! Manifests: YAML and JSON, files and streams, to objects and back.
//!
//! `cli` reads what the user named with `-f` ([`Inputs::read`]) and looks the objects over ([`check`]) before anything
//! is sent to a cluster; results are written with [`to_yaml`]. A manifest means what it means to kubectl. This module
//! knows neither clusters nor commands.

mod check;
mod document;
mod error;
mod input;
mod number;
mod object;
mod write;
mod yaml;

pub use check::check;
pub use document::parse;
pub use error::{Error, Mistake, Place};
pub use input::Inputs;
pub use object::Object;
pub use write::{to_yaml, to_yaml_documents};

#[cfg(test)]
mod tests;
