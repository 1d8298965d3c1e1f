//! The two Pod Security standards, check by check.

use serde_json::{Value, json};

use super::*;

fn namespace(labels: &[(&str, &str)]) -> Value {
    let mut namespace = json!({"metadata": {"labels": {}}});
    for (label, value) in labels {
        namespace["metadata"]["labels"][format!("{PREFIX}{label}")] = (*value).into();
    }
    namespace
}

fn pod(spec: &Value) -> Value {
    let mut pod = json!({"spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}});
    let fields = spec.as_object().cloned().unwrap_or_default();
    for (field, value) in fields {
        pod["spec"][field] = value;
    }
    pod
}

/// As recorded: `podsecurity` of the failure objects.
#[test]
fn refuses_in_the_recorded_words() {
    let restricted = namespace(&[("enforce", "restricted")]);
    assert_eq!(
        refusal(&restricted, &pod(&json!({}))).as_deref(),
        Some(
            "violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"web\" must \
             set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"web\" must \
             set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"web\" must \
             set securityContext.runAsNonRoot=true), seccompProfile (pod or container \"web\" must set \
             securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
        )
    );
    let baseline = namespace(&[("enforce", "baseline")]);
    let loose = pod(&json!({
        "hostNetwork": true,
        "containers": [{
            "name": "web",
            "ports": [{"containerPort": 80, "hostPort": 80}],
            "securityContext": {"privileged": true},
        }],
        "volumes": [{"name": "h", "hostPath": {"path": "/"}}],
    }));
    assert_eq!(
        refusal(&baseline, &loose).as_deref(),
        Some(
            "violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true), hostPath volumes (volume \
             \"h\"), hostPort (container \"web\" uses hostPort 80), privileged (container \"web\" must not set \
             securityContext.privileged=true)"
        )
    );
}

#[test]
fn a_pod_that_obeys_is_let_in() {
    assert_eq!(
        refusal(&namespace(&[("enforce", "restricted")]), &tight()),
        None
    );
    let plain = pod(&json!({}));
    assert_eq!(
        refusal(&namespace(&[("enforce", "baseline")]), &plain),
        None
    );
    assert_eq!(refusal(&namespace(&[]), &plain), None);
}

/// Fields of a pod's spec, and what the baseline standard has against it.
const BASELINE: &str = r#"
{"containers": [{"name": "web", "securityContext": {"appArmorProfile": {"type": "Unconfined"}}}]}
forbidden AppArmor profile (container "web" must not set AppArmor profile type to "Unconfined")
{"containers": [{"name": "a", "securityContext": {"capabilities": {"add": ["SYS_TIME", "CHOWN"]}}}]}
non-default capabilities (container "a" must not include "SYS_TIME" in securityContext.capabilities.add)
{"containers": [{"name": "web", "livenessProbe": {"httpGet": {"host": "example.com"}}}]}
probe or lifecycle host (container "web" uses probe or lifecycle host "example.com")
{"containers": [{"name": "web", "securityContext": {"procMount": "Unmasked"}}]}
procMount (container "web" must not set securityContext.procMount to "Unmasked")
{"securityContext": {"seLinuxOptions": {"type": "spc_t", "user": "u", "role": "r"}}}
seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)
{"initContainers": [{"name": "a", "securityContext": {"seccompProfile": {"type": "Unconfined"}}}], "containers": [{"name": "b", "securityContext": {"seccompProfile": {"type": "Unconfined"}}}]}
seccompProfile (containers "a", "b" must not set securityContext.seccompProfile.type to "Unconfined")
{"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}
forbidden sysctls (kernel.msgmax)
{"securityContext": {"windowsOptions": {"hostProcess": true}}}
hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)
"#;

/// What is different about a pod that obeys the restricted standard, as a merge patch of its spec, and what the
/// standard has against that.
const RESTRICTED: &str = r#"
{"containers": [{"name": "web", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"add": ["CHOWN"]}}}]}
unrestricted capabilities (container "web" must set securityContext.capabilities.drop=["ALL"]; container "web" must not include "CHOWN" in securityContext.capabilities.add)
{"volumes": [{"name": "v", "nfs": {}}, {"name": "h", "hostPath": {}}]}
restricted volume types (volumes "v", "h" use restricted volume types "hostPath", "nfs")
{"securityContext": {"runAsNonRoot": false}}
runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)
{"securityContext": {"runAsUser": 0}}
runAsUser=0 (pod must not set runAsUser=0)
"#;

fn tight() -> Value {
    pod(&json!({
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "web", "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        }}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }))
}

#[test]
fn every_check_has_its_words() {
    let baseline = namespace(&[("enforce", "baseline")]);
    let restricted = namespace(&[("enforce", "restricted"), ("enforce-version", "v1.30")]);
    let standards = [
        (BASELINE, baseline, "baseline:latest", pod(&json!({}))),
        (RESTRICTED, restricted, "restricted:v1.30", tight()),
    ];
    for (table, namespace, standard, obedient) in standards {
        let lines: Vec<&str> = table.trim().lines().collect();
        for case in lines.chunks(2) {
            let mut pod = obedient.clone();
            let change: Value = serde_json::from_str(case[0]).expect(case[0]);
            json_patch::merge(&mut pod["spec"], &change);
            let expected = format!("violates PodSecurity \"{standard}\": {}", case[1]);
            assert_eq!(refusal(&namespace, &pod), Some(expected));
        }
    }
}

#[test]
fn warnings_follow_what_is_enforced() {
    let loose = pod(&json!({"hostPID": true}));
    let would = "would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
    // The labels, and what they remark.
    let cases = [
        (vec![("warn", "baseline")], Some(would)),
        (vec![("enforce", "baseline")], Some(would)),
        (vec![("enforce", "baseline"), ("warn", "privileged")], None),
        (vec![("enforce", "nonsense")], None),
        (vec![], None),
    ];
    for (labels, expected) in cases {
        assert_eq!(warning(&namespace(&labels), &loose).as_deref(), expected);
    }
    // A level that is none is enforced as the strictest.
    assert!(refusal(&namespace(&[("enforce", "nonsense")]), &loose).is_some());
}

#[test]
fn labels_must_name_what_there_is() {
    let errors = label_errors(&namespace(&[("enforce", "high"), ("warn-version", "1.30")]));
    let errors: Vec<_> = errors
        .iter()
        .map(|error| format!("{}: {}", error.field, error.message))
        .collect();
    assert_eq!(
        errors,
        [
            "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"high\": must be one of \
             privileged, baseline, restricted",
            "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.30\": must be \"latest\" \
             or \"v1.x\"",
        ]
    );
    let valid = namespace(&[
        ("enforce", "privileged"),
        ("enforce-version", "v1.0"),
        ("audit", "baseline"),
    ]);
    assert!(label_errors(&valid).is_empty());
}

#[test]
fn only_new_images_are_looked_at_again() {
    let old = pod(&json!({}));
    let mut new = old.clone();
    new["metadata"] = json!({"labels": {"a": "b"}});
    assert!(!is_significant(&new, &old));
    new["spec"]["containers"][0]["image"] = "nginx:1.28".into();
    assert!(is_significant(&new, &old));
}
