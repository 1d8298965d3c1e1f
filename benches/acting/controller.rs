//! A controller as a process of its own, and what it costs.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cluster::api_server::ApiServer;

/// Hundredths of a second: how Linux counts processor time.
const TICKS: f64 = 100.0;

/// A running controller, ended when this is dropped.
pub(crate) struct Controller(Child);

/// What it has cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Processor time.
    pub(crate) seconds: f64,
    /// Memory now.
    pub(crate) megabytes: f64,
    /// The most memory so far.
    pub(crate) peak_megabytes: f64,
}

impl Usage {
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            seconds: self.seconds - before.seconds,
            ..*self
        }
    }
}

impl Controller {
    pub(crate) fn ours(file: &Path, server: &ApiServer) -> Self {
        let mut command = Command::new(file);
        command.args(["sync", "-A", "--watch", "--quiet", "--kubeconfig"]);
        command.arg(server.kubeconfig_file());
        Self::start(command)
    }

    pub(crate) fn manager(file: &Path, server: &ApiServer) -> Self {
        let mut command = Command::new(file);
        command.args([
            "--controllers=deployment,replicaset",
            "--leader-elect=false",
            "--kube-api-qps=100000",
            "--kube-api-burst=100000",
            "--secure-port=0",
        ]);
        command.arg(format!(
            "--kubeconfig={}",
            server.kubeconfig_file().display()
        ));
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        let started = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(started.expect("the controller starts"))
    }

    /// What it has cost so far, as Linux tells it.
    pub(crate) fn usage(&self) -> Usage {
        let read = |file: &str| {
            let path = format!("/proc/{}/{file}", self.0.id());
            std::fs::read_to_string(path).expect("it still runs")
        };
        let (stat, status) = (read("stat"), read("status"));
        // The program's name, in parentheses, may have blanks in it; the times are the 12th and 13th word behind it.
        let words = stat.rsplit(')').next().unwrap_or_default();
        let times = words.split_whitespace().skip(11).take(2);
        let ticks: f64 = times.filter_map(|word| word.parse::<f64>().ok()).sum();
        let kilobytes = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name));
            let value = value.and_then(|value| value.split_whitespace().next());
            value
                .and_then(|value| value.parse::<f64>().ok())
                .unwrap_or_default()
        };
        Usage {
            seconds: ticks / TICKS,
            megabytes: kilobytes("VmRSS:") / 1024.0,
            peak_megabytes: kilobytes("VmHWM:") / 1024.0,
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
