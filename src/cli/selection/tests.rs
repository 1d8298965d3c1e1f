//! The grammar of resource arguments. Messages are those that kubectl 1.32 gave for the same arguments.

use clap::Parser;

use super::{Kind, ObjectArgs, Target, Targets};

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    selection: ObjectArgs,
}

fn targets(line: &str) -> Result<Targets<Kind>, String> {
    let words = std::iter::once("kubectl").chain(line.split_whitespace());
    let args = Words::try_parse_from(words).map_err(|error| error.to_string())?;
    let selection = args.selection.selection();
    selection
        .map(|selection| selection.targets)
        .map_err(|failure| failure.message)
}

fn deployment(name: &str) -> Target<Kind> {
    Target {
        kind: Kind::Deployment,
        name: name.to_owned(),
    }
}

fn replica_set(name: &str) -> Target<Kind> {
    Target {
        kind: Kind::ReplicaSet,
        name: name.to_owned(),
    }
}

#[test]
fn every_form_that_kubectl_knows() {
    let named = |targets: &[Target<Kind>]| Ok(Targets::Named(targets.to_vec()));
    let web = named(&[deployment("web")]);
    let cases = [
        ("", Ok(Targets::Unnamed)),
        ("deploy", Ok(Targets::Types(vec![Kind::Deployment]))),
        (
            "deploy,rs,deployments",
            Ok(Targets::Types(vec![Kind::Deployment, Kind::ReplicaSet])),
        ),
        (
            "deploy -l app=web",
            Ok(Targets::Types(vec![Kind::Deployment])),
        ),
        ("deploy/web", web.clone()),
        ("deployment/web", web.clone()),
        ("deployments/web", web.clone()),
        ("Deployment/web", web.clone()),
        ("deployments.apps/web", web.clone()),
        ("deployment.v1.apps/web", web.clone()),
        ("deploy web", web.clone()),
        ("deploy/web deploy/web", web.clone()),
        (
            "deploy web api",
            named(&[deployment("web"), deployment("api")]),
        ),
        (
            "deploy/web rs/old",
            named(&[deployment("web"), replica_set("old")]),
        ),
        (
            "deploy,rs web",
            named(&[deployment("web"), replica_set("web")]),
        ),
        ("rs/old", named(&[replica_set("old")])),
        ("replicasets.apps old", named(&[replica_set("old")])),
        (
            "-f a.yaml,b.yaml -f - -R",
            Ok(Targets::Files {
                paths: vec!["a.yaml".into(), "b.yaml".into(), "-".into()],
                recursive: true,
            }),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(targets(line), expected, "{line}");
    }
}

#[test]
fn misuse_is_refused_in_kubectls_words() {
    let single = "arguments in resource/name form must have a single resource and name";
    let slashes = "arguments in resource/name form may not have more than one slash";
    let cases = [
        ("deploy/", single),
        ("/web", single),
        ("deploy,rs/web", single),
        ("deploy/web/x", slashes),
        (
            "deploy web -l app=web",
            "name cannot be provided when a selector is specified",
        ),
        (
            "deploy/web -l app=web",
            "selectors and the all flag cannot be used when passing resource/name arguments",
        ),
        ("deploy deploy/web", super::MIXED_FORMS),
        ("deploy/web api", super::MIXED_FORMS),
        ("deploy -f web.yaml", super::FILES_AND_RESOURCES),
        ("deploy web -f web.yaml", super::FILES_AND_RESOURCES),
        ("deploy/web -f web.yaml", super::FILES_AND_NAMES),
        ("foo/web", "the server doesn't have a resource type \"foo\""),
        ("web", "the server doesn't have a resource type \"web\""),
        (
            "deployments.example.com/web",
            "the server doesn't have a resource type \"deployments\"",
        ),
        ("pods/web", "cannot work on resource type \"pods\""),
        (
            "deploy/web -A",
            "a resource cannot be retrieved by name across all namespaces",
        ),
    ];
    for (line, message) in cases {
        assert_eq!(targets(line), Err(message.to_owned()), "{line}");
    }
}
