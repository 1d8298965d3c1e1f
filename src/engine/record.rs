//! Records events as Kubernetes' controllers do: repeated ones are counted, similar ones combined, a flood held back.
//!
//! They are `v1` events with a source, as those of the controllers are, and each different message keeps its words.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Request;
use serde::Serialize;
use serde_json::json;

use crate::clock::Clock;
use crate::controller::action::{EventType, Kind, Target};
use crate::controller::api::ObjectKey;

/// After this long without one, events count as new.
const MEMORY: SignedDuration = SignedDuration::from_mins(10);
/// So many messages with one reason are told apart; further ones are combined.
const SIMILAR: usize = 9;
/// Events of one object that are sent at once, before they are held back.
const BURST: i64 = 25;
/// How often one more is sent after that.
const REFILL: SignedDuration = SignedDuration::from_mins(5);
/// Objects whose events are remembered, before those that are quiet are forgotten.
const OBJECTS: usize = 4096;
/// The longest message that the API takes.
const LONGEST: usize = 1024;

/// Records events on Deployments and ReplicaSets.
pub(super) struct EventRecorder {
    client: Client,
    clock: Clock,
    log: Mutex<Log>,
}

impl EventRecorder {
    /// A recorder that has recorded nothing yet.
    pub(super) fn new(client: Client, clock: Clock) -> Self {
        Self {
            client,
            clock,
            log: Mutex::default(),
        }
    }

    /// Records an event. One that the server refuses is lost, as everywhere in Kubernetes.
    pub(super) async fn record(
        &self,
        regarding: &Target,
        type_: EventType,
        reason: &'static str,
        message: &str,
    ) {
        let said = {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.note(regarding, type_, reason, message, self.clock.now())
        };
        let Some(said) = said else { return };
        let sent = match self.send(regarding, type_, reason, &said).await {
            Err(kube::Error::Api(status)) if said.count > 1 && status.is_not_found() => {
                let anew = Said { count: 1, ..said };
                self.send(regarding, type_, reason, &anew).await
            }
            sent => sent,
        };
        if let Err(error) = sent {
            tracing::debug!(%error, reason, "event not recorded");
        }
    }

    async fn send(
        &self,
        regarding: &Target,
        type_: EventType,
        reason: &str,
        said: &Said,
    ) -> Result<(), kube::Error> {
        let path = format!("/api/v1/namespaces/{}/events", regarding.key.namespace);
        let request = Request::new(path);
        let request = if said.count > 1 {
            let news = json!({
                "count": said.count,
                "lastTimestamp": Time(said.last),
                "message": said.message,
            });
            request.patch(&said.name, &PatchParams::default(), &Patch::Merge(news))
        } else {
            let body = body(regarding, type_, reason, said);
            let body = serde_json::to_vec(&body).map_err(kube::Error::SerdeError)?;
            request.create(&PostParams::default(), body)
        };
        let request = request.map_err(kube::Error::BuildRequest)?;
        self.client.request_text(request).await.map(|_| ())
    }
}

/// An event that is new.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata<'a>,
    involved_object: Involved<'a>,
    #[serde(rename = "type")]
    type_: EventType,
    reason: &'a str,
    message: &'a str,
    source: Component,
    reporting_component: &'static str,
    first_timestamp: Time,
    last_timestamp: Time,
    count: u32,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Involved<'a> {
    api_version: &'static str,
    kind: &'static str,
    name: &'a str,
    namespace: &'a str,
    resource_version: &'a str,
    uid: &'a str,
}

#[derive(Serialize)]
struct Component {
    component: &'static str,
}

fn body<'a>(regarding: &'a Target, type_: EventType, reason: &'a str, said: &'a Said) -> Body<'a> {
    let component = match regarding.kind {
        Kind::Deployment => "deployment-controller",
        Kind::ReplicaSet | Kind::Pod => "replicaset-controller",
    };
    let ObjectKey { namespace, name } = &regarding.key;
    Body {
        api_version: "v1",
        kind: "Event",
        metadata: Metadata {
            name: &said.name,
            namespace,
        },
        involved_object: Involved {
            api_version: regarding.kind.api_version(),
            kind: regarding.kind.name(),
            name,
            namespace,
            resource_version: &regarding.resource_version,
            uid: &regarding.uid,
        },
        type_,
        reason,
        message: &said.message,
        source: Component { component },
        reporting_component: component,
        first_timestamp: Time(said.first),
        last_timestamp: Time(said.last),
        count: said.count,
    }
}

/// What has been said of which objects, by UID.
#[derive(Default)]
struct Log {
    objects: HashMap<String, ObjectLog>,
    /// At how many objects the quiet ones are looked for again: each time as many have come as were left.
    forget_at: usize,
    last_instant: i64,
}

struct ObjectLog {
    groups: Vec<Group>,
    allowance: i64,
    refilled: Timestamp,
    last: Timestamp,
}

/// What has been said with one type and reason.
struct Group {
    type_: EventType,
    reason: &'static str,
    said: Vec<Remembered>,
    last: Timestamp,
}

/// An event object that was sent. There may be ten for each ReplicaSet, so its message is known by its hash, and its name
/// by the instant in it.
struct Remembered {
    message: u64,
    /// When it was sent first, in nanoseconds since 1970; no two are the same.
    instant: i64,
    count: u32,
}

/// An event object to send.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    name: String,
    message: String,
    count: u32,
    first: Timestamp,
    last: Timestamp,
}

