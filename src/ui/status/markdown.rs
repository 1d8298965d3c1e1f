//! Status for a pull request or a job's summary.

use std::fmt::Write as _;

use super::{Layout, Shown, sign};
use crate::ui::escape::Clean;
use crate::ui::image;
use crate::ui::tables;

/// A section for each Deployment.
pub fn markdown(all: &[Shown], layout: Layout) -> String {
    let sections: Vec<String> = all.iter().map(|shown| section(shown, layout)).collect();
    sections.join("\n")
}

fn section(shown: &Shown, layout: Layout) -> String {
    let verdict = &shown.diagnosis.verdict;
    let (_, sign) = sign(verdict.phase);
    let mut text = format!(
        "### {sign} {} {}\n\n{}\n",
        plain(&shown.name(layout)),
        verdict.phase.name(),
        plain(&verdict.message)
    );
    let revisions = &shown.diagnosis.overview.revisions;
    if !revisions.is_empty() {
        text.push_str("\n| revision | image | desired | current | ready | available |\n|---|---|---|---|---|---|\n");
        for revision in revisions {
            // Writing to a string can't fail.
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                plain(&tables::number(revision)),
                plain(&image::short(&revision.images)),
                revision.desired,
                revision.current,
                revision.ready,
                revision.available
            );
        }
    }
    if !shown.diagnosis.findings.is_empty() {
        text.push('\n');
    }
    for finding in &shown.diagnosis.findings {
        let next = match finding.next_step.as_str() {
            "" => String::new(),
            step => format!(" → {}", plain(step)),
        };
        let pods = match finding.pods.len() {
            0 => String::new(),
            pods => format!(" ({pods} pods)"),
        };
        let _ = writeln!(
            text,
            "- **{}**: {}{pods}{next}",
            finding.code,
            plain(&finding.message)
        );
    }
    text
}

/// Text from a cluster that makes no markup.
fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for char in Clean::new(text).to_string().chars() {
        if matches!(
            char,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#'
        ) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}
