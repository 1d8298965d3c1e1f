//! What the API server says it was asked to write.

use std::collections::BTreeMap;

/// Requests that write, by verb and object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes(BTreeMap<String, u64>);

impl Writes {
    /// Reads them from the server's metrics.
    pub(crate) fn of(metrics: &str) -> Self {
        let mut writes = Self::default();
        let counted = metrics
            .lines()
            .filter_map(|line| line.strip_prefix("apiserver_request_total{"));
        for line in counted {
            let Some((labels, number)) = line.rsplit_once("} ") else {
                continue;
            };
            let label = |name: &str| {
                let (_, value) = labels.split_once(&format!("{name}=\""))?;
                value.split_once('"').map(|(value, _)| value)
            };
            let verb = label(",verb").or_else(|| label("verb")).unwrap_or_default();
            let resource = label(",resource").or_else(|| label("resource"));
            let Some(resource) =
                resource.filter(|_| matches!(verb, "POST" | "PUT" | "PATCH" | "APPLY" | "DELETE"))
            else {
                continue;
            };
            let object = match label("subresource") {
                None | Some("") => resource.to_owned(),
                Some(part) => format!("{resource}/{part}"),
            };
            let code = label("code").unwrap_or_default();
            let refused = if code.starts_with('2') {
                String::new()
            } else {
                format!(" ({code})")
            };
            let number = number.trim().parse::<f64>().unwrap_or_default();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "counts"
            )]
            let number = number as u64;
            *writes
                .0
                .entry(format!("{object} {verb}{refused}"))
                .or_default() += number;
        }
        writes
    }

    /// What has been added since.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let added = self.0.iter().map(|(what, number)| {
            let earlier = before.0.get(what).copied().unwrap_or_default();
            (what.clone(), number.saturating_sub(earlier))
        });
        Self(added.filter(|(_, number)| *number > 0).collect())
    }

    /// Takes away what the script wrote itself.
    pub(crate) fn without(mut self, what: &str, number: u64) -> Self {
        if let Some(counted) = self.0.get_mut(what) {
            *counted = counted.saturating_sub(number);
        }
        self
    }

    /// Leaves out what only the script writes.
    pub(crate) fn forget(&mut self, what: &str) {
        self.0.remove(what);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (what, number) in &other.0 {
            *self.0.entry(what.clone()).or_default() += number;
        }
    }

    /// In the order of their names.
    pub(crate) fn by_object(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(what, number)| (what.as_str(), *number))
    }
}
