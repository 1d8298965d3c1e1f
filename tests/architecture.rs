//! Tidy rules, checked on the source itself: who imports whom, sizes, documentation, and what a text may not say.

use std::fs;
use std::path::{Path, PathBuf};

/// What each root module may import of the others: the whole module, or the part named. `docs/architecture.md` says
/// why. A new root module has to be entered here.
const MAY_IMPORT: [(&str, &[&str]); 14] = [
    ("schema", &[]),
    ("clock", &[]),
    ("error", &[]),
    ("controller", &["schema"]),
    ("diagnose", &["controller", "schema"]),
    ("kubelet", &["controller", "schema"]),
    ("manifest", &["controller", "schema"]),
    ("engine", &["controller", "clock"]),
    ("follow", &["engine", "diagnose", "controller", "clock"]),
    (
        "sandbox",
        &[
            "kubelet",
            "controller::api",
            "controller::keys",
            "controller::label_selector",
            "schema",
            "clock",
        ],
    ),
    ("simulate", &["kubelet", "controller::api", "clock"]),
    ("ui", &["engine::event", "diagnose", "controller", "schema"]),
    (
        "cli",
        &[
            "ui",
            "engine",
            "follow",
            "sandbox",
            "simulate",
            "kubelet",
            "diagnose",
            "controller",
            "manifest",
            "schema",
            "clock",
            "error",
        ],
    ),
    ("lib", &[]),
];

/// The modules that compute and do nothing else.
const PURE: [&str; 4] = ["schema", "controller", "diagnose", "kubelet"];

/// What a pure module may not so much as name: time, randomness, the outside world, and who talks to it.
const IMPURE: [&str; 19] = [
    "tokio",
    "futures::",
    "tracing",
    "rand::",
    "kube::Client",
    "kube::client",
    "kube::Api",
    "kube::api",
    "kube::runtime",
    "kube::Config",
    "SystemTime",
    "Instant::now",
    "Timestamp::now",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
];

const MAX_LINES: usize = 400;

struct Source {
    path: PathBuf,
    /// The module under `src/`.
    root: String,
    text: String,
}

impl Source {
    fn is_test(&self) -> bool {
        let mut parts = self.path.iter().map(|part| part.to_string_lossy());
        parts.any(|part| part == "tests" || part == "tests.rs")
    }

    /// The text down to a test module at its end.
    fn code(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod tests {");
        &self.text[..end.unwrap_or(self.text.len())]
    }

    /// Lines that are no comments, with their numbers.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code().lines().enumerate();
        lines
            .map(|(index, line)| (index + 1, line.trim()))
            .filter(|(_, line)| !line.starts_with("//"))
    }

    fn at(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path.display())
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(below: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![repository().join(below)];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory of the repository");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|known| extension == *known))
        {
            files.push(
                path.strip_prefix(repository())
                    .expect("a path below the repository")
                    .to_owned(),
            );
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(repository().join(path)).expect("a text file of the repository")
}

fn sources() -> Vec<Source> {
    let source = |path: PathBuf| {
        let part = path
            .iter()
            .nth(1)
            .expect("a file below src")
            .to_string_lossy();
        Source {
            root: part.trim_end_matches(".rs").to_owned(),
            text: read(&path),
            path,
        }
    };
    files("src", &["rs"]).into_iter().map(source).collect()
}

fn assert_none(mistakes: &[String]) {
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

/// Every path that begins with `crate::` in a line, without that.
fn imports(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_' || c == ':'));
        rest[..end.unwrap_or(rest.len())].trim_end_matches(':')
    })
}

#[test]
fn modules_import_what_the_table_allows() {
    let mut mistakes = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !source.is_test() && source.root != "main")
    {
        let allowed = MAY_IMPORT.iter().find(|(root, _)| *root == source.root);
        let Some((root, allowed)) = allowed else {
            mistakes.push(source.at(1, "is in no module that the table knows"));
            continue;
        };
        for (number, line) in source.lines() {
            for import in imports(line) {
                let is_within = |module: &str| {
                    import
                        .strip_prefix(module)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                };
                if !is_within(root) && !allowed.iter().any(|module| is_within(module)) {
                    mistakes.push(source.at(number, &format!("{root} must not import {import:?}")));
                }
            }
        }
    }
    assert_none(&mistakes);
}

#[test]
fn pure_modules_stay_pure() {
    let mut mistakes = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| PURE.contains(&source.root.as_str()) && !source.is_test())
    {
        for (number, line) in source.lines() {
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                mistakes.push(source.at(number, &format!("{word} in a pure module")));
            }
        }
    }
    assert_none(&mistakes);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut mistakes = Vec::new();
    for source in sources() {
        let lines = source.code().lines().count();
        if lines > MAX_LINES && !source.is_test() {
            mistakes.push(source.at(lines, &format!("{lines} lines, more than {MAX_LINES}")));
        }
        if !source.text.starts_with("//! ") {
            mistakes.push(source.at(1, "no module documentation"));
        }
    }
    assert_none(&mistakes);
}

#[test]
fn no_loose_ends_and_no_traces_of_a_machine() {
    let words = [
        "TODO",
        "FIXME",
        "XXX:",
        "todo!(",
        "unimplemented!(",
        "/home/",
        "/root/",
        "/work/",
        "/tmp/wt",
    ];
    let mut texts = files("src", &["rs"]);
    texts.extend(files("docs", &["md"]));
    texts.extend(files("examples", &["yaml"]));
    texts.extend(
        [
            "README.md",
            "CHANGELOG.md",
            "Cargo.toml",
            "deny.toml",
            ".ci/run",
        ]
        .map(PathBuf::from),
    );
    let mut mistakes = Vec::new();
    for path in texts {
        for (index, line) in read(&path).lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                mistakes.push(format!("{}:{}: {word}", path.display(), index + 1));
            }
        }
    }
    assert_none(&mistakes);
}

#[test]
fn the_code_map_names_every_module() {
    let map = read(Path::new("docs/architecture.md"));
    let mut roots: Vec<_> = sources().into_iter().map(|source| source.root).collect();
    roots.dedup();
    let missing = roots
        .into_iter()
        .filter(|root| root != "lib" && !map.contains(&format!("`{root}`")));
    assert_none(&missing.collect::<Vec<_>>());
    let lines = map.lines().count();
    assert!(lines < 300, "docs/architecture.md has {lines} lines");
}

#[test]
fn every_code_of_a_diagnosis_is_documented() {
    let documented = read(Path::new("docs/output.md"));
    let codes = kubectl_rs::diagnose::Code::ALL.iter();
    let missing = codes
        .map(|code| format!("| `{code}` | "))
        .filter(|row| !documented.contains(row));
    assert_none(&missing.collect::<Vec<_>>());
}
