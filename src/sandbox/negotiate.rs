//! What form the caller wants an answer in: `Accept` headers.

use super::status::ApiError;

/// How objects are written in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are.
    #[default]
    Object,
    /// `PartialObjectMetadata`.
    Metadata,
    /// `PartialObjectMetadataList`.
    MetadataList,
    /// `meta.k8s.io/v1` or `v1beta1` Table.
    Table { beta: bool },
    /// `APIGroupDiscoveryList`, in discovery only.
    GroupDiscovery,
}

const SERVED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The form asked for, JSON whatever is asked: nothing that speaks to this server needs another encoding.
pub(crate) fn negotiate(accept: Option<&str>, discovery: bool) -> Result<Form, ApiError> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok(Form::Object);
    };
    let ranges: Vec<Range> = accept.split(',').map(Range::parse).collect();
    if !ranges.iter().any(Range::names_served_type) {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {SERVED}");
        return Err(ApiError::not_acceptable(message).with_empty_details());
    }
    ranges
        .iter()
        .filter(|range| range.is_json())
        .find_map(|range| range.form(discovery))
        .ok_or_else(|| {
            let message = format!("only the following media types are accepted: {SERVED}");
            ApiError::not_acceptable(message)
        })
}

struct Range<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Range<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters = parts
            .filter_map(|parameter| parameter.split_once('='))
            .collect();
        Self {
            media_type,
            parameters,
        }
    }

    fn parameter(&self, name: &str) -> &'a str {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    }

    fn names_served_type(&self) -> bool {
        self.is_json()
            || matches!(
                self.media_type,
                "application/yaml" | "application/vnd.kubernetes.protobuf"
            )
    }

    fn is_json(&self) -> bool {
        matches!(self.media_type, "application/json" | "*/*")
    }

    fn form(&self, discovery: bool) -> Option<Form> {
        let (group, version) = (self.parameter("g"), self.parameter("v"));
        match self.parameter("as") {
            "" => Some(Form::Object),
            "APIGroupDiscoveryList" if discovery => {
                (group == "apidiscovery.k8s.io" && version == "v2").then_some(Form::GroupDiscovery)
            }
            // Discovery has no other forms, and answers as ever.
            _ if discovery => (group == "meta.k8s.io").then_some(Form::Object),
            _ if group != "meta.k8s.io" => None,
            "Table" if version == "v1" => Some(Form::Table { beta: false }),
            "Table" if version == "v1beta1" => Some(Form::Table { beta: true }),
            "PartialObjectMetadata" if version == "v1" => Some(Form::Metadata),
            "PartialObjectMetadataList" if version == "v1" => Some(Form::MetadataList),
            _ => None,
        }
    }
}
