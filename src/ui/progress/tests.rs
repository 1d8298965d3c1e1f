//! Progress, live and in lines.

use super::block::{self, Look};
use super::frame;
use super::*;
use crate::controller::action::{Kind, RefusalReason};
use crate::controller::api::ObjectKey;
use crate::controller::keys;
use crate::controller::why::WaitingOn;
use crate::engine::event::{End, Happening};
use crate::ui::line::Line;
use crate::ui::printer::Level;
use crate::ui::printer::capture::captured;
use crate::ui::scene::{self, NEW, OLD, applied, event, event_of, observed, refused, second};

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

fn ended(at: i64, end: End) -> EngineEvent {
    event(at, Happening::Ended(end))
}

fn board(events: &[EngineEvent]) -> Board {
    let mut board = Board::default();
    for event in events {
        board.apply(event);
    }
    board
}

fn look(columns: usize, now: i64) -> Look {
    Look {
        columns,
        now: second(now),
        tick: Some(2),
        with_namespace: false,
    }
}

fn text(lines: &[Line]) -> String {
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
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
    deployment/web: revision 2: 0 of 5 updated, 0 ready, 0 available, 5 old left
    deployment/web: revision 2: created 2 pods
    deployment/web: revision 1: deleted 1 pod
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
fn refusals_are_told_once_and_conflicts_not_at_all() {
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
            3,
            Happening::Retrying {
                error: "connection refused".to_owned(),
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
    deployment/web: revision 2: create 2 pods (dry run)
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
    insta::assert_snapshot!(plain(&[wait(9, 2), wait(8, 2), wait(7, 2), wait(7, 1)]), @"
    deployment/web: waiting: 2 ready pods to stay ready, the next for 9s more
    deployment/web: waiting: 1 ready pod to stay ready for 7s more
    ");
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
        },
    )];
    insta::assert_snapshot!(plain(&events), @"deployment/web: retrying: no error: forged live");
}

