//! What a Service is given: cluster IPs and node ports, the lowest that are free.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::Bound;

use serde_json::{Value, json};

use super::kinds::Kind;
use super::store::Store;

/// Cluster IPs are of 10.96.0.0/12; the first few are left to those who ask for them.
const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 10);
const NODE_PORTS: std::ops::Range<u64> = 30_000..32_768;

/// Completes a Service; other kinds are left alone.
pub(crate) fn allocate(store: &Store, kind: &Kind, object: &mut Value) {
    if kind.kind != "Service" || object["spec"]["type"] == "ExternalName" {
        return;
    }
    let others: Vec<Value> = store
        .list(kind.collection, None, Bound::Unbounded)
        .map(|service| service.value(kind)["spec"].take())
        .collect();
    let spec = &mut object["spec"];
    set_cluster_ip(spec, &others);
    if matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer")) {
        set_node_ports(spec, &others);
    }
}

fn set_cluster_ip(spec: &mut Value, others: &[Value]) {
    let is_set = spec["clusterIP"].as_str().is_some_and(|ip| !ip.is_empty());
    if !is_set {
        let taken: BTreeSet<&str> = others
            .iter()
            .filter_map(|other| other["clusterIP"].as_str())
            .collect();
        let first = u32::from(FIRST_IP);
        let free = (first..).map(|ip| Ipv4Addr::from(ip).to_string());
        let free = free.into_iter().find(|ip| !taken.contains(ip.as_str()));
        spec["clusterIP"] = free.into();
    }
    let ip = spec["clusterIP"].clone();
    let is_open_headless = ip == "None" && spec["selector"].is_null();
    let (families, policy) = if is_open_headless {
        (json!(["IPv4", "IPv6"]), "RequireDualStack")
    } else {
        (json!(["IPv4"]), "SingleStack")
    };
    set_if_null(&mut spec["clusterIPs"], json!([ip]));
    set_if_null(&mut spec["ipFamilies"], families);
    set_if_null(&mut spec["ipFamilyPolicy"], policy.into());
}

fn set_node_ports(spec: &mut Value, others: &[Value]) {
    let ports = |spec: &Value| -> Vec<u64> {
        let ports = spec["ports"].as_array().into_iter().flatten();
        ports.filter_map(|port| port["nodePort"].as_u64()).collect()
    };
    let mut taken: BTreeSet<u64> = others.iter().flat_map(ports).collect();
    taken.extend(ports(spec));
    for port in spec["ports"].as_array_mut().into_iter().flatten() {
        if port["nodePort"].as_u64().unwrap_or_default() == 0
            && let Some(free) = NODE_PORTS.clone().find(|number| !taken.contains(number))
        {
            port["nodePort"] = free.into();
            taken.insert(free);
        }
    }
}

fn set_if_null(field: &mut Value, value: Value) {
    if field.is_null() {
        *field = value;
    }
}
