//! What people and scripts see: streams, colour, tables, progress, escaping of untrusted text.

pub mod columns;
pub mod rollout_status;
