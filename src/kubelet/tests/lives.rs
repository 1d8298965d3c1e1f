//! Each behaviour from a pod's creation to where it stays.

use super::world::{World, pod};

fn life(behaviour: &[(&str, &str)], seconds: f64) -> World {
    let mut world = World::new();
    world.put(pod("web-1", behaviour));
    world.run_until(seconds);
    world
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
