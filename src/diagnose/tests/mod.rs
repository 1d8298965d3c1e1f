//! Diagnoses of states that real components wrote, and of states built for one rule each.

mod derived;
mod gallery;
mod rules;
mod world;
