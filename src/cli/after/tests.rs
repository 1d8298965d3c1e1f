//! Changes with what follows them, in virtual time: where we act, and where the cluster's controllers do.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{AfterFlags, Site};
use crate::cli::cluster::{Cluster, ClusterFlags};
use crate::cli::edit::{Change, Edited, Writing};
use crate::cli::failures::Failures;
use crate::cli::interrupt::Interrupts;
use crate::cli::objects::{self, Found};
use crate::cli::report::Report;
use crate::cli::resource::Resource;
use crate::clock::Clock;
use crate::engine::mandate::{Claim, Mandate};
use crate::engine::options::{DryRun, Goal, Options, Scope};
use crate::engine::run::Engine;
use crate::error::ExitCode;
use crate::sandbox::{NodeOptions, Nodes, Sandbox, SandboxOptions};
use crate::ui::printer::Level;
use crate::ui::printer::capture::captured;

const REPLICAS: i64 = 10;
/// maxSurge and maxUnavailable together: how far beyond a stage a rollout may get.
const BOUNDS: i64 = 2;

/// Who acts on the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    We,
    They,
}

const BOTH: [Who; 2] = [Who::We, Who::They];

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    after: AfterFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// What a change ended with.
struct End {
    code: ExitCode,
    told: String,
}

/// A cluster with one Deployment, at rest.
struct World {
    sandbox: Sandbox,
    cluster: Cluster,
    tasks: Vec<JoinHandle<()>>,
    _nodes: Nodes,
}

impl Drop for World {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl World {
    async fn new(who: Who, image: &str) -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        let nodes = sandbox.start_nodes(NodeOptions::default()).unwrap();
        let deployment = json!({
            "metadata": {"name": "web"},
            "spec": {
                "replicas": REPLICAS,
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "web", "image": image,
                        "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1}}]},
                },
            },
        });
        sandbox
            .create("deployments", "default", deployment)
            .unwrap();
        let cluster = Cluster {
            client: sandbox.client(),
            clock,
            namespace: "default".to_owned(),
            embedded: None,
        };
        let world = Self {
            sandbox,
            cluster,
            tasks: Vec::new(),
            _nodes: nodes,
        };
        let options = Options {
            timeout: Some(Duration::from_secs(120)),
            ..Options::new(Scope::everything(None), Goal::Complete)
        };
        world
            .engine(options)
            .run(std::future::pending())
            .await
            .unwrap();
        match who {
            Who::We => world,
            Who::They => world.with_controllers(),
        }
    }

    fn engine(&self, options: Options) -> Engine {
        Engine::new(
            self.sandbox.client(),
            self.cluster.clock,
            options,
            Arc::new(|_| {}),
        )
    }

    /// Somebody else's controllers, and the Lease that tells of them.
    fn with_controllers(mut self) -> Self {
        let (sandbox, clock) = (self.sandbox.clone(), self.cluster.clock);
        let renewed = move || json!(format!("{:.6}", clock.now()));
        let lease = json!({"metadata": {"name": "kube-controller-manager"}, "spec": {
            "holderIdentity": "cp-1", "leaseDurationSeconds": 15, "renewTime": renewed(),
        }});
        sandbox.create("leases", "kube-system", lease).unwrap();
        self.tasks.push(tokio::spawn(async move {
            loop {
                sleep(Duration::from_secs(2)).await;
                let renew = |lease: &mut Value| lease["spec"]["renewTime"] = renewed();
                let name = "kube-controller-manager";
                sandbox
                    .update("leases", "kube-system", name, renew)
                    .unwrap();
            }
        }));
        let engine = self.engine(Options::new(Scope::everything(None), Goal::Forever));
        self.tasks.push(tokio::spawn(async move {
            engine.run(std::future::pending()).await.unwrap();
        }));
        self
    }

    /// Another client that acts, and holds its Lease.
    async fn with_client(mut self) -> Self {
        let claim = Claim {
            scope: Scope::everything(None),
            labels: String::new(),
            identity: "elsewhere_7".to_owned(),
            force: false,
            patient: false,
        };
        let client = self.sandbox.client();
        let mandate = Mandate::acquire(client, self.cluster.clock, claim, |_| {}).await;
        let (standings, release) = mandate.unwrap().split();
        let engine = self.engine(Options::new(Scope::everything(None), Goal::Forever));
        self.tasks.push(tokio::spawn(async move {
            let engine = engine.under(standings);
            engine.run(std::future::pending()).await.unwrap();
            release.now().await;
        }));
        self
    }

    async fn web(&self) -> Found {
        let resource = Resource::parse("deployments").unwrap();
        objects::get(&self.cluster.client, resource, "default", "web")
            .await
            .unwrap()
    }

    /// Changes the Deployment with what the flags say before and after.
    async fn change(&self, flags: &str, patch: Option<Value>) -> End {
        let words = std::iter::once("change").chain(flags.split_whitespace());
        let Words { after, cluster } = Words::parse_from(words);
        let (printer, capture) = captured(Level::Default);
        let site = Site {
            cluster: &self.cluster,
            flags: &cluster,
            printer: &printer,
            timestamps: false,
        };
        let web = self.web().await;
        let run = async {
            let after = after.prepare(site, std::slice::from_ref(&web)).await?;
            let edited = match patch {
                None => Edited::unchanged(&web),
                Some(patch) => {
                    let change = |_: &Found| Ok(Some(Change::Strategic(patch.clone())));
                    let client = &self.cluster.client;
                    let writing = Writing {
                        field_manager: Some("kubectl-set"),
                        dry_run: DryRun::None,
                    };
                    writing.edit(client, &web, change).await?.unwrap()
                }
            };
            let interrupts = Interrupts::listen()?;
            after
                .follow(vec![edited], Failures::default(), interrupts)
                .await
        };
        let ended = timeout(Duration::from_secs(3600), run).await;
        let (code, line) = match ended.expect("it ends within an hour") {
            Ok(code) => (code, String::new()),
            Err(error) => {
                let report = Report::of(&error);
                (report.code, report.line)
            }
        };
        End {
            code,
            told: capture.err() + &line,
        }
    }

    async fn set_image(&self, image: &str, flags: &str) -> End {
        let containers = json!([{"name": "web", "image": image}]);
        let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
        self.change(flags, Some(patch)).await
    }

    async fn image(&self) -> String {
        let web = self.web().await;
        let image = &web.json["spec"]["template"]["spec"]["containers"][0]["image"];
        image.as_str().unwrap().to_owned()
    }

    /// Pods that are not being deleted, by image.
    fn pods(&self, image: &str) -> i64 {
        let pods = self.sandbox.list("pods", Some("default"));
        let pods = pods.iter().map(|pod| pod.decode().unwrap());
        let is_it = |pod: &Value| {
            pod["spec"]["containers"][0]["image"] == image
                && pod["metadata"]["deletionTimestamp"].is_null()
        };
        i64::try_from(pods.filter(is_it).count()).unwrap()
    }
}

