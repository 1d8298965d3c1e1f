//! What the kinds of the Kubernetes API are made of, as data. Pure: usable by every module.

pub mod quantity;
