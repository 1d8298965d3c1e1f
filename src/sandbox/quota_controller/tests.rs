//! Quotas that are kept: filled, charged, given back, in virtual time.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::QuotaController;
use crate::clock::Clock;
use crate::sandbox::{Sandbox, SandboxOptions};

fn cluster() -> (Sandbox, QuotaController) {
    let clock = Clock::starting_at(Timestamp::UNIX_EPOCH);
    let sandbox = Sandbox::new(SandboxOptions::new(clock));
    let controller = sandbox.start_quota_controller().unwrap();
    (sandbox, controller)
}

fn create_pod(sandbox: &Sandbox, name: &str) -> Result<(), String> {
    let containers = json!([{"name": "web", "image": "img:1"}]);
    let pod = json!({"metadata": {"name": name}, "spec": {"containers": containers}});
    let created = sandbox.create("pods", "default", pod);
    created.map(drop).map_err(|error| error.message)
}

fn create_quota(sandbox: &Sandbox, hard: &Value) {
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    sandbox.create("resourcequotas", "default", quota).unwrap();
}

fn status(sandbox: &Sandbox) -> Value {
    let quota = sandbox.get("resourcequotas", "default", "q").unwrap();
    quota.decode::<Value>().unwrap()["status"].clone()
}

async fn a_moment() {
    sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn what_goes_is_given_back() {
    let (sandbox, _controller) = cluster();
    create_pod(&sandbox, "web-1").unwrap();
    create_quota(&sandbox, &json!({"pods": "2"}));
    a_moment().await;
    assert_eq!(
        status(&sandbox),
        json!({"hard": {"pods": "2"}, "used": {"pods": "1"}})
    );

    create_pod(&sandbox, "web-2").unwrap();
    let over = "pods \"web-3\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2";
    assert_eq!(create_pod(&sandbox, "web-3"), Err(over.to_owned()));

    sandbox.delete("pods", "default", "web-1", Some(0)).unwrap();
    a_moment().await;
    create_pod(&sandbox, "web-3").unwrap();

    // A pod that has ended takes no place any more.
    sandbox
        .update_status("pods", "default", "web-2", |status| {
            status["phase"] = "Succeeded".into();
        })
        .unwrap();
    a_moment().await;
    assert_eq!(status(&sandbox)["used"], json!({"pods": "1"}));
}

#[tokio::test(start_paused = true)]
async fn a_new_limit_counts_at_once() {
    let (sandbox, _controller) = cluster();
    create_quota(&sandbox, &json!({"count/configmaps": "1"}));
    a_moment().await;
    let config_map = |name: &str| json!({"metadata": {"name": name}});
    sandbox
        .create("configmaps", "default", config_map("a"))
        .unwrap();
    let refused = sandbox.create("configmaps", "default", config_map("b"));
    assert_eq!(
        refused.unwrap_err().message,
        "configmaps \"b\" is forbidden: exceeded quota: q, requested: count/configmaps=1, \
         used: count/configmaps=1, limited: count/configmaps=1"
    );
    sandbox
        .update("resourcequotas", "default", "q", |quota| {
            quota["spec"]["hard"] = json!({"count/configmaps": "2"});
        })
        .unwrap();
    a_moment().await;
    sandbox
        .create("configmaps", "default", config_map("b"))
        .unwrap();
    let full = json!({"hard": {"count/configmaps": "2"}, "used": {"count/configmaps": "2"}});
    assert_eq!(status(&sandbox), full);
}
