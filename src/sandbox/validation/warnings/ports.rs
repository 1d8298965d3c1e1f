//! Remarks on container ports that get into each other's way.

use serde_json::Value;

use super::Warnings;
use super::pod::containers;
use crate::sandbox::json::{list, text};
use crate::sandbox::validation::path::Path;

/// A port and where it is declared.
struct Declared<'v> {
    place: String,
    name: &'v str,
    number: i64,
    protocol: &'v str,
    host_ip: &'v str,
    host_port: i64,
}

pub(super) fn warn(spec: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    let ports = collect(spec, place);
    for (index, port) in ports.iter().enumerate() {
        if !port.host_ip.is_empty() && port.host_port == 0 {
            warnings.add(format!(
                "{}: hostIP set without hostPort: {{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
                port.place, port.name, port.host_port, port.number, port.protocol, port.host_ip
            ));
        }
        let same =
            |other: &&Declared<'_>| (other.number, other.protocol) == (port.number, port.protocol);
        for other in ports[..index].iter().filter(same) {
            if let Some(how) = port.conflict_with(other) {
                warnings.add(format!(
                    "{}: {how} port definition with {}",
                    port.place, other.place
                ));
            }
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let mut before = ports[..index].iter();
        if let Some(other) = before.find(|other| !port.name.is_empty() && other.name == port.name) {
            warnings.add(format!(
                "{}: duplicate port name {:?} with {}, services and probes that select ports by name will use {}",
                port.place, port.name, other.place, other.place
            ));
        }
    }
}

fn collect<'v>(spec: &'v Value, place: &Path<'_>) -> Vec<Declared<'v>> {
    let mut found = Vec::new();
    for (field, index, container) in containers(spec) {
        let field = place.child(field);
        let container_place = field.index(index);
        let ports = container_place.child("ports");
        for (index, port) in list(&container["ports"]).iter().enumerate() {
            found.push(Declared {
                place: ports.index(index).to_string(),
                name: text(&port["name"]),
                number: port["containerPort"].as_i64().unwrap_or_default(),
                protocol: text(&port["protocol"]),
                host_ip: text(&port["hostIP"]),
                host_port: port["hostPort"].as_i64().unwrap_or_default(),
            });
        }
    }
    found
}

impl Declared<'_> {
    /// How it collides with a port of the same number and protocol, if it does.
    fn conflict_with(&self, other: &Declared<'_>) -> Option<&'static str> {
        if (self.host_ip, self.host_port) == (other.host_ip, other.host_port) {
            return Some("duplicate");
        }
        if self.host_port == 0 || other.host_port == 0 {
            return Some("overlapping");
        }
        let is_one_open = self.host_ip.is_empty() != other.host_ip.is_empty();
        (self.host_port == other.host_port && is_one_open).then_some("dangerously ambiguous")
    }
}