impl Log {
    /// Counts an event and returns what to send, unless it is held back.
    fn note(
        &mut self,
        regarding: &Target,
        type_: EventType,
        reason: &'static str,
        message: &str,
        now: Timestamp,
    ) -> Option<Said> {
        if self.objects.len() >= self.forget_at.max(OBJECTS) {
            self.objects
                .retain(|_, object| now.duration_since(object.last) < MEMORY);
            self.forget_at = 2 * self.objects.len();
        }
        let instant = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let instant = instant.max(self.last_instant.saturating_add(1));
        let object = self
            .objects
            .entry(regarding.uid.clone())
            .or_insert_with(|| ObjectLog {
                groups: Vec::new(),
                allowance: BURST,
                refilled: now,
                last: now,
            });
        object.last = now;
        let group = object.group(type_, reason, now);
        let said = group.note(&regarding.key.name, message, now, instant);
        if said.count == 1 {
            self.last_instant = instant;
        }
        object.is_allowed(now).then_some(said)
    }
}

impl ObjectLog {
    /// What has been said with a type and reason; nothing, where the last time is long ago.
    fn group(&mut self, type_: EventType, reason: &'static str, now: Timestamp) -> &mut Group {
        self.groups
            .retain(|group| now.duration_since(group.last) < MEMORY);
        let is_same = |group: &Group| group.type_ == type_ && group.reason == reason;
        let place = self.groups.iter().position(is_same).unwrap_or_else(|| {
            self.groups.reserve_exact(1);
            self.groups.push(Group {
                type_,
                reason,
                said: Vec::new(),
                last: now,
            });
            self.groups.len() - 1
        });
        &mut self.groups[place]
    }

    fn is_allowed(&mut self, now: Timestamp) -> bool {
        let earned = now.duration_since(self.refilled).as_secs() / REFILL.as_secs();
        if earned > 0 {
            self.allowance = (self.allowance + earned).min(BURST);
            self.refilled = now;
        }
        let allowed = self.allowance > 0;
        self.allowance -= i64::from(allowed);
        allowed
    }
}

impl Group {
    /// Counts a message on the object of this name; `instant` is what a first one is known by.
    fn note(&mut self, regarding: &str, message: &str, now: Timestamp, instant: i64) -> Said {
        /// What all further messages are known by.
        const COMBINED: u64 = 0;
        self.last = now;
        let hash = hash(message).max(COMBINED + 1);
        let is_known = self.said.iter().any(|said| said.message == hash);
        let has_room = self.said.len() < SIMILAR;
        let (key, text) = if is_known || has_room {
            (hash, message.to_owned())
        } else {
            (
                COMBINED,
                format!("(combined from similar events): {message}"),
            )
        };
        let place = self.said.iter().position(|said| said.message == key);
        let place = place.unwrap_or_else(|| {
            self.said.reserve_exact(1);
            self.said.push(Remembered {
                message: key,
                instant,
                count: 0,
            });
            self.said.len() - 1
        });
        let said = &mut self.said[place];
        said.count += 1;
        Said {
            name: format!("{regarding}.{:x}", said.instant),
            message: text.chars().take(LONGEST).collect(),
            count: said.count,
            first: Timestamp::from_nanosecond(said.instant.into()).unwrap_or(now),
            last: now,
        }
    }
}

fn hash(message: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::controller::api::ObjectKey;

    fn web() -> Target {
        Target {
            kind: Kind::Deployment,
            key: ObjectKey::new("default", "web"),
            uid: "uid".to_owned(),
            resource_version: "1".to_owned(),
        }
    }

    fn note(log: &mut Log, message: &str, seconds: i64) -> Option<(String, u32)> {
        let now = Timestamp::from_second(seconds).expect("a second");
        log.note(&web(), EventType::Normal, "ScalingReplicaSet", message, now)
            .map(|said| (said.message, said.count))
    }

    #[test]
    fn each_message_keeps_its_words_and_repeats_are_counted() {
        let mut log = Log::default();
        let seen: Vec<_> = ["up", "down", "up"]
            .iter()
            .filter_map(|message| note(&mut log, message, 0))
            .collect();
        let expected = [("up", 1), ("down", 1), ("up", 2)];
        assert_eq!(seen, expected.map(|(text, count)| (text.to_owned(), count)));
        assert_eq!(note(&mut log, "up", 600), Some(("up".to_owned(), 1)));
    }

    #[test]
    fn the_tenth_similar_message_is_combined_with_those_that_follow() {
        let mut log = Log::default();
        for number in 0..9 {
            let message = number.to_string();
            assert_eq!(note(&mut log, &message, 0), Some((message, 1)));
        }
        for (message, count) in [("9", 1), ("10", 2)] {
            let combined = format!("(combined from similar events): {message}");
            assert_eq!(note(&mut log, message, 1), Some((combined, count)));
        }
        assert_eq!(note(&mut log, "3", 1), Some(("3".to_owned(), 2)));
    }

    #[test]
    fn a_flood_is_held_back_and_trickles() {
        let mut log = Log::default();
        let sent = |log: &mut Log, seconds| note(log, "again", seconds).is_some();
        let at_once = (0..100).filter(|_| sent(&mut log, 0)).count();
        assert_eq!(at_once, 25);
        assert!(!sent(&mut log, 299));
        assert!(sent(&mut log, 300));
        assert!(!sent(&mut log, 301));
    }

    #[test]
    fn events_of_one_instant_have_names_of_their_own() {
        let mut log = Log::default();
        let now = Timestamp::UNIX_EPOCH;
        let names: HashSet<_> = ["a", "b", "c"]
            .iter()
            .filter_map(|message| log.note(&web(), EventType::Normal, "R", message, now))
            .map(|said| said.name)
            .collect();
        assert_eq!(names.len(), 3);
    }
}
