//! Events of the simulated scheduler and kubelet: in two dialects, counted, and thinned as their senders do
//! (failure-states spec, section 1.1, rules 4 and 5).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::pod::PodMeta;
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
    /// The `v1` Event.
    pub object: Value,
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
            object: said.object(pod, node, now),
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
    fn object(&self, pod: &PodMeta, node: &str, now: Timestamp) -> Value {
        let event = &self.event;
        let mut involved = json!({
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "apiVersion": "v1",
        });
        if !event.field_path.is_empty() {
            involved["fieldPath"] = event.field_path.as_str().into();
        }
        let mut object = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": pod.namespace},
            "involvedObject": involved,
            "reason": event.reason,
            "message": event.message,
            "type": event.type_,
        });
        let fields = match event.source {
            Source::Scheduler(action) => scheduler_fields(action, self, now),
            Source::Kubelet => counted_fields("kubelet", node, self, now),
            Source::NodeController(name) => counted_fields(name, "", self, now),
        };
        if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
            object.extend(fields);
        }
        object
    }
}

fn counted_fields(component: &str, host: &str, said: &Said, now: Timestamp) -> Value {
    let mut source = json!({"component": component});
    if !host.is_empty() {
        source["host"] = host.into();
    }
    json!({
        "source": source,
        "firstTimestamp": Time(said.first),
        "lastTimestamp": Time(now),
        "count": said.count,
        "eventTime": null,
        "reportingComponent": component,
        "reportingInstance": host,
    })
}

fn scheduler_fields(action: &str, said: &Said, now: Timestamp) -> Value {
    let mut fields = json!({
        "source": {},
        "firstTimestamp": null,
        "lastTimestamp": null,
        "eventTime": MicroTime(said.first),
        "action": action,
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-sandbox",
    });
    if said.count > 1 {
        fields["series"] = json!({"count": said.count, "lastObservedTime": MicroTime(now)});
    }
    fields
}
