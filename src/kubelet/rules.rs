//! Which behaviour a container gets: the user's rules by image, well-known tags, and the pod's annotations.

use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use super::behaviour::{Behaviour, BehaviourError, Failure, PREFIX};
use super::pod::PodView;

/// A behaviours file: rules by image, of which the first that matches counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    behaviours: Vec<Rule>,
}

/// Images and what their containers do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "serde_json::Map<String, serde_json::Value>")]
struct Rule {
    image: String,
    behaviour: Behaviour,
}

/// A behaviours file that can't be read.
#[derive(Debug, Error)]
#[error("invalid behaviours file: {0}")]
pub struct RulesError(#[from] serde_yaml::Error);

impl TryFrom<serde_json::Map<String, serde_json::Value>> for Rule {
    type Error = String;

    fn try_from(mut map: serde_json::Map<String, serde_json::Value>) -> Result<Self, String> {
        let Some(serde_json::Value::String(image)) = map.remove("image") else {
            return Err("a rule needs the image that it is for".to_owned());
        };
        let behaviour = Behaviour::deserialize(serde_json::Value::Object(map))
            .map_err(|error| format!("image {image:?}: {error}"))?;
        Ok(Self { image, behaviour })
    }
}

impl Rules {
    /// Reads a behaviours file.
    ///
    /// # Errors
    /// With the line, when the text is no YAML, or says what no behaviour can say.
    pub fn from_yaml(text: &str) -> Result<Self, RulesError> {
        let rules: Option<Self> = serde_yaml::from_str(text)?;
        Ok(rules.unwrap_or_default())
    }

    /// What containers of this image do, whatever their pod says.
    fn for_image(&self, image: &str) -> Behaviour {
        self.behaviours
            .iter()
            .find(|rule| matches(&rule.image, image))
            .map_or_else(|| by_tag(image), |rule| rule.behaviour.clone())
    }

    /// What each container of the pod does, init containers first, and which annotations could not be read.
    ///
    /// An annotation that names no container is for all of them but init containers.
    pub(super) fn resolve(&self, pod: &PodView) -> (Vec<Behaviour>, Vec<BehaviourError>) {
        let mut errors = Vec::new();
        let mut asked = Vec::new();
        for (annotation, text) in &pod.metadata.annotations {
            let Some(key) = annotation.strip_prefix(PREFIX) else {
                continue;
            };
            let (key, container) = key
                .split_once('.')
                .map_or((key, None), |(key, container)| (key, Some(container)));
            match Behaviour::from_annotation(key, text) {
                Ok(behaviour) => asked.push((container, behaviour)),
                Err(cause) => errors.push(BehaviourError {
                    annotation: annotation.clone(),
                    cause,
                }),
            }
        }
        // What is said of one container counts more than what is said of all.
        asked.sort_by_key(|(container, _)| container.is_some());
        let init = pod.spec.init_containers.len();
        let behaviours = pod
            .spec
            .all_containers()
            .enumerate()
            .map(|(index, container)| {
                asked
                    .iter()
                    .filter(|(named, _)| match named {
                        Some(name) => *name == container.name,
                        None => index >= init,
                    })
                    .fold(self.for_image(&container.image), |behaviour, (_, upper)| {
                        behaviour.overlaid_with(upper)
                    })
            })
            .collect();
        (behaviours, errors)
    }
}

/// Whether `pattern`, in which `*` stands for any text, describes all of `text`.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// Tags that make an image misbehave without any setting, so that a demo needs nothing but a manifest.
fn by_tag(image: &str) -> Behaviour {
    let (_, tag) = split_tag(image);
    let means = |word: &str| {
        tag == word
            || tag
                .strip_suffix(word)
                .is_some_and(|rest| rest.ends_with('-'))
            || tag
                .strip_prefix(word)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    let mut behaviour = Behaviour::default();
    if means("never-ready") {
        behaviour.fails = Some(Failure::NeverReady);
    } else if means("crash") {
        behaviour.fails = Some(Failure::CrashLoopBackOff);
    } else if means("oom") {
        behaviour.fails = Some(Failure::OOMKilled);
    } else if means("missing") {
        behaviour.fails = Some(Failure::ErrImagePull);
    } else if means("denied") {
        behaviour.fails = Some(Failure::ErrImagePull);
        behaviour.message = Some(super::text::ACCESS_DENIED.to_owned());
    } else if means("slow") {
        behaviour.ready_after = Some(Duration::from_secs(30));
    }
    behaviour
}

/// An image's name and its tag; a digest is part of neither.
pub(super) fn split_tag(image: &str) -> (&str, &str) {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, ""),
    }
}
