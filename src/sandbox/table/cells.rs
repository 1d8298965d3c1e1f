//! The cells of each kind's rows.

use serde_json::{Value, json};

use super::super::kinds::Kind;
use super::super::scale::selector_text;
use super::{Row, columns, or_none, pod};

/// The cells of a row, one for each column.
pub(super) fn of(kind: &Kind, row: Row<'_>) -> Vec<Value> {
    match kind.kind {
        "Pod" => pod::cells(row),
        "Deployment" => deployment(row),
        "ReplicaSet" => replica_set(row),
        "StatefulSet" => stateful_set(row),
        "DaemonSet" => daemon_set(row),
        "Node" => node(row),
        "Event" => event(row),
        "Service" => service(row),
        "Namespace" => vec![row.name(), row.text("/status/phase").into(), row.age()],
        "Lease" => vec![
            row.name(),
            row.text("/spec/holderIdentity").into(),
            row.age(),
        ],
        "ConfigMap" => vec![row.name(), count(row, &["/data", "/binaryData"]), row.age()],
        "Secret" => {
            let data = count(row, &["/data"]);
            vec![row.name(), row.text("/type").into(), data, row.age()]
        }
        "ServiceAccount" => vec![row.name(), row.age()],
        "ResourceQuota" => resource_quota(row),
        "PodDisruptionBudget" => disruption_budget(row),
        "Scale" => vec![
            row.name(),
            row.number("/spec/replicas").into(),
            row.number("/status/replicas").into(),
            row.age(),
        ],
        other => {
            debug_assert!(!columns::has(other), "{other} has columns but no cells");
            vec![row.name(), row.text("/metadata/creationTimestamp").into()]
        }
    }
}

/// What a row says beside its cells: that a pod has ended.
pub(super) fn conditions(kind: &Kind, row: Row<'_>) -> Value {
    let (reason, message) = match (kind.kind, row.text("/status/phase")) {
        ("Pod", "Succeeded") => ("Succeeded", "The pod has completed successfully."),
        ("Pod", "Failed") => ("Failed", "The pod failed."),
        _ => return Value::Null,
    };
    json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}])
}

fn count(row: Row<'_>, pointers: &[&str]) -> Value {
    let maps = pointers
        .iter()
        .filter_map(|pointer| row.object.pointer(pointer));
    maps.filter_map(Value::as_object)
        .map(serde_json::Map::len)
        .sum::<usize>()
        .into()
}

/// Names and images of a template's containers, and the selector.
fn template(row: Row<'_>) -> [Value; 3] {
    let containers = row.list("/spec/template/spec/containers");
    let joined = |field: &str| -> Value {
        let texts = containers.iter().filter_map(|one| one[field].as_str());
        texts.collect::<Vec<_>>().join(",").into()
    };
    let selector = selector_text(&row.object["spec"]["selector"]);
    [joined("name"), joined("image"), selector.into()]
}

fn deployment(row: Row<'_>) -> Vec<Value> {
    let ready = row.number("/status/readyReplicas");
    let mut cells = vec![
        row.name(),
        format!("{ready}/{}", row.number("/spec/replicas")).into(),
        row.number("/status/updatedReplicas").into(),
        row.number("/status/availableReplicas").into(),
        row.age(),
    ];
    cells.extend(template(row));
    cells
}

fn replica_set(row: Row<'_>) -> Vec<Value> {
    let mut cells = vec![
        row.name(),
        row.number("/spec/replicas").into(),
        row.number("/status/replicas").into(),
        row.number("/status/readyReplicas").into(),
        row.age(),
    ];
    cells.extend(template(row));
    cells
}

fn stateful_set(row: Row<'_>) -> Vec<Value> {
    let ready = row.number("/status/readyReplicas");
    let desired = row.number("/spec/replicas");
    let [names, images, _] = template(row);
    let ready = format!("{ready}/{desired}").into();
    vec![row.name(), ready, row.age(), names, images]
}

fn daemon_set(row: Row<'_>) -> Vec<Value> {
    let number = |field: &str| Value::from(row.number(&format!("/status/{field}")));
    let mut cells = vec![
        row.name(),
        number("desiredNumberScheduled"),
        number("currentNumberScheduled"),
        number("numberReady"),
        number("updatedNumberScheduled"),
        number("numberAvailable"),
        labels(&row.object["spec"]["template"]["spec"]["nodeSelector"]).into(),
        row.age(),
    ];
    cells.extend(template(row));
    cells
}

/// `a=b,c=d`, or `<none>`.
fn labels(map: &Value) -> String {
    let pairs: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        "<none>".to_owned()
    } else {
        pairs.join(",")
    }
}

fn node(row: Row<'_>) -> Vec<Value> {
    let info = |field: &str| row.text(&format!("/status/nodeInfo/{field}"));
    let or_unknown = |text: &str| Value::from(if text.is_empty() { "<unknown>" } else { text });
    vec![
        row.name(),
        node_status(row).into(),
        node_roles(row).into(),
        row.age(),
        info("kubeletVersion").into(),
        or_none(address(row, "InternalIP")),
        or_none(address(row, "ExternalIP")),
        or_unknown(info("osImage")),
        or_unknown(info("kernelVersion")),
        or_unknown(info("containerRuntimeVersion")),
    ]
}

