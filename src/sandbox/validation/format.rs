//! The forms of names, keys and values, each check returning what is wrong in Kubernetes' words (nothing: it is fine).

type Problems = Vec<&'static str>;

const LABEL_FORMAT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

macro_rules! subdomain_format {
    () => {
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    };
}
macro_rules! key_format {
    () => {
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    };
}

/// The longest name of most objects.
pub(super) const SUBDOMAIN_LENGTH: usize = 253;
const LABEL_LENGTH: usize = 63;
const PORT_NAME_LENGTH: usize = 15;

/// Whether a text is not empty, has only the inner characters and begins and ends with one of the outer.
fn is_delimited(text: &str, inner: impl Fn(u8) -> bool, outer: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| outer(*byte))
        && bytes.last().is_some_and(|byte| outer(*byte))
        && bytes.iter().all(|byte| inner(*byte))
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    is_delimited(text, |byte| is_lower(byte) || byte == b'-', is_lower)
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_key_name(text: &str) -> bool {
    is_delimited(
        text,
        |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
        |byte| byte.is_ascii_alphanumeric(),
    )
}

/// A DNS label: container, volume and namespace names.
pub(super) fn dns_label(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.len() > LABEL_LENGTH {
        problems.push("must be no more than 63 characters");
    }
    if !is_label(text) {
        problems.push(if is_subdomain(text) {
            "must not contain dots"
        } else {
            LABEL_FORMAT
        });
    }
    problems
}

/// A DNS subdomain: the names of most objects.
pub(super) fn dns_subdomain(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.len() > SUBDOMAIN_LENGTH {
        problems.push("must be no more than 253 characters");
    }
    if !is_subdomain(text) {
        problems.push(subdomain_format!());
    }
    problems
}

/// A name that only has to fit into a URL: Events, roles.
pub(super) fn path_segment(text: &str) -> Problems {
    match text {
        "." => return vec!["may not be '.'"],
        ".." => return vec!["may not be '..'"],
        _ => {}
    }
    let mut problems = Vec::new();
    if text.contains('/') {
        problems.push("may not contain '/'");
    }
    if text.contains('%') {
        problems.push("may not contain '%'");
    }
    problems
}

/// A search domain of a pod's DNS settings, where underscores are allowed.
pub(super) fn search_domain(text: &str) -> Problems {
    let is_part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part);
        is_delimited(
            part,
            |byte| is_lower(byte) || b"-_".contains(&byte),
            is_lower,
        )
    };
    if text.split('.').all(is_part) {
        return Vec::new();
    }
    vec![
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
    ]
}

/// A label key, and whatever else has its form: an optional DNS prefix, a slash, a name.
pub(super) fn qualified_name(text: &str) -> Problems {
    let mut problems = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            return vec![concat!(
                "a valid label key ",
                key_format!(),
                " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => {
            prefix_problems(prefix, &mut problems);
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty");
    } else if name.len() > LABEL_LENGTH {
        problems.push("name part must be no more than 63 bytes");
    }
    if !is_key_name(name) {
        problems.push(concat!("name part ", key_format!()));
    }
    problems
}

fn prefix_problems(prefix: &str, problems: &mut Problems) {
    if prefix.is_empty() {
        problems.push("prefix part must be non-empty");
        return;
    }
    if prefix.len() > SUBDOMAIN_LENGTH {
        problems.push("prefix part must be no more than 253 bytes");
    }
    if !is_subdomain(prefix) {
        problems.push(concat!("prefix part ", subdomain_format!()));
    }
}

/// The value of a label.
pub(super) fn label_value(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.len() > LABEL_LENGTH {
        problems.push("must be no more than 63 bytes");
    }
    if !text.is_empty() && !is_key_name(text) {
        problems.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        );
    }
    problems
}

/// A key of a `ConfigMap` or Secret.
pub(super) fn config_key(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.len() > SUBDOMAIN_LENGTH {
        problems.push("must be no more than 253 characters");
    }
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_key) {
        problems.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        );
    }
    match text {
        "." => problems.push("must not be '.'"),
        ".." => problems.push("must not be '..'"),
        _ if text.starts_with("..") => problems.push("must not start with '..'"),
        _ => {}
    }
    problems
}

