//! Status for programs (`-o json`, `yaml`, `jsonl`). The schema is public and versioned: `docs/output.md`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Serialize;

use super::Shown;
use crate::controller::deployment::overview::Overview;
use crate::diagnose::{Finding, Verdict};

/// The schema's version.
const API_VERSION: &str = "kubectl-rs/v1";

/// One Deployment's status.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord<'a> {
    api_version: &'static str,
    kind: &'static str,
    time: Time,
    verdict: &'a Verdict,
    findings: &'a [Finding],
    overview: &'a Overview,
    max_total: i32,
    min_available: i32,
    unreadable: Vec<Missing<'a>>,
}

#[derive(Serialize)]
struct Missing<'a> {
    resource: &'a str,
    message: &'a str,
}

impl<'a> StatusRecord<'a> {
    /// The record of one Deployment.
    pub fn of(shown: &'a Shown) -> Self {
        let diagnosis = &shown.diagnosis;
        Self {
            api_version: API_VERSION,
            kind: "Status",
            time: Time(shown.at),
            verdict: &diagnosis.verdict,
            findings: &diagnosis.findings,
            overview: &diagnosis.overview,
            max_total: diagnosis.overview.max_total(),
            min_available: diagnosis.overview.min_available(),
            unreadable: shown
                .unreadable
                .iter()
                .map(|missing| Missing {
                    resource: &missing.resource,
                    message: &missing.why,
                })
                .collect(),
        }
    }
}
