//! Nodes: what the scheduler sees of them, and what runs on them.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;

use super::affinity::Toleration;
use super::container_spec::{Resources, add, resources};
use crate::controller::api::null_as_default;
use crate::schema::quantity::Quantity;

/// The resource that counts pods.
pub(super) const PODS: &str = "pods";

/// The annotation, `true`, by which somebody cuts a simulated node off: its kubelet falls silent.
pub const LOST: &str = "sandbox.kubectl-rs.dev/lost";
/// The taint of a node whose kubelet is silent.
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// A node, decoded from its JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeView {
    /// Name and labels.
    pub metadata: NodeMeta,
    /// What keeps pods away.
    #[serde(deserialize_with = "null_as_default")]
    pub spec: NodeSpec,
    /// What it has.
    #[serde(deserialize_with = "null_as_default")]
    pub status: NodeStatus,
}

/// The metadata that matter here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeMeta {
    /// The name.
    pub name: String,
    /// Labels.
    #[serde(deserialize_with = "null_as_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(deserialize_with = "null_as_default")]
    pub annotations: BTreeMap<String, String>,
}

/// `spec` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeSpec {
    /// Where its pods get their addresses from.
    #[serde(rename = "podCIDR", deserialize_with = "null_as_default")]
    pub pod_cidr: String,
    /// Cordoned.
    #[serde(deserialize_with = "null_as_default")]
    pub unschedulable: bool,
    /// Taints.
    #[serde(deserialize_with = "null_as_default")]
    pub taints: Vec<Taint>,
}

/// A taint.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value.
    #[serde(deserialize_with = "null_as_default")]
    pub value: String,
    /// What it does to pods that do not bear it.
    pub effect: String,
}

/// `status` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeStatus {
    /// What pods may ask for.
    #[serde(deserialize_with = "resources")]
    pub allocatable: Resources,
    /// Its addresses.
    #[serde(deserialize_with = "null_as_default")]
    pub addresses: Vec<NodeAddress>,
}

/// An address of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeAddress {
    /// `InternalIP`, `Hostname`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The address.
    pub address: String,
}

impl NodeView {
    /// Whether somebody has cut it off.
    pub(super) fn is_lost(&self) -> bool {
        self.metadata
            .annotations
            .get(LOST)
            .is_some_and(|lost| lost == "true")
    }

    /// The address that its pods have as `hostIP`.
    pub fn internal_ip(&self) -> &str {
        let mut addresses = self.status.addresses.iter();
        addresses
            .find(|address| address.type_ == "InternalIP")
            .map_or("", |address| &address.address)
    }
}

impl Taint {
    /// Whether it keeps new pods away.
    pub(super) fn repels(&self) -> bool {
        matches!(self.effect.as_str(), "NoSchedule" | "NoExecute")
    }

    /// Whether a pod with this toleration bears it.
    pub(super) fn is_tolerated_by(&self, toleration: &Toleration) -> bool {
        let effect = toleration.effect.is_empty() || toleration.effect == self.effect;
        let key = toleration.key == self.key
            || (toleration.key.is_empty() && toleration.operator == "Exists");
        let value = toleration.operator == "Exists" || toleration.value == self.value;
        effect && key && value
    }
}

/// A node and what runs on it.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) view: NodeView,
    pub(super) used: Resources,
    pub(super) pods: i64,
    /// How full it is, in millionths of its scarcest resource.
    pub(super) crowding: i128,
    /// How many addresses were given out.
    addresses: u32,
    /// Since when its kubelet is silent.
    pub(super) lost: Option<Timestamp>,
    /// Whether that has been noticed.
    pub(super) unreachable: bool,
    /// Images that its pods have run.
    pub(super) images: BTreeSet<String>,
}

impl Node {
    pub(super) fn take(&mut self, requests: &Resources) {
        add(&mut self.used, requests);
        self.pods += 1;
        self.measure();
    }

    pub(super) fn give_back(&mut self, requests: &Resources) {
        for (resource, amount) in requests {
            if let Some(used) = self.used.get_mut(resource) {
                *used = *used - *amount;
            }
        }
        self.pods -= 1;
        self.measure();
    }

    /// Says how full it is after something about it changed.
    pub(super) fn measure(&mut self) {
        let share = |used: i64, of: i64| i128::from(used) * 1_000_000 / i128::from(of.max(1));
        let amounts = ["cpu", "memory"].map(|resource| {
            let allocatable = self.allocatable(resource).millis();
            share(self.used(resource).millis(), allocatable)
        });
        let pods = share(self.pods, self.allocatable(PODS).value());
        self.crowding = amounts.into_iter().fold(pods, i128::max);
    }

    pub(super) fn allocatable(&self, resource: &str) -> Quantity {
        let amount = self.view.status.allocatable.get(resource);
        amount.copied().unwrap_or(Quantity::ZERO)
    }

    pub(super) fn used(&self, resource: &str) -> Quantity {
        self.used.get(resource).copied().unwrap_or(Quantity::ZERO)
    }

    /// A new address for a pod, in the node's network; when that is used up, in the next one behind it.
    pub(super) fn next_pod_ip(&mut self) -> String {
        let number = self.addresses;
        self.addresses += 1;
        let second = FIRST_NETWORK + number / ADDRESSES % NETWORKS;
        format!("10.{second}.{}.{}", self.network(), 2 + number % ADDRESSES)
    }

    /// Gives out no address up to this one again.
    pub(super) fn keep_pod_ip(&mut self, ip: &str) {
        let parts: Vec<u32> = ip.split('.').filter_map(|part| part.parse().ok()).collect();
        if let [10, second, third, fourth] = parts[..]
            && third == self.network()
            && (FIRST_NETWORK..FIRST_NETWORK + NETWORKS).contains(&second)
            && fourth >= 2
        {
            let number = (second - FIRST_NETWORK) * ADDRESSES + fourth - 2;
            self.addresses = self.addresses.max(number + 1);
        }
    }

    /// The third byte of its pods' addresses.
    fn network(&self) -> u32 {
        let range = self.view.spec.pod_cidr.split('.').nth(2);
        range.and_then(|byte| byte.parse().ok()).unwrap_or_default()
    }
}

/// Nodes get `10.244.N.0/24`, as they do from common network plug-ins.
const FIRST_NETWORK: u32 = 244;
/// How many second bytes there are from there on.
const NETWORKS: u32 = 12;
/// How many addresses a network gives to pods.
const ADDRESSES: u32 = 253;