#[test]
fn json_lines_are_the_documented_schema() {
    let (printer, capture) = captured(Level::Default);
    let style = Style {
        form: Form::Json,
        ..Style::default()
    };
    let mut progress = Progress::new(style, printer);
    let mut events = scene::stuck_rollout();
    events.push(event(
        4,
        refused(scene::scale(OLD, 4, 3), RefusalReason::Conflict, "modified"),
    ));
    events.push(event(
        5,
        Happening::Retrying {
            error: "connection refused".to_owned(),
        },
    ));
    events.push(ended(
        6,
        End::StageReached {
            available: 1,
            stage: 1,
        },
    ));
    for event in &events {
        progress.handle(event).expect("a buffer can be written");
    }
    progress.finish();
    assert_eq!(capture.err(), "");
    insta::assert_snapshot!(capture.out(), @r#"
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

#[test]
fn a_block_in_narrow_and_wide_terminals() {
    let board = board(&scene::stuck_rollout());
    let drawn = |columns| text(&block::full(&board.tracks()[0], look(columns, 12), 6));
    insta::assert_snapshot!(drawn(80), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4  12s
      r2  web:1.26  ░░░░░░░░············      2/5 updated  0 ready  0 available
      r1  web:1.25  ████████████████          4 old        4 ready  4 available
      create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
      scale down r1 5→4: availability room 1: available 5, at least 4 must stay
      scale up r2 1→2: surge room 1: total 5 of at most 6
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither
               side may move until 1 of 2 new pods is ready
    ");
    insta::assert_snapshot!(drawn(160), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4  (5 replicas, surge 1, unavailable 1)  12s
      r2  web:1.26  ░░░░░░░░░░░░··················        2/5 updated  0 ready  0 available
      r1  web:1.25  ████████████████████████              4 old        4 ready  4 available
      create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
      scale down r1 5→4: availability room 1: available 5, at least 4 must stay
      scale up r2 1→2: surge room 1: total 5 of at most 6
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
    ");
    insta::assert_snapshot!(drawn(40), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, avai…
      r2  web:1.26    2/5 updated  0 ready…
      r1  web:1.25    4 old        4 ready…
      create web-7f9c (revision 2) with 1 p…
      scale down r1 5→4: availability room…
      scale up r2 1→2: surge room 1: total…
      waiting: total 6 = 5 + maxSurge 1,
               available 4 = 5 −
               maxUnavailable 1: neither si…
    ");
}

#[test]
fn a_block_in_colour() {
    let board = board(&scene::stuck_rollout());
    let lines = block::full(&board.tracks()[0], look(100, 12), 2);
    let painted: Vec<_> = lines.iter().map(|line| line.paint(true)).collect();
    insta::assert_snapshot!(painted.join("\n"), @"
    \u{1b}[33m⠹\u{1b}[0m \u{1b}[1mweb\u{1b}[0m  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4\u{1b}[2m  (5 replicas, surge 1, unavailable 1)\u{1b}[0m\u{1b}[2m  12s\u{1b}[0m
      \u{1b}[1mr2\u{1b}[0m  web:1.26  \u{1b}[33m░░░░░░░░░░░░\u{1b}[0m\u{1b}[2m··················\u{1b}[0m        2/5 updated  0 ready  0 available
      \u{1b}[1mr1\u{1b}[0m  web:1.25  ████████████████████████              4 old        4 ready  4 available
      scale down r1 5→4\u{1b}[2m: availability room 1: available 5, at least 4 must stay\u{1b}[0m
      scale up r2 1→2\u{1b}[2m: surge room 1: total 5 of at most 6\u{1b}[0m
    \u{1b}[33m  waiting\u{1b}[0m: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until
               1 of 2 new pods is ready
    ");
}

#[test]
fn a_block_once_there_is_an_estimate() {
    let events = [
        (0, scene::overview(&[(2, [2, 2, 0, 0]), (1, [4, 4, 4, 4])])),
        (20, scene::overview(&[(2, [3, 3, 2, 2]), (1, [3, 3, 3, 3])])),
    ]
    .map(|(at, overview)| event(at, observed(overview)));
    let board = board(&events);
    insta::assert_snapshot!(text(&block::full(&board.tracks()[0], look(100, 25), 6)), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, available 5 ≥ 4  25s, about 25s left
      r2  web:1.26  ████████████░░░░░░············        3/5 updated  2 ready  2 available
      r1  web:1.25  ██████████████████                    3 old        3 ready  3 available
    ");
}

#[test]
fn final_blocks() {
    let complete = event(
        30,
        observed(scene::overview(&[(2, [5, 5, 5, 5]), (1, [0, 0, 0, 0])])),
    );
    let mut events = scene::stuck_rollout();
    events.push(event(20, Happening::Waiting(Vec::new())));
    events.extend([complete, ended(30, End::Complete)]);
    let done = board(&events);
    insta::assert_snapshot!(text(&frame::remains(&done, look(80, 99))), @"
    ✓ web  RollingUpdate  total 5 ≤ 6, available 5 ≥ 4
      r2  web:1.26  ████████████████████      5/5 updated  5 ready  5 available
      create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
      scale down r1 5→4: availability room 1: available 5, at least 4 must stay
      scale up r2 1→2: surge room 1: total 5 of at most 6
    ✓ complete: revision 2, 5 of 5 available  (6 steps, 30s)
    ");

    let mut events = scene::stuck_rollout();
    events.push(ended(
        600,
        End::Failed {
            reason: "ProgressDeadlineExceeded".to_owned(),
            message: "ReplicaSet \"web-7f9c\" has timed out progressing.".to_owned(),
        },
    ));
    let failed = board(&events);
    insta::assert_snapshot!(text(&frame::remains(&failed, look(80, 999))), @r#"
    ✗ web  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4
      r2  web:1.26  ░░░░░░░░············      2/5 updated  0 ready  0 available
      r1  web:1.25  ████████████████          4 old        4 ready  4 available
      create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
      scale down r1 5→4: availability room 1: available 5, at least 4 must stay
      scale up r2 1→2: surge room 1: total 5 of at most 6
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither
               side may move until 1 of 2 new pods is ready
    ✗ failed: ProgressDeadlineExceeded: ReplicaSet "web-7f9c" has timed out
      progressing.  (6 steps, 10m)
    "#);
}

#[test]
fn other_strategies_and_many_revisions() {
    let mut recreate = scene::overview(&[(2, [0, 0, 0, 0]), (1, [0, 3, 3, 3])]);
    recreate.strategy = keys::RECREATE.to_owned();
    let old_pods = Happening::Waiting(vec![WaitingOn::OldPods { count: 3 }]);
    let recreating = board(&[event(0, observed(recreate)), event(0, old_pods)]);
    insta::assert_snapshot!(text(&block::full(&recreating.tracks()[0], look(80, 3), 6)), @"
    ⠹ web  Recreate  total 3, available 3  (5 replicas)  3s
      r2  web:1.26  ····················      0/5 updated  0 ready  0 available
      r1  web:1.25  ████████████              3→0 old      3 ready  3 available
      waiting: 3 old pods to go
    ");

    let many = scene::overview(&[
        (9, [1, 1, 0, 0]),
        (8, [1, 1, 1, 1]),
        (7, [1, 1, 1, 1]),
        (6, [1, 1, 1, 1]),
        (5, [1, 1, 0, 0]),
        (4, [1, 1, 1, 1]),
        (3, [0, 0, 0, 0]),
    ]);
    let many = board(&[event(0, observed(many))]);
    insta::assert_snapshot!(text(&block::full(&many.tracks()[0], look(80, 3), 6)), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4  3s
      r9  web:1.33  ░░░░················      1/5 updated  0 ready  0 available
      r8  web:1.32  ████                      1 old        1 ready  1 available
      r7  web:1.31  ████                      1 old        1 ready  1 available
      r6  web:1.30  ████                      1 old        1 ready  1 available
      … and 2 older revisions with 2 pods
    ");
}

/// Forty Deployments, of which every eighth is complete and one has failed.
fn fleet() -> Board {
    let mut board = Board::default();
    for number in 0..40 {
        let complete = number % 8 == 0;
        let mut overview = if complete {
            scene::overview(&[(2, [5, 5, 5, 5])])
        } else {
            scene::rolling()
        };
        let name = format!("service-{number}");
        overview.key.name.clone_from(&name);
        board.apply(&event_of(&name, 0, observed(overview)));
        board.apply(&event_of(&name, 1, applied(scene::scale(OLD, 5, 4))));
        if complete {
            board.apply(&event_of(&name, 9, Happening::Ended(End::Complete)));
        }
    }
    let failed = End::Failed {
        reason: "ProgressDeadlineExceeded".to_owned(),
        message: "timed out".to_owned(),
    };
    board.apply(&event_of(
        "service-1",
        9,
        Happening::Waiting(vec![scene::blocked()]),
    ));
    board.apply(&event_of("service-1", 9, Happening::Ended(failed)));
    board.apply(&event_of(
        "service-2",
        9,
        Happening::Waiting(vec![scene::blocked()]),
    ));
    board
}

#[test]
fn many_deployments_fit_the_terminal() {
    let mut board = fleet();
    insta::assert_snapshot!(text(&frame::settle(&mut board, look(80, 10))), @"
    ✓ service-0  complete: revision 2, 5 of 5 available  (1 step, 9s)
    ✗ service-1  failed: ProgressDeadlineExceeded: timed out  (1 step, 9s)
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither
               side may move until 1 of 2 new pods is ready
    ✓ service-8  complete: revision 2, 5 of 5 available  (1 step, 9s)
    ✓ service-16  complete: revision 2, 5 of 5 available  (1 step, 9s)
    ✓ service-24  complete: revision 2, 5 of 5 available  (1 step, 9s)
    ✓ service-32  complete: revision 2, 5 of 5 available  (1 step, 9s)
    ");
    insta::assert_snapshot!(text(&frame::frame(&board, look(80, 10), 10)), @"
    ⠹ service-2   ░░░░······  2/5 updated, 0 available  waiting: total 6 = 5 + maxS…
    ⠹ service-3   ░░░░······  2/5 updated, 0 available
    ⠹ service-4   ░░░░······  2/5 updated, 0 available
    ⠹ service-5   ░░░░······  2/5 updated, 0 available
    ⠹ service-6   ░░░░······  2/5 updated, 0 available
    ⠹ service-7   ░░░░······  2/5 updated, 0 available
    ⠹ service-9   ░░░░······  2/5 updated, 0 available
    ⠹ service-10  ░░░░······  2/5 updated, 0 available
    … and 26 more
    5 of 40 complete, 1 failed  10s
    ");
    for rows in 1..60 {
        let lines = frame::frame(&board, look(80, 10), rows);
        assert!(lines.len() <= rows, "{rows}");
        assert!(lines.iter().all(|line| line.width() <= 80), "{rows}");
    }
    assert_eq!(frame::settle(&mut board, look(80, 10)), []);
}

#[test]
fn a_few_deployments_share_the_terminal() {
    let mut events = scene::stuck_rollout();
    for (at, what) in scene::stuck_rollout()
        .into_iter()
        .map(|event| (event.at, event.what))
    {
        let mut event = event_of("api", 0, what);
        event.at = at;
        events.push(event);
    }
    let board = board(&events);
    insta::assert_snapshot!(text(&frame::frame(&board, look(80, 12), 16)), @"
    ⠹ web  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4  12s
      r2  web:1.26  ░░░░░░░░············      2/5 updated  0 ready  0 available
      r1  web:1.25  ████████████████          4 old        4 ready  4 available
      scale up r2 1→2: surge room 1: total 5 of at most 6
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither
               side may move until 1 of 2 new pods is ready
    ⠹ api  RollingUpdate  total 6 ≤ 6, available 4 ≥ 4  12s
      r2  web:1.26  ░░░░░░░░············      2/5 updated  0 ready  0 available
      r1  web:1.25  ████████████████          4 old        4 ready  4 available
      scale up r2 1→2: surge room 1: total 5 of at most 6
      waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither
               side may move until 1 of 2 new pods is ready
    0 of 2 complete  12s
    ");
}

#[test]
fn what_moves_again_is_shown_again() {
    let mut board = fleet();
    frame::settle(&mut board, look(80, 10));
    board.apply(&event_of("service-8", 60, applied(scene::scale(OLD, 4, 3))));
    let track = board
        .tracks()
        .iter()
        .find(|track| track.key.name == "service-8");
    let track = track.expect("it is on the board");
    assert_eq!(
        (track.end.clone(), track.settled, track.steps),
        (None, false, 1)
    );
}

#[test]
fn no_terminal_is_too_small() {
    let boards = [board(&scene::stuck_rollout()), fleet(), Board::default()];
    for board in &boards {
        for columns in 0..30 {
            for rows in 0..5 {
                let lines = frame::frame(board, look(columns, 12), rows);
                assert!(lines.iter().all(|line| line.width() <= columns));
                assert!(lines.len() <= rows.max(1));
            }
        }
    }
}
