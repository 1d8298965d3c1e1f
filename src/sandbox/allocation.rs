//! What a Service is given: cluster IPs and node ports, drawn from what is free.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::Bound;

use serde_json::{Value, json};

use super::kinds::Kind;
use super::random::Random;
use super::store::Store;

/// Cluster IPs are of 10.96.0.0/12.
const NETWORK: u32 = u32::from_be_bytes([10, 96, 0, 0]);
const HOSTS: u64 = 1 << 20;
const FIRST_PORT: u64 = 30_000;
const PORTS: u64 = 2768;

/// Completes a Service; other kinds are left alone.
pub(crate) fn allocate(
    store: &Store,
    random: &mut Random,
    kind: &'static Kind,
    object: &mut Value,
) {
    if kind.kind != "Service" || object["spec"]["type"] == "ExternalName" {
        return;
    }
    let others: Vec<Value> = store
        .list(kind.collection, None, &Bound::Unbounded)
        .map(|service| service.value(kind)["spec"].take())
        .collect();
    let spec = &mut object["spec"];
    set_cluster_ip(random, spec, &others);
    if wants_node_ports(spec) {
        set_node_ports(random, spec, &others);
    }
}

fn wants_node_ports(spec: &Value) -> bool {
    match spec["type"].as_str() {
        Some("NodePort") => true,
        Some("LoadBalancer") => spec["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

/// Keeps for a Service what it has where an update leaves it out, and the two forms of the cluster IP together.
pub(crate) fn keep(kind: &Kind, new: &mut Value, old: &Value) {
    if kind.kind != "Service" || new["spec"]["type"] == "ExternalName" {
        return;
    }
    let old = &old["spec"];
    let new = &mut new["spec"];
    let is_unset = |ip: &Value| ip.as_str().is_none_or(str::is_empty);
    if is_unset(&new["clusterIP"]) && !is_unset(&old["clusterIP"]) {
        new["clusterIP"] = old["clusterIP"].clone();
    } else if new["clusterIP"] != old["clusterIP"] && new["clusterIPs"] == old["clusterIPs"] {
        new["clusterIPs"] = json!([new["clusterIP"]]);
    }
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if new[field].is_null() && !old[field].is_null() {
            new[field] = old[field].clone();
        }
    }
    if !wants_node_ports(new) {
        return;
    }
    let old_ports = old["ports"].as_array().cloned().unwrap_or_default();
    for port in new["ports"].as_array_mut().into_iter().flatten() {
        let same =
            |one: &&Value| one["port"] == port["port"] && one["protocol"] == port["protocol"];
        if port["nodePort"].is_null()
            && let Some(old) = old_ports.iter().find(same)
            && !old["nodePort"].is_null()
        {
            port["nodePort"] = old["nodePort"].clone();
        }
    }
}

fn set_cluster_ip(random: &mut Random, spec: &mut Value, others: &[Value]) {
    let is_set = spec["clusterIP"].as_str().is_some_and(|ip| !ip.is_empty());
    if !is_set {
        let taken: BTreeSet<&str> = others
            .iter()
            .filter_map(|other| other["clusterIP"].as_str())
            .collect();
        let free = draw(random, HOSTS, |host| {
            let host = u32::try_from(host).expect("the network has 20 bits of hosts");
            let ip = Ipv4Addr::from(NETWORK + host).to_string();
            (host > 0 && !taken.contains(ip.as_str())).then_some(ip)
        });
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

fn set_node_ports(random: &mut Random, spec: &mut Value, others: &[Value]) {
    let ports = |spec: &Value| -> Vec<u64> {
        let ports = spec["ports"].as_array().into_iter().flatten();
        ports.filter_map(|port| port["nodePort"].as_u64()).collect()
    };
    let mut taken: BTreeSet<u64> = others.iter().flat_map(ports).collect();
    taken.extend(ports(spec));
    for port in spec["ports"].as_array_mut().into_iter().flatten() {
        if port["nodePort"].as_u64().unwrap_or_default() == 0
            && let Some(free) = draw(random, PORTS, |index| {
                let number = FIRST_PORT + index;
                (!taken.contains(&number)).then_some(number)
            })
        {
            port["nodePort"] = free.into();
            taken.insert(free);
        }
    }
}

/// Something free of `count`: from a random place on, the first that `free` has.
fn draw<T>(random: &mut Random, count: u64, free: impl Fn(u64) -> Option<T>) -> Option<T> {
    let start = random.next("services");
    (0..count).find_map(|step| free(start.wrapping_add(step) % count))
}

fn set_if_null(field: &mut Value, value: Value) {
    if field.is_null() {
        *field = value;
    }
}
