//! How a value divides into fields that managers own one by one, after its type.

use std::borrow::Cow;

use serde_json::Value;

use super::path::PathElement;
use crate::schema::{Field, Ownership, Shape, Type};

/// How a value divides.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// Not at all: a scalar, an atomic list, an atomic struct.
    Leaf,
    /// Into the fields of a type.
    Struct(&'static Type),
    /// Into the entries of a map, whose values divide in turn.
    Map(&'static Shape),
    /// Into the scalars of a set.
    Set,
    /// Into the elements of a list, told apart by these keys.
    Keyed(&'static [&'static str], &'static Shape),
}

/// Why a list can't be divided: an element has no identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// `null` where a struct should be.
    #[error("associative list with keys may not have a null element")]
    NullElement,
    /// A scalar or list where a struct should be.
    #[error("associative list with keys may not have non-map elements")]
    NoStruct,
    /// A struct without any of the keys.
    #[error(
        "associative list with keys has an element that omits all key fields {0} (and doesn't have default values for any key fields)"
    )]
    NoKeys(String),
    /// A struct in a set.
    #[error("associative list without keys has an element that's a map type")]
    StructInSet,
    /// A list in a set.
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    /// `null` in a set.
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
}

impl Layout {
    /// Of an object.
    pub fn of_type(ty: &'static Type) -> Self {
        Self::Struct(ty)
    }

    /// Of a field's value.
    pub fn of_field(field: &'static Field) -> Self {
        Self::of(&field.shape, &field.ownership)
    }

    /// Of an element of a list or a value of a map.
    pub fn of_item(shape: &'static Shape) -> Self {
        Self::of(shape, shape.ownership())
    }

    fn of(shape: &'static Shape, ownership: &'static Ownership) -> Self {
        match (ownership, shape) {
            (Ownership::Granular, Shape::Struct(ty)) => Self::Struct(ty.get()),
            (Ownership::Granular, Shape::Map(value)) => Self::Map(value),
            (Ownership::Set, Shape::List(_)) => Self::Set,
            (Ownership::ByKeys(keys), Shape::List(element)) => Self::Keyed(keys, element),
            _ => Self::Leaf,
        }
    }

    /// The step to a member, and how the member divides. Members that the type does not know are leaves.
    pub fn member(self, name: &str) -> (PathElement, Self) {
        match self {
            Self::Struct(ty) => match ty.field(name) {
                Some(field) => (PathElement::known(field.name), Self::of_field(field)),
                None => (PathElement::named(name), Self::Leaf),
            },
            Self::Map(value) => (PathElement::named(name), Self::of_item(value)),
            _ => (PathElement::named(name), Self::Leaf),
        }
    }

    /// Whether the step is to a field that the type names, and how what is there divides.
    pub fn step(self, step: &PathElement) -> (bool, Self) {
        match (self, step) {
            (Self::Struct(ty), PathElement::Field(name)) => match ty.field(name) {
                Some(field) => (true, Self::of_field(field)),
                None => (false, Self::Leaf),
            },
            (Self::Map(value), PathElement::Field(_)) => (false, Self::of_item(value)),
            (Self::Keyed(_, element), _) => (false, Self::of_item(element)),
            _ => (false, Self::Leaf),
        }
    }

    /// The step to an element of a list that divides, and how the element divides.
    pub fn element(self, element: &Value) -> Result<(PathElement, Self), IdentityError> {
        match self {
            Self::Keyed(keys, shape) => Ok((key_of(keys, shape, element)?, Self::of_item(shape))),
            _ => match element {
                Value::Object(_) => Err(IdentityError::StructInSet),
                Value::Array(_) => Err(IdentityError::ListInSet),
                Value::Null => Err(IdentityError::NullInSet),
                scalar => Ok((PathElement::Value(scalar.clone()), Self::Leaf)),
            },
        }
    }

    /// Whether it is a list whose elements are owned one by one.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Set | Self::Keyed(..))
    }
}

fn key_of(
    keys: &'static [&'static str],
    shape: &'static Shape,
    element: &Value,
) -> Result<PathElement, IdentityError> {
    let members = match element {
        Value::Object(members) => members,
        Value::Null => return Err(IdentityError::NullElement),
        _ => return Err(IdentityError::NoStruct),
    };
    let default = |key: &str| match shape {
        Shape::Struct(ty) => ty.get().field(key).and_then(Field::default_value),
        _ => None,
    };
    let mut identity: Vec<(Cow<'static, str>, Value)> = keys
        .iter()
        .filter_map(|key| {
            let value = members.get(*key).cloned().or_else(|| default(key))?;
            Some((Cow::Borrowed(*key), value))
        })
        .collect();
    if identity.is_empty() {
        return Err(IdentityError::NoKeys(format!("{keys:?}")));
    }
    identity.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(PathElement::Key(identity))
}
