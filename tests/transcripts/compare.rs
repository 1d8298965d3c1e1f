//! Compares a run with its recording, allowing for the rules of `differences.txt` where they are needed.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::differences::Differences;
use crate::recording::Case;
use crate::replay::Ended;

/// What differs.
pub(crate) fn compare(case: &Case, ended: &Ended, known: &mut Differences) -> Vec<String> {
    let mut comparison = Comparison {
        case,
        ended,
        known,
        problems: Vec::new(),
    };
    comparison.exit();
    comparison.stdout();
    comparison.stderr();
    comparison.writes();
    comparison.after();
    comparison.problems
}

struct Comparison<'a> {
    case: &'a Case,
    ended: &'a Ended,
    known: &'a mut Differences,
    problems: Vec<String>,
}

impl Comparison<'_> {
    fn report(&mut self, what: &str, found: &impl std::fmt::Debug, wanted: &impl std::fmt::Debug) {
        self.problems.push(format!(
            "{what}: {found:?}\n  not {}{wanted:?}",
            " ".repeat(what.len().saturating_sub(2))
        ));
    }

    fn exit(&mut self) {
        let (found, wanted) = (self.ended.exit, self.case.exit);
        let stderr = &self.case.stderr;
        let better = match found {
            2 => wanted == 1,
            3 => wanted == 1 && stderr.contains("exceeded its progress deadline"),
            4 => wanted == 1 && stderr.contains("timed out waiting"),
            8 => wanted == 0 && self.is_nothing(),
            9 => wanted == 1 && stderr.contains("is different from the running revision"),
            _ => false,
        };
        if found == wanted || better && self.known.expects("exit-codes") {
            return;
        }
        self.report("exit", &found, &wanted);
    }

    /// Whether nothing matched: kubectl says so, or says nothing at all.
    fn is_nothing(&self) -> bool {
        let stderr = &self.case.stderr;
        self.case.stdout.is_empty()
            && (stderr.is_empty() || stderr.starts_with("No resources found in "))
    }

    fn stdout(&mut self) {
        let wanted = without_null_times(&self.case.stdout);
        let mut found = without_null_times(&with_symbols(&self.ended.stdout));
        if found == wanted {
            return;
        }
        let is_help = self.case.argv.len() == 1 && found.contains("Usage:");
        if is_help && self.known.expects("help") {
            return;
        }
        let unnamed = PORT_NAME.replace_all(&found, "$1").into_owned();
        if unnamed != found && self.known.expects("port-names") {
            found = unnamed;
        }
        if found == wanted {
            return;
        }
        let (found, wanted) = where_they_part(&found, &wanted);
        self.report("stdout", &found, &wanted);
    }

    fn stderr(&mut self) {
        let found = with_symbols(&self.ended.stderr).replace("kubectl rs ", "kubectl ");
        let mut wanted = self.case.stderr.clone();
        if wanted.contains("allowed formats are: ")
            && !wanted.contains(",kyaml,")
            && self.known.expects("kyaml")
        {
            wanted = wanted.replace(",name,", ",kyaml,name,");
        }
        let mut found: Vec<&str> = found.lines().collect();
        let mut wanted: Vec<&str> = wanted.lines().collect();
        if self.case.stderr_order.as_deref() == Some("any") {
            found.sort_unstable();
            wanted.sort_unstable();
        }
        if found == wanted {
            return;
        }
        self.allow_for_more(&mut found, &wanted);
        self.allow_for_logs(&mut found, &mut wanted);
        let told = self.ended.exit == 8
            && self.is_nothing()
            && found[..] == ["No resources found in default namespace."];
        let is_help =
            self.case.argv.len() == 1 && wanted.iter().any(|line| line.starts_with("Usage:"));
        if found == wanted
            || told && self.known.expects("nothing-matched")
            || is_help && self.known.expects("help")
        {
            return;
        }
        self.report("stderr", &found, &wanted);
    }

    /// Lines that ours says beyond kubectl's.
    fn allow_for_more(&mut self, found: &mut Vec<&str>, wanted: &[&str]) {
        for (rule, start) in [
            ("hints", "hint: "),
            ("apply-warning", "Warning: resource "),
            ("notes", "note: "),
        ] {
            let is_more = |line: &&str| line.starts_with(start) && !wanted.contains(line);
            if found.iter().any(is_more) && self.known.expects(rule) {
                found.retain(|line| !is_more(line));
            }
        }
    }

    /// kubectl's log lines: warnings are ours too, errors are not.
    fn allow_for_logs(&mut self, found: &mut Vec<&str>, wanted: &mut Vec<&str>) {
        let is_log = |line: &&str| line.starts_with("W<klog>] ") || line.starts_with("E<klog>] ");
        if !wanted.iter().any(is_log) || !self.known.expects("logs") {
            return;
        }
        wanted.retain(|line| !line.starts_with("E<klog>] "));
        for line in wanted.iter_mut() {
            *line = line.strip_prefix("W<klog>] ").unwrap_or(line);
        }
        for line in found.iter_mut() {
            *line = line.strip_prefix("warning: ").unwrap_or(line);
        }
    }

    fn writes(&mut self) {
        let mut found = self.ended.writes.clone();
        let mut wanted = self.case.writes.clone();
        for write in found.iter_mut().chain(&mut wanted) {
            without_null_times_in(write);
            symbols_in(write);
        }
        if found == wanted {
            return;
        }
        let refused_first =
            found.is_empty() && self.case.stderr.contains("unable to match a printer");
        if refused_first && self.known.expects("output-first") {
            return;
        }
        if self.has_own_name(&mut found) && found == wanted {
            return;
        }
        let all_have_versions = found.iter_mut().all(take_version);
        if all_have_versions && self.known.expects("resource-versions") && found == wanted {
            return;
        }
        if found
            .iter()
            .any(|write| write.to_string().contains(r#""op":"add""#))
            && self.known.expects("add-annotations")
        {
            for write in &mut found {
                let text = write.to_string().replace(
                    r#""op":"add","path":"/metadata/annotations""#,
                    r#""op":"replace","path":"/metadata/annotations""#,
                );
                *write = serde_json::from_str(&text).unwrap();
            }
        }
        if found == wanted {
            return;
        }
        let texts = |writes: &[Value]| writes.iter().map(Value::to_string).collect::<Vec<_>>();
        self.report("writes", &texts(&found), &texts(&wanted));
    }

    /// Takes our own name for kubectl's, if that is needed.
    fn has_own_name(&mut self, writes: &mut [Value]) -> bool {
        let mut is_there = false;
        for write in writes {
            let text = write.to_string();
            if text.contains("kubectl rs ") && self.known.expects("own-name") {
                *write = serde_json::from_str(&text.replace("kubectl rs ", "kubectl ")).unwrap();
                is_there = true;
            }
        }
        is_there
    }

    fn after(&mut self) {
        let Some(wanted) = &self.case.after else {
            return;
        };
        let (mut found, mut wanted) = (
            Value::Object(self.ended.after.clone()),
            Value::Object(wanted.clone()),
        );
        for after in [&mut found, &mut wanted] {
            symbols_in(after);
            without_null_times_in(after);
        }
        let own = found
            .to_string()
            .replace("kubectl-rs Update", "kubectl Update")
            .replace("kubectl rs ", "kubectl ");
        if found == wanted
            || serde_json::from_str::<Value>(&own).unwrap() == wanted
                && self.known.expects("own-name")
        {
            return;
        }
        let refused_first =
            found == json!({}) && self.case.stderr.contains("unable to match a printer");
        if refused_first && self.known.expects("output-first") {
            return;
        }
        self.report("after", &found.to_string(), &wanted.to_string());
    }
}

/// A port with its name behind it.
static PORT_NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\d+/(?:TCP|UDP|SCTP)) \([a-z0-9-]+\)").unwrap());

