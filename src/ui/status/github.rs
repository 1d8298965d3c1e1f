//! Status as GitHub Actions' annotations: `::error`, `::warning` and `::notice` lines.

use super::Shown;
use crate::diagnose::{Phase, Verdict};
use crate::ui::escape::Clean;

/// A line for each Deployment.
pub fn annotations(all: &[Shown]) -> Vec<String> {
    all.iter()
        .map(|shown| annotation(&shown.diagnosis.verdict))
        .collect()
}

fn annotation(verdict: &Verdict) -> String {
    let level = match verdict.phase {
        Phase::Failed => "error",
        Phase::Complete | Phase::Progressing => "notice",
        _ => "warning",
    };
    let title = format!(
        "{}/{} {}",
        verdict.object.namespace,
        verdict.object.name,
        verdict.phase.name()
    );
    let mut text = vec![verdict.message.clone()];
    text.extend(verdict.evidence.iter().cloned());
    if !verdict.next_step.is_empty() {
        text.push(format!("Next: {}", verdict.next_step));
    }
    let text: Vec<String> = text.iter().map(|part| data(part)).collect();
    format!("::{level} title={}::{}", property(&title), text.join("%0A"))
}

/// Text behind the second `::`, on one line.
fn data(text: &str) -> String {
    Clean::new(text)
        .to_string()
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property's value, where colons and commas separate.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
