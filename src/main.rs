//! The `kubectl-rs` binary: starts the library and turns its result into an exit code.

fn main() -> std::process::ExitCode {
    kubectl_rs::cli::run(std::env::args_os()).into()
}
