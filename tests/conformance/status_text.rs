//! `status-text`: what `kubectl rollout status` says.

use kubectl_rs::controller::api::Deployment;
use kubectl_rs::ui::rollout_status::rollout_status;
use serde_json::json;

use crate::data::{self, Case};

#[test]
fn status_text() {
    data::check_all("status-text", check);
}

fn check(case: &Case) -> Result<(), String> {
    let mut json = case.json["deployment"].clone();
    data::spell_out_times(&mut json);
    let deployment = Deployment::from_json(&json).map_err(|error| error.to_string())?;
    let revision = case.json["revision"].as_i64().unwrap_or(0);
    let actual = match rollout_status(&deployment, revision) {
        Ok(status) => json!({"message": format!("{}\n", status.message), "done": status.done}),
        Err(error) => json!({"message": "", "done": false, "error": error.to_string()}),
    };
    data::same(&case.json["expect"], &actual)
}
