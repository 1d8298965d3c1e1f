//! The built program as a controller, killed with SIGKILL in the end.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};

/// A running `sync --watch`.
pub(crate) struct Program(Child);

impl Program {
    /// Starts it on the cluster that these flags name.
    pub(crate) fn start(cluster: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let program = Command::new(assert_cmd::cargo::cargo_bin!("kubectl-rs"))
            .args(["sync", "-A", "--watch", "--quiet"])
            .args(cluster)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(program.expect("the program starts"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().expect("it is ours to kill");
        self.0.wait().expect("it ends");
    }
}
