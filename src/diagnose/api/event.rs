//! Events, in both dialects (failure-states 1.1, rule 5): kubelet's and controllers' with `count` and two times, the
//! scheduler's with `eventTime` and `series`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;

use crate::controller::api::null_as_default;

/// What an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Involved {
    /// The object's kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// The part of it, such as `spec.containers{web}`.
    pub field_path: String,
}

/// An event, whichever dialect it came in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "RawEvent")]
pub struct Event {
    /// The namespace.
    pub namespace: String,
    /// The event's own name.
    pub name: String,
    /// `Warning` as opposed to `Normal`.
    pub is_warning: bool,
    /// A word for machines.
    pub reason: String,
    /// A sentence for people, without the words that mark a fold of similar events.
    pub message: String,
    /// How often it happened, as far as the sender says (rule 4: the count may be behind).
    pub count: i32,
    /// What it is about.
    pub involved: Involved,
    /// When it happened first.
    pub first_seen: Option<Timestamp>,
    /// When it happened last, as far as the sender says.
    pub last_seen: Option<Timestamp>,
}

impl Event {
    /// Whether it is about this container of its pod, regular or init.
    pub fn is_about_container(&self, container: &str) -> bool {
        let path = &self.involved.field_path;
        path.strip_prefix("spec.containers{")
            .or_else(|| path.strip_prefix("spec.initContainers{"))
            .and_then(|rest| rest.strip_suffix('}'))
            == Some(container)
    }
}

/// What folds of similar events begin with.
const COMBINED: &str = "(combined from similar events): ";

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawEvent {
    metadata: RawMeta,
    #[serde(rename = "type")]
    type_: String,
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
    #[serde(deserialize_with = "null_as_default")]
    message: String,
    #[serde(deserialize_with = "null_as_default")]
    count: i32,
    #[serde(deserialize_with = "null_as_default")]
    involved_object: Involved,
    first_timestamp: Option<Time>,
    last_timestamp: Option<Time>,
    event_time: Option<MicroTime>,
    series: Option<RawSeries>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawMeta {
    namespace: String,
    name: String,
    creation_timestamp: Option<Time>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawSeries {
    count: i32,
    last_observed_time: Option<MicroTime>,
}

impl From<RawEvent> for Event {
    fn from(raw: RawEvent) -> Self {
        let series_last = raw.series.as_ref().and_then(|series| {
            let last = series.last_observed_time.as_ref()?;
            Some(last.0)
        });
        let event_time = raw.event_time.map(|time| time.0);
        let created = raw.metadata.creation_timestamp.map(|time| time.0);
        let series_count = raw.series.as_ref().map_or(0, |series| series.count);
        let message = raw.message.strip_prefix(COMBINED).unwrap_or(&raw.message);
        Self {
            namespace: raw.metadata.namespace,
            name: raw.metadata.name,
            is_warning: raw.type_ == "Warning",
            message: message.trim_end().to_owned(),
            reason: raw.reason,
            count: raw.count.max(series_count).max(1),
            involved: raw.involved_object,
            first_seen: raw
                .first_timestamp
                .map(|time| time.0)
                .or(event_time)
                .or(created),
            last_seen: series_last
                .or(raw.last_timestamp.map(|time| time.0))
                .or(event_time)
                .or(created),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_dialects_say_when_and_how_often() {
        let second = |text: &str| text.parse::<Timestamp>().ok();
        let kubelet: Event = serde_json::from_value(json!({
            "type": "Warning", "reason": "Failed", "count": 7,
            "message": "(combined from similar events): Error: nope\n",
            "firstTimestamp": "2026-11-29T16:35:17Z", "lastTimestamp": "2026-11-29T16:36:28Z",
            "involvedObject": {"kind": "Pod", "name": "web-1", "fieldPath": "spec.initContainers{wait}"},
        }))
        .unwrap();
        assert_eq!(
            (kubelet.count, kubelet.message.as_str()),
            (7, "Error: nope")
        );
        assert_eq!(kubelet.last_seen, second("2026-11-29T16:36:28Z"));
        assert!(kubelet.is_about_container("wait") && !kubelet.is_about_container("web"));

        let scheduler: Event = serde_json::from_value(json!({
            "type": "Warning", "reason": "FailedScheduling", "count": null, "firstTimestamp": null,
            "lastTimestamp": null, "eventTime": "2026-11-29T16:30:28.485750Z",
            "series": {"count": 3, "lastObservedTime": "2026-11-29T16:31:28.000000Z"},
        }))
        .unwrap();
        assert_eq!(scheduler.count, 3);
        assert_eq!(scheduler.last_seen, second("2026-11-29T16:31:28Z"));
        assert_eq!(scheduler.first_seen, second("2026-11-29T16:30:28.485750Z"));

        let bare: Event = serde_json::from_value(json!({
            "metadata": {"creationTimestamp": "2026-11-29T16:30:28Z"},
        }))
        .unwrap();
        assert_eq!(bare.last_seen, second("2026-11-29T16:30:28Z"));
        assert_eq!(bare.count, 1);
    }
}