/// The lines that begin with what is looked for.
fn lines<'a>(told: &'a str, beginning: &str) -> Vec<&'a str> {
    let lines = told.lines();
    lines.filter(|line| line.starts_with(beginning)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_change_is_followed_to_its_end_whoever_acts() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let end = world.set_image("web:2", "--wait").await;
        assert_eq!(end.code, ExitCode::Done, "{who:?}: {}", end.told);
        assert_eq!((world.pods("web:1"), world.pods("web:2")), (0, REPLICAS));
        let who_acts = match who {
            Who::We => "no controller manager is in charge: acting from here",
            Who::They => "kube-controller-manager is in charge (cp-1 renewed its Lease",
        };
        assert!(end.told.starts_with(who_acts), "{who:?}: {}", end.told);
    }
}

/// Two clients never act on one Deployment; that another one does is no reason to fail.
#[tokio::test(start_paused = true)]
async fn another_client_that_acts_is_followed() {
    let world = World::new(Who::We, "web:1").await.with_client().await;
    let end = world.set_image("web:2", "--wait").await;
    assert_eq!(end.code, ExitCode::Done, "{}", end.told);
    assert_eq!((world.pods("web:1"), world.pods("web:2")), (0, REPLICAS));
    let told = lines(&end.told, "another client acts here: elsewhere_7");
    assert_eq!(told.len(), 1, "{}", end.told);
    assert!(told[0].ends_with("following, nothing is written to ReplicaSets and pods"));
    let end = world.set_image("web:3", "--wait --controller=client").await;
    assert_eq!(end.code, ExitCode::Error, "{}", end.told);
}