/// Two texts from shortly before their first difference.
fn where_they_part<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let is_boundary = |place: &usize| a.is_char_boundary(*place) && b.is_char_boundary(*place);
    let start = (0..=common.saturating_sub(80))
        .rev()
        .find(is_boundary)
        .unwrap_or(0);
    let end = |text: &str| {
        let end = text.len().min(start + 400);
        (end..=text.len())
            .find(|place| text.is_char_boundary(*place))
            .unwrap_or(text.len())
    };
    (&a[start..end(a)], &b[start..end(b)])
}

/// Takes the version that a change relies on out of it; whether there was one.
fn take_version(write: &mut Value) -> bool {
    let body = &mut write["body"];
    if let Some(operations) = body.as_array_mut() {
        let count = operations.len();
        operations.retain(|operation| operation["path"] != "/metadata/resourceVersion");
        return operations.len() < count;
    }
    let Some(metadata) = body["metadata"].as_object_mut() else {
        return false;
    };
    let had_one = metadata.remove("resourceVersion").is_some();
    if metadata.is_empty() {
        body.as_object_mut().unwrap().remove("metadata");
    }
    had_one
}

/// Lines that only the client's types write.
fn without_null_times(text: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| !line.contains("creationTimestamp") || !line.contains("null"))
        .collect()
}

fn without_null_times_in(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_null_times_in),
        Value::Object(members) => {
            members.retain(|name, value| name != "creationTimestamp" || !value.is_null());
            members.values_mut().for_each(without_null_times_in);
        }
        _ => {}
    }
}

fn symbols_in(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(symbols_in),
        Value::Object(members) => members.values_mut().for_each(symbols_in),
        Value::String(text) => *text = with_symbols(text),
        _ => {}
    }
}

/// Puts the recordings' symbols in place of what differs from run to run.
pub(crate) fn with_symbols(text: &str) -> String {
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap());
    static UID: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b").unwrap()
    });
    static VERSION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(resourceVersion"?: )"\d+""#).unwrap());
    let text = TIME.replace_all(text, |found: &regex::Captures<'_>| {
        // Part of what some cases are given.
        if &found[0] == "2026-01-01T00:00:00Z" {
            found[0].to_owned()
        } else {
            "<time>".to_owned()
        }
    });
    let text = UID.replace_all(&text, "<uid>");
    VERSION.replace_all(&text, r#"$1"<rv>""#).into_owned()
}
