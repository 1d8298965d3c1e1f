//! Reading a template.

use serde_json::Value;

use super::{Comparison, JsonPathError, Node, Operand, Path, Slice, Step};

fn error(message: impl Into<String>) -> JsonPathError {
    JsonPathError(message.into())
}

/// The nodes of a template.
pub(super) fn template(text: &str) -> Result<Vec<Node>, JsonPathError> {
    let mut open: Vec<(Path, Vec<Node>)> = Vec::new();
    let mut nodes = Vec::new();
    let mut rest = text;
    while let Some(brace) = rest.find('{') {
        push_text(&mut nodes, &rest[..brace]);
        let (inside, after) = braced(&rest[brace + 1..])?;
        rest = after;
        for word in words(inside)? {
            match word.as_str() {
                "end" => {
                    let (path, outer) = open
                        .pop()
                        .ok_or_else(|| error("not in range, nothing to end"))?;
                    let inner = std::mem::replace(&mut nodes, outer);
                    nodes.push(Node::Range(path, inner));
                }
                range if range.starts_with("range ") => {
                    let path = whole_path(range["range ".len()..].trim())?;
                    open.push((path, std::mem::take(&mut nodes)));
                }
                quoted if quoted.starts_with(['"', '\'']) => {
                    nodes.push(Node::Text(unquote(quoted)?));
                }
                path => nodes.push(Node::Path(whole_path(path)?)),
            }
        }
    }
    push_text(&mut nodes, rest);
    if open.is_empty() {
        Ok(nodes)
    } else {
        Err(error("unclosed range"))
    }
}

fn push_text(nodes: &mut Vec<Node>, text: &str) {
    if !text.is_empty() {
        nodes.push(Node::Text(text.to_owned()));
    }
}

/// Splits behind the brace that closes, which is in no quotes.
fn braced(text: &str) -> Result<(&str, &str), JsonPathError> {
    let end = outside_quotes(text, |c, depth| c == '}' && depth == 0);
    let end = end.ok_or_else(|| error("unclosed action"))?;
    Ok((text[..end].trim(), &text[end + 1..]))
}

/// The first place where a character outside of quotes, with that many brackets around it, is the one looked for.
fn outside_quotes(text: &str, is_it: impl Fn(char, usize) -> bool) -> Option<usize> {
    let mut quote = None;
    let mut depth = 0_usize;
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        match quote {
            _ if escaped => escaped = false,
            _ if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if is_it(c, depth) => return Some(place),
            None if matches!(c, '[' | '(') => depth += 1,
            None if matches!(c, ']' | ')') => depth = depth.saturating_sub(1),
            Some(_) | None => {}
        }
    }
    None
}

/// Several expressions may stand in one pair of braces; `range` takes the one behind it.
fn words(text: &str) -> Result<Vec<String>, JsonPathError> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = if rest.starts_with(['"', '\'']) {
            closing_quote(rest).ok_or_else(|| error("unterminated quoted string"))? + 1
        } else {
            outside_quotes(rest, |c, depth| c.is_whitespace() && depth == 0).unwrap_or(rest.len())
        };
        let word = &rest[..end];
        match words.last_mut() {
            Some(last) if last == "range" => *last = format!("range {word}"),
            _ => words.push(word.to_owned()),
        }
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

fn closing_quote(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let mut escaped = false;
    text.char_indices().skip(1).find_map(|(place, c)| {
        let closes = c == open && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(place)
    })
}

/// Text in quotes, with Go's escapes.
fn unquote(quoted: &str) -> Result<String, JsonPathError> {
    let inner = &quoted[1..quoted.len() - 1];
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(c @ ('\\' | '"' | '\'' | '/')) => text.push(c),
            _ => return Err(error(format!("invalid escape in {quoted}"))),
        }
    }
    Ok(text)
}

fn whole_path(text: &str) -> Result<Path, JsonPathError> {
    let (path, rest) = path(text)?;
    if rest.is_empty() {
        Ok(path)
    } else {
        Err(error(format!("unrecognized expression in {text}")))
    }
}

