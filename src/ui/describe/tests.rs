//! Descriptions, side by side with what kubectl printed for the same templates.

use serde_json::json;

use super::pod_template;

#[test]
fn a_small_template() {
    let template = json!({
        "metadata": {"labels": {"app": "web", "pod-template-hash": "7f001"}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
    });
    assert_eq!(
        pod_template(&template),
        "Pod Template:\n  Labels:\tapp=web\n\tpod-template-hash=7f001\n  Containers:\n   main:\n    \
         Image:\tapp:1\n    Port:\t<none>\n    Host Port:\t<none>\n    Environment:\t<none>\n    \
         Mounts:\t<none>\n  Volumes:\t<none>\n  Node-Selectors:\t<none>\n  Tolerations:\t<none>\n"
    );
}
