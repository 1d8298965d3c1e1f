//! A pod's row: how many containers are ready, and the one word that says most about it.

use serde_json::Value;

use super::{Row, age, or_none};

/// The cells of a pod's row.
pub(super) fn cells(row: Row<'_>) -> Vec<Value> {
    let summary = Summary::of(row);
    let restarts = match (summary.restarts, summary.last_restart) {
        (0, _) | (_, None) => summary.restarts.to_string(),
        (count, Some(at)) => format!("{count} ({} ago)", age::since(at, row.now)),
    };
    vec![
        row.name(),
        format!("{}/{}", summary.ready, summary.containers).into(),
        summary.reason.into(),
        restarts.into(),
        row.age(),
        or_none(row.text("/status/podIPs/0/ip")),
        or_none(row.text("/spec/nodeName")),
        or_none(row.text("/status/nominatedNodeName")),
        readiness_gates(row).into(),
    ]
}

/// Restarts of containers, and when the last one was.
#[derive(Clone, Copy, Default)]
struct Restarts<'a> {
    count: i64,
    last: Option<&'a str>,
}

impl<'a> Restarts<'a> {
    fn add(&mut self, container: &'a Value) {
        self.count += container["restartCount"].as_i64().unwrap_or_default();
        let ended = container["lastState"]["terminated"]["finishedAt"].as_str();
        // Times of one form compare as texts.
        self.last = self.last.max(ended);
    }
}

struct Summary<'a> {
    ready: usize,
    containers: usize,
    reason: String,
    restarts: i64,
    last_restart: Option<&'a str>,
}

impl<'a> Summary<'a> {
    fn of(row: Row<'a>) -> Self {
        let sidecars = row.list("/spec/initContainers").iter();
        let sidecars = sidecars.filter(|one| one["restartPolicy"] == "Always");
        let mut summary = Self {
            ready: 0,
            containers: row.list("/spec/containers").len() + sidecars.count(),
            reason: phase_or_reason(row),
            restarts: 0,
            last_restart: None,
        };
        let initializing = summary.add_init_containers(row);
        if !initializing || is_true(row, "Initialized") {
            summary.add_containers(row);
        }
        let is_deleted = !row.text("/metadata/deletionTimestamp").is_empty();
        let has_ended = matches!(row.text("/status/phase"), "Succeeded" | "Failed");
        if is_deleted && row.text("/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.reason);
        } else if is_deleted && !has_ended {
            "Terminating".clone_into(&mut summary.reason);
        }
        summary
    }

    /// Takes in the init containers up to the first that is not done; says whether there is one.
    fn add_init_containers(&mut self, row: Row<'a>) -> bool {
        let mut all = Restarts::default();
        let mut sidecars = Restarts::default();
        let mut waits = false;
        for (index, container) in row.list("/status/initContainerStatuses").iter().enumerate() {
            all.add(container);
            let is_sidecar = is_sidecar(row, &container["name"]);
            if is_sidecar {
                sidecars.add(container);
            }
            let terminated = &container["state"]["terminated"];
            if terminated.is_object() && terminated["exitCode"].as_i64() == Some(0) {
                continue;
            }
            if is_sidecar && container["started"] == true {
                self.ready += usize::from(container["ready"] == true);
                continue;
            }
            self.reason = init_reason(row, index, container);
            waits = true;
            break;
        }
        let counted = if waits { all } else { sidecars };
        (self.restarts, self.last_restart) = (counted.count, counted.last);
        waits
    }

    fn add_containers(&mut self, row: Row<'a>) {
        let mut restarts = Restarts {
            count: self.restarts,
            last: self.last_restart,
        };
        let mut is_running = false;
        for container in row.list("/status/containerStatuses").iter().rev() {
            restarts.add(container);
            let state = &container["state"];
            let waiting = state["waiting"]["reason"].as_str().unwrap_or_default();
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if state["terminated"].is_object() {
                self.reason = ended_reason(&state["terminated"]);
            } else if container["ready"] == true && state["running"].is_object() {
                is_running = true;
                self.ready += 1;
            }
        }
        (self.restarts, self.last_restart) = (restarts.count, restarts.last);
        if self.reason == "Completed" && is_running {
            let is_ready = is_true(row, "Ready");
            let reason = if is_ready { "Running" } else { "NotReady" };
            reason.clone_into(&mut self.reason);
        }
    }
}

fn phase_or_reason(row: Row<'_>) -> String {
    let conditions = row.list("/status/conditions").iter();
    let mut gated = conditions
        .filter(|one| one["type"] == "PodScheduled" && one["reason"] == "SchedulingGated");
    if gated.next().is_some() {
        return "SchedulingGated".to_owned();
    }
    match row.text("/status/reason") {
        "" => row.text("/status/phase").to_owned(),
        reason => reason.to_owned(),
    }
}

fn is_sidecar(row: Row<'_>, name: &Value) -> bool {
    let mut containers = row.list("/spec/initContainers").iter();
    containers.any(|one| one["name"] == *name && one["restartPolicy"] == "Always")
}

fn init_reason(row: Row<'_>, index: usize, container: &Value) -> String {
    let state = &container["state"];
    if state["terminated"].is_object() {
        return format!("Init:{}", ended_reason(&state["terminated"]));
    }
    match state["waiting"]["reason"].as_str() {
        None | Some("" | "PodInitializing") => {
            format!("Init:{index}/{}", row.list("/spec/initContainers").len())
        }
        Some(reason) => format!("Init:{reason}"),
    }
}

/// The reason of an end, or its signal or exit code.
fn ended_reason(terminated: &Value) -> String {
    let reason = terminated["reason"].as_str().unwrap_or_default();
    let signal = terminated["signal"].as_i64().unwrap_or_default();
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"]),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn is_true(row: Row<'_>, kind: &str) -> bool {
    let mut conditions = row.list("/status/conditions").iter();
    conditions.any(|one| one["type"] == kind && one["status"] == "True")
}

/// How many of the pod's readiness gates are open.
fn readiness_gates(row: Row<'_>) -> String {
    let gates = row.list("/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates
        .iter()
        .filter_map(|gate| gate["conditionType"].as_str())
        .filter(|kind| is_true(row, kind));
    format!("{}/{}", open.count(), gates.len())
}
