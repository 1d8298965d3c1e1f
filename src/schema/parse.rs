//! Reads the type table. [`super::table`] calls it once.
//!
//! ```text
//! # comment
//! Deployment kind=apps/v1          a kind; apiVersion and kind are understood
//!   spec!  DeploymentSpec          a field: name, type, attributes
//!
//! LabelSelector atomic             a struct that server-side apply never divides
//! ```
//!
//! A `!` after the name: the API server writes the field even when it is zero or not set. A `*` before the type: the
//! field is optional, absent differs from zero. Types: `string int32 int64 float bool bytes quantity time microtime
//! int-or-string raw`, the name of a struct, `[T]` a list, `{T}` a map from strings. Attributes:
//!
//! | attribute | meaning |
//! |---|---|
//! | `merge`, `merge=KEY` | strategic merge patch merges the list: by value, or by this key |
//! | `retain` | strategic merge patch honours `$retainKeys` |
//! | `replace` | strategic merge patch replaces the struct |
//! | `set`, `map=KEY,…` | server-side apply owns the list's elements one by one: by value, or by these keys |
//! | `by=KEY` | both `merge=KEY` and `map=KEY` |
//! | `atomic` | server-side apply never divides the struct or map |
//! | `default=TEXT` | what an absent key of a list's element stands for |
//!
//! Where two groups have a kind of one name, the second is written with a prefix (`events.Event`).

use super::{Field, ListMerge, Ownership, Shape, Strategy, Table, Type, TypeRef, by_length};

/// Why the table can't be read: the line that is wrong.
#[derive(Debug, thiserror::Error)]
#[error("type table: {problem}: {line}")]
pub(super) struct ParseError {
    problem: &'static str,
    line: &'static str,
}

/// Parses the files of the table.
pub(super) fn table(files: &[&'static str]) -> Result<Table, ParseError> {
    let mut table = Table::default();
    let lines = || files.iter().flat_map(|text| text.lines());
    for line in lines().filter(|line| line.starts_with(char::is_alphabetic)) {
        declare(&mut table, line)?;
    }
    let mut open = None;
    for line in lines() {
        if line.starts_with(char::is_alphabetic) {
            open = Some(open.map_or(0, |index| index + 1));
        } else if line.starts_with(' ') {
            let field = field(&table, line)?;
            let index = open.ok_or(ParseError {
                problem: "a field outside of a type",
                line,
            })?;
            table.types[index].fields.push(field);
        }
    }
    for ty in &mut table.types {
        ty.by_name = (0..ty.fields.len()).collect();
        let fields = &ty.fields;
        let is_always_written = |place: &usize| fields[*place].is_always_written;
        ty.always_written = (0..fields.len()).filter(is_always_written).collect();
        ty.by_name
            .sort_unstable_by_key(|place| by_length(fields[*place].name));
    }
    Ok(table)
}

fn declare(table: &mut Table, line: &'static str) -> Result<(), ParseError> {
    let mut words = line.split_ascii_whitespace();
    let full_name = words.next().unwrap_or_default();
    let name = full_name
        .rsplit_once('.')
        .map_or(full_name, |(_, name)| name);
    let mut ty = Type {
        name,
        group_version: None,
        is_atomic: false,
        fields: Vec::new(),
        by_name: Vec::new(),
        always_written: Vec::new(),
    };
    let index = table.types.len();
    for word in words {
        match word.split_once('=') {
            None if word == "atomic" => ty.is_atomic = true,
            Some(("kind", group_version)) => {
                ty.group_version = Some(group_version);
                ty.fields.extend(["kind", "apiVersion"].map(type_meta));
                table.kinds.entry(name).or_default().push(index);
            }
            _ => {
                return Err(ParseError {
                    problem: "unknown attribute of a type",
                    line,
                });
            }
        }
    }
    table.types.push(ty);
    table.names.insert(full_name, index);
    Ok(())
}

fn type_meta(name: &'static str) -> Field {
    Field {
        name,
        shape: Shape::String,
        is_pointer: false,
        is_always_written: false,
        strategy: Strategy::default(),
        ownership: Ownership::Atomic,
        default: None,
    }
}

fn field(table: &Table, line: &'static str) -> Result<Field, ParseError> {
    let error = |problem| ParseError { problem, line };
    let mut words = line.split_ascii_whitespace();
    let (Some(name), Some(shape)) = (words.next(), words.next()) else {
        return Err(error("a field needs a name and a type"));
    };
    let value = shape.strip_prefix('*');
    let shape = self::shape(table, value.unwrap_or(shape)).ok_or_else(|| error("unknown type"))?;
    let mut field = Field {
        name: name.strip_suffix('!').unwrap_or(name),
        ownership: undivided(table, &shape),
        shape,
        is_pointer: value.is_some(),
        is_always_written: name.ends_with('!'),
        strategy: Strategy::default(),
        default: None,
    };
    for word in words {
        attribute(&mut field, word).ok_or_else(|| error("unknown attribute of a field"))?;
    }
    Ok(field)
}

fn shape(table: &Table, text: &'static str) -> Option<Shape> {
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(element) = inside('[', ']') {
        return shape(table, element).map(|element| Shape::List(Box::new(element)));
    }
    if let Some(value) = inside('{', '}') {
        return shape(table, value).map(|value| Shape::Map(Box::new(value)));
    }
    Some(match text {
        "string" => Shape::String,
        "int32" => Shape::Int32,
        "int64" => Shape::Int64,
        "float" => Shape::Float,
        "bool" => Shape::Bool,
        "bytes" => Shape::Bytes,
        "quantity" => Shape::Quantity,
        "time" => Shape::Time,
        "microtime" => Shape::MicroTime,
        "int-or-string" => Shape::IntOrString,
        "raw" => Shape::Raw,
        name => Shape::Struct(TypeRef(*table.names.get(name)?)),
    })
}

fn undivided(table: &Table, shape: &Shape) -> Ownership {
    match shape {
        Shape::Struct(ty) if !table.types[ty.0].is_atomic => Ownership::Granular,
        Shape::Map(_) => Ownership::Granular,
        _ => Ownership::Atomic,
    }
}

fn attribute(field: &mut Field, word: &'static str) -> Option<()> {
    match word.split_once('=') {
        None => match word {
            "atomic" => field.ownership = Ownership::Atomic,
            "set" => field.ownership = Ownership::Set,
            "merge" => field.strategy.merge = Some(ListMerge::Values),
            "retain" => field.strategy.retains_keys = true,
            "replace" => field.strategy.replaces = true,
            _ => return None,
        },
        Some((attribute, text)) => match attribute {
            "merge" => field.strategy.merge = Some(ListMerge::ByKey(text)),
            "map" => field.ownership = Ownership::ByKeys(text.split(',').collect()),
            "by" => {
                field.strategy.merge = Some(ListMerge::ByKey(text));
                field.ownership = Ownership::ByKeys(vec![text]);
            }
            "default" => field.default = Some(text),
            _ => return None,
        },
    }
    Some(())
}
