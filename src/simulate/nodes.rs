//! The made-up nodes, and the real ones that must not be there.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::kubelet::{NodeShape, NodeView, set_reachable};

/// How many nodes are made up.
const COUNT: u32 = 3;
/// Nodes a page.
const PAGE: u32 = 500;

/// The names of nodes that say they are ready: kubelets run the pods there.
///
/// # Errors
/// When nodes can't be listed.
pub async fn ready_nodes(client: &Client) -> Result<Vec<String>, kube::Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let mut params = ListParams::default().limit(PAGE);
    let mut ready = Vec::new();
    loop {
        let page = nodes.list(&params).await?;
        ready.extend(
            page.items
                .iter()
                .filter(|node| is_ready(node))
                .map(Node::name_any),
        );
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(ready),
        }
    }
}

fn is_ready(node: &Node) -> bool {
    let conditions = node
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Nodes that nobody but the simulation knows.
pub(super) struct Nodes(BTreeMap<String, Value>);

impl Nodes {
    pub(super) fn new(now: Timestamp) -> Self {
        let nodes = (1..=COUNT).map(|number| {
            let name = format!("simulated-{number}");
            let mut node = NodeShape::large().node(number, now);
            node["metadata"]["name"] = json!(name);
            node["metadata"]["labels"]["kubernetes.io/hostname"] = json!(name);
            (name, node)
        });
        Self(nodes.collect())
    }

    /// As the simulation sees them.
    pub(super) fn views(&self) -> Vec<NodeView> {
        self.0.values().filter_map(view).collect()
    }

    /// Whether a pod that is bound to this node, or to none, may be run here.
    pub(super) fn may_run(&self, node: &str) -> bool {
        node.is_empty() || self.0.contains_key(node)
    }

    /// Marks a node; returns how it is seen then.
    pub(super) fn set_reachable(
        &mut self,
        name: &str,
        reachable: bool,
        now: Timestamp,
    ) -> Option<NodeView> {
        let node = self.0.get_mut(name)?;
        set_reachable(node, reachable, now);
        view(node)
    }
}

fn view(node: &Value) -> Option<NodeView> {
    NodeView::deserialize(node).ok()
}
