//! What annotations, rules and tags ask for, and what they may not say.

use std::time::Duration;

use serde_json::json;

use super::world::{World, pod};
use crate::kubelet::behaviour::{Failure, Patience};
use crate::kubelet::{Behaviour, PodView, Rules};

fn resolve(rules: &str, annotations: &[(&str, &str)], images: &[&str]) -> Vec<Behaviour> {
    let rules = Rules::from_yaml(rules).expect("rules");
    let mut json = pod("web-1", annotations);
    let containers = images.iter().enumerate();
    let containers =
        containers.map(|(index, image)| json!({"name": format!("c{index}"), "image": image}));
    json["spec"]["containers"] = containers.collect();
    let (behaviours, errors) = rules.resolve(&PodView::from_json(&json).expect("a pod"));
    assert_eq!(errors, []);
    behaviours
}

#[test]
fn an_annotation_says_everything_that_there_is_to_say() {
    let behaviours = resolve(
        "",
        &[
            ("ready-after", "1m30s"),
            ("pulls-for", "500ms"),
            ("runs-for", "2h"),
            ("exit-code", "3"),
            ("fails", "CrashLoopBackOff"),
            ("message", "no database"),
            ("restarts", "2"),
            ("heals-after", "10m"),
            ("terminates-after", "never"),
        ],
        &["img:1"],
    );
    let all = Behaviour {
        ready_after: Some(Duration::from_secs(90)),
        pulls_for: Some(Duration::from_millis(500)),
        runs_for: Some(Duration::from_secs(7200)),
        exit_code: Some(3),
        fails: Some(Failure::CrashLoopBackOff),
        message: Some("no database".to_owned()),
        restarts: Some(2),
        heals_after: Some(Duration::from_secs(600)),
        terminates_after: Some(Patience::Never),
    };
    assert_eq!(behaviours, [all]);
}

#[test]
fn what_is_said_of_one_container_counts_more_than_what_is_said_of_all() {
    let fails = |annotations: &[(&str, &str)]| -> Vec<Option<Failure>> {
        let behaviours = resolve("", annotations, &["img:1", "img:crash"]);
        behaviours.iter().map(|behaviour| behaviour.fails).collect()
    };
    let (crash, never) = (Some(Failure::CrashLoopBackOff), Some(Failure::NeverReady));
    let oom = Some(Failure::OOMKilled);
    assert_eq!(fails(&[]), [None, crash]);
    assert_eq!(fails(&[("fails", "NeverReady")]), [never, never]);
    assert_eq!(fails(&[("fails.c0", "OOMKilled")]), [oom, crash]);
    assert_eq!(
        fails(&[("fails.c0", "OOMKilled"), ("fails", "NeverReady")]),
        [oom, never]
    );
}

