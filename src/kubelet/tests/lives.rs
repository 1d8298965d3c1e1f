//! Each behaviour from a pod's creation to where it stays.

use serde_json::{Value, json};

use super::world::{World, pod};

fn life(behaviour: &[(&str, &str)], seconds: f64) -> World {
    let mut world = World::new();
    world.put(pod("web-1", behaviour));
    world.run_until(seconds);
    world
}

/// A pod whose container has more to it.
fn with_container(mut pod: Value, fields: &Value) -> Value {
    for (field, value) in fields.as_object().expect("fields") {
        pod["spec"]["containers"][0][field] = value.clone();
    }
    pod
}

#[test]
fn a_plain_pod_is_ready_after_one_to_two_seconds_and_then_quiet() {
    let mut world = life(&[], 60.0);
    insta::assert_snapshot!(world.history(), @r"
    0.000s web-1: Pending
    0.000s web-1: Pending web=ContainerCreating
    1.410s web-1: Running ready web=running+
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    "#);
    assert_eq!(world.cluster.next_due(), None);
}

#[test]
fn a_deleted_pod_goes_within_a_second() {
    let mut world = life(&[], 10.0);
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    10.000s web-1: Running ready web=running+
    10.644s web-1: Failed web=Error(143)
    10.644s web-1: gone
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    Normal Killing x1 Stopping container web
    "#);
}

#[test]
fn an_application_that_ignores_sigterm_is_killed_when_its_grace_ends() {
    let mut world = life(&[("terminates-after", "5m")], 10.0);
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    10.000s web-1: Running ready web=running+
    40.000s web-1: Failed web=Error(137)
    40.000s web-1: gone
    ");
}

#[test]
fn a_pod_that_never_terminates_stays() {
    let mut world = life(&[("terminates-after", "never")], 10.0);
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    10.000s web-1: Running ready web=running+
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    Normal Killing x1 Stopping container web
    Warning ExceededGracePeriod x1 Container runtime did not kill the pod within specified grace period.
    "#);
}

#[test]
fn an_image_that_is_missing_alternates_between_error_and_back_off() {
    let mut world = life(&[("fails", "ErrImagePull")], 700.0);
    insta::assert_snapshot!(world.history(), @r"
      0.000s web-1: Pending
      0.000s web-1: Pending web=ContainerCreating
      1.410s web-1: Pending web=ErrImagePull
     14.410s web-1: Pending web=ImagePullBackOff
     27.410s web-1: Pending web=ErrImagePull
     40.410s web-1: Pending web=ImagePullBackOff
     53.410s web-1: Pending web=ErrImagePull
     66.410s web-1: Pending web=ImagePullBackOff
    105.410s web-1: Pending web=ErrImagePull
    118.410s web-1: Pending web=ImagePullBackOff
    196.410s web-1: Pending web=ErrImagePull
    209.410s web-1: Pending web=ImagePullBackOff
    365.410s web-1: Pending web=ErrImagePull
    378.410s web-1: Pending web=ImagePullBackOff
    677.410s web-1: Pending web=ErrImagePull
    690.410s web-1: Pending web=ImagePullBackOff
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x5 Pulling image "reg.example.com/ok:v1"
    Warning Failed x5 Failed to pull image "reg.example.com/ok:v1": rpc error: code = NotFound desc = failed to pull and unpack image "reg.example.com/ok:v1": failed to resolve reference "reg.example.com/ok:v1": reg.example.com/ok:v1: not found
    Warning Failed x5 Error: ErrImagePull
    Normal BackOff x43 Back-off pulling image "reg.example.com/ok:v1"
    Warning Failed x44 Error: ImagePullBackOff
    "#);
}

#[test]
fn an_image_that_is_found_at_the_third_try_starts() {
    let mut world = life(&[("fails", "ErrImagePull"), ("restarts", "2")], 60.0);
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Pending web=ErrImagePull
    14.410s web-1: Pending web=ImagePullBackOff
    27.410s web-1: Pending web=ErrImagePull
    40.410s web-1: Pending web=ImagePullBackOff
    41.820s web-1: Running ready web=running+
    ");
}

#[test]
fn a_crash_loop_pauses_longer_each_time() {
    let mut world = life(&[("fails", "CrashLoopBackOff")], 1000.0);
    insta::assert_snapshot!(world.history(), @r"
      0.000s web-1: Pending
      0.000s web-1: Pending web=ContainerCreating
      1.410s web-1: Running ready web=running+
      2.410s web-1: Running web=Error(1)
      3.410s web-1: Running ready web#1=running+
      4.410s web-1: Running web#1=Error(1)
     14.410s web-1: Running ready web#2=running+
     15.410s web-1: Running web#2=Error(1)
     35.410s web-1: Running ready web#3=running+
     36.410s web-1: Running web#3=Error(1)
     76.410s web-1: Running ready web#4=running+
     77.410s web-1: Running web#4=Error(1)
    137.410s web-1: Running web#4=CrashLoopBackOff
    157.410s web-1: Running ready web#5=running+
    158.410s web-1: Running web#5=Error(1)
    218.410s web-1: Running web#5=CrashLoopBackOff
    318.410s web-1: Running ready web#6=running+
    319.410s web-1: Running web#6=Error(1)
    379.410s web-1: Running web#6=CrashLoopBackOff
    619.410s web-1: Running ready web#7=running+
    620.410s web-1: Running web#7=Error(1)
    680.410s web-1: Running web#7=CrashLoopBackOff
    920.410s web-1: Running ready web#8=running+
    921.410s web-1: Running web#8=Error(1)
    981.410s web-1: Running web#8=CrashLoopBackOff
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x9 Container created
    Normal Started x9 Container started
    Normal Pulled x8 Container image "reg.example.com/ok:v1" already present on machine and can be accessed by the pod
    Warning BackOff x20 Back-off restarting failed container web in pod web-1_shop(uid-of-web-1)
    "#);
}

#[test]
fn a_crash_loop_ends_after_the_restarts_it_was_given() {
    let mut world = life(
        &[
            ("fails", "OOMKilled"),
            ("restarts", "2"),
            ("runs-for", "3s"),
        ],
        200.0,
    );
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
     4.410s web-1: Running web=OOMKilled(137)
     5.410s web-1: Running ready web#1=running+
     8.410s web-1: Running web#1=OOMKilled(137)
    18.410s web-1: Running ready web#2=running+
    ");
    assert_eq!(world.cluster.next_due(), None);
}

#[test]
fn never_ready_stays_running() {
    let mut world = life(&[("fails", "NeverReady")], 60.0);
    insta::assert_snapshot!(world.history(), @r"
    0.000s web-1: Pending
    0.000s web-1: Pending web=ContainerCreating
    1.410s web-1: Running web=running
    ");
    insta::assert_snapshot!(world.events(), @r#"
    Normal Scheduled x1 Successfully assigned shop/web-1 to node-1
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.41s (1.41s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    Warning Unhealthy x6 Readiness probe failed: HTTP probe failed with statuscode: 503
    "#);
}

#[test]
fn a_probe_shows_when_the_application_serves() {
    let probe =
        json!({"httpGet": {"path": "/", "port": 80}, "initialDelaySeconds": 3, "periodSeconds": 4});
    let mut world = World::new();
    world.put(with_container(
        pod("web-1", &[("ready-after", "6s")]),
        &json!({"readinessProbe": probe}),
    ));
    world.put(with_container(
        pod("web-2", &[]),
        &json!({"readinessProbe": probe}),
    ));
    world.put(with_container(pod("web-3", &[]), &json!({"readinessProbe": {"tcpSocket": {"port": 80}, "successThreshold": 3, "periodSeconds": 1}})));
    world.put(pod("web-4", &[("ready-after", "6s")]));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    0.000s web-1: Pending
    0.000s web-1: Pending web=ContainerCreating
    0.000s web-2: Pending
    0.000s web-2: Pending web=ContainerCreating
    0.000s web-3: Pending
    0.000s web-3: Pending web=ContainerCreating
    0.000s web-4: Pending
    0.000s web-4: Pending web=ContainerCreating
    1.108s web-2: Running web=running
    1.410s web-1: Running web=running
    1.533s web-3: Running web=running
    3.533s web-3: Running ready web=running+
    5.108s web-2: Running ready web=running+
    6.000s web-4: Running ready web=running+
    9.410s web-1: Running ready web=running+
    ");
}

#[test]
fn a_startup_probe_holds_back_readiness_and_kills_what_is_too_slow() {
    let probes = json!({
        "startupProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 2, "failureThreshold": 5},
        "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5},
    });
    let mut world = World::new();
    world.put(with_container(
        pod("fast", &[("ready-after", "5s")]),
        &probes,
    ));
    world.put(with_container(
        pod("slow", &[("ready-after", "20s")]),
        &probes,
    ));
    world.run_until(40.0);
    insta::assert_snapshot!(world.history(), @r"
     0.000s fast: Pending
     0.000s fast: Pending web=ContainerCreating
     0.000s slow: Pending
     0.000s slow: Pending web=ContainerCreating
     1.448s fast: Running web=starting
     1.600s slow: Running web=starting
     6.000s fast: Running ready web=running+
    10.000s slow: Running web#1=starting
    20.000s slow: Running web#2=starting
    30.000s slow: Running web#3=starting
    40.000s slow: Running web#3=CrashLoopBackOff
    ");
}

#[test]
fn a_liveness_probe_that_begins_to_fail_restarts_the_container() {
    let probe = json!({"livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 5, "failureThreshold": 2}});
    let behaviour = [
        ("fails", "LivenessProbe"),
        ("runs-for", "20s"),
        ("restarts", "2"),
        ("terminates-after", "3s"),
    ];
    let mut world = World::new();
    world.put(with_container(pod("web-1", &behaviour), &probe));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    33.000s web-1: Running ready web#1=running+
    63.000s web-1: Running ready web#2=running+
    ");
}

#[test]
fn readiness_can_be_lost_and_come_back() {
    let probe =
        json!({"readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5}});
    let behaviour = [
        ("fails", "NeverReady"),
        ("runs-for", "20s"),
        ("heals-after", "1m"),
    ];
    let mut world = World::new();
    world.put(with_container(pod("web-1", &behaviour), &probe));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    31.410s web-1: Running web=running
    61.410s web-1: Running ready web=running+
    ");
}

#[test]
fn a_crash_is_noticed_by_a_readiness_probe_that_had_passed() {
    let probe =
        json!({"readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 3}});
    let mut world = World::new();
    world.put(with_container(
        pod(
            "web-1",
            &[("fails", "CrashLoopBackOff"), ("runs-for", "10s")],
        ),
        &probe,
    ));
    world.run_until(70.0);
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    11.410s web-1: Running web=Error(1)
    12.410s web-1: Running ready web#1=running+
    22.410s web-1: Running web#1=Error(1)
    25.410s web-1: Running web#1=CrashLoopBackOff
    32.410s web-1: Running ready web#2=running+
    42.410s web-1: Running web#2=Error(1)
    45.410s web-1: Running web#2=CrashLoopBackOff
    62.410s web-1: Running ready web#3=running+
    ");
}

#[test]
fn a_long_run_forgives_the_crashes_before_it() {
    let mut world = life(
        &[("fails", "CrashLoopBackOff"), ("runs-for", "11m")],
        3000.0,
    );
    insta::assert_snapshot!(world.history(), @r"
       0.000s web-1: Pending
       0.000s web-1: Pending web=ContainerCreating
       1.410s web-1: Running ready web=running+
     661.410s web-1: Running web=Error(1)
     662.410s web-1: Running ready web#1=running+
    1322.410s web-1: Running web#1=Error(1)
    1323.410s web-1: Running ready web#2=running+
    1983.410s web-1: Running web#2=Error(1)
    1984.410s web-1: Running ready web#3=running+
    2644.410s web-1: Running web#3=Error(1)
    2645.410s web-1: Running ready web#4=running+
    ");
}

#[test]
fn init_containers_run_one_after_the_other_and_sidecars_stay() {
    let mut pod = pod(
        "web-1",
        &[
            ("runs-for.load", "3s"),
            ("ready-after.proxy", "2s"),
            ("terminates-after.proxy", "2s"),
        ],
    );
    pod["spec"]["initContainers"] = json!([
        {"name": "migrate", "image": "img:1"},
        {"name": "proxy", "image": "img:1", "restartPolicy": "Always",
         "startupProbe": {"tcpSocket": {"port": 1}, "periodSeconds": 1}},
        {"name": "load", "image": "img:1"},
    ]);
    let mut world = World::new();
    world.put(pod);
    world.run_until(20.0);
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending migrate=PodInitializing proxy=PodInitializing load=PodInitializing web=PodInitializing
     0.216s web-1: Pending migrate=running proxy=PodInitializing load=PodInitializing web=PodInitializing
     0.716s web-1: Pending migrate=Completed(0)+ proxy=PodInitializing load=PodInitializing web=PodInitializing
     0.932s web-1: Pending migrate=Completed(0)+ proxy=starting load=PodInitializing web=PodInitializing
     3.000s web-1: Pending migrate=Completed(0)+ proxy=running+ load=PodInitializing web=PodInitializing
     3.216s web-1: Pending migrate=Completed(0)+ proxy=running+ load=running web=PodInitializing
     6.216s web-1: Pending migrate=Completed(0)+ proxy=running+ load=Completed(0)+ web=PodInitializing
     7.626s web-1: Running ready migrate=Completed(0)+ proxy=running+ load=Completed(0)+ web=running+
    20.000s web-1: Running ready migrate=Completed(0)+ proxy=running+ load=Completed(0)+ web=running+
    20.644s web-1: Running migrate=Completed(0)+ proxy=running+ load=Completed(0)+ web=Error(143)
    22.000s web-1: Failed migrate=Completed(0)+ proxy=Error(143) load=Completed(0)+ web=Error(143)
    22.000s web-1: gone
    ");
}

#[test]
fn an_init_container_that_fails_twice_holds_the_pod_back() {
    let mut pod = pod(
        "web-1",
        &[
            ("fails.migrate", "CrashLoopBackOff"),
            ("restarts.migrate", "2"),
        ],
    );
    pod["spec"]["initContainers"] = json!([{"name": "migrate", "image": "img:1"}]);
    let mut world = World::new();
    world.put(pod);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending migrate=PodInitializing web=PodInitializing
     0.216s web-1: Pending migrate=running web=PodInitializing
     1.216s web-1: Pending migrate=Error(1) web=PodInitializing
     2.216s web-1: Pending migrate#1=running web=PodInitializing
     3.216s web-1: Pending migrate#1=Error(1) web=PodInitializing
    13.216s web-1: Pending migrate#2=running web=PodInitializing
    13.716s web-1: Pending migrate#2=Completed(0)+ web=PodInitializing
    15.126s web-1: Running ready migrate#2=Completed(0)+ web=running+
    ");
}

#[test]
fn a_pod_that_is_not_restarted_ends() {
    let ending = |name: &str, policy: &str, code: &'static str| {
        let mut pod = pod(name, &[("runs-for", "5s"), ("exit-code", code)]);
        pod["spec"]["restartPolicy"] = policy.into();
        pod
    };
    let mut world = World::new();
    world.put(ending("done", "Never", "0"));
    world.put(ending("failed", "Never", "3"));
    world.put(ending("retried", "OnFailure", "0"));
    let mut init = pod("init", &[("fails.migrate", "CrashLoopBackOff")]);
    init["spec"]["restartPolicy"] = "Never".into();
    init["spec"]["initContainers"] = json!([{"name": "migrate", "image": "img:1"}]);
    world.put(init);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    0.000s done: Pending
    0.000s done: Pending web=ContainerCreating
    0.000s failed: Pending
    0.000s failed: Pending web=ContainerCreating
    0.000s retried: Pending
    0.000s retried: Pending web=ContainerCreating
    0.000s init: Pending
    0.000s init: Pending migrate=PodInitializing web=PodInitializing
    0.371s init: Pending migrate=running web=PodInitializing
    1.193s failed: Running ready web=running+
    1.281s retried: Running ready web=running+
    1.351s done: Running ready web=running+
    1.371s init: Failed migrate=Error(1) web=PodInitializing
    6.193s failed: Failed web=Error(3)
    6.281s retried: Succeeded web=Completed(0)
    6.351s done: Succeeded web=Completed(0)
    ");
    world.delete("done", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @"   6.351s done: gone");
}

#[test]
fn a_pod_is_deleted_whatever_it_waits_for() {
    let mut world = World::new();
    for (name, failure) in [
        ("pull", "ErrImagePull"),
        ("config", "CreateContainerConfigError"),
        ("crash", "CrashLoopBackOff"),
        ("mount", "FailedMount"),
        ("nowhere", "Unschedulable"),
    ] {
        world.put(pod(name, &[("fails", failure)]));
    }
    world.run_until(100.0);
    world.history();
    for name in ["pull", "config", "crash", "mount", "nowhere"] {
        world.delete(name, 30);
    }
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    100.000s pull: Failed web=ContainerStatusUnknown(137)
    100.000s pull: gone
    100.000s config: Failed web=ContainerStatusUnknown(137)
    100.000s config: gone
    100.000s crash: Failed web#4=Error(1)
    100.000s crash: gone
    100.000s mount: Failed web=ContainerStatusUnknown(137)
    100.000s mount: gone
    100.000s nowhere: gone
    ");
}

#[test]
fn a_finalizer_keeps_the_object_of_a_pod_that_has_stopped() {
    let mut world = World::new();
    let mut pod = pod("web-1", &[]);
    pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.put(pod);
    world.run_until(12.0);
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s web-1: Pending
     0.000s web-1: Pending web=ContainerCreating
     1.410s web-1: Running ready web=running+
    12.000s web-1: Running ready web=running+
    12.644s web-1: Failed web=Error(143)
    12.644s web-1: Failed web=Error(143)
    ");
    assert!(world.pods.contains_key("web-1"));
}

#[test]
fn an_evicted_pod_stays_and_a_rejected_one_never_starts() {
    let mut world = World::new();
    world.put(pod("evicted", &[("fails", "Evicted"), ("runs-for", "8s")]));
    world.put(pod("rejected", &[("fails", "UnexpectedAdmissionError")]));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    0.000s evicted: Pending
    0.000s evicted: Pending web=ContainerCreating
    0.000s rejected: Pending
    1.000s rejected: Failed UnexpectedAdmissionError
    1.603s evicted: Running ready web=running+
    8.000s evicted: Failed Evicted web=Error(137)
    ");
}

#[test]
fn what_holds_a_pod_up_may_heal() {
    let mut world = World::new();
    world.put(pod(
        "nowhere",
        &[("fails", "Unschedulable"), ("heals-after", "30s")],
    ));
    world.put(pod(
        "mount",
        &[("fails", "FailedMount"), ("heals-after", "5s")],
    ));
    world.put(pod(
        "config",
        &[("fails", "CreateContainerConfigError"), ("restarts", "2")],
    ));
    world.put(pod(
        "never-pull",
        &[("fails", "ErrImageNeverPull"), ("heals-after", "20s")],
    ));
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     0.000s nowhere: Pending Unschedulable
     0.000s mount: Pending
     0.000s mount: Pending web=ContainerCreating
     0.000s config: Pending
     0.000s config: Pending web=ContainerCreating
     0.000s never-pull: Pending
     0.000s never-pull: Pending web=ContainerCreating
     1.129s config: Pending web=CreateContainerConfigError
     1.464s never-pull: Pending web=ErrImageNeverPull
     9.113s mount: Running ready web=running+
    27.129s config: Running ready web=running+
    27.464s never-pull: Running ready web=running+
    30.000s nowhere: Pending
    30.000s nowhere: Pending web=ContainerCreating
    31.473s nowhere: Running ready web=running+
    ");
}