#[tokio::test(start_paused = true)]
async fn without_a_flag_that_asks_for_more_only_the_change_is_made() {
    let world = World::new(Who::We, "web:1").await;
    let end = world.set_image("web:2", "").await;
    assert_eq!((end.code, end.told.as_str()), (ExitCode::Done, ""));
    sleep(Duration::from_secs(60)).await;
    assert_eq!((world.pods("web:1"), world.pods("web:2")), (REPLICAS, 0));
}

#[tokio::test(start_paused = true)]
async fn told_to_act_a_change_is_reconciled_once() {
    let world = World::new(Who::We, "web:1").await;
    let end = world.set_image("web:2", "--controller=client").await;
    assert_eq!(end.code, ExitCode::Done, "{}", end.told);
    assert_eq!(world.pods("web:2"), BOUNDS, "{}", end.told);
}

#[tokio::test(start_paused = true)]
async fn nobody_acts_beside_a_controller_manager_unless_forced() {
    let world = World::new(Who::They, "web:1").await;
    let end = world.set_image("web:2", "--controller=client").await;
    assert_eq!(end.code, ExitCode::Error);
    assert!(
        end.told.contains("two controllers on one Deployment"),
        "{}",
        end.told
    );
    assert_eq!(world.image().await, "web:1", "refused before the change");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_can_not_recover_fails_long_before_the_deadline() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let began = world.cluster.clock.now();
        let end = world.set_image("web:2-missing", "--wait").await;
        assert_eq!(end.code, ExitCode::RolloutFailed, "{who:?}: {}", end.told);
        assert!(
            end.told.contains("image \"web:2-missing\" does not exist"),
            "{}",
            end.told
        );
        let took = world.cluster.clock.now().duration_since(began).as_secs();
        assert!(took <= 60, "{who:?}: {took}");
        assert_eq!(
            world.image().await,
            "web:2-missing",
            "nothing is undone unasked"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_rollout_is_undone_once() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let end = world.set_image("web:2-missing", "--undo-on-failure").await;
        assert_eq!(end.code, ExitCode::Undone, "{who:?}: {}", end.told);
        let back = [
            "deployment/web: going back to revision 1 (web:1)",
            "deployment/web: undone: revision 1 is back as revision 3",
        ];
        let told = [
            lines(&end.told, "deployment/web: going back"),
            lines(&end.told, "deployment/web: undone"),
        ];
        assert_eq!(told.concat(), back, "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:1");
        assert_eq!(
            (world.pods("web:1"), world.pods("web:2-missing")),
            (REPLICAS, 0)
        );
        let who_acts = end.told.matches("is in charge").count();
        assert_eq!(who_acts, 1, "it is said once: {}", end.told);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_takes_too_long_is_undone_too() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let flags = "--undo-on-failure --timeout=30s --fail-fast=false";
        let end = world.set_image("web:2-never-ready", flags).await;
        assert_eq!(end.code, ExitCode::Undone, "{who:?}: {}", end.told);
        let late = "timed out waiting for the condition: deployment/web has not come to its end";
        assert!(end.told.contains(late), "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:1");
    }
}

#[tokio::test(start_paused = true)]
async fn what_never_was_complete_is_not_gone_back_to() {
    for who in BOTH {
        let world = World::new(who, "web:1-never-ready").await;
        let end = world.set_image("web:2-missing", "--undo-on-failure").await;
        assert_eq!(end.code, ExitCode::RolloutFailed, "{who:?}: {}", end.told);
        let why =
            "deployment/web is not undone: no earlier revision is known to have been complete";
        assert!(end.told.contains(why), "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:2-missing");
    }
}

/// The revision right before never was complete, but an older one still carries the Deployment.
#[tokio::test(start_paused = true)]
async fn a_revision_that_carries_the_deployment_is_gone_back_to() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        world.set_image("web:2-missing", "--wait").await;
        let end = world.set_image("web:3-missing", "--undo-on-failure").await;
        assert_eq!(end.code, ExitCode::Undone, "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_somebody_else_began_is_followed_and_never_undone() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        world.set_image("web:2-missing", "").await;
        let end = world.change("--undo-on-failure", None).await;
        assert_eq!(end.code, ExitCode::RolloutFailed, "{who:?}: {}", end.told);
        let why = "is not undone: its rollout was not begun by this command";
        assert!(end.told.contains(why), "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:2-missing");
    }
}

