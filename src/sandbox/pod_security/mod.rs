//! Pod Security admission: the standards that a namespace's labels ask for (failure-states spec, section 14.3).
//!
//! There is one version of the standards, that of the server's own release: labels that pin another one are named in
//! messages and held to this one. The `audit` labels have no effect, since nothing is audited here.

mod baseline;
mod restricted;
mod violation;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::field_error::FieldError;
use super::json::{list, text};

const PREFIX: &str = "pod-security.kubernetes.io/";

/// How strict a standard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// A level and the version that the labels name.
#[derive(Clone, Copy)]
struct Standard<'l> {
    level: Level,
    version: &'l str,
}

/// What the labels of a namespace ask for.
struct Policy<'l> {
    enforce: Standard<'l>,
    warn: Standard<'l>,
}

/// Why a namespace's standard does not let a new pod in.
pub(crate) fn refusal(namespace: &Value, pod: &Value) -> Option<String> {
    let enforce = policy(&namespace["metadata"]["labels"]).enforce;
    let violations = violations(enforce, pod)?;
    Some(format!("violates PodSecurity {violations}"))
}

/// Whether a namespace with labels of these names asks for anything.
pub(crate) fn is_set_up<'a>(mut labels: impl Iterator<Item = &'a str>) -> bool {
    labels.any(|label| label.starts_with(PREFIX))
}

/// What a namespace remarks on a pod, or the template of what makes pods, that it lets in.
pub(crate) fn warning(namespace: &Value, template: &Value) -> Option<String> {
    let warn = policy(&namespace["metadata"]["labels"]).warn;
    let violations = violations(warn, template)?;
    Some(format!("would violate PodSecurity {violations}"))
}

/// Whether an update of a pod is looked at: only images, among what may change, matter.
pub(crate) fn is_significant(new: &Value, old: &Value) -> bool {
    let images = |pod: &Value| -> Vec<Value> {
        let fields = ["initContainers", "containers", "ephemeralContainers"];
        let containers = fields.iter().flat_map(|field| list(&pod["spec"][*field]));
        containers
            .map(|container| container["image"].clone())
            .collect()
    };
    images(new) != images(old)
}

/// Labels of a namespace that ask for no standard there is.
pub(crate) fn label_errors(namespace: &Value) -> Vec<FieldError> {
    let labels = &namespace["metadata"]["labels"];
    let mut errors = Vec::new();
    for mode in ["enforce", "audit", "warn"] {
        let (level, version) = (format!("{PREFIX}{mode}"), format!("{PREFIX}{mode}-version"));
        let mut check = |label: &str, is_valid: fn(&str) -> bool, why: &str| {
            if labels[label].as_str().is_some_and(|value| !is_valid(value)) {
                let field = format!("metadata.labels[{label}]");
                errors.push(FieldError::invalid(&field, &labels[label], why));
            }
        };
        let is_level = |value: &str| Level::parse(value).is_some();
        let levels = "must be one of privileged, baseline, restricted";
        check(&level, is_level, levels);
        check(&version, is_version, "must be \"latest\" or \"v1.x\"");
    }
    errors
}

impl Level {
    fn parse(label: &str) -> Option<Self> {
        match label {
            "privileged" => Some(Self::Privileged),
            "baseline" => Some(Self::Baseline),
            "restricted" => Some(Self::Restricted),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

fn is_version(label: &str) -> bool {
    let minor = label.strip_prefix("v1.").unwrap_or_default();
    let is_number = !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit());
    label == "latest" || is_number && (minor == "0" || !minor.starts_with('0'))
}

fn policy(labels: &Value) -> Policy<'_> {
    let label = |name: &str| labels[format!("{PREFIX}{name}")].as_str();
    let version = |name: &str| label(name).filter(|version| is_version(version));
    // What a label says wrongly is held to the strictest, unless it is only about a warning.
    let asked = label("enforce").map(Level::parse);
    let enforce = Standard {
        level: asked.map_or(Level::Privileged, |level| {
            level.unwrap_or(Level::Restricted)
        }),
        version: version("enforce-version").unwrap_or("latest"),
    };
    let mut warn = Standard {
        level: label("warn")
            .and_then(Level::parse)
            .unwrap_or(Level::Privileged),
        version: version("warn-version").unwrap_or("latest"),
    };
    let follows = label("warn").is_none() && asked.flatten().is_some();
    if follows && enforce.level > warn.level {
        warn.level = enforce.level;
        if label("warn-version").is_none() {
            warn.version = enforce.version;
        }
    }
    Policy { enforce, warn }
}

/// `"restricted:latest": what (who), …`
fn violations(standard: Standard<'_>, pod: &Value) -> Option<String> {
    let found = match standard.level {
        Level::Privileged => return None,
        Level::Baseline => baseline::violations(pod),
        Level::Restricted => restricted::violations(pod),
    };
    if found.is_empty() {
        return None;
    }
    let found: Vec<_> = found
        .into_iter()
        .map(|violation| format!("{} ({})", violation.reason, violation.detail))
        .collect();
    let (level, version) = (standard.level.name(), standard.version);
    Some(format!("\"{level}:{version}\": {}", found.join(", ")))
}

fn is_text(value: &Value, wanted: &[&str]) -> bool {
    wanted.contains(&text(value))
}
