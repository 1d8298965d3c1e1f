//! Containers that can't be configured, created or started (failure-states sections 3 and 6).

use super::api::Container;
use super::budget::{Budgets, is_spent};
use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding};

/// Words of a refused start that no repetition changes.
const HOPELESS: [&str; 6] = [
    "executable file not found in $PATH",
    "no such file or directory",
    "permission denied",
    "is a directory",
    "exec format error",
    "not a directory",
];

/// What a container's waiting reason says about its configuration, creation or start.
pub(super) fn examine(case: Case<'_>, container: &Container) -> Option<Finding> {
    let (reason, message) = container.waiting()?;
    let since = case.bound_at();
    let finding = match reason {
        "CreateContainerConfigError" => config(message),
        "CreateContainerError" => Finding::new(
            Code::ContainerCreate,
            Class::TerminalAfterBudget,
            format!("container {} can't be created", container.name),
        ),
        "PreCreateHookError" | "PreStartHookError" => Finding::new(
            Code::ContainerCreate,
            Class::TerminalAfterBudget,
            format!(
                "a hook of the kubelet fails for container {}",
                container.name
            ),
        ),
        "PostStartHookError" => return Some(post_start(case, container).evidence(message)),
        "RunContainerError" => return Some(start_error(case.budgets, container, message)),
        _ => return None,
    };
    let limit = match finding.class {
        Class::TerminalAfterBudget => case.budgets.start,
        _ => case.budgets.waiting,
    };
    let is_final = match finding.class {
        Class::TerminalNow => true,
        Class::Transient => false,
        _ => case.snapshot.is_overdue(limit, since),
    };
    Some(finding.evidence(message).since(since).ending(is_final))
}

fn config(message: &str) -> Finding {
    let is_cache = message.starts_with("failed to sync ")
        || message.ends_with(" not registered")
        || message.starts_with("services have not yet been read");
    if is_cache {
        return Finding::new(
            Code::ConfigNotReady,
            Class::Transient,
            "the kubelet has not read the configuration yet",
        );
    }
    if message.contains("runAsNonRoot") || message.contains("non-root policy") {
        let why = message
            .split_once(" (pod: ")
            .map_or(message, |(why, _)| why);
        return Finding::new(Code::RunAsNonRoot, Class::TerminalNow, why);
    }
    if message.contains("subPath") {
        return Finding::new(Code::SubPath, Class::TerminalAfterBudget, message);
    }
    missing(message)
}

/// A ConfigMap, a Secret, or a key of one, in the kubelet's words.
pub(super) fn missing(message: &str) -> Finding {
    Finding::new(Code::ConfigMissing, Class::Waiting, message)
}

/// A start that the runtime refused.
pub(super) fn start_error(budgets: &Budgets, container: &Container, text: &str) -> Finding {
    let is_hopeless = HOPELESS.iter().any(|words| text.contains(words));
    let class = if is_hopeless {
        Class::TerminalNow
    } else {
        Class::TerminalAfterBudget
    };
    let limit = if is_hopeless {
        budgets.crashes.map(|limit| limit.min(2))
    } else {
        budgets.crashes
    };
    Finding::new(
        Code::ContainerStart,
        class,
        format!("container {} can't be started", container.name),
    )
    .evidence(text)
    .since(since_last_end(container))
    .ending(is_spent(limit, container.exits()))
}

/// A postStart hook that failed, and so ended the container.
pub(super) fn post_start(case: Case<'_>, container: &Container) -> Finding {
    Finding::new(
        Code::PostStartHook,
        Class::TerminalAfterBudget,
        format!("the postStart hook of container {} fails", container.name),
    )
    .since(since_last_end(container))
    .ending(is_spent(case.budgets.crashes, container.exits()))
}

pub(super) fn since_last_end(container: &Container) -> Option<k8s_openapi::jiff::Timestamp> {
    let end = container.latest_end()?;
    end.finished_at.as_ref().map(|time| time.0)
}
