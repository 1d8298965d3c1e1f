//! What the API server warns of: `Warning` headers, told as kubectl tells them, each text once.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, Response, header};

use crate::ui::escape::Clean;

/// The warnings that were told.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings(Arc<Mutex<BTreeSet<String>>>);

impl Warnings {
    /// Tells what an answer warns of, and passes the answer on.
    pub(super) fn tell<B>(&self, response: Response<B>) -> Response<B> {
        for value in response.headers().get_all(header::WARNING) {
            for text in texts(value) {
                let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if told.insert(text.clone()) {
                    // When stderr is gone, there is nobody left to warn.
                    let _ = writeln!(anstream::stderr(), "Warning: {}", Clean::new(&text));
                }
            }
        }
        response
    }
}

/// The texts of a header: `299 - "text"`, perhaps several, with a backslash before quotes in them.
fn texts(value: &HeaderValue) -> Vec<String> {
    let Ok(value) = std::str::from_utf8(value.as_bytes()) else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    let mut chars = value.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        texts.push(text);
        // A date may follow; it is in quotes, too.
        let rest = chars.as_str().trim_start();
        if rest.starts_with('"') {
            chars.by_ref().find(|c| *c == '"');
            chars.by_ref().find(|c| *c == '"');
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_headers() {
        for (value, expected) in [
            (r#"299 - "one""#, &["one"][..]),
            (r#"299 - "say \"no\"", 299 - "two""#, &["say \"no\"", "two"]),
            (
                r#"299 a "one" "Sat, 25 Aug 2012 23:34:45 GMT", 299 - "two""#,
                &["one", "two"],
            ),
            ("299 -", &[]),
        ] {
            let value = HeaderValue::from_str(value).unwrap();
            assert_eq!(texts(&value), expected, "{value:?}");
        }
    }
}
