//! The shell around the core: observes a cluster, plans, applies. Drives a `kube::Client` and knows no UI.

pub mod event;
