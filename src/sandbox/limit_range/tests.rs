//! Defaults and refusals of limit ranges, in the recorded words.

use serde_json::{Value, json};

use super::*;

fn limit_range(limits: &Value) -> Value {
    json!({"metadata": {"name": "lr"}, "spec": {"limits": limits}})
}

fn pod(resources: &Value) -> Value {
    json!({"spec": {"containers": [{"name": "main", "resources": resources}]}})
}

/// As recorded in `errors/limit-range/03`, and the words for init containers beside them.
#[test]
fn writes_defaults_and_says_so() {
    let range = limit_range(&json!([{
        "type": "Container",
        "default": {"cpu": "500m", "memory": "1Gi"},
        "defaultRequest": {"cpu": "100m"},
    }]));
    let mut new = pod(&json!({"limits": {"memory": "2Gi"}}));
    new["spec"]["initContainers"] =
        json!([{"name": "init", "resources": {"requests": {"cpu": "1"}}}]);
    set_defaults(&range, &mut new);
    let note = "LimitRanger plugin set: cpu request for container main; cpu limit for container main; \
                cpu, memory limit for init container init";
    assert_eq!(new["metadata"]["annotations"], json!({ANNOTATION: note}));
    let main = json!({"limits": {"cpu": "500m", "memory": "2Gi"}, "requests": {"cpu": "100m"}});
    assert_eq!(new["spec"]["containers"][0]["resources"], main);
    let init = json!({"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "1"}});
    assert_eq!(new["spec"]["initContainers"][0]["resources"], init);
}

#[test]
fn says_nothing_where_nothing_is_missing() {
    let range = limit_range(&json!([{"type": "Container", "default": {"cpu": "500m"}}]));
    let mut new = pod(&json!({"limits": {"cpu": "1"}}));
    set_defaults(&range, &mut new);
    assert_eq!(new["metadata"], Value::Null);
}

/// As recorded: `errors/limit-range` of the API recordings and `limitrange` of the failure objects; the remaining
/// words are of the failure-states spec, section 14.2.
#[test]
fn refuses_in_the_recorded_words() {
    let cases = [
        (
            json!({"type": "Container", "max": {"cpu": "1"}}),
            json!({"limits": {"cpu": "2"}}),
            vec!["maximum cpu usage per Container is 1, but limit is 2"],
        ),
        (
            json!({"type": "Container", "max": {"cpu": "500m", "memory": "256Mi"}}),
            json!({"limits": {"cpu": "1", "memory": "1Gi"}}),
            vec![
                "maximum cpu usage per Container is 500m, but limit is 1",
                "maximum memory usage per Container is 256Mi, but limit is 1Gi",
            ],
        ),
        (
            json!({"type": "Container", "max": {"cpu": "1"}}),
            json!({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
            vec!["maximum cpu usage per Container is 1, but request is 2"],
        ),
        (
            json!({"type": "Container", "min": {"cpu": "50m"}}),
            json!({"requests": {"cpu": "10m"}}),
            vec!["minimum cpu usage per Container is 50m, but request is 10m"],
        ),
        (
            json!({"type": "Container", "min": {"cpu": "50m"}}),
            json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "20m"}}),
            vec!["minimum cpu usage per Container is 50m, but limit is 20m"],
        ),
        (
            json!({"type": "Pod", "min": {"cpu": "50m"}}),
            json!({}),
            vec!["minimum cpu usage per Pod is 50m.  No request is specified"],
        ),
        (
            json!({"type": "Pod", "max": {"cpu": "500m"}}),
            json!({}),
            vec!["maximum cpu usage per Pod is 500m.  No limit is specified"],
        ),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            json!({"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}),
            vec![
                "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
            ],
        ),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            json!({"limits": {"cpu": "1"}}),
            vec![
                "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
            ],
        ),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            json!({"requests": {"cpu": "1"}}),
            vec![
                "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
            ],
        ),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            json!({"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}),
            vec![],
        ),
    ];
    for (limit, resources, expected) in cases {
        let range = limit_range(&json!([limit]));
        assert_eq!(violations(&range, "Pod", &pod(&resources)), expected);
    }
}

#[test]
fn a_pod_is_held_to_the_sum_of_its_containers() {
    let range = limit_range(&json!([{"type": "Pod", "max": {"cpu": "1"}}]));
    let container = json!({"name": "a", "resources": {"limits": {"cpu": "600m"}}});
    let mut new = json!({"spec": {"containers": [container, container]}});
    let over = "maximum cpu usage per Pod is 1, but limit is 1200m";
    assert_eq!(violations(&range, "Pod", &new), [over]);
    // What the pod states for itself counts instead.
    new["spec"]["resources"] = json!({"limits": {"cpu": "1"}});
    assert_eq!(violations(&range, "Pod", &new), [""; 0]);
}

#[test]
fn claims_are_held_to_their_requests() {
    let bounds = json!({"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}});
    let range = limit_range(&json!([bounds]));
    let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
    let check = |claim: &Value| violations(&range, "PersistentVolumeClaim", claim);
    assert_eq!(
        check(&claim("3Gi")),
        ["maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"]
    );
    assert_eq!(
        check(&claim("1Mi")),
        ["minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"]
    );
    assert_eq!(check(&claim("1Gi")), [""; 0]);
    assert_eq!(violations(&range, "Pod", &pod(&json!({}))), [""; 0]);
}
