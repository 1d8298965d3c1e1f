//! `metadata.managedFields`: who manages which fields of an object, read, changed and written.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

use super::set::FieldSet;

/// The most entries that updates may have; beyond that the oldest are put together.
const UPDATERS_MAX: usize = 10;
/// Whom the oldest updates are put down to.
const ANCIENT_CHANGES: &str = "ancient-changes";

/// How a manager came to its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply: fields that the next one leaves out are removed.
    Apply,
    /// By create, update or another patch.
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Apply, Self::Update].into_iter();
        all.find(|operation| operation.name() == name)
    }
}

/// What tells entries apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerId {
    /// The manager's name.
    pub manager: String,
    /// How it writes.
    pub operation: Operation,
    /// In which version it writes; empty for appliers, who stay the same in whatever version they apply.
    pub api_version: String,
    /// The subresource that it writes through; empty for the object itself.
    pub subresource: String,
}

impl ManagerId {
    /// A manager; its version counts only where it updates.
    pub fn new(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let api_version = match operation {
            Operation::Apply => "",
            Operation::Update => api_version,
        };
        Self {
            manager: manager.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

/// As conflicts name a manager: `"kubectl" with subresource "scale" using apps/v1`.
impl fmt::Display for ManagerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.manager)?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {:?}", self.subresource)?;
        }
        match self.operation {
            Operation::Apply => Ok(()),
            Operation::Update => write!(f, " using {}", self.api_version),
        }
    }
}

/// What one manager has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The version in which its fields are named.
    pub api_version: String,
    /// Its fields.
    pub fields: FieldSet,
    /// When it last took or gave up fields, in whole seconds.
    pub time: Option<Timestamp>,
}

/// Why `managedFields` can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Neither `Apply` nor `Update`.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// No version.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// No `fieldsType`.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// Another `fieldsType` than `FieldsV1`.
    #[error("invalid fieldsType {0:?} in managed fields entry {1}")]
    FieldsType(String, usize),
}

/// The managers of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managers {
    entries: BTreeMap<ManagerId, Entry>,
}

impl Managers {
    /// Reads the `managedFields` of an object's metadata.
    pub fn of(object: &Value) -> Result<Self, DecodeError> {
        let list = object["metadata"]["managedFields"].as_array();
        Self::decode(list.map_or(&[], Vec::as_slice))
    }

    /// Reads a list of entries.
    pub fn decode(list: &[Value]) -> Result<Self, DecodeError> {
        let mut managers = Self::default();
        for (index, entry) in list.iter().enumerate() {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let operation = Operation::named(text("operation")).ok_or(DecodeError::Operation)?;
            let api_version = text("apiVersion");
            if api_version.is_empty() {
                return Err(DecodeError::ApiVersion);
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(DecodeError::NoFieldsType(index)),
                other => return Err(DecodeError::FieldsType(other.to_owned(), index)),
            }
            let id = ManagerId::new(text("manager"), operation, api_version, text("subresource"));
            let fields = entry.get("fieldsV1").map(FieldSet::from_fields_v1);
            let entry = Entry {
                api_version: api_version.to_owned(),
                fields: fields.unwrap_or_default(),
                time: text("time").parse().ok(),
            };
            managers.entries.insert(id, entry);
        }
        Ok(managers)
    }

    /// Writes the list of entries: appliers first, then by time, then by name.
    pub fn encode(&self) -> Vec<Value> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        let seconds = |entry: &Entry| entry.time.map_or(0, Timestamp::as_second);
        entries.sort_by(|(a_id, a), (b_id, b)| {
            let by_time = seconds(a).cmp(&seconds(b));
            (a_id.operation.cmp(&b_id.operation).then(by_time))
                .then_with(|| a_id.manager.cmp(&b_id.manager))
                .then_with(|| a.api_version.cmp(&b.api_version))
                .then_with(|| a_id.subresource.cmp(&b_id.subresource))
        });
        let entries = entries.into_iter();
        entries.map(|(id, entry)| encode_entry(id, entry)).collect()
    }

    /// Sets the `managedFields` of an object's metadata.
    pub fn write_to(&self, object: &mut Value) {
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        if self.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".to_owned(), Value::Array(self.encode()));
        }
    }

    /// Whether nobody manages anything.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of a manager.
    pub fn get(&self, id: &ManagerId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&ManagerId, &Entry)> {
        self.entries.iter()
    }

    /// All entries, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&ManagerId, &mut Entry)> {
        self.entries.iter_mut()
    }

    /// Sets the entry of a manager; without fields, it goes.
    pub fn set(&mut self, id: ManagerId, entry: Entry) {
        if entry.fields.is_empty() {
            self.entries.remove(&id);
        } else {
            self.entries.insert(id, entry);
        }
    }

    /// Takes out the entry of a manager.
    pub fn take(&mut self, id: &ManagerId) -> Option<Entry> {
        self.entries.remove(id)
    }

    /// Takes out entries without fields.
    pub fn drop_empty(&mut self) {
        self.entries.retain(|_, entry| !entry.fields.is_empty());
    }

    /// Puts the oldest updates of a version together until there are no more than ten.
    pub fn cap_updaters(&mut self) {
        let mut updaters: Vec<(i64, ManagerId)> = self
            .entries
            .iter()
            .filter(|(id, _)| id.operation == Operation::Update)
            .map(|(id, entry)| (entry.time.map_or(0, Timestamp::as_second), id.clone()))
            .collect();
        let mut surplus = updaters.len().saturating_sub(UPDATERS_MAX);
        if surplus == 0 {
            return;
        }
        updaters.sort();
        let mut oldest: HashMap<String, ManagerId> = HashMap::new();
        for (_, id) in updaters {
            if surplus == 0 {
                break;
            }
            let Some(first) = oldest.get(&id.api_version) else {
                oldest.insert(id.api_version.clone(), id);
                continue;
            };
            let bucket = ManagerId::new(ANCIENT_CHANGES, Operation::Update, &id.api_version, "");
            let gathered = self.take(&bucket).or_else(|| self.take(first));
            if let (Some(mut entry), Some(gathered)) = (self.take(&id), gathered) {
                entry.fields = entry.fields.union(gathered.fields);
                self.set(bucket, entry);
            }
            surplus -= 1;
        }
    }
}

fn encode_entry(id: &ManagerId, entry: &Entry) -> Value {
    let mut encoded = Map::new();
    let mut put = |name: &str, text: &str| {
        if !text.is_empty() {
            encoded.insert(name.to_owned(), text.into());
        }
    };
    put("manager", &id.manager);
    put("operation", id.operation.name());
    put("apiVersion", &entry.api_version);
    put("subresource", &id.subresource);
    put("fieldsType", "FieldsV1");
    if let Some(time) = entry.time {
        put("time", &time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    encoded.insert("fieldsV1".to_owned(), entry.fields.to_fields_v1());
    Value::Object(encoded)
}
