//! Services.

use std::collections::BTreeSet;

use serde_json::Value;

use super::errors::Errors;
use super::format::{dns_label, dns_subdomain, ip_address, port_number, qualified_name};
use super::metadata;
use super::path::Path;
use super::probe::validate_port;
use super::selector::validate_labels;
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::{is_zero, list, text};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const MOST_AFFINITY_SECONDS: i64 = 86_400;

/// A new Service.
pub(super) fn validate(service: &Value, errors: &mut Errors) {
    metadata::validate("Service", service, errors);
    validate_spec(&service["spec"], errors);
}

/// An update of a Service: its addresses stay.
pub(super) fn validate_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    let kind = |service: &Value| text(&service["spec"]["type"]).to_owned();
    if kind(new) != "ExternalName" && kind(old) != "ExternalName" {
        let path = Path::root("spec");
        for field in ["clusterIPs", "ipFamilies"] {
            let (now, was) = (&new["spec"][field], &old["spec"][field]);
            let path = path.child(field);
            if list(was).is_empty() || list(now).first() == list(was).first() {
                continue;
            }
            let detail = if list(now).is_empty() {
                "primary clusterIP can not be unset"
            } else {
                "may not change once set"
            };
            errors.invalid(&path.index(0), now.clone(), detail);
        }
    }
    validate_spec(&new["spec"], errors);
}

fn validate_spec(spec: &Value, errors: &mut Errors) {
    let path = Path::root("spec");
    let kind = text(&spec["type"]);
    let is_headless = spec["clusterIP"] == "None";
    let ports = list(&spec["ports"]);
    if ports.is_empty() && !is_headless && kind != "ExternalName" {
        errors.required(&path.child("ports"), "");
    }
    if is_headless && matches!(kind, "LoadBalancer" | "NodePort") {
        let detail = format!("may not be set to 'None' for {kind} services");
        errors.invalid(&path.child("clusterIPs").index(0), "None", detail);
    }
    if kind == "ExternalName" {
        validate_external_name(spec, &path, errors);
    }
    validate_ports(ports, &path.child("ports"), errors);
    validate_labels(&spec["selector"], &path.child("selector"), errors);
    validate_affinity(spec, &path, errors);
    if kind != "ExternalName" {
        validate_addresses(spec, &path, errors);
    }
    let external = path.child("externalIPs");
    for (index, ip) in list(&spec["externalIPs"]).iter().enumerate() {
        errors.all_invalid(&external.index(index), text(ip), ip_address(text(ip)));
    }
    errors.one_of(&path.child("type"), &spec["type"], &TYPES);
    validate_unique_ports(kind, ports, &path.child("ports"), errors);
    validate_traffic(spec, &path, errors);
}

fn validate_external_name(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if !is_zero(&spec[field]) {
            errors.forbidden(
                &path.child(field),
                "may not be set for ExternalName services",
            );
        }
    }
    let name = text(&spec["externalName"]);
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        errors.required(&path.child("externalName"), "");
    } else {
        errors.all_invalid(&path.child("externalName"), name, dns_subdomain(name));
    }
}

fn validate_ports(ports: &[Value], path: &Path<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let name = text(&port["name"]);
        if !name.is_empty() {
            errors.all_invalid(&path.child("name"), name, dns_label(name));
            if !names.insert(name) {
                errors.duplicate(&path.child("name"), name);
            }
        } else if ports.len() > 1 {
            errors.required(&path.child("name"), "");
        }
        let number = port["port"].as_i64().unwrap_or_default();
        for problem in port_number(number) {
            errors.invalid(&path.child("port"), number, problem);
        }
        let protocols = ["SCTP", "TCP", "UDP"];
        errors.one_of(&path.child("protocol"), &port["protocol"], &protocols);
        validate_port(&port["targetPort"], &path.child("targetPort"), errors);
        if let Some(protocol) = port["appProtocol"].as_str() {
            errors.all_invalid(
                &path.child("appProtocol"),
                protocol,
                qualified_name(protocol),
            );
        }
    }
}

