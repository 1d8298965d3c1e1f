//! The last lines of the containers that a rollout failed by, the instance before the present one first.

use kube::Client;

use crate::follow::Followed;
use crate::ui::line::{Line, Tone};
use crate::ui::printer::Printer;

/// Of so many pods with the same cause logs are shown: one tells it, another one confirms.
const PODS_MAX: usize = 2;

/// Shows the logs of the causes that ended the rollout. Logs that can't be had are passed over in silence.
pub(super) async fn show(client: &Client, followed: &Followed, lines: u32, printer: &Printer) {
    for finding in followed
        .diagnosis
        .findings
        .iter()
        .filter(|finding| finding.is_final)
    {
        let Some(container) = &finding.container else {
            continue;
        };
        for pod in finding.pods.iter().take(PODS_MAX) {
            let mut shown = false;
            for previous in [true, false] {
                // The log of the instance before is what it died with; without one there is only the present.
                if shown {
                    break;
                }
                let namespace = &followed.key.namespace;
                if let Some(text) =
                    read(client, namespace, &pod.name, container, lines, previous).await
                {
                    for line in text.lines() {
                        let mark = format!("{}/{container}: ", pod.name);
                        printer.talk(Line::new(Tone::Faint, mark).with(Tone::Plain, line));
                        shown = true;
                    }
                }
            }
        }
    }
}

async fn read(
    client: &Client,
    namespace: &str,
    pod: &str,
    container: &str,
    lines: u32,
    previous: bool,
) -> Option<String> {
    let params = kube::api::LogParams {
        container: Some(container.to_owned()),
        tail_lines: Some(i64::from(lines)),
        previous,
        ..Default::default()
    };
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let request = kube::core::Request::new(path).logs(pod, &params).ok()?;
    client.request_text(request).await.ok()
}
