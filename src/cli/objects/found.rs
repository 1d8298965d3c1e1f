//! One object, as JSON, and how lines about it name it.

use kube::Client;
use serde_json::Value;

use crate::cli::resource::Resource;
use crate::schema;

/// An object of the cluster, or of a file.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Found {
    /// Its type.
    pub(in crate::cli) resource: &'static Resource,
    /// All of it.
    pub(in crate::cli) json: Value,
    /// Whether its name alone does not tell it from others: lines about it say its namespace, too.
    pub(in crate::cli) says_namespace: bool,
}

impl Found {
    /// An object that its name tells from others.
    pub(in crate::cli) fn new(resource: &'static Resource, json: Value) -> Self {
        Self {
            resource,
            json,
            says_namespace: false,
        }
    }

    /// Its name.
    pub(in crate::cli) fn name(&self) -> &str {
        self.json["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Its name, behind its namespace where that must be said.
    pub(in crate::cli) fn full_name(&self) -> String {
        if self.says_namespace {
            format!("{}/{}", self.namespace(), self.name())
        } else {
            self.name().to_owned()
        }
    }

    /// Its namespace; empty for what is in none.
    pub(in crate::cli) fn namespace(&self) -> &str {
        self.json["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default()
    }

    /// `deployment.apps/web`.
    pub(in crate::cli) fn line_name(&self) -> String {
        let kind = self.resource.singular_with_group();
        format!("{kind}/{}", self.full_name())
    }

    /// `deployments.apps "web"`.
    pub(in crate::cli) fn quoted_name(&self) -> String {
        let kind = self.resource.plural_with_group();
        format!("{kind} \"{}\"", self.full_name())
    }

    /// What went wrong with it. kubectl's words may name no object, so its namespace is put in front where that must be said.
    pub(in crate::cli) fn failure(&self, error: impl Into<anyhow::Error>) -> anyhow::Error {
        let error = error.into();
        if self.says_namespace {
            error.context(self.full_name())
        } else {
            error
        }
    }

    /// A line that may name no object.
    pub(in crate::cli) fn line(&self, line: &str) -> String {
        if self.says_namespace {
            format!("{}: {line}", self.full_name())
        } else {
            line.to_owned()
        }
    }

    /// Another version of the same object.
    pub(in crate::cli) fn version(&self, json: Value) -> Self {
        Self { json, ..*self }
    }

    /// Brings what no server has settled into the form that kubectl's types write.
    pub(in crate::cli) fn settle(&mut self) {
        let resource = self.resource;
        if let Some(ty) = schema::of_kind(resource.api_version, resource.kind) {
            schema::round_trip(ty, &mut self.json);
            self.json["apiVersion"] = resource.api_version.into();
            self.json["kind"] = resource.kind.into();
        }
    }

    /// The same object as the server has it now.
    ///
    /// # Errors
    /// The server's.
    pub(in crate::cli) async fn fresh(&self, client: &Client) -> Result<Self, kube::Error> {
        let fresh = super::get(client, self.resource, self.namespace(), self.name()).await?;
        Ok(self.version(fresh.json))
    }
}
