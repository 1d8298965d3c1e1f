//! A text to its documents, and those to objects.
//!
//! Documents are parted as kubectl parts them: at lines that begin with `---`, before any YAML is looked at. So every
//! error knows its line, and one document's anchors mean nothing to the next.

use std::sync::Arc;

use serde::de::Error as _;
use serde_json::Value;

use super::error::{Error, Mistake, Place};
use super::object::{Object, objects_in};
use super::{number, yaml};

/// The objects in `text`, YAML or JSON, one document or many.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(text: &str, file: &str) -> Result<Vec<Object>, Error> {
    let file: Arc<str> = file.into();
    let mut objects = Vec::new();
    for (index, chunk) in chunks(text, &file)?.into_iter().enumerate() {
        let place = |line| Place {
            file: Arc::clone(&file),
            document: index + 1,
            line: chunk.line + line - 1,
        };
        for document in documents(chunk.text, place)? {
            objects.extend(objects_in(document.json, &document.place)?);
        }
    }
    Ok(objects)
}

/// A part of a text between `---` lines.
struct Chunk<'a> {
    text: &'a str,
    /// Its first line's number in the whole text.
    line: usize,
}

/// The chunks that hold more than blanks, comments and directives.
fn chunks<'a>(text: &'a str, file: &Arc<str>) -> Result<Vec<Chunk<'a>>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut chunks = Vec::new();
    let (mut start, mut first_line, mut offset) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                let place = Place {
                    file: Arc::clone(file),
                    document: chunks.len() + 1,
                    line: index + 1,
                };
                let message = format!("invalid Yaml document separator: {rest}");
                return Err(place.mistake(Mistake::Syntax(message)));
            }
            chunks.push(Chunk {
                text: &text[start..offset],
                line: first_line,
            });
            start = offset + line.len();
            first_line = index + 2;
        }
        offset += line.len();
    }
    chunks.push(Chunk {
        text: &text[start..],
        line: first_line,
    });
    chunks.retain(|chunk| chunk.text.lines().any(says_something));
    Ok(chunks)
}

fn says_something(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with(['#', '%'])
}

struct Document {
    json: Value,
    place: Place,
}

/// A chunk is one YAML document, or any number of JSON documents one after the other.
fn documents(text: &str, place: impl Fn(usize) -> Place) -> Result<Vec<Document>, Error> {
    if is_json(text) {
        let document = |(line, json)| Document {
            json,
            place: place(line),
        };
        return match json_documents(text) {
            Ok(documents) => Ok(documents.into_iter().map(document).collect()),
            Err(error) => {
                let mistake = Mistake::Syntax(error_text(&error));
                Err(place(error.line().max(1)).mistake(mistake))
            }
        };
    }
    let first = 1 + text
        .lines()
        .take_while(|line| !says_something(line))
        .count();
    match yaml::read(text) {
        Ok(mut json) => {
            number::normalize(&mut json);
            Ok(vec![Document {
                json,
                place: place(first),
            }])
        }
        Err(problem) => Err(place(problem.line.unwrap_or(first)).mistake(problem.mistake)),
    }
}

/// Braces alone don't tell: YAML has them too. Its keys are rarely in quotes, JSON's always.
fn is_json(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{');
    inside.is_some_and(|inside| inside.trim_start().starts_with(['"', '}']))
}

fn json_documents(text: &str) -> Result<Vec<(usize, Value)>, serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut documents = Vec::new();
    loop {
        let rest = &text[stream.byte_offset()..];
        let begin = text.len() - rest.trim_start().len();
        let Some(document) = stream.next() else {
            return Ok(documents);
        };
        let mut document = document?;
        if !document.is_object() {
            return Err(serde_json::Error::custom("a document is no object"));
        }
        number::normalize(&mut document);
        documents.push((1 + text[..begin].matches('\n').count(), document));
    }
}

/// The parser's words without its place, which is relative to the chunk.
fn error_text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.as_str(), |(message, _)| message)
        .to_owned()
}
