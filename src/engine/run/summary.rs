//! How a run ended.

use std::collections::BTreeMap;

use crate::engine::event::{End, Left};
use crate::engine::store::Item;

/// How a run ended.
#[derive(Debug)]
pub struct Summary {
    /// Each selected object and how it ended; `None`: it did not.
    pub ends: BTreeMap<Item, Option<End>>,
    /// What the last passes of some left undone.
    pub left: BTreeMap<Item, Vec<Left>>,
    /// Objects asked for by name that do not exist.
    pub missing: Vec<Item>,
    /// What stopped the run before its goal.
    pub stopped: Option<StoppedBy>,
}

/// What stops a run before its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// Time ran out.
    Timeout,
    /// The caller's signal.
    Signal,
    /// The person who was asked.
    Person,
}
