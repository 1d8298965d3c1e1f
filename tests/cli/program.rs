//! Running the built program in a directory of its own.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};

use assert_cmd::Command;
use tempfile::TempDir;

/// The program, in an empty directory and with an empty environment: no kubeconfig, no colour, no width.
pub(crate) struct Program {
    directory: TempDir,
}

/// What a run ended with.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.directory().join(file), content).expect("a writable directory");
    }

    /// Runs `kubectl-rs` with the words of a line.
    pub(crate) fn run(&self, line: &str) -> Ended {
        self.run_with_input(line, "")
    }

    /// Starts `kubectl-rs` with piped streams, to do something to it while it runs.
    pub(crate) fn start(&self, line: &str) -> Child {
        std::process::Command::new(assert_cmd::cargo::cargo_bin!("kubectl-rs"))
            .args(line.split_whitespace())
            .current_dir(self.directory())
            .env_clear()
            .env("HOME", self.directory())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    pub(crate) fn run_with_input(&self, line: &str, stdin: &str) -> Ended {
        let output = Command::cargo_bin("kubectl-rs")
            .expect("the program is built before its tests")
            .args(line.split_whitespace())
            .current_dir(self.directory())
            .env_clear()
            .env("HOME", self.directory())
            .write_stdin(stdin)
            .output()
            .expect("the program runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        Ended {
            code: output.status.code().expect("an exit code, not a signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// An address that would notice any attempt to talk to it.
pub(crate) struct Witness(TcpListener);

impl Witness {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        Self(listener)
    }

    pub(crate) fn url(&self) -> String {
        let address = self.0.local_addr().expect("a bound socket");
        format!("http://{address}")
    }

    /// Waits until the program calls, which then gets no answer for as long as the connection is kept. A program that
    /// ends before it calls fails the test.
    pub(crate) fn wait_for_a_call(&self, caller: &mut Child) -> TcpStream {
        loop {
            if let Ok((call, _)) = self.0.accept() {
                return call;
            }
            let ended = caller.try_wait().expect("a child");
            assert_eq!(ended, None, "it ended without a call");
            std::thread::yield_now();
        }
    }

    pub(crate) fn saw_nobody(&self) -> bool {
        self.0.accept().is_err()
    }
}
