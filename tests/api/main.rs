//! The recorded exchanges of a real API server, replayed against the embedded cluster in virtual time.
//!
//! `recordings/` holds them gzip-compressed, a theme a file; `API_DIR=DIR` replays the `*.jsonl` or `*.jsonl.gz` of
//! another folder. What still differs is named, exchange by exchange, in `differences.txt`; a name there that no longer
//! differs fails too.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod differences;
mod recording;
mod replay;
mod symbols;

use std::fmt::Write as _;

use differences::Differences;

/// How many exchanges that differ are shown in full.
const SHOWN: usize = 20;

async fn check(theme: &str) {
    let sequences = recording::load(theme);
    let mut known = Differences::load(theme);
    let mut report = String::new();
    let mut count = 0;
    for sequence in &sequences {
        for (id, problems) in replay::sequence(theme, sequence).await {
            if known.expects(&id) {
                continue;
            }
            count += 1;
            if count <= SHOWN {
                writeln!(report, "{id}\n  {}", problems.join("\n  ")).unwrap();
            } else {
                writeln!(report, "{id}").unwrap();
            }
        }
    }
    for id in known.unused() {
        count += 1;
        writeln!(
            report,
            "{id}: no longer differs; take it off differences.txt"
        )
        .unwrap();
    }
    assert!(count == 0, "{count} exchanges of {theme}:\n{report}");
}

macro_rules! themes {
    ($($theme:ident)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $theme() {
                check(stringify!($theme)).await;
            }
        )*
    };
}

themes! { apply crud deletion discovery errors generation lists patches subresources tables watches }