fn node_status(row: Row<'_>) -> String {
    let conditions = row.list("/status/conditions");
    let ready = conditions.iter().find(|one| one["type"] == "Ready");
    let mut status = match ready {
        Some(ready) if ready["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if row.object["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn node_roles(row: Row<'_>) -> String {
    let labels = row.object["metadata"]["labels"].as_object();
    let mut roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(
            |(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
                Some(role) => Some(role),
                None if key == "kubernetes.io/role" => value.as_str(),
                None => None,
            },
        )
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    }
}

fn address<'a>(row: Row<'a>, kind: &str) -> &'a str {
    let addresses = row.list("/status/addresses");
    let found = addresses.iter().find(|one| one["type"] == kind);
    found
        .and_then(|one| one["address"].as_str())
        .unwrap_or_default()
}

fn event(row: Row<'_>) -> Vec<Value> {
    // Both versions of the kind have a row: one of them names its fields anew.
    let mut core = row.object.clone();
    super::super::event_view::to_core(&mut core);
    let row = Row {
        object: &core,
        ..row
    };
    let moment = |pointers: &[&str]| {
        let set = pointers
            .iter()
            .find(|pointer| !row.text(pointer).is_empty());
        row.since(set.unwrap_or(&""))
    };
    let first = moment(&["/firstTimestamp", "/eventTime"]);
    let mut last = moment(&["/lastTimestamp", "/firstTimestamp", "/eventTime"]);
    let mut count = row.number("/count").max(1);
    if row.object["series"].is_object() {
        last = row.since("/series/lastObservedTime");
        count = row.number("/series/count");
    }
    let kind = row.text("/involvedObject/kind").to_lowercase();
    let target = format!("{kind}/{}", row.text("/involvedObject/name"));
    vec![
        last.into(),
        row.text("/type").into(),
        row.text("/reason").into(),
        target.into(),
        row.text("/involvedObject/fieldPath").into(),
        event_source(row).into(),
        row.text("/message").trim().into(),
        first.into(),
        count.into(),
        row.name(),
    ]
}

fn event_source(row: Row<'_>) -> String {
    let joined = |who: &str, at: &str| match at {
        "" => who.to_owned(),
        at => format!("{who}, {at}"),
    };
    match row.text("/source/component") {
        "" => joined(
            row.text("/reportingComponent"),
            row.text("/reportingInstance"),
        ),
        component => joined(component, row.text("/source/host")),
    }
}

fn service(row: Row<'_>) -> Vec<Value> {
    vec![
        row.name(),
        row.text("/spec/type").into(),
        or_none(row.text("/spec/clusterIPs/0")),
        external_ips(row).into(),
        ports(row).into(),
        row.age(),
        labels(&row.object["spec"]["selector"]).into(),
    ]
}

fn external_ips(row: Row<'_>) -> String {
    let texts = |list: &[Value]| -> Vec<String> {
        let texts = list.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let own = texts(row.list("/spec/externalIPs"));
    match row.text("/spec/type") {
        "ExternalName" => row.text("/spec/externalName").to_owned(),
        "LoadBalancer" => {
            let ingress = row.list("/status/loadBalancer/ingress").iter();
            let mut ips: Vec<String> = ingress
                .filter_map(|one| one["ip"].as_str().or_else(|| one["hostname"].as_str()))
                .map(str::to_owned)
                .collect();
            ips.extend(own);
            if ips.is_empty() {
                "<pending>".to_owned()
            } else {
                ips.join(",")
            }
        }
        _ if own.is_empty() => "<none>".to_owned(),
        _ => own.join(","),
    }
}

fn ports(row: Row<'_>) -> String {
    let ports: Vec<String> = row
        .list("/spec/ports")
        .iter()
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or_default();
            match port["nodePort"].as_i64() {
                None | Some(0) => format!("{}/{protocol}", port["port"]),
                Some(node_port) => format!("{}:{node_port}/{protocol}", port["port"]),
            }
        })
        .collect();
    if ports.is_empty() {
        "<none>".to_owned()
    } else {
        ports.join(",")
    }
}

/// Requests and limits apart: `pods: 1/4`.
fn resource_quota(row: Row<'_>) -> Vec<Value> {
    let status = &row.object["status"];
    let of = |limits: bool| -> Value {
        let hard = status["hard"].as_object().into_iter().flatten();
        let shown = hard.filter(|(name, _)| name.contains("limits") == limits);
        let texts = shown.map(|(name, hard)| {
            let amount = |value: &Value| value.as_str().unwrap_or("0").to_owned();
            format!("{name}: {}/{}", amount(&status["used"][name]), amount(hard))
        });
        texts.collect::<Vec<_>>().join(", ").into()
    };
    vec![row.name(), of(false), of(true), row.age()]
}

fn disruption_budget(row: Row<'_>) -> Vec<Value> {
    let amount = |field: &str| match &row.object["spec"][field] {
        Value::Null => "N/A".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    vec![
        row.name(),
        amount("minAvailable").into(),
        amount("maxUnavailable").into(),
        row.number("/status/disruptionsAllowed").into(),
        row.age(),
    ]
}