/// A client that may look at Deployments only.
fn hiding(sandbox: &Sandbox) -> kube::Client {
    let service = sandbox.service();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let mut service = service.clone();
        async move {
            let path = request.uri().path();
            if path.contains("/pods") || path.contains("/replicasets") || path.contains("/events") {
                let status = json!({"kind": "Status", "status": "Failure", "code": 403,
                    "reason": "Forbidden", "message": "it is forbidden"});
                let body = http_body_util::Full::new(status.to_string().into());
                let body = http_body_util::BodyExt::boxed_unsync(body);
                return Ok(http::Response::builder().status(403).body(body).unwrap());
            }
            tower::Service::call(&mut service, request).await
        }
    });
    kube::Client::new(service, "default")
}

#[tokio::test(start_paused = true)]
async fn who_may_see_deployments_only_can_wait_all_the_same() {
    let mut world = World::new(Who::They, "web:1").await;
    world.cluster.client = hiding(&world.sandbox);
    let end = world.set_image("web:2", "--wait --timeout=5m").await;
    assert_eq!(end.code, ExitCode::Done, "{}", end.told);
    assert!(end.told.contains("steps are not shown"), "{}", end.told);
    let end = world
        .set_image("web:3-never-ready", "--wait --timeout=5m")
        .await;
    assert_eq!(end.code, ExitCode::TimedOut, "{}", end.told);
    let end = world.set_image("web:4", "--pause-at=50%").await;
    assert_eq!(
        end.code,
        ExitCode::Error,
        "a stage would be missed: {}",
        end.told
    );
}

/// While a change is followed, somebody else does this after ten seconds.
async fn meanwhile(world: &World, flags: &str, act: impl Fn(&Sandbox)) -> End {
    let interfering = async {
        sleep(Duration::from_secs(10)).await;
        act(&world.sandbox);
    };
    let slow = world.set_image("web:2-slow", flags);
    let (end, ()) = tokio::join!(slow, interfering);
    end
}

#[tokio::test(start_paused = true)]
async fn another_change_overtakes_and_is_left_alone() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let end = meanwhile(&world, "--undo-on-failure", |sandbox| {
            let edit = |web: &mut Value| {
                web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:3");
            };
            sandbox
                .update("deployments", "default", "web", edit)
                .unwrap();
        })
        .await;
        assert_eq!(end.code, ExitCode::Overtaken, "{who:?}: {}", end.told);
        assert!(
            end.told.contains("that is another rollout"),
            "{who:?}: {}",
            end.told
        );
        assert_eq!(world.image().await, "web:3");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_is_deleted_meanwhile_is_an_error() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let end = meanwhile(&world, "--undo-on-failure", |sandbox| {
            sandbox
                .delete("deployments", "default", "web", None)
                .unwrap();
        })
        .await;
        assert_eq!(end.code, ExitCode::Error, "{who:?}: {}", end.told);
        let what = "error: deployment/web was deleted while its rollout was followed";
        assert!(end.told.contains(what), "{who:?}: {}", end.told);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_somebody_pauses_is_held_and_not_undone() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let end = meanwhile(&world, "--undo-on-failure", |sandbox| {
            let pause = |web: &mut Value| web["spec"]["paused"] = json!(true);
            sandbox
                .update("deployments", "default", "web", pause)
                .unwrap();
        })
        .await;
        assert_eq!(end.code, ExitCode::Held, "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:2-slow");
    }
}

#[tokio::test(start_paused = true)]
async fn stages_are_held_and_gone_on_from() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let resume = json!({"spec": {"paused": null}});
        for (stage, flags) in [
            (2, "--pause-at=2"),
            (5, "--pause-at=50%"),
            (8, "--pause-at=71%"),
        ] {
            let end = if stage == 2 {
                world.set_image("web:2", flags).await
            } else {
                world.change(flags, Some(resume.clone())).await
            };
            assert_eq!(end.code, ExitCode::Held, "{who:?}: {}", end.told);
            let web = world.web().await.json;
            assert_eq!(web["spec"]["paused"], true, "{who:?}: {}", end.told);
            assert_eq!(
                web["status"]["observedGeneration"],
                web["metadata"]["generation"]
            );
            let held = lines(&end.told, "deployment/web: held at ");
            assert_eq!(held.len(), 1, "{who:?}: {}", end.told);
            let before = world.pods("web:2");
            assert!(
                (stage..=stage + BOUNDS).contains(&before),
                "{who:?} {flags}: {before}"
            );
            sleep(Duration::from_secs(300)).await;
            assert_eq!(world.pods("web:2"), before, "{who:?}: it rests");
            let total = before + world.pods("web:1");
            assert!((REPLICAS - 1..=REPLICAS + 1).contains(&total), "{total}");
        }
        let end = world.change("--wait", Some(resume)).await;
        assert_eq!(end.code, ExitCode::Done, "{who:?}: {}", end.told);
        assert_eq!((world.pods("web:1"), world.pods("web:2")), (0, REPLICAS));
    }
}

