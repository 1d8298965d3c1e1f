//! The grammar of label selectors, with the messages that Kubernetes gives when a text does not fit it.

use std::collections::BTreeSet;

use serde_json::Value;

/// A conjunction of requirements on labels; empty matches everything.
#[derive(Clone, Debug, Default)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Exists,
    Missing,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads a selector as users write it, such as `app=web,tier!=db`.
    ///
    /// # Errors
    /// What is wrong with the text, in Kubernetes' words.
    pub fn parse(text: &str) -> Result<Self, String> {
        Parser::new(text).selector().map(Self)
    }

    /// Whether it has no requirement, and so matches everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the labels that `label` looks up satisfy every requirement.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| {
            let value = label(&requirement.key);
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Greater(limit) => number(value).is_some_and(|number| number > *limit),
                Test::Less(limit) => number(value).is_some_and(|number| number < *limit),
            }
        })
    }
}

/// The text of a selector as objects hold it (`matchLabels`, `matchExpressions`), as a list takes it: `a=b,c in (d,e)`.
/// Empty where it has no requirement.
pub fn text_of(selector: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{key}={}", word(value)));
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    let expressions = expressions.map(|expression| {
        let key = word(&expression["key"]);
        let values = expression["values"].as_array().into_iter().flatten();
        let mut values: Vec<String> = values.map(word).collect();
        values.sort_unstable();
        let values = values.join(",");
        match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key,
        }
    });
    let mut requirements: Vec<String> = labels.chain(expressions).collect();
    requirements.sort();
    requirements.join(",")
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Symbol(&'static str),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Word(word) => word,
            Self::Symbol(symbol) => symbol,
            Self::End => "",
        }
    }
}

const SYMBOLS: [&str; 9] = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', '\r', '\n']);
    while !rest.is_empty() {
        let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
        let token = symbol.map_or_else(
            || {
                let end = rest
                    .find([' ', '\t', '\r', '\n', '=', '!', '(', ')', ',', '>', '<'])
                    .unwrap_or(rest.len());
                Token::Word(&rest[..end])
            },
            |symbol| Token::Symbol(symbol),
        );
        tokens.push(token);
        rest = rest[token.text().len()..].trim_start_matches([' ', '\t', '\r', '\n']);
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            tokens: tokens(text),
            position: 0,
        }
    }

    fn peek(&self) -> Token<'a> {
        self.tokens
            .get(self.position)
            .copied()
            .unwrap_or(Token::End)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn selector(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::End => return Ok(requirements),
                Token::Word(_) | Token::Symbol("!") => {
                    let requirement = self
                        .requirement()
                        .map_err(|error| format!("unable to parse requirement: {error}"))?;
                    requirements.push(requirement);
                }
                other @ Token::Symbol(_) => {
                    return Err(unexpected(
                        other,
                        ", expected: !, identifier, or 'end of string'",
                    ));
                }
            }
            match self.take() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => match self.peek() {
                    Token::Word(_) | Token::Symbol("!") => {}
                    other => {
                        return Err(unexpected(other, ", expected: identifier after ','"));
                    }
                },
                other => {
                    return Err(unexpected(other, ", expected: ',' or 'end of string'"));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == Token::Symbol("!");
        if negated {
            self.take();
        }
        let key = match self.take() {
            Token::Word(word) => word.to_owned(),
            other => return Err(unexpected(other, ", expected: identifier")),
        };
        check_key(&key)?;
        if negated {
            let test = Test::Missing;
            return Ok(Requirement { key, test });
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            let test = Test::Exists;
            return Ok(Requirement { key, test });
        }
        let operator = self.take();
        let test = match operator {
            Token::Word("in") => Test::In(self.values(&key)?),
            Token::Word("notin") => Test::NotIn(self.values(&key)?),
            Token::Symbol("=" | "==") => Test::In(self.exact_value(&key)?),
            Token::Symbol("!=") => Test::NotIn(self.exact_value(&key)?),
            Token::Symbol(">") => Test::Greater(self.integer()?),
            Token::Symbol("<") => Test::Less(self.integer()?),
            other => {
                return Err(unexpected(
                    other,
                    ", expected: in, notin, =, ==, !=, gt, lt",
                ));
            }
        };
        Ok(Requirement { key, test })
    }

    fn word_or_nothing(&mut self) -> Result<&'a str, String> {
        match self.peek() {
            Token::End | Token::Symbol(",") => Ok(""),
            Token::Word(word) => {
                self.take();
                Ok(word)
            }
            other @ Token::Symbol(_) => Err(unexpected(other, ", expected: identifier")),
        }
    }

    fn exact_value(&mut self, key: &str) -> Result<BTreeSet<String>, String> {
        let value = self.word_or_nothing()?.to_owned();
        check_value(&value, key, 0)?;
        Ok([value].into())
    }

    fn integer(&mut self) -> Result<i64, String> {
        let value = self.word_or_nothing()?;
        value.parse().map_err(|_| {
            format!(
                "values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
            )
        })
    }

    fn values(&mut self, key: &str) -> Result<BTreeSet<String>, String> {
        match self.take() {
            Token::Symbol("(") => {}
            other => return Err(unexpected(other, " expected: '('")),
        }
        let mut values = BTreeSet::new();
        loop {
            let value = match self.peek() {
                Token::Word(word) => {
                    self.take();
                    word
                }
                _ => "",
            };
            values.insert(value.to_owned());
            match self.take() {
                Token::Symbol(",") => {}
                Token::Symbol(")") => break,
                other => return Err(unexpected(other, ", expected: ',' or ')'")),
            }
        }
        for (index, value) in values.iter().enumerate() {
            check_value(value, key, index)?;
        }
        Ok(values)
    }
}

fn unexpected(token: Token<'_>, expected: &str) -> String {
    format!("found '{}'{expected}", token.text())
}

fn check_value(value: &str, key: &str, index: usize) -> Result<(), String> {
    const RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let problem = if value.len() > 63 {
        "must be no more than 63 bytes"
    } else if value.is_empty() || is_label_name(value) {
        return Ok(());
    } else {
        RULE
    };
    Err(format!(
        "values[{index}][{key}]: Invalid value: {value:?}: {problem}"
    ))
}

fn check_key(key: &str) -> Result<(), String> {
    const RULE: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let problem = if name.is_empty() {
        "name part must be non-empty"
    } else if name.len() > 63 {
        "name part must be no more than 63 bytes"
    } else if is_label_name(name) {
        return Ok(());
    } else {
        RULE
    };
    Err(format!("key: Invalid value: {key:?}: {problem}"))
}

fn is_label_name(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}
