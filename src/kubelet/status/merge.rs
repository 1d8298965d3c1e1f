//! A pod's status as text, in the place of the one that is stored.
//!
//! The members that others keep are handed on as they are written there, without being read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{ContainerState, ContainerStatus, Ids, PodCondition, PodStatus, Terminated};
use crate::kubelet::time::Time;

/// The conditions that the kubelet keeps; one that it does not write goes.
const KUBELETS: [&str; 5] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
];

impl PodStatus {
    /// The status that is written where `before` stands: [`PodStatus::write_into`], from text to text.
    ///
    /// # Errors
    /// When `before` is not the JSON of an object, or of nothing.
    pub fn over(&self, before: &str, now: Timestamp) -> serde_json::Result<String> {
        let mut status = Members::read(before)?;
        let known = Known::read(status.take("conditions"));
        let is_ours = |known: &&Known<'_>| {
            let type_ = known.type_.as_ref();
            KUBELETS.contains(&type_) || self.condition(type_).is_some()
        };
        let others = known.iter().filter(|known| !is_ours(known));
        let ours = self.conditions.iter();
        let ours = ours.map(|condition| condition.written(&known, self.observed_generation, now));
        let others = others.map(|known| Written::Kept(known.text));
        let conditions: Vec<Written<'_>> = others.chain(ours).collect();
        if !conditions.is_empty() {
            status.set("conditions", Part::Conditions(conditions));
        }
        status.set("phase", Part::Text(self.phase));
        if self.observed_generation > 0 {
            let generation = Part::Generation(self.observed_generation);
            status.set("observedGeneration", generation);
        }
        status.set_text("reason", self.reason);
        status.set_text("message", &self.message);
        if let Some(start) = self.start_time {
            status.set("startTime", Part::Time(Time(start)));
        }
        status.set_address("hostIP", "hostIPs", &self.host_ip);
        status.set_address("podIP", "podIPs", &self.pod_ip);
        status.set_containers("initContainerStatuses", &self.init_containers);
        status.set_containers("containerStatuses", &self.containers);
        serde_json::to_string(&status.0)
    }
}

impl PodCondition {
    /// The status `before` with this condition set, in the place of the one of its type: what
    /// [`set_condition`](super::set_condition) does, from text to text.
    ///
    /// # Errors
    /// When `before` is not the JSON of an object, or of nothing.
    pub fn over(
        &self,
        before: &str,
        generation: i64,
        now: Timestamp,
    ) -> serde_json::Result<String> {
        let mut status = Members::read(before)?;
        let known = Known::read(status.take("conditions"));
        let written = self.written(&known, generation, now);
        let kept = known.iter().map(|known| Written::Kept(known.text));
        let mut conditions: Vec<Written<'_>> = kept.collect();
        match known.iter().position(|known| known.type_ == self.type_) {
            Some(place) => conditions[place] = written,
            None => conditions.push(written),
        }
        status.set("conditions", Part::Conditions(conditions));
        serde_json::to_string(&status.0)
    }