/// A path at the start of a text, and what follows it.
fn path(text: &str) -> Result<(Path, &str), JsonPathError> {
    let from_current = text.starts_with('@');
    let mut rest = text.strip_prefix(['$', '@']).unwrap_or(text);
    let mut steps = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix("..") {
            steps.push(Step::Descend);
            rest = after;
            if !rest.starts_with('[') {
                let (name, after) = name(rest);
                steps.push(field(name));
                rest = after;
            }
        } else if let Some(after) = rest.strip_prefix('[') {
            let end = outside_quotes(after, |c, depth| c == ']' && depth == 0)
                .ok_or_else(|| error("unterminated array"))?;
            steps.push(bracket(after[..end].trim())?);
            rest = &after[end + 1..];
        } else if let Some(after) = rest.strip_prefix('.') {
            let (name, after) = name(after);
            if !name.is_empty() {
                steps.push(field(name));
            }
            rest = after;
        } else if steps.is_empty() && rest.starts_with(|c: char| c.is_alphabetic() || c == '*') {
            let (name, after) = name(rest);
            steps.push(field(name));
            rest = after;
        } else {
            return Ok((
                Path {
                    from_current,
                    steps,
                },
                rest,
            ));
        }
    }
}

/// A field's name; a backslash takes the dot behind it in.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((place, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' | ']' | '(' | ')' | ',' | '=' | '!' | '<' | '>' | ' ' | '}' => {
                return (name, &text[place..]);
            }
            c => name.push(c),
        }
    }
    (name, "")
}

fn field(name: String) -> Step {
    if name == "*" {
        Step::Every
    } else {
        Step::Field(name)
    }
}

/// What stands in brackets.
fn bracket(text: &str) -> Result<Step, JsonPathError> {
    if text == "*" {
        return Ok(Step::Every);
    }
    if let Some(filter) = text
        .strip_prefix("?(")
        .and_then(|text| text.strip_suffix(')'))
    {
        return self::filter(filter.trim());
    }
    if let Some(comma) = outside_quotes(text, |c, _| c == ',') {
        let mut parts = vec![bracket(text[..comma].trim())?];
        match bracket(text[comma + 1..].trim())? {
            Step::Union(more) => parts.extend(more),
            one => parts.push(one),
        }
        return Ok(Step::Union(parts));
    }
    if text.starts_with(['"', '\'']) {
        return match closing_quote(text) {
            Some(end) if end + 1 == text.len() => Ok(Step::Field(unquote(text)?)),
            _ => Err(error(format!("invalid array index {text}"))),
        };
    }
    slice(text).map(Step::Slice)
}

fn slice(text: &str) -> Result<Slice, JsonPathError> {
    let invalid = || error(format!("invalid array index {text}"));
    let numbers = text
        .split(':')
        .map(|part| match part.trim() {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(|_| invalid()),
        })
        .collect::<Result<Vec<Option<i64>>, _>>()?;
    match numbers[..] {
        [Some(index)] => Ok(Slice {
            start: Some(index),
            end: None,
            step: None,
            is_index: true,
        }),
        [start, end] | [start, end, None] => Ok(Slice {
            start,
            end,
            step: None,
            is_index: false,
        }),
        [start, end, step] => Ok(Slice {
            start,
            end,
            step,
            is_index: false,
        }),
        _ => Err(invalid()),
    }
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

fn filter(text: &str) -> Result<Step, JsonPathError> {
    let place = outside_quotes(text, |c, depth| {
        matches!(c, '=' | '!' | '<' | '>') && depth == 0
    });
    let Some(place) = place else {
        return Ok(Step::Filter(operand(text)?, None));
    };
    let (sign, comparison) = COMPARISONS
        .into_iter()
        .find(|(sign, _)| text[place..].starts_with(sign))
        .ok_or_else(|| error(format!("unrecognized filter {text}")))?;
    let left = operand(text[..place].trim())?;
    let right = operand(text[place + sign.len()..].trim())?;
    Ok(Step::Filter(left, Some((comparison, right))))
}

fn operand(text: &str) -> Result<Operand, JsonPathError> {
    if text.starts_with(['@', '$', '.']) {
        return whole_path(text).map(Operand::Path);
    }
    if text.starts_with(['"', '\'']) && closing_quote(text).is_some_and(|end| end + 1 == text.len())
    {
        return Ok(Operand::Value(Value::String(unquote(text)?)));
    }
    serde_json::from_str(text)
        .map(Operand::Value)
        .map_err(|_| error(format!("unrecognized value {text} in a filter")))
}
