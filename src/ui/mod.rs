//! What people and scripts see: streams, colour, tables, progress, escaping of untrusted text.
