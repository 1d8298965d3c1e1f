//! What a diagnosis finds: a cause, how it heals, and the evidence.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::code::Code;

/// How a cause heals (failure-states, healing classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// Only a new template, or an act on the pod, helps.
    TerminalNow,
    /// May heal by itself; it is given a limit.
    TerminalAfterBudget,
    /// No controller acts on the Deployment.
    ControllerMissing,
    /// Heals as soon as somebody outside the rollout acts.
    Waiting,
    /// Passes by itself.
    Transient,
    /// Nothing is wrong; worth knowing.
    Note,
}

impl Class {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::TerminalNow => "cannot recover by itself",
            Self::TerminalAfterBudget => "may recover",
            Self::ControllerMissing => "no controller acts",
            Self::Waiting => "waits for somebody",
            Self::Transient => "passes by itself",
            Self::Note => "note",
        }
    }
}

/// Which pods a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// Those of the template that is rolled out.
    New,
    /// The Deployment as a whole.
    Deployment,
    /// Those of other templates.
    Old,
}

/// One cause, with every pod that it keeps from being available.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What is the matter.
    pub code: Code,
    /// How it heals.
    pub class: Class,
    /// Which pods it is about.
    pub side: Side,
    /// Whether it ends the rollout: terminal, and its budget is used up.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// One sentence, without the names of pods.
    pub message: String,
    /// What the cluster said, word for word.
    pub evidence: Vec<String>,
    /// The container, where it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The pods, by name; empty where there are none.
    pub pods: Vec<Subject>,
    /// Since when, where that is known.
    #[serde(
        serialize_with = "optional_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub since: Option<Timestamp>,
    /// Until when it lasts, for the first of its pods, where that is known.
    #[serde(
        serialize_with = "optional_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub until: Option<Timestamp>,
    /// The step to take; empty where there is nothing to do.
    pub next_step: String,
}

/// A pod that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// The pod's name.
    pub name: String,
    /// How often its containers were started again.
    pub restarts: i32,
}

impl Finding {
    /// A finding about the Deployment, with the usual next step.
    pub fn new(code: Code, class: Class, message: impl Into<String>) -> Self {
        Self {
            code,
            class,
            side: Side::Deployment,
            is_final: false,
            message: message.into(),
            evidence: Vec::new(),
            container: None,
            pods: Vec::new(),
            since: None,
            until: None,
            next_step: code.next_step().to_owned(),
        }
    }

    /// The finding with what the cluster said.
    #[must_use]
    pub fn evidence(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() && !self.evidence.contains(&text) {
            self.evidence.push(text);
        }
        self
    }

    /// The finding as one about a container.
    #[must_use]
    pub fn container(mut self, name: &str) -> Self {
        self.container = Some(name.to_owned());
        self
    }

    /// The finding with the time it began.
    #[must_use]
    pub fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    /// The finding, ending the rollout if `is_final`.
    #[must_use]
    pub fn ending(mut self, is_final: bool) -> Self {
        self.is_final = is_final;
        self
    }

    /// The finding with another next step.
    #[must_use]
    pub fn next_step(mut self, text: impl Into<String>) -> Self {
        self.next_step = text.into();
        self
    }

    /// Whether it may end a rollout at all.
    pub fn is_terminal(&self) -> bool {
        matches!(self.class, Class::TerminalNow | Class::TerminalAfterBudget)
    }

    /// Whether something is wrong.
    pub fn is_trouble(&self) -> bool {
        self.class != Class::Note
    }

    /// Whether both are the same cause, so that they are told as one.
    fn is_like(&self, other: &Self) -> bool {
        (self.code, self.side, &self.container, &self.message)
            == (other.code, other.side, &other.container, &other.message)
    }

    fn absorb(&mut self, other: Self) {
        self.is_final |= other.is_final;
        self.class = self.class.min(other.class);
        let earlier = |a: Option<Timestamp>, b: Option<Timestamp>| a.into_iter().chain(b).min();
        self.since = earlier(self.since, other.since);
        self.until = earlier(self.until, other.until);
        if self.evidence.is_empty() {
            self.evidence = other.evidence;
        }
        self.pods.extend(other.pods);
    }
}

/// Puts findings of one cause together, the most telling first: what ends the rollout, then by class, new pods before
/// old ones, causes of more pods before those of fewer.
pub(super) fn grouped(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut groups: Vec<Finding> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| group.is_like(&finding)) {
            Some(group) => group.absorb(finding),
            None => groups.push(finding),
        }
    }
    for group in &mut groups {
        group.pods.sort();
        group.pods.dedup();
    }
    groups.sort_by(|a, b| {
        let rank = |finding: &Finding| (!finding.is_final, finding.class, finding.side);
        rank(a)
            .cmp(&rank(b))
            .then(b.pods.len().cmp(&a.pods.len()))
            .then(a.code.cmp(&b.code))
    });
    groups
}

/// Times in JSON are RFC 3339 in whole seconds, as Kubernetes writes them.
#[expect(clippy::ref_option, reason = "serde hands fields over like this")]
pub(super) fn optional_time<S: Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(Time).serialize(serializer)
}
