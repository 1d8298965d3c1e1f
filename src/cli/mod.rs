//! The command line: one file a command, and the flags that they share.
//!
//! `main` calls [`run`]; everything below it returns errors, and only this module and [`report`] turn them into text
//! and an exit code. Commands build what they need from the shared flags ([`kube_flags`], [`selection`], [`output`]),
//! hand it to the engine, and print what comes back.

mod after;
mod allow_missing;
mod authority;
pub mod cluster;
mod complete;
mod completion;
pub mod connection;
mod dry_run;
pub mod duration;
mod edit;
mod embedded;
pub mod fail_after;
mod failures;
pub mod go_flags;
mod interrupt;
pub mod kube_flags;
mod kubeconfig;
pub mod logging;
mod manifests;
mod objects;
pub mod output;
mod print;
mod progress;
pub mod report;
pub mod resource;
mod rollout;
pub mod selection;
mod set;
mod stage;
mod status;
mod sync;
mod throttle;
mod usage;
mod version;
pub mod view;
mod viewer;
pub mod wait;
mod warning;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};

use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use crate::error::ExitCode;
use interrupt::Interrupts;
use kube_flags::KubeFlags;

/// `kubectl rs`.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-rs",
    bin_name = "kubectl rs",
    version,
    about = "Deployments and ReplicaSets, reconciled and explained from the client",
    after_long_help = exit_codes(),
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Cli {
    /// The flags that say which cluster, and who asks.
    #[command(flatten)]
    pub kube: KubeFlags,
    /// How much to log.
    #[command(flatten)]
    pub logging: logging::LogFlags,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reconcile Deployments and ReplicaSets from here
    Sync(Box<sync::SyncArgs>),
    /// Show how rollouts stand, why, and what to do
    Status(Box<status::StatusArgs>),
    /// Look at, pause, resume, restart and undo rollouts
    Rollout(rollout::RolloutArgs),
    /// Change fields of what runs pods
    Set(set::SetArgs),
    /// Print the script that completes kubectl-rs in a shell
    Completion(completion::CompletionArgs),
    /// Print the version
    Version(version::VersionArgs),
}

/// The table of exit codes, for the end of `--help`.
fn exit_codes() -> String {
    let rows = ExitCode::ALL.map(|(code, meaning)| format!("  {:>3}  {meaning}", code as u8));
    format!("Exit codes:\n{}", rows.join("\n"))
}

/// Runs the command line `args` (the program's name first) and says what to end with.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = args.into_iter().collect();
    if let Some(words) = complete::words(&words) {
        return complete::run(&words);
    }
    let result = parse(&words).and_then(|cli| match cli {
        Parsed::Run(cli) => start(*cli),
        Parsed::Text(text, code) => {
            anstream::stdout().write_all(text.as_bytes())?;
            Ok(code)
        }
    });
    match result {
        Ok(code) => code,
        Err(error) => report::print(&error),
    }
}

/// A command line is either to be run or a request for text (help, version).
enum Parsed {
    Run(Box<Cli>),
    Text(String, ExitCode),
}

fn parse(words: &[OsString]) -> anyhow::Result<Parsed> {
    match Cli::try_parse_from(words) {
        Ok(cli) => Ok(Parsed::Run(Box::new(cli))),
        Err(error) if usage::is_help(&error) => {
            let text = error.render().ansi().to_string();
            Ok(Parsed::Text(text, usage::code_of_help(&error, words)))
        }
        Err(error) => Err(usage::failure(&error, words).into()),
    }
}

/// Runs the command to its end, or until Ctrl-C. What a command leaves on the terminal it cleans up when it is dropped.
fn start(cli: Cli) -> anyhow::Result<ExitCode> {
    cli.logging.start();
    let runtime = runtime(&cli.command)?;
    let result = runtime.block_on(async {
        let interrupts = Interrupts::listen()?;
        let killed = interrupts.killed()?;
        tokio::select! {
            result = dispatch(cli, interrupts) => result,
            () = killed => {
                // The terminal shows ^C where the cursor was; what comes next begins a line.
                if io::stderr().is_terminal() {
                    anstream::stderr().write_all(b"\n")?;
                }
                Ok(ExitCode::Interrupted)
            }
        }
    });
    // Nobody waits for a thread that still reads the terminal.
    runtime.shutdown_background();
    result
}

/// Requests wait for the server, and what is decided between them takes microseconds: more threads would cost more, in
/// waking one another, than they bring. Only reading all pods of a cluster is work for several.
fn runtime(command: &Command) -> io::Result<Runtime> {
    let mut builder = match command {
        Command::Status(_) => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    builder.enable_all().build()
}

async fn dispatch(cli: Cli, mut interrupts: Interrupts) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Sync(args) => {
            args.run(&cli.kube, cli.logging.is_verbose(), interrupts.heed())
                .await
        }
        Command::Status(args) => args.run(&cli.kube, cli.logging.is_verbose()).await,
        Command::Rollout(args) => {
            args.run(&cli.kube, cli.logging.is_verbose(), interrupts)
                .await
        }
        Command::Set(args) => {
            args.run(&cli.kube, cli.logging.is_verbose(), interrupts)
                .await
        }
        Command::Completion(args) => args.run(),
        Command::Version(args) => args.run(),
    }
}
