//! kubectl's JSONPath templates: text with expressions in braces, as in `{.metadata.name}{"\n"}`.
//!
//! `parse` reads a template, `evaluate` fills it in. Fields, indices and slices, `*`, `..`, unions, filters, `range`
//! and quoted text are there.

mod evaluate;
mod parse;
#[cfg(test)]
mod tests;

use serde_json::Value;

/// A template.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    nodes: Vec<Node>,
    allow_missing_keys: bool,
    as_json: bool,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// Text, in braces with quotes or outside of them.
    Text(String),
    /// A path from where the template, or the range around it, stands.
    Path(Path),
    /// What is between `{range}` and `{end}`, once for each value of the path.
    Range(Path, Vec<Node>),
}

/// Steps from the root (`$`, or nothing) or from the current value (`@`).
#[derive(Clone, Debug, PartialEq)]
struct Path {
    from_current: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `..`: the value and all below it.
    Descend,
    /// `*` or `[*]`.
    Every,
    /// `[start:end:step]`, or one element.
    Slice(Slice),
    /// `['a','b']`, `[0,2]`.
    Union(Vec<Step>),
    Filter(Operand, Option<(Comparison, Operand)>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    /// `[3]`: being outside is a mistake.
    is_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Value(Value),
}

/// Why a template can't be read, or does not fit an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonPathError(String);

impl JsonPath {
    /// Reads a template.
    ///
    /// # Errors
    /// Braces or brackets that are not closed, and what is no expression.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        Ok(Self {
            nodes: parse::template(text)?,
            allow_missing_keys: true,
            as_json: false,
        })
    }

    /// The template, with missing fields taken for nothing, or for a mistake.
    #[must_use]
    pub fn allow_missing_keys(self, allow_missing_keys: bool) -> Self {
        Self {
            allow_missing_keys,
            ..self
        }
    }

    /// The template, with what its paths find printed as JSON lists.
    #[must_use]
    pub fn as_json(self, as_json: bool) -> Self {
        Self { as_json, ..self }
    }

    /// Fills the template in from an object.
    ///
    /// # Errors
    /// An index outside of its list; missing fields, unless they are allowed.
    pub fn evaluate(&self, object: &Value) -> Result<String, JsonPathError> {
        evaluate::template(self, object)
    }
}
