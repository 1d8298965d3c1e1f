//! What quotas refuse, charge and count.

use serde_json::{Value, json};

use super::*;
use crate::sandbox::kinds::{self, KINDS};

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

fn kind(plural: &str) -> &'static Kind {
    kinds::by_plural(plural).expect("a kind of the table")
}

fn quota(name: &str, hard: &Value, used: &Value) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"hard": hard},
        "status": {"hard": hard, "used": used},
    })
}

/// The answer to a create: the refusal, or what each quota counts afterwards.
fn create(plural: &str, object: &Value, quotas: &[Value]) -> Result<Vec<Option<Value>>, String> {
    let charge = Charge {
        kind: kind(plural),
        old: None,
        new: object,
        now: now(),
    };
    assert!(charge.is_counted());
    charge.apply(quotas)
}

fn pod(resources: &Value) -> Value {
    json!({"spec": {"containers": [{"name": "web", "resources": resources}]}})
}

/// `RESOURCE OBJECT-OR-POD'S-RESOURCES`, what `q` limits, what of it is used, and the refusal.
///
/// As recorded, but for the last two: `errors/quota` of the API recordings and `quota-exceeded` of the failure
/// objects.
const REFUSALS: &str = r#"
pods {}
{"pods": "2"}
{"pods": "2"}
exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2
pods {"requests": {"cpu": "300m"}}
{"pods": "2", "requests.cpu": "1"}
{"pods": "2", "requests.cpu": "900m"}
exceeded quota: q, requested: pods=1,requests.cpu=300m, used: pods=2,requests.cpu=900m, limited: pods=2,requests.cpu=1
pods {"requests": {"cpu": "600m", "memory": "600Mi"}}
{"pods": "9", "requests.cpu": "1", "requests.memory": "1Gi"}
{"pods": "1", "requests.cpu": "600m", "requests.memory": "600Mi"}
exceeded quota: q, requested: requests.cpu=600m,requests.memory=600Mi, used: requests.cpu=600m,requests.memory=600Mi, limited: requests.cpu=1,requests.memory=1Gi
pods {"requests": {"memory": "1Mi"}}
{"limits.cpu": "1", "limits.memory": "1Gi", "requests.cpu": "1", "pods": "9"}
{"limits.cpu": "0", "limits.memory": "0", "requests.cpu": "0", "pods": "0"}
failed quota: q: must specify limits.cpu for: web; limits.memory for: web; requests.cpu for: web
configmaps {}
{"count/configmaps": "1"}
{"count/configmaps": "1"}
exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1
replicasets {}
{"count/replicasets.apps": "0"}
{"count/replicasets.apps": "0"}
exceeded quota: q, requested: count/replicasets.apps=1, used: count/replicasets.apps=0, limited: count/replicasets.apps=0
pods {}
{"pods": "2", "count/pods": "3"}
{"pods": "2"}
status unknown for quota: q, resources: count/pods,pods
pods {"requests": {"example.com/gpu": "2"}}
{"requests.example.com/gpu": "1"}
{"requests.example.com/gpu": "0"}
exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=0, limited: requests.example.com/gpu=1
"#;

#[test]
fn refuses_in_the_recorded_words() {
    let json = |text: &str| -> Value { serde_json::from_str(text).expect(text) };
    let lines: Vec<&str> = REFUSALS.trim().lines().collect();
    for case in lines.chunks(4) {
        let [what, hard, used, refusal] = case else {
            panic!("not four lines: {case:?}");
        };
        let (plural, object) = what.split_once(' ').expect("a resource and an object");
        let object = match plural {
            "pods" => pod(&json(object)),
            _ => json(object),
        };
        let quota = quota("q", &json(hard), &json(used));
        assert_eq!(
            create(plural, &object, &[quota]),
            Err((*refusal).to_owned())
        );
    }
}

#[test]
fn charges_what_is_limited_and_nothing_else() {
    let hard = json!({"pods": "2", "requests.cpu": "1", "count/configmaps": "1"});
    let used = json!({"pods": "0", "requests.cpu": "0", "count/configmaps": "0"});
    let quotas = [
        quota("q", &hard, &used),
        quota(
            "services",
            &json!({"services": "1"}),
            &json!({"services": "0"}),
        ),
    ];
    let charged = create("pods", &pod(&json!({"requests": {"cpu": "600m"}})), &quotas);
    let after = json!({"pods": "1", "requests.cpu": "600m", "count/configmaps": "0"});
    assert_eq!(charged, Ok(vec![Some(after), None]));
}

#[test]
fn a_quota_without_status_limits_nothing() {
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}, "status": {}});
    assert_eq!(create("pods", &pod(&json!({})), &[quota]), Ok(vec![None]));
}

