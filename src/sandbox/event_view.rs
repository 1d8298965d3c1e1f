//! Events are kept as `v1` has them; `events.k8s.io/v1` sees the same events with other field names.

use serde_json::Value;

/// Field names of `v1`, and of `events.k8s.io/v1` for the same.
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// An event as `events.k8s.io/v1` has it, from one of `v1`.
pub(crate) fn from_core(event: &mut Value) {
    for (core, view) in RENAMED {
        rename(event, core, view);
    }
    if let Some(fields) = event.as_object_mut() {
        // v1 writes these even when they say nothing.
        fields.retain(|name, value| !(name.starts_with("reporting") && value == ""));
    }
}

/// The other way round.
pub(crate) fn to_core(event: &mut Value) {
    for (core, view) in RENAMED {
        rename(event, view, core);
    }
}

fn rename(event: &mut Value, from: &str, to: &str) {
    if let Some(fields) = event.as_object_mut()
        && let Some(value) = fields.remove(from)
    {
        fields.insert(to.to_owned(), value);
    }
}
