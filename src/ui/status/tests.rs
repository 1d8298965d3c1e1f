//! Dashboards, tables and documents of a failing rollout.

use k8s_openapi::jiff::SignedDuration;

use super::{Layout, Shown, StatusRecord, annotations, dashboard, last_words, markdown, rows};
use crate::controller::api::ObjectKey;
use crate::diagnose::{Class, Code, Diagnosis, Finding, Phase, Side, Subject, Unreadable, Verdict};
use crate::ui::line::Line;
use crate::ui::scene;

/// A name that would retitle the window, and one in wide characters.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}web\u{1b}[2J:9\u{202e}";
const WIDE: &str = "注文サービス";

fn finding() -> Finding {
    Finding {
        side: Side::New,
        pods: ["web-7f9c-x2k4p", "web-7f9c-q8vnz"]
            .map(|name| Subject {
                name: name.to_owned(),
                restarts: 0,
            })
            .into(),
        ..Finding::new(
            Code::ImageNotFound,
            Class::TerminalNow,
            format!("image {HOSTILE} does not exist"),
        )
    }
    .evidence(format!("{WIDE}: {HOSTILE}: not found"))
    .since(Some(scene::second(2)))
    .ending(true)
}

fn verdict(name: &str, phase: Phase, finding: Option<&Finding>, message: &str) -> Verdict {
    Verdict {
        object: ObjectKey::new("shop", name),
        phase,
        class: finding.map(|finding| finding.class),
        code: finding.map(|finding| finding.code),
        message: message.to_owned(),
        evidence: finding.map_or_else(Vec::new, |finding| finding.evidence.clone()),
        since: finding.and_then(|finding| finding.since),
        deadline_left_seconds: Some(553),
        next_step: finding.map_or_else(String::new, |finding| finding.next_step.clone()),
    }
}

fn failing() -> Shown {
    let finding = finding();
    let note = Finding::new(
        Code::BlockedByBounds,
        Class::Note,
        scene::blocked().to_string(),
    );
    Shown {
        diagnosis: Diagnosis {
            verdict: verdict(
                "web",
                Phase::Failed,
                Some(&finding),
                &format!("2 pods: {}", finding.message),
            ),
            overview: scene::overview(&[(3, [2, 2, 0, 0]), (2, [4, 4, 4, 4])]),
            findings: vec![finding, note],
        },
        unreadable: vec![Unreadable {
            resource: "events in namespace shop".to_owned(),
            why: "events is forbidden".to_owned(),
        }],
        at: scene::second(47),
    }
}

fn complete(name: &str) -> Shown {
    Shown {
        diagnosis: Diagnosis {
            verdict: verdict(name, Phase::Complete, None, "revision 2: 5 of 5 available"),
            overview: scene::overview(&[(2, [5, 5, 5, 5])]),
            findings: Vec::new(),
        },
        unreadable: Vec::new(),
        at: scene::second(47),
    }
}

