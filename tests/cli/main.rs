//! Whole commands: the built program, its streams and its exit codes.

mod bad_input;
mod bad_usage;
mod ending;
mod kubectl;
mod program;
