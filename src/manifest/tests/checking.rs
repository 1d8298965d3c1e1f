//! What must be right before anything is sent.

use super::super::{check, parse};

const GOOD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
";

fn told(text: &str) -> String {
    let objects = parse(text, "web.yaml").expect("manifests that can be read");
    match check(&objects, "default") {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn good_objects_and_other_kinds_pass() {
    let others = "
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: example.com/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
---
apiVersion: extensions/v1beta1
kind: Ingress
metadata: {name: web}
";
    let replica_set = GOOD.replace("kind: Deployment", "kind: ReplicaSet");
    let elsewhere = GOOD.replace("{name: web}\nspec", "{name: web, namespace: other}\nspec");
    assert_eq!(
        told(&format!(
            "{GOOD}---\n{replica_set}---\n{elsewhere}---\n{others}"
        )),
        "fine"
    );
}

#[test]
fn each_mistake_is_told_in_kubernetes_words() {
    let changes = [
        ("apps/v1", "apps/v1beta1"),
        ("apps/v1", "extensions/v1beta1"),
        ("apps/v1", "v1"),
        ("kind: Deployment", "kind: Deploymint"),
        ("kind: Deployment", "kind: deployment"),
        ("kind: Deployment", "kind: Pod"),
        ("{name: web}\nspec", "{}\nspec"),
        ("{name: web}\nspec", "{name: Web_1}\nspec"),
        ("{matchLabels: {app: web}}", "{matchLabels: {app: other}}"),
        ("  selector: {matchLabels: {app: web}}\n", ""),
        ("{labels: {app: web}}", "{}"),
        ("replicas: 3", "replicas: -1"),
        ("maxUnavailable: 1", "maxUnavailable: 0"),
        (
            "maxSurge: 0, maxUnavailable: 1",
            "maxSurge: 0%, maxUnavailable: 0%",
        ),
    ];
    let told: Vec<_> = changes
        .into_iter()
        .map(|(from, to)| {
            assert!(GOOD.contains(from), "{from}");
            told(&GOOD.replacen(from, to, 1))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    web.yaml:2: no matches for kind "Deployment" in version "apps/v1beta1" (its version is apps/v1)
    web.yaml:2: no matches for kind "Deployment" in version "extensions/v1beta1" (its version is apps/v1)
    web.yaml:2: no matches for kind "Deployment" in version "v1" (its version is apps/v1)
    web.yaml:2: no matches for kind "Deploymint" in version "apps/v1" (did you mean Deployment?)
    web.yaml:2: no matches for kind "deployment" in version "apps/v1" (did you mean Deployment?)
    web.yaml:2: no matches for kind "Pod" in version "apps/v1" (apps/v1 has Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision)
    web.yaml:2: The Deployment "" is invalid: metadata.name: Required value: name is required
    web.yaml:2: The Deployment "Web_1" is invalid: metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
    web.yaml:2: The Deployment "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`
    web.yaml:2: The Deployment "web" is invalid: spec.selector: Required value
    web.yaml:2: The Deployment "web" is invalid: spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`
    web.yaml:2: The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0
    web.yaml:2: The Deployment "web" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0
    web.yaml:2: The Deployment "web" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0
    "#);
}

#[test]
fn names_have_a_length() {
    let named = |length: usize| {
        told(&GOOD.replacen("name: web", &format!("name: {}", "a".repeat(length)), 1))
    };
    assert_eq!(named(253), "fine");
    assert!(named(300).ends_with("\": must be no more than 253 characters"));
}

#[test]
fn the_same_object_twice_names_both_places() {
    let explicit = GOOD.replace("{name: web}\nspec", "{name: web, namespace: default}\nspec");
    insta::assert_snapshot!(
        told(&format!("{GOOD}---\n{explicit}")),
        @r#"web.yaml:14: deployment.apps "web" is already defined at web.yaml:2"#
    );
}