fn validate_affinity(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let affinity = &spec["sessionAffinity"];
    errors.one_of(
        &path.child("sessionAffinity"),
        affinity,
        &["ClientIP", "None"],
    );
    let timeout = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].as_i64();
    if affinity == "ClientIP"
        && let Some(seconds) = timeout
        && !(1..=MOST_AFFINITY_SECONDS).contains(&seconds)
    {
        let path = path.child("sessionAffinityConfig");
        let path = path.child("clientIP");
        let detail = format!("must be greater than 0 and less than {MOST_AFFINITY_SECONDS}");
        errors.invalid(&path.child("timeoutSeconds"), seconds, detail);
    }
}

fn validate_addresses(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (first, all) = (text(&spec["clusterIP"]), &spec["clusterIPs"]);
    let ips = list(all);
    let ips_path = path.child("clusterIPs");
    if first.is_empty() && !ips.is_empty() {
        let detail = "must be empty when `clusterIP` is not specified";
        errors.invalid(&ips_path, all.clone(), detail);
    } else if ips.first().is_some_and(|ip| text(ip) != first) {
        errors.invalid(&ips_path, all.clone(), "first value must match `clusterIP`");
    }
    let families = path.child("ipFamilies");
    let mut seen = BTreeSet::new();
    for (index, family) in list(&spec["ipFamilies"]).iter().enumerate() {
        let path = families.index(index);
        errors.one_of_if_set(&path, family, &["IPv4", "IPv6"]);
        if !seen.insert(text(family)) {
            errors.duplicate(&path, text(family));
        }
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    let field = "ipFamilyPolicy";
    errors.one_of_if_set(&path.child(field), &spec[field], &policies);
    if ips.len() > 1 && ips.first().is_some_and(|ip| ip == "None") {
        let detail = "'None' must be the first and only value";
        errors.invalid(&ips_path, all.clone(), detail);
    }
    for (index, ip) in ips.iter().enumerate().filter(|(_, ip)| *ip != "None") {
        errors.all_invalid(&ips_path.index(index), text(ip), ip_address(text(ip)));
    }
    if ips.len() > 2 {
        errors.invalid(&ips_path, all.clone(), "may only hold up to 2 values");
    }
}

/// No two ports may be the same, nor take the same port of the nodes.
fn validate_unique_ports(kind: &str, ports: &[Value], path: &Path<'_>, errors: &mut Errors) {
    let node_port = |port: &Value| port["nodePort"].as_i64().unwrap_or_default();
    if kind == "ClusterIP" {
        for (index, port) in ports.iter().enumerate() {
            if node_port(port) != 0 {
                let detail = "may not be used when `type` is 'ClusterIP'";
                errors.forbidden(&path.index(index).child("nodePort"), detail);
            }
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let is_same = |other: &Value| {
            node_port(other) == node_port(port) && other["protocol"] == port["protocol"]
        };
        if node_port(port) != 0 && ports[..index].iter().any(is_same) {
            errors.duplicate(&path.index(index).child("nodePort"), node_port(port));
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let is_same =
            |other: &Value| other["port"] == port["port"] && other["protocol"] == port["protocol"];
        if ports[..index].iter().any(is_same) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                port["protocol"], port["port"]
            );
            let path = path.index(index).to_string();
            errors.push(FieldError::duplicate_as(path, &shown, ""));
        }
    }
}

fn validate_traffic(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let kind = text(&spec["type"]);
    let is_external = matches!(kind, "LoadBalancer" | "NodePort")
        || (kind == "ClusterIP" && !is_zero(&spec["externalIPs"]));
    let policy = &spec["externalTrafficPolicy"];
    let policy_path = path.child("externalTrafficPolicy");
    if is_external {
        errors.one_of(&policy_path, policy, &["Cluster", "Local"]);
    } else if !is_zero(policy) {
        let detail = "may only be set for externally-accessible services";
        errors.invalid(&policy_path, policy.clone(), detail);
    }
    if kind != "LoadBalancer" {
        for field in ["loadBalancerSourceRanges", "allocateLoadBalancerNodePorts"] {
            let shown = field.replace("loadBalancerS", "LoadBalancerS");
            if !spec[field].is_null() && spec[field] != serde_json::json!([]) {
                let detail = "may only be used when `type` is 'LoadBalancer'";
                errors.forbidden(&path.child(&shown), detail);
            }
        }
    }
    let field = "internalTrafficPolicy";
    errors.one_of_if_set(&path.child(field), &spec[field], &["Cluster", "Local"]);
    let field = "trafficDistribution";
    let preferences = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    errors.one_of_if_set(&path.child(field), &spec[field], &preferences);
}