#[test]
fn all_scopes_must_cover_the_pod() {
    let scoped = |spec: &Value| {
        let mut quota = quota("q", &json!({"pods": "0"}), &json!({"pods": "0"}));
        quota["spec"]["scopes"] = spec["scopes"].clone();
        quota["spec"]["scopeSelector"] = json!({"matchExpressions": spec["selector"]});
        quota
    };
    let best_effort = pod(&json!({}));
    let mut job = pod(&json!({"requests": {"cpu": "1"}}));
    job["spec"]["activeDeadlineSeconds"] = 60.into();
    job["spec"]["priorityClassName"] = "high".into();
    let term = json!({"podAffinityTerm": {"namespaces": ["other"], "topologyKey": "zone"}});
    job["spec"]["affinity"]["podAntiAffinity"] =
        json!({"preferredDuringSchedulingIgnoredDuringExecution": [term]});
    let class = |operator: &str, values: &Value| json!({"selector": [{"scopeName": "PriorityClass", "operator": operator, "values": values}]});
    // Scopes, and whether they cover the one pod and the other.
    let cases = [
        (json!({"scopes": ["BestEffort"]}), true, false),
        (json!({"scopes": ["NotBestEffort"]}), false, true),
        (json!({"scopes": ["Terminating"]}), false, true),
        (json!({"scopes": ["NotTerminating"]}), true, false),
        (
            json!({"scopes": ["NotTerminating", "NotBestEffort"]}),
            false,
            false,
        ),
        (
            json!({"scopes": ["CrossNamespacePodAffinity"]}),
            false,
            true,
        ),
        (class("Exists", &json!([])), false, true),
        (class("DoesNotExist", &json!([])), true, false),
        (class("In", &json!(["high"])), false, true),
        (class("NotIn", &json!(["high"])), true, false),
    ];
    for (scopes, first, second) in cases {
        for (pod, is_covered) in [(&best_effort, first), (&job, second)] {
            let refused = create("pods", pod, &[scoped(&scopes)]).is_err();
            assert_eq!(refused, is_covered, "{scopes} {pod}");
        }
    }
    // Kinds without scopes are beyond any quota that has some.
    let mut quota = quota(
        "q",
        &json!({"count/configmaps": "0"}),
        &json!({"count/configmaps": "0"}),
    );
    quota["spec"]["scopes"] = json!(["BestEffort"]);
    assert_eq!(create("configmaps", &json!({}), &[quota]), Ok(vec![None]));
}

#[test]
fn an_update_is_charged_the_difference() {
    let hard = json!({"services.nodeports": "3"});
    let quota = quota("q", &hard, &json!({"services.nodeports": "2"}));
    let service = |ports: usize| json!({"spec": {"type": "NodePort", "ports": vec![json!({"port": 80}); ports]}});
    let update = |old: &Value, new: &Value| {
        let charge = Charge {
            kind: kind("services"),
            old: Some(old),
            new,
            now: now(),
        };
        assert!(charge.is_counted());
        charge.apply(std::slice::from_ref(&quota))
    };
    let charged = update(&service(2), &service(3));
    assert_eq!(charged, Ok(vec![Some(json!({"services.nodeports": "3"}))]));
    assert_eq!(update(&service(2), &service(1)), Ok(vec![None]));
    let refused = update(&service(2), &service(4));
    let why = "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, \
               limited: services.nodeports=3";
    assert_eq!(refused, Err(why.to_owned()));
    // A plain update of a pod changes nothing that quotas count.
    let pod = pod(&json!({}));
    let charge = Charge {
        kind: kind("pods"),
        old: Some(&pod),
        new: &pod,
        now: now(),
    };
    assert!(!charge.is_counted());
}

#[test]
fn recounts_what_is_there() {
    let hard = json!({
        "pods": "5", "count/pods": "5", "requests.cpu": "4", "limits.cpu": "4", "configmaps": "3",
        "requests.storage": "10Gi", "gold.storageclass.storage.k8s.io/requests.storage": "10Gi",
        "services.loadbalancers": "1",
    });
    let mut finished = pod(&json!({"requests": {"cpu": "1"}}));
    finished["status"]["phase"] = "Succeeded".into();
    let mut stuck = pod(&json!({"requests": {"cpu": "1"}}));
    stuck["metadata"] =
        json!({"deletionTimestamp": "2025-12-31T23:59:00Z", "deletionGracePeriodSeconds": 30});
    let mut running = pod(&json!({"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}));
    let side = json!({"requests": {"cpu": "100m"}});
    running["spec"]["initContainers"] = json!([
        {"name": "side", "restartPolicy": "Always", "resources": side},
        {"name": "init", "resources": {"requests": {"cpu": "700m"}}},
    ]);
    running["spec"]["overhead"] = json!({"cpu": "50m"});
    let objects = |kind: &Kind| match kind.plural {
        "pods" => vec![finished.clone(), stuck.clone(), running.clone()],
        "configmaps" => vec![json!({}), json!({})],
        "persistentvolumeclaims" => vec![json!({"spec": {
            "storageClassName": "gold",
            "resources": {"requests": {"storage": "1500m"}},
        }})],
        _ => Vec::new(),
    };
    let mut quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {}});
    let status = recount(&quota, KINDS, objects, now()).expect("a new status");
    assert_eq!(status["hard"], hard);
    let expected = json!({
        "pods": "1", "count/pods": "3", "requests.cpu": "850m", "limits.cpu": "1050m", "configmaps": "2",
        "requests.storage": "2", "gold.storageclass.storage.k8s.io/requests.storage": "2",
        "services.loadbalancers": "0",
    });
    assert_eq!(status["used"], expected);
    quota["status"] = status;
    assert_eq!(recount(&quota, KINDS, objects, now()), None);
}