#[test]
fn rules_are_looked_up_by_image_and_the_first_counts() {
    let rules = "
behaviours:
- image: registry.example.com/shop/*
  ready-after: 5s
- image: '*:v2*'
  fails: ImagePullBackOff
  restarts: 2
- image: img:crash
- image: 'a*b*c'
  exit-code: 7
";
    let of = |image: &str| resolve(rules, &[], &[image]).remove(0);
    assert_eq!(
        of("registry.example.com/shop/web:v2").ready_after,
        Some(Duration::from_secs(5))
    );
    assert_eq!(of("registry.example.com/shop/web:v2").fails, None);
    assert_eq!(of("web:v2.1").fails, Some(Failure::ErrImagePull));
    assert_eq!(of("web:v2.1").restarts, Some(2));
    assert_eq!(of("web:v1"), Behaviour::default());
    assert_eq!(
        of("img:crash"),
        Behaviour::default(),
        "a rule without a word lifts the tag's meaning"
    );
    assert_eq!(of("axbxc").exit_code, Some(7));
    assert_eq!(of("abc").exit_code, Some(7));
    assert_eq!(of("axbx"), Behaviour::default());
}

#[test]
fn tags_of_demonstrations_mean_something_and_others_do_not() {
    let of = |image: &str| resolve("", &[], &[image]).remove(0);
    for (image, failure) in [
        ("web:never-ready", Some(Failure::NeverReady)),
        ("web:2.0-never-ready", Some(Failure::NeverReady)),
        ("registry:5000/web:crash-2", Some(Failure::CrashLoopBackOff)),
        ("web:oom", Some(Failure::OOMKilled)),
        ("web:missing", Some(Failure::ErrImagePull)),
        ("web:denied@sha256:0", Some(Failure::ErrImagePull)),
        ("crash", None),
        ("crash/web:1", None),
        ("registry:5000/crash", None),
        ("web:crashpad", None),
        ("web:bookworm-slim", None),
        ("nginx:1.27", None),
    ] {
        assert_eq!(of(image).fails, failure, "{image}");
    }
    assert_eq!(of("web:slow").ready_after, Some(Duration::from_secs(30)));
}

#[test]
fn rules_that_say_nonsense_are_refused_with_their_place() {
    let refused = |text: &str| Rules::from_yaml(text).expect_err(text).to_string();
    insta::assert_snapshot!(refused("behaviours: [{image: a, fails: Sometimes}]"), @r#"invalid behaviours file: behaviours: image "a": unknown variant `Sometimes`, expected one of `InvalidImageName`, `ErrImageNeverPull`, `ImageInspectError`, `ErrImagePull`, `ImagePullBackOff`, `RegistryUnavailable`, `SignatureValidationFailed`, `CreateContainerConfigError`, `CreateContainerError`, `RunContainerError`, `PostStartHookError`, `CrashLoopBackOff`, `Error`, `OOMKilled`, `Completed`, `NeverReady`, `ReadinessProbe`, `LivenessProbe`, `StartupProbe`, `Unschedulable`, `FailedMount`, `FailedCreatePodSandBox`, `Evicted`, `UnexpectedAdmissionError`, `SysctlForbidden` at line 1 column 13"#);
    insta::assert_snapshot!(refused("behaviours:\n- image: a\n  redy-after: 5s"), @r#"invalid behaviours file: behaviours: image "a": unknown field `redy-after`, expected one of `ready-after`, `pulls-for`, `runs-for`, `exit-code`, `fails`, `message`, `restarts`, `heals-after`, `terminates-after` at line 2 column 1"#);
    insta::assert_snapshot!(refused("behaviours:\n- fails: OOMKilled"), @"invalid behaviours file: behaviours: a rule needs the image that it is for at line 2 column 1");
    insta::assert_snapshot!(refused("behaviours:\n- image: a\n  ready-after: 5"), @r#"invalid behaviours file: behaviours: image "a": invalid duration "5": write it as 500ms, 5s, 2m or 1h30m at line 2 column 1"#);
    insta::assert_snapshot!(refused("behaviours:\n- image: [\n"), @"invalid behaviours file: did not find expected node content at line 3 column 1, while parsing a flow node");
    insta::assert_snapshot!(refused("- image: a"), @"invalid behaviours file: invalid type: sequence, expected struct Rules");
    insta::assert_snapshot!(refused("rules: []"), @"invalid behaviours file: unknown field `rules`, expected `behaviours`");
    assert!(Rules::from_yaml("").is_ok());
    assert!(Rules::from_yaml("# nothing\n").is_ok());
}

#[test]
fn annotations_that_say_nonsense_are_told_and_passed_over() {
    let mut world = World::new();
    world.put(pod(
        "web-1",
        &[
            ("ready-after", "soon"),
            ("runs-for", "5s-3s"),
            ("heals-after", "999999999999999999999h"),
            ("exit-code", "many"),
            ("restarts", "-1"),
            ("fails", "Never"),
            ("colour", "red"),
            ("terminates-after", "-5s"),
        ],
    ));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    0.000s web-1: Pending
    0.000s web-1: Pending web=ContainerCreating
    1.410s web-1: Running ready web=running+
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/colour: unknown field `colour`, expected one of `ready-after`, `pulls-for`, `runs-for`, `exit-code`, `fails`, `message`, `restarts`, `heals-after`, `terminates-after`
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/exit-code: invalid number "many": invalid digit found in string
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/fails: unknown variant `Never`, expected one of `InvalidImageName`, `ErrImageNeverPull`, `ImageInspectError`, `ErrImagePull`, `ImagePullBackOff`, `RegistryUnavailable`, `SignatureValidationFailed`, `CreateContainerConfigError`, `CreateContainerError`, `RunContainerError`, `PostStartHookError`, `CrashLoopBackOff`, `Error`, `OOMKilled`, `Completed`, `NeverReady`, `ReadinessProbe`, `LivenessProbe`, `StartupProbe`, `Unschedulable`, `FailedMount`, `FailedCreatePodSandBox`, `Evicted`, `UnexpectedAdmissionError`, `SysctlForbidden`
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/heals-after: invalid duration "999999999999999999999h": write it as 500ms, 5s, 2m or 1h30m
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/ready-after: invalid duration "soon": write it as 500ms, 5s, 2m or 1h30m
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/restarts: invalid number "-1": invalid digit found in string
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/runs-for: invalid duration "5s-3s": write it as 500ms, 5s, 2m or 1h30m
    Warning InvalidBehaviour x1 annotation sandbox.kubectl-rs.dev/terminates-after: invalid duration "-5s": write it as 500ms, 5s, 2m or 1h30m
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    "#);
}

#[test]
fn the_example_can_be_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/behaviours.yaml");
    let text = std::fs::read_to_string(path).expect("the example is there");
    let rules = Rules::from_yaml(&text).expect("the example is right");
    let view = |image: &str| {
        let mut json = pod("web-1", &[]);
        json["spec"]["containers"][0]["image"] = image.into();
        rules
            .resolve(&PodView::from_json(&json).expect("a pod"))
            .0
            .remove(0)
    };
    assert_eq!(
        view("registry.example.com/shop/payments:2.3").restarts,
        Some(2)
    );
    assert_eq!(
        view("registry.example.com/shop/search:7").ready_after,
        Some(Duration::from_secs(25))
    );
    assert_eq!(
        view("registry.example.com/shop/cart:1").ready_after,
        Some(Duration::from_secs(4))
    );
}
