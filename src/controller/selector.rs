//! Label selectors, compiled once and matched many times.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::SelectorExt as _;

/// A selector ready for matching. An absent one matches nothing, an empty one everything.
#[derive(Clone, Debug)]
pub struct Selector(Option<kube::core::Selector>);

impl Selector {
    /// Compiles an object's `spec.selector`.
    ///
    /// # Errors
    /// What is wrong with it: an operator that does not exist, or one without the values it needs.
    pub fn compile(selector: Option<&LabelSelector>) -> Result<Self, String> {
        let Some(selector) = selector else {
            return Ok(Self(None));
        };
        for requirement in selector.match_expressions.iter().flatten() {
            let has_values = requirement.values.as_ref().is_some_and(|v| !v.is_empty());
            match requirement.operator.as_str() {
                "In" | "NotIn" if !has_values => {
                    return Err(format!(
                        "key {:?}: operator {:?} needs values",
                        requirement.key, requirement.operator
                    ));
                }
                "Exists" | "DoesNotExist" if has_values => {
                    return Err(format!(
                        "key {:?}: operator {:?} takes no values",
                        requirement.key, requirement.operator
                    ));
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                operator => {
                    return Err(format!(
                        "{operator:?} is not a valid label selector operator"
                    ));
                }
            }
        }
        kube::core::Selector::try_from(selector.clone())
            .map(|compiled| Self(Some(compiled)))
            .map_err(|error| error.to_string())
    }

    /// Selects what carries all of these labels.
    pub fn from_labels(labels: BTreeMap<String, String>) -> Self {
        Self(Some(labels.into_iter().collect()))
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0
            .as_ref()
            .is_some_and(|selector| selector.matches(labels))
    }

    /// Whether it is present and empty, so that every object is selected.
    pub fn selects_all(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(kube::core::Selector::selects_all)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn check(selector: Value, labels: &[(&str, &str)]) -> bool {
        let selector: Option<LabelSelector> = from_value(selector).unwrap();
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        Selector::compile(selector.as_ref())
            .unwrap()
            .matches(&labels)
    }

    #[test]
    fn matches_as_the_api_does() {
        let web = [("app", "web"), ("tier", "front")];
        for (selector, expected) in [
            (Value::Null, false),
            (json!({}), true),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "web", "x": "y"}}), false),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "web"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "absent", "operator": "NotIn", "values": ["a"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}),
                false,
            ),
            (
                json!({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
                true,
            ),
        ] {
            assert_eq!(check(selector.clone(), &web), expected, "{selector}");
        }
    }

    #[test]
    fn refuses_what_the_api_refuses() {
        for requirement in [
            json!({"key": "a", "operator": "In"}),
            json!({"key": "a", "operator": "NotIn", "values": []}),
            json!({"key": "a", "operator": "Exists", "values": ["b"]}),
            json!({"key": "a", "operator": "Near", "values": ["b"]}),
        ] {
            let selector: LabelSelector =
                from_value(json!({"matchExpressions": [requirement]})).unwrap();
            assert!(Selector::compile(Some(&selector)).is_err(), "{requirement}");
        }
    }
}
