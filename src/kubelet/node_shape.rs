//! The simulated nodes' objects, as their kubelets register them and as others mark them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::node::UNREACHABLE;
use crate::schema::quantity::Quantity;

const GIBIBYTE: i64 = 1 << 30;

/// What simulated nodes are like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// CPU of each.
    pub cpu: Quantity,
    /// Memory of each.
    pub memory: Quantity,
    /// Pods that each may run.
    pub pods: u32,
}

impl Default for NodeShape {
    fn default() -> Self {
        Self {
            cpu: Quantity::from(4),
            memory: Quantity::from(16 * GIBIBYTE),
            pods: 110,
        }
    }
}

impl NodeShape {
    /// A big machine: 64 CPUs, 256 GiB, 1,000 pods.
    pub fn large() -> Self {
        Self {
            cpu: Quantity::from(64),
            memory: Quantity::from(256 * GIBIBYTE),
            pods: 1000,
        }
    }

    /// The `number`th simulated node (from 1), as its kubelet registers it.
    pub fn node(&self, number: u32, now: Timestamp) -> Value {
        let name = format!("node-{number}");
        let capacity = json!({
            "cpu": self.cpu.to_string(),
            "memory": self.memory.to_string(),
            "pods": self.pods.to_string(),
            "ephemeral-storage": "100Gi",
        });
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    // The names of old stay on real nodes, and manifests of demonstrations still select by them.
                    "beta.kubernetes.io/arch": "amd64",
                    "beta.kubernetes.io/os": "linux",
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "topology.kubernetes.io/region": "sandbox",
                    "topology.kubernetes.io/zone": format!("sandbox-{}", 1 + number % 3),
                },
            },
            "spec": {"podCIDR": format!("10.244.{number}.0/24")},
            "status": {
                "capacity": capacity,
                "allocatable": capacity,
                "conditions": healthy(now),
                "addresses": [
                    {"type": "InternalIP", "address": format!("192.168.{}.{}", number / 250, 1 + number % 250)},
                    {"type": "Hostname", "address": name},
                ],
                "nodeInfo": {
                    "architecture": "amd64",
                    "operatingSystem": "linux",
                    "osImage": "kubectl-rs sandbox",
                    "kernelVersion": "simulated",
                    "containerRuntimeVersion": "containerd://simulated",
                    "kubeletVersion": "v1.36.2",
                    "kubeProxyVersion": "",
                    "machineID": name,
                    "systemUUID": name,
                    "bootID": name,
                },
            },
        })
    }
}

/// The conditions of a node that is well.
fn healthy(now: Timestamp) -> Vec<Value> {
    [
        (
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        (
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        (
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
        (
            "Ready",
            "True",
            "KubeletReady",
            "kubelet is posting ready status",
        ),
    ]
    .into_iter()
    .map(|(type_, status, reason, message)| {
        json!({
            "type": type_,
            "status": status,
            "lastHeartbeatTime": Time(now),
            "lastTransitionTime": Time(now),
            "reason": reason,
            "message": message,
        })
    })
    .collect()
}

/// Marks a node as reachable or not: its conditions and taints, as the node controller and the kubelet do.
pub fn set_reachable(node: &mut Value, reachable: bool, now: Timestamp) {
    let taints = node["spec"]["taints"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut taints: Vec<Value> = taints
        .into_iter()
        .filter(|taint| taint["key"] != UNREACHABLE)
        .collect();
    if !reachable {
        taints.extend(
            ["NoSchedule", "NoExecute"].map(
                |effect| json!({"key": UNREACHABLE, "effect": effect, "timeAdded": Time(now)}),
            ),
        );
    }
    node["spec"]["taints"] = if taints.is_empty() {
        Value::Null
    } else {
        taints.into()
    };
    if reachable {
        node["status"]["conditions"] = healthy(now).into();
        return;
    }
    for condition in node["status"]["conditions"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        condition["status"] = "Unknown".into();
        condition["lastTransitionTime"] = json!(Time(now));
        condition["reason"] = "NodeStatusUnknown".into();
        condition["message"] = "Kubelet stopped posting node status.".into();
    }
}
