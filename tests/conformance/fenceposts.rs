//! Surge and unavailability, resolved.

use kubectl_rs::controller::api::{Deployment, IntOrPercent};
use kubectl_rs::controller::deployment::{Fenceposts, resolve_fenceposts};
use serde_json::{Value, from_value, json};

use crate::data::{Case, check_all, same};

#[test]
fn fenceposts() {
    check_all("fenceposts", check);
}

fn check(case: &Case) -> Result<(), String> {
    let input = &case.json;
    let bound = |key: &str| -> Option<IntOrPercent> { from_value(input[key].clone()).unwrap() };
    let desired: i32 = from_value(input["replicas"].clone()).unwrap();
    let resolved = resolve_fenceposts(
        bound("maxSurge").as_ref(),
        bound("maxUnavailable").as_ref(),
        desired,
    );
    let Ok(pair) = resolved else {
        return match input["expect"]["error"] {
            Value::Null => Err("an error, where there should be none".to_owned()),
            _ => Ok(()),
        };
    };
    let deployment = Deployment::from_json(&json!({
        "spec": {
            "replicas": desired,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": input["maxSurge"], "maxUnavailable": input["maxUnavailable"]},
            },
        },
    }))
    .unwrap();
    let bounds = Fenceposts::of(&deployment);
    same(
        &input["expect"],
        &json!({
            "surge": pair.max_surge,
            "unavailable": pair.max_unavailable,
            "maxSurge": bounds.max_surge,
            "maxUnavailable": bounds.max_unavailable,
            "minAvailable": bounds.min_available(),
        }),
    )
}
