//! The members of an object as JSON text, one by one, shared among the object's states.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, MapAccess};
use serde_json::{Error, Map, Value};

use super::View;

/// Members in order of their names; `kind` and `apiVersion` are none.
#[derive(Clone, Debug)]
pub(super) struct Members(Box<[Member]>);

#[derive(Clone, Debug)]
struct Member {
    name: Arc<str>,
    json: Arc<str>,
}

impl Members {
    /// The members of `value`, and those of `previous` that are out of view.
    pub(super) fn of(value: &Value, view: View, previous: Option<&Self>) -> Self {
        let mut scratch = Vec::new();
        let mut members: Vec<Member> = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| view.has(name) && !matches!(name.as_str(), "kind" | "apiVersion"))
            .map(|(name, value)| {
                let known = previous.and_then(|previous| previous.find(name));
                Member::new(name, value, known, &mut scratch)
            })
            .collect();
        let stay = previous.into_iter().flat_map(|previous| &previous.0);
        members.extend(stay.filter(|member| !view.has(&member.name)).cloned());
        members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Self(members.into())
    }

    fn find(&self, name: &str) -> Option<&Member> {
        self.0.iter().find(|member| &*member.name == name)
    }

    /// The JSON of a member.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.find(name).map(|member| &*member.json)
    }

    /// How much text they are.
    pub(super) fn size(&self) -> usize {
        let sizes = self
            .0
            .iter()
            .map(|member| member.name.len() + member.json.len() + 4);
        sizes.sum()
    }

    /// Appends them as JSON, without the braces around them.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for (index, member) in self.0.iter().enumerate() {
            let quote: &[u8] = if index > 0 { b",\"" } else { b"\"" };
            out.extend_from_slice(quote);
            out.extend_from_slice(member.name.as_bytes());
            out.extend_from_slice(b"\":");
            out.extend_from_slice(member.json.as_bytes());
        }
    }

    /// Those that a view has, as a tree.
    pub(super) fn parse(&self, view: View) -> Map<String, Value> {
        let members = self.0.iter().filter(|member| view.has(&member.name));
        members
            .map(|member| (member.name.as_ref().to_owned(), member.parse()))
            .collect()
    }

    /// Reads them into a type.
    pub(super) fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        T::deserialize(MapAccessDeserializer::new(Access {
            rest: self.0.iter(),
            value: "",
        }))
    }
}

impl Member {
    /// A member with the text of `known` where that says the same.
    fn new(name: &str, value: &Value, known: Option<&Self>, scratch: &mut Vec<u8>) -> Self {
        scratch.clear();
        serde_json::to_writer(&mut *scratch, value)
            .expect("a tree of JSON can be written to memory");
        let json = str::from_utf8(scratch).expect("JSON is UTF-8");
        match known {
            Some(known) if *known.json == *json => known.clone(),
            known => Self {
                name: known.map_or_else(|| name.into(), |known| Arc::clone(&known.name)),
                json: json.into(),
            },
        }
    }

    fn parse(&self) -> Value {
        serde_json::from_str(&self.json).expect("the store wrote this text")
    }
}

/// Goes through members as a deserializer does.
struct Access<'a> {
    rest: std::slice::Iter<'a, Member>,
    /// The JSON of the member whose name came last.
    value: &'a str,
}

impl<'a> MapAccess<'a> for Access<'a> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(member) = self.rest.next() else {
            return Ok(None);
        };
        self.value = &member.json;
        seed.deserialize(BorrowedStrDeserializer::new(&member.name))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut serde_json::Deserializer::from_str(self.value))
    }
}
