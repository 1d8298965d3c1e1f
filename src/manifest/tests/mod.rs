//! Manifests: what they mean, what is refused, and that what is written is read back.

mod checking;
mod inputs;
mod kubectl;
mod reading;
mod writing;

use serde_json::Value;

use super::parse;

/// The objects in a text, without their places.
fn objects(text: &str) -> Vec<Value> {
    let objects = parse(text, "web.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    objects.into_iter().map(|object| object.json).collect()
}

/// What is wrong with a text.
fn mistake(text: &str) -> String {
    match parse(text, "web.yaml") {
        Ok(objects) => panic!(
            "{} objects where a mistake was expected:\n{text}",
            objects.len()
        ),
        Err(error) => error.to_string(),
    }
}
