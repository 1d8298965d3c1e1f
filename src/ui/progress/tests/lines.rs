//! Plain lines and JSON lines.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::controller::action::{Kind, RefusalReason};
use crate::controller::api::ObjectKey;
use crate::controller::why::WaitingOn;
use crate::engine::event::{End, EngineEvent, Happening};
use crate::ui::printer::Level;
use crate::ui::printer::capture::captured;
use crate::ui::progress::{Form, Progress, Style};
use crate::ui::scene::{self, NEW, OLD, applied, ended, event, event_of, observed, refused};

/// What plain lines say of `events`.
fn told(level: Level, style: Style, events: &[EngineEvent]) -> String {
    let (printer, capture) = captured(level);
    let mut progress = Progress::new(style, printer);
    for event in events {
        progress.handle(event).expect("a buffer can be written");
    }
    progress.finish();
    assert_eq!(capture.out(), "");
    capture.err()
}

fn plain(events: &[EngineEvent]) -> String {
    told(Level::Default, Style::default(), events)
}

#[test]
fn a_stuck_rollout_in_plain_lines() {
    let mut events = scene::stuck_rollout();
    events.push(ended(3, End::AtRest));
    insta::assert_snapshot!(plain(&events), @"
    deployment/web: RollingUpdate of 5: total ≤ 6, available ≥ 4 (maxSurge 1, maxUnavailable 1)
    deployment/web: revision 1: 5 of 5 updated, 5 ready, 5 available
    deployment/web: created web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
    deployment/web: scaled down revision 1 5→4: availability room 1: available 5, at least 4 must stay
    deployment/web: scaled up revision 2 1→2: surge room 1: total 5 of at most 6
    deployment/web: revision 2: 2 of 5 updated, 0 ready, 0 available, 4 old left
    deployment/web: waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
    deployment/web: at rest: nothing more can be done for now
    ");
}

#[test]
fn verbose_lines_hold_nothing_back() {
    let lines = told(Level::Verbose, Style::default(), &scene::stuck_rollout());
    insta::assert_snapshot!(lines, @"
    deployment/web: RollingUpdate of 5: total ≤ 6, available ≥ 4 (maxSurge 1, maxUnavailable 1)
    deployment/web: revision 1: 5 of 5 updated, 5 ready, 5 available
    deployment/web: created web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
    deployment/web: recorded event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2
    deployment/web: scaled down revision 1 5→4: availability room 1: available 5, at least 4 must stay
    deployment/web: scaled up revision 2 1→2: surge room 1: total 5 of at most 6
    deployment/web: updated status of deployment web: status is out of date
    deployment/web: revision 2: 0 of 5 updated, 0 ready, 0 available, 5 old left
    deployment/web: created pod for revision 2: 0 of 2 pods
    deployment/web: recorded event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2
    deployment/web: created pod for revision 2: 0 of 2 pods
    deployment/web: recorded event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2
    deployment/web: deleted pod web-6d4b-x9: 5 pods, 4 wanted
    deployment/web: revision 2: 2 of 5 updated, 0 ready, 0 available, 4 old left
    deployment/web: waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
    ");
}

#[test]
fn quiet_says_nothing() {
    assert_eq!(
        told(Level::Quiet, Style::default(), &scene::stuck_rollout()),
        ""
    );
}

#[test]
fn ends_in_plain_lines() {
    let complete = observed(scene::overview(&[(2, [5, 5, 5, 5])]));
    let failed = End::Failed {
        reason: "ProgressDeadlineExceeded".to_owned(),
        message: "ReplicaSet \"web-7f9c\" has timed out progressing.".to_owned(),
    };
    let events = [
        event(0, complete),
        ended(1, End::Complete),
        ended(2, failed),
        ended(
            3,
            End::StageReached {
                available: 1,
                stage: 1,
            },
        ),
        ended(4, End::Paused),
        ended(5, End::Deleted),
    ];
    let style = Style {
        timestamps: true,
        with_namespace: true,
        ..Style::default()
    };
    insta::assert_snapshot!(told(Level::Default, style, &events), @r#"
    2026-03-01T10:00:00Z deployment/default/web: RollingUpdate of 5: total ≤ 6, available ≥ 4 (maxSurge 1, maxUnavailable 1)
    2026-03-01T10:00:00Z deployment/default/web: revision 2: 5 of 5 updated, 5 ready, 5 available
    2026-03-01T10:00:01Z deployment/default/web: complete: revision 2, 5 of 5 available
    2026-03-01T10:00:02Z deployment/default/web: failed: ProgressDeadlineExceeded: ReplicaSet "web-7f9c" has timed out progressing.
    2026-03-01T10:00:03Z deployment/default/web: held: 1 new pod available, 1 asked for
    2026-03-01T10:00:04Z deployment/default/web: paused
    2026-03-01T10:00:05Z deployment/default/web: deleted
    "#);
}

#[test]
fn refusals_and_retries_are_told_once_and_conflicts_not_at_all() {
    let quota = "pods \"web-7f9c-\" is forbidden: exceeded quota: small";
    let refusal = || refused(scene::create_pod(NEW), RefusalReason::Forbidden, quota);
    let events = [
        event(0, observed(scene::rolling())),
        event(1, applied(scene::create_pod(NEW))),
        event(1, refusal()),
        event(1, refusal()),
        event(
            2,
            refused(
                scene::scale(OLD, 4, 3),
                RefusalReason::Conflict,
                "object has been modified",
            ),
        ),
        event(
            2,
            Happening::Retrying {
                error: "object has been modified".to_owned(),
                routine: true,
            },
        ),
        event(
            3,
            Happening::Retrying {
                error: "connection refused".to_owned(),
                routine: false,
            },
        ),
    ];
    insta::assert_snapshot!(plain(&events), @r#"
    deployment/web: RollingUpdate of 5: total ≤ 6, available ≥ 4 (maxSurge 1, maxUnavailable 1)
    deployment/web: revision 2: 2 of 5 updated, 0 ready, 0 available, 4 old left
    deployment/web: revision 2: created 1 pod
    deployment/web: could not create pod for revision 2: pods "web-7f9c-" is forbidden: exceeded quota: small
    deployment/web: retrying: connection refused
    "#);
}

#[test]
fn a_dry_run_says_what_would_be_done() {
    let events = [
        scene::create(1),
        scene::create_pod(NEW),
        scene::create_pod(NEW),
        scene::scale(OLD, 5, 4),
    ]
    .map(|step| match applied(step) {
        Happening::Stepped { step, outcome, .. } => event(
            0,
            Happening::Stepped {
                step,
                outcome,
                dry_run: true,
            },
        ),
        other => event(0, other),
    });
    insta::assert_snapshot!(plain(&events), @"
    deployment/web: create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total (dry run)
    deployment/web: revision 2: create 1 pod (dry run)
    deployment/web: scale down web-6d4b 5→4: availability room 1: available 5, at least 4 must stay (dry run)
    ");
}

#[test]
fn a_large_deployment_is_told_in_strides_and_to_the_end() {
    let large = |available: i32| {
        let mut overview = scene::overview(&[(2, [available; 4])]);
        overview.desired = 1000;
        overview.revisions[0].desired = 1000;
        event(0, observed(overview))
    };
    let mut events: Vec<_> = (0..=130).map(large).collect();
    events.push(ended(1, End::AtRest));
    insta::assert_snapshot!(plain(&events), @"
    deployment/web: RollingUpdate of 1000: total ≤ 1001, available ≥ 999 (maxSurge 1, maxUnavailable 1)
    deployment/web: revision 2: 0 of 1000 updated, 0 ready, 0 available
    deployment/web: revision 2: 50 of 1000 updated, 50 ready, 50 available
    deployment/web: revision 2: 100 of 1000 updated, 100 ready, 100 available
    deployment/web: revision 2: 130 of 1000 updated, 130 ready, 130 available
    deployment/web: at rest: nothing more can be done for now
    ");
}

#[test]
fn a_countdown_is_not_repeated() {
    let wait = |seconds, pods| {
        let wait = WaitingOn::MinReadySeconds {
            pods,
            next_in_seconds: seconds,
        };
        event(0, Happening::Waiting(vec![wait]))
    };
    insta::assert_snapshot!(plain(&[wait(9, 2), wait(8, 2), wait(7, 2), wait(7, 1)]), @"deployment/web: waiting: 2 ready pods to stay ready, the next for 9s more");
}

#[test]
fn names_say_their_namespace_once_there_are_two() {
    let mut other = event_of("api", 1, Happening::Ended(End::Paused));
    other.key = ObjectKey::new("shop", "api");
    let alone = EngineEvent {
        kind: Kind::ReplicaSet,
        key: ObjectKey::new("shop", "cache"),
        ..event(2, Happening::Ended(End::Complete))
    };
    insta::assert_snapshot!(plain(&[ended(0, End::Paused), other, alone]), @"
    deployment/web: paused
    deployment/shop/api: paused
    replicaset/shop/cache: complete
    ");
}

#[test]
fn hostile_messages_stay_on_their_line() {
    let message = "no\nerror: forged\u{1b}[2J \u{202e}live";
    let events = [event(
        0,
        Happening::Retrying {
            error: message.to_owned(),
            routine: false,
        },
    )];
    insta::assert_snapshot!(plain(&events), @"deployment/web: retrying: no error: forged live");
}

/// What `-o jsonl` prints of a rollout that meets a bit of everything.
fn json_lines() -> String {
    let (printer, capture) = captured(Level::Default);
    let style = Style {
        form: Form::Json,
        ..Style::default()
    };
    let mut progress = Progress::new(style, printer);
    let mut events = scene::stuck_rollout();
    events.extend([
        event(
            4,
            refused(scene::scale(OLD, 4, 3), RefusalReason::Conflict, "modified"),
        ),
        event(
            5,
            Happening::Retrying {
                error: "connection refused".to_owned(),
                routine: false,
            },
        ),
        ended(
            6,
            End::StageReached {
                available: 1,
                stage: 1,
            },
        ),
    ]);
    for event in &events {
        progress.handle(event).expect("a buffer can be written");
    }
    progress.finish();
    assert_eq!(capture.err(), "");
    capture.out()
}

#[test]
fn json_lines_keep_their_schema() {
    insta::assert_snapshot!(json_lines(), @r#"
    {"apiVersion":"kubectl-rs/v1","kind":"Overview","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"overview":{"namespace":"default","name":"web","strategy":"RollingUpdate","desired":5,"maxSurge":1,"maxUnavailable":1,"total":5,"current":5,"available":5,"terminating":0,"paused":false,"complete":true,"deadline":null,"revisions":[{"revision":1,"replicaSet":"web-6d4b","new":true,"images":["registry.example.com/shop/web:1.25"],"desired":5,"current":5,"ready":5,"available":5,"reusedFrom":[],"created":"2026-03-01T09:00:00Z"}]},"maxTotal":6,"minAvailable":4}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"create","kind":"ReplicaSet","name":"web-7f9c","revision":2,"replicas":1},"why":{"code":"newTemplate","revision":2,"replicas":1,"maxTotal":6,"text":"new template: at most 6 pods in total"},"text":"create web-7f9c (revision 2) with 1 pod","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"recordEvent","kind":"ReplicaSet","name":"web-7f9c","event":{"type":"Normal","reason":"SuccessfulCreate","message":"Created pod: web-7f9c-x2"}},"why":{"code":"tells","text":"tells what was done"},"text":"record event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2","bookkeeping":true,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"scale","kind":"ReplicaSet","name":"web-6d4b","revision":1,"from":5,"to":4},"why":{"code":"availabilityRoom","available":5,"minAvailable":4,"text":"availability room 1: available 5, at least 4 must stay"},"text":"scale down web-6d4b (revision 1) 5→4","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"scale","kind":"ReplicaSet","name":"web-7f9c","revision":2,"from":1,"to":2},"why":{"code":"surgeRoom","total":5,"maxTotal":6,"text":"surge room 1: total 5 of at most 6"},"text":"scale up web-7f9c (revision 2) 1→2","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:00Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"updateStatus","kind":"Deployment","name":"web"},"why":{"code":"statusChanged","text":"status is out of date"},"text":"update status of deployment web","bookkeeping":true,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Overview","time":"2026-03-01T10:00:01Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"overview":{"namespace":"default","name":"web","strategy":"RollingUpdate","desired":5,"maxSurge":1,"maxUnavailable":1,"total":6,"current":5,"available":5,"terminating":0,"paused":false,"complete":false,"deadline":null,"revisions":[{"revision":2,"replicaSet":"web-7f9c","new":true,"images":["registry.example.com/shop/web:1.26"],"desired":2,"current":0,"ready":0,"available":0,"reusedFrom":[],"created":"2026-03-01T09:00:00Z"},{"revision":1,"replicaSet":"web-6d4b","new":false,"images":["registry.example.com/shop/web:1.25"],"desired":4,"current":5,"ready":5,"available":5,"reusedFrom":[],"created":"2026-03-01T09:00:00Z"}]},"maxTotal":6,"minAvailable":4}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:01Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"create","kind":"Pod","name":"","replicaSet":"web-7f9c","revision":2},"why":{"code":"tooFewPods","active":0,"desired":2,"text":"0 of 2 pods"},"text":"create pod for web-7f9c (revision 2)","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:01Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"recordEvent","kind":"ReplicaSet","name":"web-7f9c","event":{"type":"Normal","reason":"SuccessfulCreate","message":"Created pod: web-7f9c-x2"}},"why":{"code":"tells","text":"tells what was done"},"text":"record event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2","bookkeeping":true,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:01Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"create","kind":"Pod","name":"","replicaSet":"web-7f9c","revision":2},"why":{"code":"tooFewPods","active":0,"desired":2,"text":"0 of 2 pods"},"text":"create pod for web-7f9c (revision 2)","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:01Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"recordEvent","kind":"ReplicaSet","name":"web-7f9c","event":{"type":"Normal","reason":"SuccessfulCreate","message":"Created pod: web-7f9c-x2"}},"why":{"code":"tells","text":"tells what was done"},"text":"record event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2","bookkeeping":true,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:02Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"delete","kind":"Pod","name":"web-6d4b-x9"},"why":{"code":"tooManyPods","active":5,"desired":4,"text":"5 pods, 4 wanted"},"text":"delete pod web-6d4b-x9","bookkeeping":false,"dryRun":false,"outcome":"applied"}
    {"apiVersion":"kubectl-rs/v1","kind":"Overview","time":"2026-03-01T10:00:02Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"overview":{"namespace":"default","name":"web","strategy":"RollingUpdate","desired":5,"maxSurge":1,"maxUnavailable":1,"total":6,"current":6,"available":4,"terminating":0,"paused":false,"complete":false,"deadline":null,"revisions":[{"revision":2,"replicaSet":"web-7f9c","new":true,"images":["registry.example.com/shop/web:1.26"],"desired":2,"current":2,"ready":0,"available":0,"reusedFrom":[],"created":"2026-03-01T09:00:00Z"},{"revision":1,"replicaSet":"web-6d4b","new":false,"images":["registry.example.com/shop/web:1.25"],"desired":4,"current":4,"ready":4,"available":4,"reusedFrom":[],"created":"2026-03-01T09:00:00Z"}]},"maxTotal":6,"minAvailable":4}
    {"apiVersion":"kubectl-rs/v1","kind":"Waiting","time":"2026-03-01T10:00:03Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"waiting":[{"code":"blocked","total":6,"desired":5,"maxSurge":1,"available":4,"maxUnavailable":1,"newUnavailable":2,"text":"total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready"}]}
    {"apiVersion":"kubectl-rs/v1","kind":"Step","time":"2026-03-01T10:00:04Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"action":{"verb":"scale","kind":"ReplicaSet","name":"web-6d4b","revision":1,"from":4,"to":3},"why":{"code":"availabilityRoom","available":5,"minAvailable":4,"text":"availability room 1: available 5, at least 4 must stay"},"text":"scale down web-6d4b (revision 1) 4→3","bookkeeping":false,"dryRun":false,"outcome":"refused","refusal":{"reason":"Conflict","message":"modified"}}
    {"apiVersion":"kubectl-rs/v1","kind":"Retry","time":"2026-03-01T10:00:05Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"error":"connection refused"}
    {"apiVersion":"kubectl-rs/v1","kind":"End","time":"2026-03-01T10:00:06Z","object":{"kind":"Deployment","namespace":"default","name":"web"},"result":"stageReached","available":1,"stage":1}
    "#);
}

/// Every name of a field, and the words that programs branch on.
fn vocabulary(value: &Value, words: &mut BTreeSet<String>) {
    const BRANCHED_ON: [&str; 5] = ["kind", "verb", "code", "outcome", "result"];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                words.insert(name.clone());
                if BRANCHED_ON.contains(&name.as_str()) {
                    words.extend(value.as_str().map(str::to_owned));
                }
                vocabulary(value, words);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| vocabulary(value, words)),
        _ => {}
    }
}

#[test]
fn the_documentation_knows_every_word_of_the_schema() {
    let documentation = include_str!("../../../../docs/output.md");
    let mut words = BTreeSet::new();
    for line in json_lines().lines() {
        vocabulary(&serde_json::from_str(line).expect("JSON"), &mut words);
    }
    // Pods and ReplicaSets are kinds of Kubernetes' own.
    words.remove("Pod");
    let quoted = documentation.split('`').skip(1).step_by(2);
    let documented: BTreeSet<_> = quoted
        .flat_map(|text| text.split(|char: char| !char.is_alphanumeric()))
        .collect();
    words.retain(|word| !documented.contains(word.as_str()));
    assert_eq!(words, BTreeSet::new());
}
