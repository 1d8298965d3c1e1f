//! What was done and what was not, in one line.

use crate::controller::action::{Kind, Refusal, RefusalReason};
use crate::controller::api::ObjectKey;
use crate::engine::event::{EngineEvent, Happening, Left};
use crate::ui::printer::Level;
use crate::ui::printer::capture::captured;
use crate::ui::progress::{Progress, Style};
use crate::ui::scene::{self, NEW, OLD, applied, event, observed};

fn account(events: &[EngineEvent], left: &[Left]) -> String {
    let (printer, _) = captured(Level::Quiet);
    let mut progress = Progress::new(Style::default(), printer);
    for event in events {
        progress.handle(event).expect("a buffer can be written");
    }
    let board = progress.finish();
    board.account(Kind::Deployment, &ObjectKey::new("default", "web"), left)
}

fn left(happening: Happening, refusal: Option<&str>) -> Left {
    let Happening::Stepped { step, .. } = happening else {
        panic!("a step is left, nothing else");
    };
    let refusal = refusal.map(|message| Refusal {
        reason: RefusalReason::Forbidden,
        message: message.to_owned(),
    });
    Left {
        step: *step,
        refusal,
    }
}

#[test]
fn what_was_written_is_summed_up_and_what_is_left_is_named() {
    let events = [
        event(0, observed(scene::rolling())),
        event(1, applied(scene::scale(NEW, 1, 2))),
        event(1, applied(scene::create_pod(NEW))),
        event(2, applied(scene::scale(NEW, 2, 3))),
        event(2, applied(scene::create_pod(NEW))),
        event(3, applied(scene::scale(OLD, 4, 3))),
    ];
    let scale = || applied(scene::scale(OLD, 3, 2));
    let pod = || applied(scene::create_pod(NEW));
    let forbidden = Some("replicasets.apps is forbidden");
    insta::assert_snapshot!(account(&events, &[left(scale(), forbidden)]), @r#"deployment "web": scaled web-7f9c (revision 2) 1→3, scaled web-6d4b (revision 1) 4→3, created 2 pods; not done: scale down web-6d4b (revision 1) 3→2 (replicasets.apps is forbidden)"#);
    let pods = [
        left(pod(), Some("exceeded quota: small")),
        left(pod(), None),
        left(pod(), None),
        left(scale(), None),
    ];
    insta::assert_snapshot!(account(&events, &pods), @r#"deployment "web": scaled web-7f9c (revision 2) 1→3, scaled web-6d4b (revision 1) 4→3, created 2 pods; not done: create 1 pod for web-7f9c (revision 2) (exceeded quota: small), create 2 pods for web-7f9c (revision 2), scale down web-6d4b (revision 1) 3→2"#);
    insta::assert_snapshot!(account(&events[..1], &[left(scale(), forbidden)]), @r#"deployment "web": nothing was written; not done: scale down web-6d4b (revision 1) 3→2 (replicasets.apps is forbidden)"#);
    let many: Vec<Left> = (0..9)
        .map(|size| left(applied(scene::scale(OLD, 9 - size, size)), None))
        .collect();
    insta::assert_snapshot!(account(&events, &many), @r#"deployment "web": scaled web-7f9c (revision 2) 1→3, scaled web-6d4b (revision 1) 4→3, created 2 pods; not done: scale down web-6d4b (revision 1) 9→0, scale down web-6d4b (revision 1) 8→1, scale down web-6d4b (revision 1) 7→2, scale down web-6d4b (revision 1) 6→3, scale down web-6d4b (revision 1) 5→4, scale up web-6d4b (revision 1) 4→5, and 3 more"#);
}

#[test]
fn where_nothing_is_left_it_says_what_is_waited_for() {
    let events = scene::stuck_rollout();
    insta::assert_snapshot!(account(&events, &[]), @r#"deployment "web": created web-7f9c (revision 2) with 2 pods, scaled web-6d4b (revision 1) 5→4, created 2 pods, deleted 1 pod; waiting: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready"#);
    assert_eq!(account(&[], &[]), "", "nothing is known of it");
}
