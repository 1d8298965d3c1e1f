//! Containers: image, ports, command, resources, probes, environment and mounts.

use serde_json::Value;

use super::{Text, any, fields, is_empty, is_true, items, number, word};
use crate::schema::quantity::Quantity;

impl Text {
    pub(super) fn containers(&mut self, title: &str, containers: &Value) {
        let none = if is_empty(containers) { " <none>" } else { "" };
        self.line(1, format_args!("{title}:{none}"));
        for container in items(containers) {
            self.basics(container);
            self.words("Command", &container["command"]);
            self.words("Args", &container["args"]);
            self.resources("Limits", &container["resources"]["limits"]);
            self.resources("Requests", &container["resources"]["requests"]);
            self.probe("Liveness", &container["livenessProbe"]);
            self.probe("Readiness", &container["readinessProbe"]);
            self.probe("Startup", &container["startupProbe"]);
            self.env_from(&container["envFrom"]);
            self.env(container);
            self.mounts(container);
        }
    }

    fn basics(&mut self, container: &Value) {
        self.line(1, format_args!(" {}:", word(&container["name"])));
        self.line(2, format_args!("Image:\t{}", word(&container["image"])));
        let ports = items(&container["ports"]);
        let numbers = |field: &str| {
            let number = |port: &Value| {
                let name = match word(&port["name"]) {
                    "" => String::new(),
                    name => format!(" ({name})"),
                };
                format!("{}/{}{name}", number(&port[field]), word(&port["protocol"]))
            };
            ports.iter().map(number).collect::<Vec<_>>()
        };
        self.ports("Port", &numbers("containerPort"));
        self.ports("Host Port", &numbers("hostPort"));
        let profile = &container["securityContext"]["seccompProfile"];
        if profile.is_object() {
            self.line(
                2,
                format_args!("SeccompProfile:\t{}", word(&profile["type"])),
            );
            if profile["type"] == "Localhost" {
                self.line(
                    3,
                    format_args!("LocalhostProfile:\t{}", word(&profile["localhostProfile"])),
                );
            }
        }
    }

    fn ports(&mut self, title: &str, ports: &[String]) {
        match ports {
            [] => self.line(2, format_args!("{title}:\t<none>")),
            [port] => self.line(2, format_args!("{title}:\t{port}")),
            ports => self.line(2, format_args!("{title}s:\t{}", ports.join(", "))),
        }
    }

    fn words(&mut self, title: &str, words: &Value) {
        if is_empty(words) {
            return;
        }
        self.line(2, format_args!("{title}:"));
        for line in items(words)
            .iter()
            .flat_map(|entry| word(entry).split('\n'))
        {
            self.line(3, line);
        }
    }

    fn resources(&mut self, title: &str, resources: &Value) {
        if is_empty(resources) {
            return;
        }
        self.line(2, format_args!("{title}:"));
        for (name, quantity) in fields(resources) {
            self.line(3, format_args!("{name}:\t{}", any(quantity)));
        }
    }

    fn probe(&mut self, title: &str, probe: &Value) {
        if probe.is_object() {
            self.line(2, format_args!("{title}:\t{}", described(probe)));
        }
    }

    fn env_from(&mut self, sources: &Value) {
        if is_empty(sources) {
            return;
        }
        self.line(2, "Environment Variables from:");
        for source in items(sources) {
            let (from, reference) = match &source["configMapRef"] {
                Value::Null => ("Secret", &source["secretRef"]),
                reference => ("ConfigMap", reference),
            };
            let prefix = match word(&source["prefix"]) {
                "" => String::new(),
                prefix => format!(" with prefix '{prefix}'"),
            };
            self.line(
                3,
                format_args!(
                    "{}\t{from}{prefix}\tOptional: {}",
                    word(&reference["name"]),
                    is_true(&reference["optional"])
                ),
            );
        }
    }

    fn env(&mut self, container: &Value) {
        let none = if is_empty(&container["env"]) {
            "\t<none>"
        } else {
            ""
        };
        self.line(2, format_args!("Environment:{none}"));
        for variable in items(&container["env"]) {
            let name = word(&variable["name"]);
            let from = &variable["valueFrom"];
            if from.is_null() {
                for (index, line) in word(&variable["value"]).split('\n').enumerate() {
                    let name = if index == 0 {
                        format!("{name}:")
                    } else {
                        String::new()
                    };
                    self.line(3, format_args!("{name}\t{line}"));
                }
            } else if let Some(value) = value_from(from, container) {
                self.line(3, format_args!("{name}:\t{value}"));
            }
        }
    }

