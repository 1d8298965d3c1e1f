//! What container runtimes and registries say, in containerd's words (failure-states spec, sections 2 and 3).

use super::behaviour::{Behaviour, Failure};
use super::rules::split_tag;

/// What a registry says to whom it does not know.
pub(super) const ACCESS_DENIED: &str = "pull access denied, repository does not exist or may require authorization: \
     server message: insufficient_scope: authorization failed";

/// What a network plug-in says that has no address to give.
pub(super) const NO_SANDBOX: &str = "rpc error: code = Unknown desc = failed to setup network for sandbox: \
     plugin type=\"bridge\" failed (add): failed to allocate for range 0: no IP addresses available in range set";

/// A failed pull: the waiting reason, its message, and what the runtime said.
pub(super) struct PullError {
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) runtime: String,
}

/// Why `image` could not be pulled.
pub(super) fn pull_error(failure: Failure, behaviour: &Behaviour, image: &str) -> PullError {
    let said = behaviour.message.as_deref();
    match failure {
        Failure::RegistryUnavailable => refused_pull(
            "RegistryUnavailable",
            image,
            "the registry is unavailable",
            said.unwrap_or("connection refused"),
        ),
        Failure::SignatureValidationFailed => refused_pull(
            "SignatureValidationFailed",
            image,
            "the signature validation failed",
            said.unwrap_or(
                "Source image rejected: A signature was required, but no signature exists",
            ),
        ),
        _ => {
            let runtime = containerd_pull_error(image, said);
            PullError {
                reason: "ErrImagePull",
                message: runtime.clone(),
                runtime,
            }
        }
    }
}

fn refused_pull(reason: &'static str, image: &str, cause: &str, said: &str) -> PullError {
    PullError {
        reason,
        message: format!("image pull failed for {image} because {cause}: {said}"),
        runtime: format!("{reason}: {said}"),
    }
}

fn containerd_pull_error(image: &str, said: Option<&str>) -> String {
    let full = full_reference(image);
    let (code, cause) = match said {
        Some(said) if said.starts_with("rpc error:") => return said.to_owned(),
        Some(said) => ("Unknown", said.to_owned()),
        None => ("NotFound", format!("{full}: not found")),
    };
    format!(
        "rpc error: code = {code} desc = failed to pull and unpack image {full:?}: \
         failed to resolve reference {full:?}: {cause}"
    )
}

/// The reference as the runtime completes it: registry, repository, tag.
fn full_reference(image: &str) -> String {
    let (name, tag) = split_tag(image);
    let registry = name.split_once('/').map(|(registry, _)| registry);
    let has_registry =
        registry.is_some_and(|first| first.contains(['.', ':']) || first == "localhost");
    let prefix = match registry {
        _ if has_registry => "",
        Some(_) => "docker.io/",
        None => "docker.io/library/",
    };
    let suffix = if tag.is_empty() && !image.contains('@') {
        ":latest"
    } else {
        ""
    };
    format!("{prefix}{image}{suffix}")
}

/// Why the image's name is none.
pub(super) fn invalid_name(image: &str) -> String {
    let (name, _) = split_tag(image);
    let why = if name.chars().any(char::is_uppercase) {
        let library = if name.contains('/') { "" } else { "library/" };
        format!("invalid reference format: repository name ({library}{name}) must be lowercase")
    } else {
        "invalid reference format".to_owned()
    };
    format!(
        "Failed to apply default image tag {image:?}: couldn't parse image name {image:?}: {why}"
    )
}

/// Whether a runtime can parse the image's name.
pub(super) fn is_valid_name(image: &str) -> bool {
    let (reference, digest) = match image.split_once('@') {
        Some((reference, digest)) => (reference, Some(digest)),
        None => (image, None),
    };
    let (name, tag) = split_tag(reference);
    let tagged = name.len() < reference.len();
    let valid_tag = !tagged
        || (tag.len() <= 128
            && tag.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            && tag
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter)));
    let valid_digest = digest.is_none_or(|digest| {
        digest
            .split_once(':')
            .is_some_and(|(_, hex)| hex.len() >= 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    valid_tag && valid_digest && has_valid_parts(name)
}

fn has_valid_parts(name: &str) -> bool {
    let first_is_registry = name
        .split_once('/')
        .is_some_and(|(first, _)| first.contains(['.', ':']) || first == "localhost");
    name.split('/').enumerate().all(|(index, part)| {
        let allowed = |letter: char| {
            letter.is_ascii_lowercase()
                || letter.is_ascii_digit()
                || "._-".contains(letter)
                || (index == 0
                    && first_is_registry
                    && (letter.is_ascii_uppercase() || letter == ':'))
        };
        let bounded =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
        part.chars().all(allowed) && bounded(part.chars().next()) && bounded(part.chars().last())
    })
}

/// What the runtime says when it does not create or start a container.
pub(super) fn refusal(failure: Failure, behaviour: &Behaviour) -> String {
    if let Some(message) = &behaviour.message {
        return message.clone();
    }
    match failure {
        Failure::CreateContainerConfigError => "failed to sync configmap cache: timed out waiting for the condition",
        Failure::CreateContainerError => {
            "failed to generate container spec: failed to generate spec: path \"/data\" is mounted on \"/\" \
             but it is not a shared mount"
        }
        Failure::ImageInspectError => "rpc error: code = Unknown desc = layer not known",
        _ => {
            "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create \
             failed: unable to start container process: error during container init: exec: \"start\": executable \
             file not found in $PATH: unknown"
        }
    }
    .to_owned()
}

/// What the kubelet says of a pod that it turns away.
pub(super) fn rejection(failure: Failure, behaviour: &Behaviour) -> (&'static str, String) {
    let (reason, default) = match failure {
        Failure::SysctlForbidden => (
            "SysctlForbidden",
            "forbidden sysctl: \"kernel.msgmax\" not allowlisted",
        ),
        _ => (
            "UnexpectedAdmissionError",
            "Allocate failed due to requested number of devices unavailable for example.com/device. \
             Requested: 1, Available: 0, which is unexpected",
        ),
    };
    let said = behaviour.message.as_deref().unwrap_or(default);
    (reason, said.to_owned())
}