/// The name of an environment variable.
pub(super) fn environment_name(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.is_empty() {
        problems.push("environment variable name must be non-empty");
    }
    if !text
        .bytes()
        .all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=')
    {
        problems.push(
            "a valid environment variable name must consist only of printable ASCII characters other than '='",
        );
    }
    problems
}

/// The name of a port.
pub(super) fn port_name(text: &str) -> Problems {
    let mut problems = Vec::new();
    if text.len() > PORT_NAME_LENGTH {
        problems.push("must be no more than 15 characters");
    }
    if text.is_empty() || !text.bytes().all(|byte| is_lower(byte) || byte == b'-') {
        problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        problems.push("must contain at least one letter (a-z)");
    }
    if text.contains("--") {
        problems.push("must not contain consecutive hyphens");
    }
    if text.starts_with('-') || text.ends_with('-') {
        problems.push("must not begin or end with a hyphen");
    }
    problems
}

/// The number of a port.
pub(super) fn port_number(number: i64) -> Problems {
    if (1..=65535).contains(&number) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive"]
    }
}

/// A user or group id.
pub(super) fn user_id(id: i64) -> Problems {
    if (0..=i64::from(i32::MAX)).contains(&id) {
        Vec::new()
    } else {
        vec!["must be between 0 and 2147483647, inclusive"]
    }
}

/// A percentage, `25%`.
pub(super) fn percent(text: &str) -> Problems {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ]
}

/// The name of an HTTP header.
pub(super) fn header_name(text: &str) -> Problems {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !text.is_empty() && text.bytes().all(is_name) {
        return Vec::new();
    }
    vec![
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ]
}

/// An IP address.
pub(super) fn ip_address(text: &str) -> Problems {
    match text.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            vec!["must not be an IPv4-mapped IPv6 address"]
        }
        Ok(_) => Vec::new(),
        Err(_) if has_leading_zeros(text) => vec!["must not have leading 0s"],
        Err(_) => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
    }
}

/// Whether it would be an IPv4 address but for leading zeros.
fn has_leading_zeros(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let is_octet = |part: &&str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u32>().is_ok_and(|octet| octet <= 255)
    };
    parts.len() == 4 && parts.iter().all(is_octet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_and_refuses_by_form() {
        type Check = fn(&str) -> Problems;
        let cases: [(&str, Check, &[&str], &[&str]); 8] = [
            (
                "label",
                dns_label,
                &["a", "1a", "a-b"],
                &["", "A", "a.b", "-a", "a-", "a_b"],
            ),
            (
                "subdomain",
                dns_subdomain,
                &["a", "a.b", "a-1.b"],
                &["", "a..b", "a.", ".", "A", "é"],
            ),
            (
                "key",
                qualified_name,
                &["a", "A.b_c", "x.y/z"],
                &["", "/a", "a/", "a/b/c", "a b", "X/a"],
            ),
            (
                "value",
                label_value,
                &["", "a", "A_b.1"],
                &["a b", "-a", "é"],
            ),
            (
                "config key",
                config_key,
                &["a", ".x", "A-b_c"],
                &["", ".", "..", "..a", "a/b"],
            ),
            (
                "variable",
                environment_name,
                &["A", "a-b.c", "1 2"],
                &["", "a=b", "é", "a\n"],
            ),
            (
                "port",
                port_name,
                &["a", "h2c", "a-1"],
                &["", "A", "1", "-a", "a--b", "a-very-long-name"],
            ),
            (
                "percent",
                percent,
                &["0%", "150%"],
                &["", "%", "5", "-5%", "12.5%", "5%%"],
            ),
        ];
        for (name, check, good, bad) in cases {
            for text in good {
                assert_eq!(check(text), Problems::new(), "{name} {text:?}");
            }
            for text in bad {
                assert_ne!(check(text), Problems::new(), "{name} {text:?}");
            }
        }
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
        assert_eq!(ip_address("010.0.0.1"), ["must not have leading 0s"]);
        assert_eq!(ip_address("fd00::1"), Problems::new());
    }
}