    fn written<'a>(&'a self, known: &[Known<'a>], generation: i64, now: Timestamp) -> Written<'a> {
        let status = if self.holds { "True" } else { "False" };
        let since = known
            .iter()
            .find(|known| known.type_ == self.type_)
            .filter(|known| known.status == status)
            .and_then(|known| known.last_transition_time);
        Written::New {
            last_probe_time: (),
            last_transition_time: since.map_or(Since::Now(Time(now)), Since::Kept),
            message: &self.message,
            observed_generation: Some(generation).filter(|generation| *generation > 0),
            reason: self.reason,
            status,
            type_: self.type_,
        }
    }
}

/// The members of a status.
struct Members<'a>(BTreeMap<Cow<'static, str>, Part<'a>>);

/// What a member is: kept as it is written, or ours.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Kept(&'a RawValue),
    Text(&'a str),
    Generation(i64),
    Time(Time),
    Addresses([Address<'a>; 1]),
    Conditions(Vec<Written<'a>>),
    Containers(&'a [ContainerStatus]),
}

#[derive(Serialize)]
struct Address<'a> {
    ip: &'a str,
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> serde_json::Result<Self> {
        let members: Option<BTreeMap<String, &RawValue>> = serde_json::from_str(text)?;
        let members = members.into_iter().flatten();
        let kept = members.map(|(name, value)| (Cow::Owned(name), Part::Kept(value)));
        Ok(Self(kept.collect()))
    }

    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        match self.0.remove(name)? {
            Part::Kept(text) => Some(text),
            _ => None,
        }
    }

    fn set(&mut self, name: &'static str, value: Part<'a>) {
        self.0.insert(Cow::Borrowed(name), value);
    }

    fn set_text(&mut self, name: &'static str, text: &'a str) {
        if text.is_empty() {
            self.0.remove(name);
        } else {
            self.set(name, Part::Text(text));
        }
    }

    fn set_address(&mut self, one: &'static str, all: &'static str, ip: &'a str) {
        if !ip.is_empty() {
            self.set(one, Part::Text(ip));
            self.set(all, Part::Addresses([Address { ip }]));
        }
    }

    fn set_containers(&mut self, name: &'static str, containers: &'a [ContainerStatus]) {
        if containers.is_empty() {
            self.0.remove(name);
        } else {
            self.set(name, Part::Containers(containers));
        }
    }
}

/// A condition that is there already.
struct Known<'a> {
    text: &'a RawValue,
    type_: Cow<'a, str>,
    status: Cow<'a, str>,
    last_transition_time: Option<&'a RawValue>,
}

impl<'a> Known<'a> {
    /// What is no condition is passed over; so is what is no list.
    fn read(list: Option<&'a RawValue>) -> Vec<Self> {
        let list = list.map(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()));
        let list = list.and_then(Result::ok).unwrap_or_default();
        list.into_iter()
            .filter_map(|text| {
                let KnownFields {
                    type_,
                    status,
                    last_transition_time,
                } = serde_json::from_str(text.get()).ok()?;
                Some(Self {
                    text,
                    type_,
                    status,
                    last_transition_time,
                })
            })
            .collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KnownFields<'a> {
    #[serde(rename = "type", borrow, default)]
    type_: Cow<'a, str>,
    #[serde(borrow, default)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    last_transition_time: Option<&'a RawValue>,
}

/// A condition as it is written.
#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Kept(&'a RawValue),
    #[serde(rename_all = "camelCase")]
    New {
        /// Always null: nobody has probed since Kubernetes' first days.
        last_probe_time: (),
        last_transition_time: Since<'a>,
        #[serde(skip_serializing_if = "str::is_empty")]
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        observed_generation: Option<i64>,
        #[serde(skip_serializing_if = "str::is_empty")]
        reason: &'a str,
        status: &'static str,
        #[serde(rename = "type")]
        type_: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Since<'a> {
    Kept(&'a RawValue),
    Now(Time),
}

impl Serialize for ContainerStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(Ids { container, .. }) = &self.ids {
            map.serialize_entry("containerID", container)?;
        }
        map.serialize_entry("image", &self.image)?;
        let image_id = self.ids.as_ref().map_or("", |ids| &ids.image);
        map.serialize_entry("imageID", image_id)?;
        let last = self.last.iter().map(|last| ("terminated", last));
        map.serialize_entry("lastState", &last.collect::<BTreeMap<_, _>>())?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("ready", &self.ready)?;
        map.serialize_entry("restartCount", &self.restarts)?;
        map.serialize_entry("started", &self.started)?;
        map.serialize_entry("state", &self.state)?;
        map.end()
    }
}

impl Serialize for ContainerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Waiting<'a> {
            #[serde(skip_serializing_if = "str::is_empty")]
            message: &'a str,
            reason: &'a str,
        }
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Waiting { reason, message } => {
                map.serialize_entry("waiting", &Waiting { message, reason })?;
            }
            Self::Running { since } => {
                let running = BTreeMap::from([("startedAt", Time(*since))]);
                map.serialize_entry("running", &running)?;
            }
            Self::Terminated(terminated) => map.serialize_entry("terminated", terminated)?,
        }
        map.end()
    }
}

impl Serialize for Terminated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.container_id.is_empty() {
            map.serialize_entry("containerID", &self.container_id)?;
        }
        map.serialize_entry("exitCode", &self.exit_code)?;
        map.serialize_entry("finishedAt", &self.finished.map(Time))?;
        if !self.message.is_empty() {
            map.serialize_entry("message", &self.message)?;
        }
        map.serialize_entry("reason", self.reason)?;
        map.serialize_entry("startedAt", &self.started.map(Time))?;
        map.end()
    }
}