#[tokio::test(start_paused = true)]
async fn where_we_act_a_stage_starts_no_further_step_of_the_rollout() {
    let world = World::new(Who::We, "web:1").await;
    let end = world.set_image("web:2", "--pause-at=50%").await;
    let steps: Vec<&str> = end
        .told
        .lines()
        .skip_while(|line| !line.starts_with("deployment/web: held: "))
        .filter(|line| line.contains("surge room") || line.contains("availability room"))
        .collect();
    assert_eq!(steps, Vec::<&str>::new(), "{}", end.told);
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_behind_leaves_the_deployment_paused() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        world.set_image("web:2", "--pause-at=5").await;
        let resume = json!({"spec": {"paused": null}});
        let end = world.change("--pause-at=30%", Some(resume)).await;
        assert_eq!(end.code, ExitCode::Held);
        assert!(
            end.told.contains("the stage of 30% is reached"),
            "{}",
            end.told
        );
        assert_eq!(world.web().await.json["spec"]["paused"], true);
    }
}

#[tokio::test(start_paused = true)]
async fn stages_that_hold_nothing_back_are_refused_before_anything_is_changed() {
    let world = World::new(Who::We, "web:1").await;
    for (flags, why) in [
        (
            "--pause-at=10",
            "a stage of 10 pods is all of its 10 replicas",
        ),
        (
            "--pause-at=1000",
            "a stage of 1000 pods is all of its 10 replicas",
        ),
        ("--pause-at=91%", "a stage of 91% is all of its 10 replicas"),
    ] {
        let end = world.set_image("web:2", flags).await;
        assert_eq!(end.code, ExitCode::Usage, "{}", end.told);
        assert!(end.told.contains(why), "{}", end.told);
    }
    let recreate = |web: &mut Value| web["spec"]["strategy"] = json!({"type": "Recreate"});
    world
        .sandbox
        .update("deployments", "default", "web", recreate)
        .unwrap();
    let end = world.set_image("web:2", "--pause-at=50%").await;
    assert_eq!(end.code, ExitCode::Usage, "{}", end.told);
    assert!(
        end.told
            .contains("strategy Recreate starts all new pods at once"),
        "{}",
        end.told
    );
    assert_eq!(world.image().await, "web:1");
    for flags in [
        "--pause-at=0",
        "--pause-at=0%",
        "--pause-at=100%",
        "--pause-at=101%",
        "--pause-at=-1",
    ] {
        assert!(Words::try_parse_from(["change", flags]).is_err(), "{flags}");
    }
}

/// A stage does not shield from failure.
#[tokio::test(start_paused = true)]
async fn a_staged_rollout_that_fails_is_undone() {
    for who in BOTH {
        let world = World::new(who, "web:1").await;
        let flags = "--pause-at=50% --undo-on-failure";
        let end = world.set_image("web:2-missing", flags).await;
        assert_eq!(end.code, ExitCode::Undone, "{who:?}: {}", end.told);
        assert_eq!(world.image().await, "web:1");
        assert_ne!(world.web().await.json["spec"]["paused"], true);
    }
}

#[tokio::test(start_paused = true)]
async fn pods_that_shut_down_are_waited_for_if_that_is_wanted() {
    for (flags, is_waited_for) in [("--wait", false), ("--wait --wait-terminated", true)] {
        let world = World::new(Who::We, "web:1").await;
        let slow = json!({"sandbox.kubectl-rs.dev/terminates-after": "25s"});
        let template = json!({"metadata": {"annotations": slow}});
        let patch = json!({"spec": {"template": template}});
        world.change("--wait --wait-terminated", Some(patch)).await;
        let end = world.set_image("web:2", flags).await;
        assert_eq!(end.code, ExitCode::Done, "{}", end.told);
        let left = world.sandbox.list("pods", Some("default")).len();
        assert_eq!(left == 10, is_waited_for, "{flags}: {left}");
    }
}