    fn mounts(&mut self, container: &Value) {
        let none = if is_empty(&container["volumeMounts"]) {
            "\t<none>"
        } else {
            ""
        };
        self.line(2, format_args!("Mounts:{none}"));
        let mut mounts: Vec<&Value> = items(&container["volumeMounts"]).iter().collect();
        mounts.sort_by_key(|mount| word(&mount["mountPath"]));
        for mount in mounts {
            let mode = if is_true(&mount["readOnly"]) {
                "ro"
            } else {
                "rw"
            };
            let path = match word(&mount["subPath"]) {
                "" => String::new(),
                path => format!(",path={path:?}"),
            };
            let (at, name) = (word(&mount["mountPath"]), word(&mount["name"]));
            self.line(3, format_args!("{at} from {name} ({mode}{path})"));
        }
        if is_empty(&container["volumeDevices"]) {
            return;
        }
        self.line(2, format_args!("Devices:{none}"));
        let mut devices: Vec<&Value> = items(&container["volumeDevices"]).iter().collect();
        devices.sort_by_key(|device| word(&device["devicePath"]));
        for device in devices {
            let (at, name) = (word(&device["devicePath"]), word(&device["name"]));
            self.line(3, format_args!("{at} from {name}"));
        }
    }
}

fn described(probe: &Value) -> String {
    let seconds = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        number(&probe["initialDelaySeconds"]),
        number(&probe["timeoutSeconds"]),
        number(&probe["periodSeconds"]),
        number(&probe["successThreshold"]),
        number(&probe["failureThreshold"]),
    );
    let (exec, http) = (&probe["exec"], &probe["httpGet"]);
    let (tcp, grpc) = (&probe["tcpSocket"], &probe["grpc"]);
    if exec.is_object() {
        let words: Vec<&str> = items(&exec["command"]).iter().map(word).collect();
        format!("exec [{}] {seconds}", words.join(" "))
    } else if http.is_object() {
        format!("http-get {} {seconds}", url(http))
    } else if tcp.is_object() {
        format!(
            "tcp-socket {}:{} {seconds}",
            word(&tcp["host"]),
            any(&tcp["port"])
        )
    } else if grpc.is_object() {
        let service = word(&grpc["service"]);
        format!("grpc <pod>:{} {service} {seconds}", number(&grpc["port"]))
    } else {
        format!("unknown {seconds}")
    }
}

fn url(http: &Value) -> String {
    let scheme = word(&http["scheme"]).to_ascii_lowercase();
    let (host, port) = (word(&http["host"]), any(&http["port"]));
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    let path = word(&http["path"]);
    let slash = if path.is_empty() || path.starts_with('/') {
        ""
    } else {
        "/"
    };
    let escaped: String = path
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    format!("{scheme}://{host}:{port}{slash}{escaped}")
}

/// Where a variable's value comes from.
fn value_from(from: &Value, container: &Value) -> Option<String> {
    let (field, resource) = (&from["fieldRef"], &from["resourceFieldRef"]);
    let (secret, config) = (&from["secretKeyRef"], &from["configMapKeyRef"]);
    let key = |reference: &Value, preposition: &str, kind: &str| {
        format!(
            "<set to the key '{}' {preposition} {kind} '{}'>\tOptional: {}",
            word(&reference["key"]),
            word(&reference["name"]),
            is_true(&reference["optional"])
        )
    };
    if field.is_object() {
        Some(format!(
            " ({}:{})",
            word(&field["apiVersion"]),
            word(&field["fieldPath"])
        ))
    } else if resource.is_object() {
        let name = word(&resource["resource"]);
        let value = match resource_value(resource, container) {
            Some(0) if matches!(name, "limits.cpu" | "limits.memory") => {
                "node allocatable".to_owned()
            }
            Some(value) => value.to_string(),
            None => String::new(),
        };
        Some(format!("{value} ({name})"))
    } else if secret.is_object() {
        Some(key(secret, "in", "secret"))
    } else if config.is_object() {
        Some(key(config, "of", "config map"))
    } else {
        None
    }
}

/// The container's limit or request in units of the divisor, rounded up; zero where it has none.
fn resource_value(reference: &Value, container: &Value) -> Option<i64> {
    let (side, name) = word(&reference["resource"]).split_once('.')?;
    let quantity = &container["resources"][side][name];
    let millis = |quantity: &Value| Quantity::from_json(quantity).ok().map(Quantity::millis);
    let amount = if quantity.is_null() {
        0
    } else {
        millis(quantity)?
    };
    let divisor = millis(&reference["divisor"])
        .filter(|divisor| *divisor > 0)
        .unwrap_or(1000);
    Some(amount.div_euclid(divisor) + i64::from(amount.rem_euclid(divisor) > 0))
}
