//! `-o wide`: what a Deployment's revisions are made of.

use k8s_openapi::jiff::Timestamp;

use crate::cli::objects::Found;
use crate::cli::rollout::revisions::{DeploymentHistory, Set};
use crate::controller::deployment::revision_history;
use crate::controller::keys::POD_TEMPLATE_HASH;
use crate::ui::age::age;
use crate::ui::columns;
use crate::ui::escape::Clean;
use crate::ui::history::change_cause;

const HEADER: [&str; 9] = [
    "REVISION",
    "CHANGE-CAUSE",
    "AGE",
    "IMAGES",
    "REPLICAS",
    "READY",
    "HASH",
    "REUSED-FROM",
    "CURRENT",
];

/// The table, lowest revision first. A cause that is the same as the one before was only inherited.
pub(super) fn table(history: &DeploymentHistory, object: &Found, now: Timestamp) -> String {
    let mut sets: Vec<(i64, &Set)> = history
        .sets
        .iter()
        .filter_map(|set| Some((set.revision()?, set)))
        .collect();
    sets.sort_by_key(|(number, _)| *number);
    let mut text = HEADER.join("\t") + "\n";
    let mut before = String::new();
    for (number, set) in sets {
        let cause = change_cause(&set.slim);
        let shown = match cause.as_str() {
            "" => "<none>".to_owned(),
            cause if cause == before => format!("{cause} (inherited)"),
            cause => cause.to_owned(),
        };
        text += &row(number, &shown, set, history, now);
        before = cause;
    }
    format!("{}\n{}", object.line_name(), columns::align(&text, 0, 3))
}

fn row(number: i64, cause: &str, set: &Set, history: &DeploymentHistory, now: Timestamp) -> String {
    let template = &set.slim.spec.template;
    let current = &history.deployment().spec.template;
    let reused: Vec<String> = revision_history(&set.slim)
        .iter()
        .map(ToString::to_string)
        .collect();
    let hash = set.slim.meta.labels.get(POD_TEMPLATE_HASH);
    let or_none = |text: String| {
        if text.is_empty() {
            "<none>".to_owned()
        } else {
            text
        }
    };
    let cells = [
        number.to_string(),
        cause.to_owned(),
        age(set.slim.meta.created(), now),
        or_none(template.images().collect::<Vec<_>>().join(",")),
        set.slim.spec.replicas.to_string(),
        set.slim.status.ready_replicas.to_string(),
        or_none(hash.cloned().unwrap_or_default()),
        or_none(reused.join(",")),
        if template.is_equal_to(current) {
            "yes"
        } else {
            "no"
        }
        .to_owned(),
    ];
    let cells = cells.map(|cell| Clean::new(&cell).to_string());
    cells.join("\t") + "\n"
}
