//! The columns of each kind's table, from `columns.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// The column definitions of a kind.
pub(super) fn of(kind: &str) -> &'static Value {
    static COLUMNS: LazyLock<HashMap<&'static str, Value>> =
        LazyLock::new(|| parse(include_str!("columns.txt")));
    COLUMNS
        .get(kind)
        .or_else(|| COLUMNS.get("*"))
        .unwrap_or(&Value::Null)
}

/// Whether a kind has columns of its own.
pub(super) fn has(kind: &str) -> bool {
    !std::ptr::eq(of(kind), of("*"))
}

fn parse(text: &'static str) -> HashMap<&'static str, Value> {
    let mut columns: HashMap<&'static str, Value> = HashMap::new();
    let mut shared: HashMap<&'static str, &'static str> = HashMap::new();
    let mut kind = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            [alias, text] => {
                shared.insert(alias, text);
            }
            [name, data_type, format, priority, description] => {
                let description = shared.get(description).unwrap_or(description);
                let column = json!({
                    "name": name,
                    "type": data_type,
                    "format": format,
                    "priority": priority.parse::<i32>().unwrap_or_default(),
                    "description": description.replace("\\n", "\n"),
                });
                let list = columns.entry(kind).or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(column);
                }
            }
            [name] if !name.is_empty() => kind = name,
            _ => {}
        }
    }
    columns
}
