//! `delete-rank`: the order in which pods are deleted.

use kubectl_rs::controller::api::Pod;
use kubectl_rs::controller::replica_set::ranking;
use serde_json::{Value, json};

use crate::data::{self, Case, list, string};
use crate::pods::{self, Defaults};

#[test]
fn delete_rank() {
    data::check_all("delete-rank", check);
}

fn check(case: &Case) -> Result<(), String> {
    let defaults = Defaults {
        labels: json!({}),
        controller: "uid-ra".to_owned(),
    };
    let pods = pods::pods(&case.json, &defaults);
    let others = list(&case.json["otherRelatedPods"]).iter();
    let others: Vec<Pod> = others.map(|pod| pods::parse(pod, &defaults)).collect();
    let pods = || pods.iter().map(AsRef::as_ref);
    let related: Vec<&Pod> = pods().chain(&others).collect();
    let ranked = ranking::victims(pods(), related, pods().count(), data::now());
    let names: Vec<&str> = ranked.iter().map(|pod| pod.meta.name.as_str()).collect();
    follows(&names, &case.json["expect"]["order"])
}

/// Whether names are a beginning of an order; those of one inner list may come in any order.
pub(crate) fn follows(names: &[&str], order: &Value) -> Result<(), String> {
    let mut rest = names.iter();
    for group in list(order) {
        let mut expected: Vec<String> = list(group).iter().map(string).collect();
        for name in rest.by_ref().take(expected.len()) {
            let Some(index) = expected.iter().position(|candidate| candidate == name) else {
                return Err(format!(
                    "{name} comes too early or too late: {names:?}, expected {order}"
                ));
            };
            expected.swap_remove(index);
        }
    }
    match rest.next() {
        Some(name) => Err(format!(
            "{name} should not be there: {names:?}, expected {order}"
        )),
        None => Ok(()),
    }
}
