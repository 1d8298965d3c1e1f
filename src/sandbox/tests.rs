//! The cluster behind kube's own client, watcher and reflector, in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Api, ResourceExt as _};
use serde_json::json;

use super::{Sandbox, SandboxOptions};
use crate::clock::Clock;

fn sandbox() -> Sandbox {
    Sandbox::new(SandboxOptions::new(Clock::starting_at(
        Timestamp::UNIX_EPOCH,
    )))
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.data = Some(BTreeMap::from([("k".to_owned(), value.to_owned())]));
    map
}

#[tokio::test(start_paused = true)]
async fn a_typed_client_lives_with_it() {
    let api: Api<ConfigMap> = Api::default_namespaced(sandbox().client());
    let created = api
        .create(&PostParams::default(), &config_map("a", "1"))
        .await
        .unwrap();
    assert_eq!(created.namespace().as_deref(), Some("default"));

    let twice = api
        .create(&PostParams::default(), &config_map("a", "1"))
        .await;
    assert!(matches!(twice, Err(kube::Error::Api(status)) if status.is_already_exists()));

    let mut stale = config_map("a", "2");
    stale.metadata.resource_version = Some("1".to_owned());
    let refused = api.replace("a", &PostParams::default(), &stale).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.is_conflict()));

    let patch = Patch::Merge(json!({"data": {"k": "3"}}));
    let patched = api
        .patch("a", &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert_eq!(patched.data.unwrap()["k"], "3");

    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages_of_one_moment() {
    let api: Api<ConfigMap> = Api::default_namespaced(sandbox().client());
    for name in ["a", "b", "c", "d", "e"] {
        api.create(&PostParams::default(), &config_map(name, "1"))
            .await
            .unwrap();
    }
    let first = api.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    api.delete("d", &DeleteParams::default()).await.unwrap();

    let mut params = ListParams::default().limit(2);
    let mut names: Vec<_> = first.iter().map(kube::ResourceExt::name_any).collect();
    let mut token = first.metadata.continue_;
    while let Some(next) = token.filter(|token| !token.is_empty()) {
        params = params.continue_token(&next);
        let page = api.list(&params).await.unwrap();
        names.extend(page.iter().map(kube::ResourceExt::name_any));
        token = page.metadata.continue_;
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[tokio::test(start_paused = true)]
async fn a_reflector_follows_for_two_quiet_hours() {
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let sandbox = sandbox();
        let api: Api<ConfigMap> = Api::default_namespaced(sandbox.client());
        api.create(&PostParams::default(), &config_map("a", "1"))
            .await
            .unwrap();
        let (store, writer) = reflector::store();
        let stream = reflector(writer, watcher(api.clone(), config)).applied_objects();
        let followed = tokio::spawn(stream.map_ok(|map| map.name_any()).try_collect::<Vec<_>>());

        store.wait_until_ready().await.unwrap();
        tokio::time::sleep(Duration::from_secs(7200)).await;
        api.create(&PostParams::default(), &config_map("b", "1"))
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(store.len(), 2);
        api.delete("a", &DeleteParams::default()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(store.len(), 1);
        followed.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn the_node_writes_what_clients_see() {
    let sandbox = sandbox();
    let (before, mut changes) = sandbox.subscribe("pods").unwrap();
    assert!(before.is_empty());
    let pods: Api<Pod> = Api::default_namespaced(sandbox.client());
    let pod: Pod = serde_json::from_value(
        json!({"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "main", "image": "img:1"}]}}),
    )
    .unwrap();
    let pod = pods.create(&PostParams::default(), &pod).await.unwrap();
    let seen = changes.next().await.unwrap();
    assert_eq!(seen[0].after.as_ref().unwrap().name(), pod.name_any());

    sandbox
        .as_manager("kubelet")
        .update_status("pods", "default", &pod.name_any(), |status| {
            status["phase"] = "Running".into();
        })
        .unwrap();
    let running = pods.get(&pod.name_any()).await.unwrap();
    assert_eq!(running.status.unwrap().phase.as_deref(), Some("Running"));
    assert_eq!(running.metadata.generation, Some(1));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_cluster() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let api: Api<Deployment> = Api::default_namespaced(sandbox().client());
        let deployment: Deployment = serde_json::from_value(json!({
            "metadata": {"generateName": "web-"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "img:1"}]},
                },
            },
        }))
        .unwrap();
        let created = api
            .create(&PostParams::default(), &deployment)
            .await
            .unwrap();
        seen.push((created.name_any(), created.uid()));
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fell_behind_is_told_so() {
    let mut options = SandboxOptions::new(Clock::starting_at(Timestamp::UNIX_EPOCH));
    options.history = 4;
    let sandbox = Sandbox::new(options);
    let api: Api<ConfigMap> = Api::default_namespaced(sandbox.client());
    let first = api
        .create(&PostParams::default(), &config_map("first", "1"))
        .await
        .unwrap();
    for number in 0..8 {
        let map = config_map(&format!("c{number}"), "1");
        api.create(&PostParams::default(), &map).await.unwrap();
    }
    let version = first.resource_version().unwrap();
    let mut stream = api
        .watch(&kube::api::WatchParams::default(), &version)
        .await
        .unwrap()
        .boxed();
    let event = stream.next().await.unwrap().unwrap();
    assert!(
        matches!(&event, kube::api::WatchEvent::Error(status) if status.code == 410 && status.reason == "Expired"),
        "{event:?}"
    );
    assert!(stream.next().await.is_none());
}
