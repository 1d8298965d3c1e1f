//! What differs between two pod templates: a unified diff of their YAML, coloured where colour is wanted.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::line::{Line, Tone};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// The diff from one template to another, each with the name that heads it; nothing where they are equal. The hash label
/// is left out: it differs with anything else.
pub fn templates(
    old: (&Value, &str),
    new: (&Value, &str),
    to_yaml: fn(&Value) -> String,
) -> Vec<Line> {
    let (old_text, new_text) = (text(old.0, to_yaml), text(new.0, to_yaml));
    let diff = TextDiff::from_lines(&old_text, &new_text);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if lines.is_empty() {
            lines.push(Line::new(Tone::Strong, format!("--- {}", old.1)));
            lines.push(Line::new(Tone::Strong, format!("+++ {}", new.1)));
        }
        lines.push(Line::new(Tone::Faint, hunk.header()));
        lines.extend(hunk.iter_changes().map(|change| {
            let (tone, sign) = match change.tag() {
                ChangeTag::Delete => (Tone::Bad, '-'),
                ChangeTag::Insert => (Tone::Good, '+'),
                ChangeTag::Equal => (Tone::Plain, ' '),
            };
            Line::new(
                tone,
                format!("{sign}{}", change.value().trim_end_matches('\n')),
            )
        }));
    }
    lines
}

fn text(template: &Value, to_yaml: fn(&Value) -> String) -> String {
    let mut template = template.clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(crate::controller::keys::POD_TEMPLATE_HASH);
    }
    to_yaml(&template)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_with_its_surroundings() {
        let template = |image: &str, hash: &str| {
            json!({
                "metadata": {"labels": {"app": "web", "pod-template-hash": hash}},
                "spec": {"containers": [{"image": image, "name": "main"}]},
            })
        };
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
        let (old, new) = (template("a:1", "x"), template("a:2", "y"));
        let lines = templates((&old, "now"), (&new, "revision 1"), pretty);
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(text.join("\n"), @r#"
        --- now
        +++ revision 1
        @@ -7,7 +7,7 @@
           "spec": {
             "containers": [
               {
        -        "image": "a:1",
        +        "image": "a:2",
                 "name": "main"
               }
             ]
        "#);
        assert!(templates((&old, "now"), (&template("a:1", "y"), "other"), pretty).is_empty());
    }
}
