//! Images that can't be had (failure-states section 2).

use super::api::Container;
use super::budget::is_spent;
use super::case::{Case, between};
use super::code::Code;
use super::finding::{Class, Finding};

/// What a container's waiting reason says about its image, if it is about that.
pub(super) fn examine(case: Case<'_>, container: &Container) -> Option<Finding> {
    let (reason, message) = container.waiting()?;
    let image = image(container, message);
    let finding = match reason {
        "InvalidImageName" => Finding::new(
            Code::ImageNameInvalid,
            Class::TerminalNow,
            format!("image {image:?} is no valid name"),
        )
        .ending(true),
        "ErrImageNeverPull" => Finding::new(
            Code::ImageNeverPull,
            Class::TerminalNow,
            format!("image {image:?} is not on the node, and the pull policy is Never"),
        )
        .ending(true),
        "ImageInspectError" => Finding::new(
            Code::ImageInspect,
            Class::Transient,
            format!("the node could not look for image {image:?}"),
        ),
        "ErrImagePull"
        | "ImagePullBackOff"
        | "RegistryUnavailable"
        | "SignatureValidationFailed" => return Some(pull(case, container, message)),
        _ => return None,
    };
    let since = case.bound_at();
    Some(finding.evidence(message).since(since))
}

/// The container's image, else the one that a message names.
fn image<'a>(container: &'a Container, message: &'a str) -> &'a str {
    let named = || between(message, "\"", "\"").unwrap_or_default();
    Some(container.image.as_str())
        .filter(|image| !image.is_empty())
        .unwrap_or_else(named)
}

/// A pull that failed, judged by the runtime's words.
fn pull(case: Case<'_>, container: &Container, message: &str) -> Finding {
    let failure = case.newest_event(|event| {
        event.is_about_container(&container.name)
            && event.message.starts_with("Failed to pull image")
    });
    let text = runtime_words(message)
        .or_else(|| failure.map(|event| event.message.as_str()))
        .unwrap_or(message);
    let image = image(container, message);
    let why = Cause::of(text, image);
    let since = failure
        .and_then(|event| event.first_seen)
        .or(case.bound_at());
    let mut finding = Finding::new(why.code(), why.class(), why.sentence(image))
        .evidence(text)
        .since(since);
    if why == Cause::Unauthorized
        && let Some(event) = case.newest_of(&["FailedToRetrieveImagePullSecret"])
        && let Some(names) = between(&event.message, "pull secrets (", ")")
    {
        finding.class = Class::Waiting;
        finding = finding
            .evidence(&event.message)
            .next_step(format!("create the pull Secret {names}"));
    }
    let is_final = match finding.class {
        Class::TerminalNow => is_spent(case.budgets.pulls, failed_pulls(case, container)),
        Class::TerminalAfterBudget => case.snapshot.is_overdue(case.budgets.registry, since),
        _ => case.snapshot.is_overdue(case.budgets.waiting, since),
    };
    finding.ending(is_final)
}

/// The runtime's words in a message that has them: not in a back-off of older kubelets, which only names the image.
fn runtime_words(message: &str) -> Option<&str> {
    match message.strip_prefix("Back-off pulling image ") {
        None => Some(message).filter(|message| !message.is_empty()),
        Some(rest) => rest
            .split_once("\": ")
            .map(|(_, words)| words.strip_prefix("ErrImagePull: ").unwrap_or(words)),
    }
}

/// How often the pull has failed: as the events say, else by the time that the back-off takes.
fn failed_pulls(case: Case<'_>, container: &Container) -> i32 {
    let counted: i32 = case
        .snapshot
        .events_about("Pod", &case.pod.meta.name)
        .filter(|event| event.is_about_container(&container.name))
        .filter(|event| event.message.starts_with("Failed to pull image"))
        .map(|event| event.count)
        .fold(0, i32::saturating_add);
    if counted > 0 {
        return counted;
    }
    let waited = case
        .bound_at()
        .map_or(0, |at| case.snapshot.age(at).as_secs());
    // Attempts come 0, 20, 38, 89, 180, 350 and 660 s after the first, at most 15 s later.
    let attempts = [35, 55, 105, 195, 365, 675];
    let later = attempts.iter().filter(|at| waited >= **at).count();
    1 + i32::try_from(later).unwrap_or(i32::MAX)
}

/// Why a pull failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Certificate,
    RateLimit,
    Platform,
    DiskFull,
    Signature,
    Unauthorized,
    NotFound,
    Unreachable,
    Unknown,
}

