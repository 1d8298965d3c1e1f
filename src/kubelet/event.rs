//! Events of the simulated scheduler and kubelet: in two dialects, counted, and thinned as their senders do
//! (failure-states spec, section 1.1, rules 4 and 5).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use super::pod::PodMeta;
use super::time::Time;
use crate::controller::action::EventType;

/// Events of one pod and type that are sent at once, before they are held back.
const BURST: u32 = 25;
/// How often one more is sent after that.
const REFILL: SignedDuration = SignedDuration::from_mins(5);

/// Something that happened to a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodEvent {
    /// Its type.
    pub type_: EventType,
    /// The reason.
    pub reason: &'static str,
    /// The sentence.
    pub message: String,
    /// Who says so.
    pub source: Source,
    /// `spec.containers{web}`, where it is about one container; empty otherwise.
    pub field_path: String,
}

/// Who sends events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The scheduler, with its action.
    Scheduler(&'static str),
    /// The kubelet of the pod's node.
    Kubelet,
    /// The controllers that look after nodes.
    NodeController(&'static str),
}

/// An event to write.
#[derive(Clone, Debug, PartialEq)]
pub struct EventWrite {
    /// The name of the event object.
    pub name: String,
    /// Whether the object is there already and is to be replaced.
    pub exists: bool,
    /// What the `v1` Event says.
    pub content: EventContent,
}

impl EventWrite {
    /// The whole `v1` Event.
    pub fn object(&self) -> Value {
        let mut object = json!(self.content);
        object["apiVersion"] = "v1".into();
        object["kind"] = "Event".into();
        object["metadata"] = json!({
            "name": self.name,
            "namespace": self.content.involved_object.namespace,
        });
        object
    }
}

/// A `v1` Event without its metadata.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    event_time: Option<MicroTime>,
    first_timestamp: Option<Time>,
    /// The pod.
    pub involved_object: InvolvedObject,
    last_timestamp: Option<Time>,
    /// The sentence.
    pub message: String,
    reason: &'static str,
    reporting_component: &'static str,
    reporting_instance: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<Series>,
    source: EventSource,
    #[serde(rename = "type")]
    type_: EventType,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvolvedObject {
    api_version: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    field_path: String,
    kind: &'static str,
    /// The pod's name.
    pub name: String,
    /// The pod's namespace.
    pub namespace: String,
    uid: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct EventSource {
    #[serde(skip_serializing_if = "str::is_empty")]
    component: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    host: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Series {
    count: u32,
    last_observed_time: MicroTime,
}

/// What has been said of one pod.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    said: Vec<Said>,
    normal: Allowance,
    warning: Allowance,
}

#[derive(Debug)]
struct Said {
    event: PodEvent,
    name: String,
    count: u32,
    first: Timestamp,
}

/// How many events may still be sent.
#[derive(Debug)]
struct Allowance {
    left: u32,
    refilled: Option<Timestamp>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            left: BURST,
            refilled: None,
        }
    }
}

impl Allowance {
    fn take(&mut self, now: Timestamp) -> bool {
        let refilled = *self.refilled.get_or_insert(now);
        let earned = now.duration_since(refilled).as_secs() / REFILL.as_secs();
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(BURST);
            self.left = self.left.saturating_add(earned).min(BURST);
            self.refilled = Some(now);
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

impl EventLog {
    /// Counts an event and returns what to write, unless it is held back.
    pub(super) fn record(
        &mut self,
        event: PodEvent,
        pod: &PodMeta,
        node: &str,
        now: Timestamp,
    ) -> Option<EventWrite> {
        let allowance = match event.type_ {
            EventType::Normal => &mut self.normal,
            EventType::Warning => &mut self.warning,
        };
        let scheduler = matches!(event.source, Source::Scheduler(_));
        let sent = scheduler || allowance.take(now);
        let known = self.said.len();
        let index = self.said.iter().position(|said| said.event == event);
        let index = index.unwrap_or_else(|| {
            self.said.push(Said {
                name: format!("{}.{:016x}", pod.name, name_suffix(now, known)),
                event,
                count: 0,
                first: now,
            });
            known
        });
        let said = &mut self.said[index];
        let exists = said.count > 0;
        said.count += 1;
        sent.then(|| EventWrite {
            name: said.name.clone(),
            exists,
            content: said.content(pod, node, now),
        })
    }
}

/// Kubernetes takes the nanoseconds of the instant; events of one instant are told apart by their number.
fn name_suffix(now: Timestamp, known: usize) -> u64 {
    let nanos = u64::try_from(now.as_nanosecond()).unwrap_or_default();
    nanos.wrapping_add(known as u64)
}

impl PodEvent {
    /// An event of the kubelet.
    pub(super) fn kubelet(
        type_: EventType,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            type_,
            reason,
            message: message.into(),
            source: Source::Kubelet,
            field_path: String::new(),
        }
    }
}

impl Said {
    fn content(&self, pod: &PodMeta, node: &str, now: Timestamp) -> EventContent {
        let event = &self.event;
        let content = EventContent {
            action: None,
            count: None,
            event_time: None,
            first_timestamp: None,
            involved_object: InvolvedObject {
                api_version: "v1",
                field_path: event.field_path.clone(),
                kind: "Pod",
                name: pod.name.clone(),
                namespace: pod.namespace.clone(),
                uid: pod.uid.clone(),
            },
            last_timestamp: None,
            message: event.message.clone(),
            reason: event.reason,
            reporting_component: "",
            reporting_instance: String::new(),
            series: None,
            source: EventSource::default(),
            type_: event.type_,
        };
        match event.source {
            Source::Scheduler(action) => self.scheduled(content, action, now),
            Source::Kubelet => self.counted(content, "kubelet", node, now),
            Source::NodeController(name) => self.counted(content, name, "", now),
        }
    }

    /// In the dialect of `v1`.
    fn counted(
        &self,
        content: EventContent,
        component: &'static str,
        host: &str,
        now: Timestamp,
    ) -> EventContent {
        EventContent {
            count: Some(self.count),
            first_timestamp: Some(Time(self.first)),
            last_timestamp: Some(Time(now)),
            reporting_component: component,
            reporting_instance: host.to_owned(),
            source: EventSource {
                component,
                host: host.to_owned(),
            },
            ..content
        }
    }

    /// In the dialect of `events.k8s.io/v1`.
    fn scheduled(
        &self,
        content: EventContent,
        action: &'static str,
        now: Timestamp,
    ) -> EventContent {
        EventContent {
            action: Some(action),
            event_time: Some(MicroTime(self.first)),
            reporting_component: "default-scheduler",
            reporting_instance: "default-scheduler-sandbox".to_owned(),
            series: (self.count > 1).then_some(Series {
                count: self.count,
                last_observed_time: MicroTime(now),
            }),
            ..content
        }
    }
}
