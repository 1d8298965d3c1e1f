//! Whole commands: the built program, its streams and its exit codes.

mod asking;
mod bad_input;
mod bad_usage;
mod completing;
mod ending;
mod examples;
mod krew;
mod kubectl;
mod program;
mod served;
#[path = "../support/stock_kubectl.rs"]
mod stock_kubectl;