/// What runtimes say, the more specific first. Matched in lower case.
const WORDS: [(Cause, &[&str]); 8] = [
    (Cause::Certificate, &["x509:"]),
    (
        Cause::RateLimit,
        &["429 too many requests", "toomanyrequests"],
    ),
    (Cause::Platform, &["no match for platform in manifest"]),
    (Cause::DiskFull, &["no space left on device"]),
    (
        Cause::Signature,
        &["signaturevalidationfailed", "signature validation failed"],
    ),
    (
        Cause::Unauthorized,
        &[
            "pull access denied",
            "insufficient_scope",
            "authorization failed",
            "401 unauthorized",
            "403 forbidden",
            "denied:",
            "no basic auth credentials",
        ],
    ),
    (
        Cause::NotFound,
        &[": not found", "manifest unknown", "code = notfound"],
    ),
    (
        Cause::Unreachable,
        &[
            "registryunavailable",
            "registry is unavailable",
            "i/o timeout",
            "connection refused",
            "connection reset",
            "no such host",
            "tls handshake timeout",
            "503",
            "500",
            "502",
            "504",
            "eof",
            "context deadline exceeded",
        ],
    ),
];

impl Cause {
    /// Judges by words; the image's own name, which may hold any of them, doesn't count.
    fn of(text: &str, image: &str) -> Self {
        let text = if image.is_empty() {
            text.to_lowercase()
        } else {
            text.replace(image, "").to_lowercase()
        };
        WORDS
            .iter()
            .find(|(_, words)| words.iter().any(|word| text.contains(word)))
            .map_or(Self::Unknown, |(cause, _)| *cause)
    }

    fn code(self) -> Code {
        match self {
            Self::Certificate => Code::RegistryCertificate,
            Self::RateLimit => Code::RegistryRateLimit,
            Self::Platform => Code::ImagePlatform,
            Self::DiskFull => Code::NodeDiskFull,
            Self::Signature => Code::ImageSignature,
            Self::Unauthorized => Code::ImageUnauthorized,
            Self::NotFound => Code::ImageNotFound,
            Self::Unreachable => Code::RegistryUnreachable,
            Self::Unknown => Code::ImagePull,
        }
    }

    fn class(self) -> Class {
        match self {
            Self::Certificate => Class::Waiting,
            Self::RateLimit | Self::DiskFull | Self::Unreachable | Self::Unknown => {
                Class::TerminalAfterBudget
            }
            Self::Platform | Self::Signature | Self::Unauthorized | Self::NotFound => {
                Class::TerminalNow
            }
        }
    }

    fn sentence(self, image: &str) -> String {
        match self {
            Self::Certificate => {
                format!("the node does not trust the registry of image {image:?}")
            }
            Self::RateLimit => format!("the registry limits pulls of image {image:?}"),
            Self::Platform => format!("image {image:?} is not built for the node's architecture"),
            Self::DiskFull => format!("the node has no room for image {image:?}"),
            Self::Signature => format!("the signature of image {image:?} is not accepted"),
            Self::Unauthorized => {
                format!("image {image:?} is denied: no or wrong credentials, or no such image")
            }
            Self::NotFound => format!("image {image:?} does not exist"),
            Self::Unreachable => format!("the registry of image {image:?} does not answer"),
            Self::Unknown => format!("image {image:?} can't be pulled"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_errors_are_told_apart_by_their_words_not_by_names() {
        let image = "reg.example.com/denied:500-eof";
        let cases = [
            (
                "failed to resolve reference \"reg.example.com/denied:500-eof\": reg.example.com/denied:500-eof: not found",
                Cause::NotFound,
            ),
            ("manifest unknown: manifest unknown", Cause::NotFound),
            (
                "pull access denied, repository does not exist or may require authorization",
                Cause::Unauthorized,
            ),
            (
                "unexpected status from HEAD request: 401 Unauthorized",
                Cause::Unauthorized,
            ),
            ("no basic auth credentials", Cause::Unauthorized),
            (
                "429 Too Many Requests - Server message: toomanyrequests: denied: slow down",
                Cause::RateLimit,
            ),
            ("dial tcp 10.0.0.1:443: i/o timeout", Cause::Unreachable),
            (
                "dial tcp: lookup reg.example.com: no such host",
                Cause::Unreachable,
            ),
            (
                "unexpected status code 503 Service Unavailable",
                Cause::Unreachable,
            ),
            (
                "Get \"https://reg.example.com/v2/\": EOF",
                Cause::Unreachable,
            ),
            (
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
                Cause::Certificate,
            ),
            (
                "no match for platform in manifest: not found",
                Cause::Platform,
            ),
            (
                "write /var/lib/containerd/x: no space left on device",
                Cause::DiskFull,
            ),
            (
                "reg.example.com/denied:500-eof: something new",
                Cause::Unknown,
            ),
        ];
        for (text, cause) in cases {
            assert_eq!(Cause::of(text, image), cause, "{text}");
        }
    }

    #[test]
    fn a_back_off_carries_the_runtime_s_words_in_newer_kubelets_only() {
        let words = runtime_words("Back-off pulling image \"a:1\": ErrImagePull: boom");
        assert_eq!(words, Some("boom"));
        assert_eq!(runtime_words("Back-off pulling image \"a:1\""), None);
        assert_eq!(runtime_words("rpc error: boom"), Some("rpc error: boom"));
    }
}
