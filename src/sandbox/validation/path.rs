//! Where in an object a field is: built while descending, written out only when something is wrong there.

use std::fmt;

/// A path to a field, `spec.containers[0].image`.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    part: Part<'a>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// A field of the object itself.
    pub(super) fn root(field: &'a str) -> Self {
        Self {
            parent: None,
            part: Part::Field(field),
        }
    }

    /// A field of what is here.
    pub(super) fn child(&'a self, field: &'a str) -> Self {
        self.below(Part::Field(field))
    }

    /// An element of the list here.
    pub(super) fn index(&'a self, index: usize) -> Self {
        self.below(Part::Index(index))
    }

    /// An entry of the map here.
    pub(super) fn key(&'a self, key: &'a str) -> Self {
        self.below(Part::Key(key))
    }

    fn below(&'a self, part: Part<'a>) -> Self {
        Self {
            parent: Some(self),
            part,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match (self.part, self.parent) {
            (Part::Field(field), None) => f.write_str(field),
            (Part::Field(field), Some(_)) => write!(f, ".{field}"),
            (Part::Index(index), _) => write!(f, "[{index}]"),
            (Part::Key(key), _) => write!(f, "[{key}]"),
        }
    }
}
