//! What errors look like to the user. The server's answers are worded as kubectl 1.32 worded them.

use std::io;

use kube::core::Status;
use kube::core::response::{StatusCause, StatusDetails};

use super::Report;
use crate::cli::connection::Unreachable;
use crate::error::{ExitCode, Failure};
use crate::manifest;

fn report(error: impl Into<anyhow::Error>) -> (ExitCode, String, Option<String>) {
    let Report {
        code, line, hint, ..
    } = Report::of(&error.into());
    (code, line, hint)
}

fn line(error: impl Into<anyhow::Error>) -> String {
    report(error).1
}

fn answer(message: &str, reason: &str) -> kube::Error {
    kube::Error::Api(Status::failure(message, reason).boxed())
}

#[test]
fn the_servers_answers_read_as_in_kubectl() {
    let cases = [
        (
            answer("deployments.apps \"web\" not found", "NotFound"),
            "Error from server (NotFound): deployments.apps \"web\" not found",
        ),
        (answer("boom", ""), "Error from server: boom"),
        (
            answer("Unauthorized", "Unauthorized"),
            "error: You must be logged in to the server (Unauthorized)",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(line(error), expected);
    }
}

#[test]
fn an_invalid_object_names_its_fields_on_one_line() {
    let cause = |field: &str, message: &str| StatusCause {
        reason: "FieldValueInvalid".into(),
        message: message.into(),
        field: field.into(),
    };
    let mut status = Status::failure("Deployment.apps \"web\" is invalid: …", "Invalid");
    status.details = Some(StatusDetails {
        name: "web".into(),
        group: "apps".into(),
        kind: "Deployment".into(),
        uid: String::new(),
        causes: vec![
            cause(
                "spec.replicas",
                "Invalid value: -1: must be greater than or equal to 0",
            ),
            cause("spec.selector", "Required value"),
        ],
        retry_after_seconds: 0,
    });
    insta::assert_snapshot!(
        line(kube::Error::Api(status.boxed())),
        @r#"The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.selector: Required value"#
    );
}

#[test]
fn an_answer_inside_another_message_is_part_of_it() {
    let error = anyhow::Error::from(answer("deployments.apps \"web\" is forbidden", "Forbidden"))
        .context("failed to patch");
    assert_eq!(
        line(error),
        "error: failed to patch: deployments.apps \"web\" is forbidden"
    );
}

#[test]
fn a_failure_brings_its_code_and_hint() {
    let failure =
        Failure::new(ExitCode::TimedOut, "timed out waiting for the condition").hint("wait longer");
    assert_eq!(
        report(failure.clone()),
        (
            ExitCode::TimedOut,
            "error: timed out waiting for the condition".into(),
            Some("wait longer".into())
        )
    );
    assert_eq!(
        line(anyhow::Error::from(failure).context("deployment \"web\"")),
        "error: deployment \"web\": timed out waiting for the condition"
    );
}

#[test]
fn a_wrong_manifest_is_wrong_usage() {
    let error = manifest::parse("kind: Foo\n", "web.yaml").expect_err("no apiVersion");
    assert_eq!(
        report(error),
        (
            ExitCode::Usage,
            "error: web.yaml:1: Object 'apiVersion' is missing".into(),
            None
        )
    );
}

#[test]
fn a_server_that_is_not_there() {
    let refused = |host: &str| {
        let unreachable = Unreachable::Refused { host: host.into() };
        report(anyhow::Error::from(kube::Error::Service(unreachable.into())).context("listing"))
    };
    let (code, line, hint) = refused("127.0.0.1:1");
    assert_eq!((code, hint), (ExitCode::Error, None));
    assert_eq!(
        line,
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"
    );
    assert!(refused("localhost:8080").2.is_some());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let closed =
        anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("printing");
    assert_eq!(report(closed), (ExitCode::Done, String::new(), None));
}

#[test]
fn whatever_a_message_holds_it_stays_on_one_line() {
    let hostile = Failure::error("first\nsecond\r\n\u{1b}[31mthird\u{7}");
    assert_eq!(line(hostile), "error: first second third");
}
