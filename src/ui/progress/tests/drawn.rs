//! Blocks and frames of the live view.

use proptest::prelude::*;

use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::why::WaitingOn;
use crate::engine::event::{End, EngineEvent, Happening};
use crate::ui::line::Line;
use crate::ui::progress::block::{self, Look};
use crate::ui::progress::board::Board;
use crate::ui::progress::frame;
use crate::ui::scene::{self, OLD, applied, ended, event, event_of, observed, second};

fn board(events: &[EngineEvent]) -> Board {
    let mut board = Board::default();
    board.keep_log();
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
      r2  web:1.26    2/5 updated  0 availa…
      r1  web:1.25    4 old        4 availa…
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
    board.keep_log();
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

/// Counts as a server may send them: mostly small, some absurd.
fn pods() -> impl Strategy<Value = i32> {
    prop_oneof![8 => -2..30, 1 => any::<i32>()]
}

prop_compose! {
    fn any_overview()(
        desired in pods(),
        bounds in [pods(), pods()],
        sums in [pods(), pods(), pods()],
        strategy in prop_oneof![Just(keys::ROLLING_UPDATE), Just(keys::RECREATE), Just("Ｏther\u{1b}[2J")],
        counts in prop::collection::vec([pods(), pods(), pods(), pods()], 0..6),
        image in "\\PC{0,40}",
    ) -> Overview {
        let revisions: Vec<_> = (1..).zip(counts).collect();
        let mut overview = scene::overview(&revisions);
        overview.strategy = strategy.to_owned();
        overview.desired = desired;
        [overview.max_surge, overview.max_unavailable] = bounds;
        [overview.total, overview.current, overview.available] = sums;
        for revision in &mut overview.revisions {
            revision.images.push(image.clone());
        }
        overview
    }
}

proptest! {
    #[test]
    fn whatever_the_numbers_blocks_are_drawn_inside_the_terminal(
        overviews in prop::collection::vec(any_overview(), 1..4),
        name in "\\PC{0,60}",
        columns in 0_usize..200,
    ) {
        let events: Vec<_> =
            (0..).zip(overviews).map(|(at, overview)| event_of(&name, at, observed(overview))).collect();
        let board = board(&events);
        let look = look(columns, 12);
        let mut lines = block::full(&board.tracks()[0], look, 6);
        lines.push(block::compact(&board.tracks()[0], look, 20));
        for line in lines {
            prop_assert!(line.width() <= columns, "{line}");
            prop_assert!(!line.paint(false).contains(char::is_control));
        }
    }
}