fn text(lines: &[Line]) -> String {
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn layout(columns: usize) -> Layout {
    Layout {
        columns: Some(columns),
        ..Layout::default()
    }
}

#[test]
fn a_dashboard_on_80_and_on_160_columns() {
    for columns in [80, 160] {
        let lines = dashboard(&failing(), layout(columns));
        let widest = lines.iter().map(Line::width).max();
        assert!(widest <= Some(columns), "{widest:?} of {columns}");
        insta::assert_snapshot!(format!("dashboard-{columns}"), text(&lines));
    }
}

/// The last words break between words where there is a terminal, and nothing of them is cut.
#[test]
fn last_words_are_whole_and_keep_to_the_room() {
    let mut shown = failing();
    let long =
        "0/120 nodes are available: 40 Insufficient cpu, 80 node(s) had an untolerated taint. "
            .repeat(8);
    let image = format!("registry.example.com/{}:1.27", "shop/".repeat(20));
    shown.diagnosis.findings[0].evidence = vec![long.clone() + "end", image.clone()];
    let all = |columns| text(&last_words(&shown, columns));
    let together = |text: &str| text.split_whitespace().collect::<String>();
    let narrow = last_words(&shown, Some(60));
    assert!(narrow.iter().all(|line| line.width() <= 60));
    assert_eq!(together(&text(&narrow)), together(&all(None)));
    assert!(all(None).contains(&(long + "end")));
    assert!(all(None).contains(&image));
    insta::assert_snapshot!(all(Some(60)).lines().take(6).collect::<Vec<_>>().join("\n"), @"
    deployment/web: failed: 2 pods: image web:9 does not exist
    ✗ image web:9 does not exist  (imageNotFound, cannot recover
      by itself, for 45s)
        web-7f9c-x2k4p, web-7f9c-q8vnz
        « 0/120 nodes are available: 40 Insufficient cpu, 80
          node(s) had an untolerated taint. 0/120 nodes are
    ");
}

/// A rollout that goes on says when it may be done; one that was gone back to is older than its ReplicaSet.
#[test]
fn estimates_need_a_young_replica_set() {
    let mut shown = failing();
    shown.diagnosis.verdict.phase = Phase::Progressing;
    let new = &mut shown.diagnosis.overview.revisions[0];
    new.available = 2;
    new.created = Some(shown.at - SignedDuration::from_secs(40));
    let times = |shown: &Shown| {
        text(&dashboard(shown, layout(80)))
            .lines()
            .nth(2)
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(times(&shown), "  deadline in 9m13s, about 60s left");
    shown.diagnosis.overview.revisions[0].reused_from = vec![1];
    assert_eq!(times(&shown), "  deadline in 9m13s");
}

#[test]
fn rows_have_the_worst_first_and_keep_to_the_room() {
    let all = [complete("api"), complete("database"), failing()];
    let lines = rows(&all, layout(80));
    assert!(lines.iter().all(|line| line.width() <= 80));
    insta::assert_snapshot!("rows", text(&lines));
}

#[test]
fn complete_rows_tell_of_restarts() {
    let mut healed = complete("api");
    let mut scar = finding();
    scar.message = "container web ends with exit code 1, and runs again".to_owned();
    scar.pods[0].restarts = 7;
    healed.diagnosis.findings = vec![scar];
    insta::assert_snapshot!(text(&rows(&[healed, complete("db")], layout(120))), @"
      NAME  STATUS    REVISION  AVAILABLE  OLD  WHY
    ✓ api   complete  2         5/5        0    7 restarts: container web ends with exit code 1, and runs again
    ✓ db    complete  2         5/5        0
    ");
}

/// Whatever the names: the causes are what rows are read for.
#[test]
fn long_names_leave_room_for_the_causes() {
    let long = "frontend-with-a-rather-long-name-for-a-deployment-blue";
    let mut shown = failing();
    shown.diagnosis.verdict.object.name = long.to_owned();
    let all = [complete("api"), shown];
    let lines = rows(&all, layout(80));
    assert!(lines.iter().all(|line| line.width() <= 80));
    insta::assert_snapshot!(text(&lines), @"
      NAME              STATUS    REVISION  AVAILABLE  OLD  WHY
    ✗ frontend…nt-blue  failed    3         0/5        4    2 pods: image web:9 doe…
    ✓ api               complete  2         5/5        0
    ");
    assert!(text(&rows(&all, layout(160))).contains(long));
}

#[test]
fn documents_carry_no_escapes_and_no_markup_of_others() {
    let all = [failing(), complete("api")];
    insta::assert_snapshot!("github", annotations(&all).join("\n"));
    let page = markdown(
        &all,
        Layout {
            with_namespace: true,
            ..Layout::default()
        },
    );
    assert!(!page.contains('\u{1b}'));
    insta::assert_snapshot!("markdown", page);
}

#[test]
fn records_for_programs() {
    let json = serde_json::to_value(StatusRecord::of(&failing())).unwrap();
    assert_eq!(json["apiVersion"], "kubectl-rs/v1");
    assert_eq!(json["verdict"]["phase"], "failed");
    assert_eq!(json["verdict"]["code"], "imageNotFound");
    assert_eq!(json["findings"][0]["final"], true);
    assert_eq!(
        json["unreadable"][0]["resource"],
        "events in namespace shop"
    );
}
