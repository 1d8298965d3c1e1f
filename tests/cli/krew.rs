//! The krew manifest obeys krew's rules, and what the package script builds can be installed the way krew does it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::stock_kubectl;

/// The platforms that krew's index checks.
const PLATFORMS: [(&str, &str); 11] = [
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "386"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a manifest");
    serde_yaml::from_str(&text).expect("YAML")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What krew refuses about a manifest.
fn mistakes(manifest: &Value) -> Vec<&'static str> {
    let spec = &manifest["spec"];
    let name = text(&manifest["metadata"]["name"]);
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let version = text(&spec["version"]);
    let numbers: Vec<&str> = version
        .strip_prefix('v')
        .unwrap_or_default()
        .split('.')
        .collect();
    let short = text(&spec["shortDescription"]);
    let rules = [
        (
            manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2",
            "apiVersion",
        ),
        (manifest["kind"] == "Plugin", "kind"),
        (!name.is_empty() && name.chars().all(is_word), "name"),
        (
            numbers.len() == 3 && numbers.iter().all(|part| part.parse::<u32>().is_ok()),
            "version is v and a semantic version",
        ),
        (
            !short.is_empty() && !short.contains('\n') && short.len() < 60,
            "shortDescription",
        ),
        (!text(&spec["description"]).is_empty(), "description"),
        (text(&spec["homepage"]).starts_with("https://"), "homepage"),
    ];
    let mut mistakes = broken(&rules);
    let downloads = format!("{}/releases/download/{version}/", text(&spec["homepage"]));
    let mut taken = BTreeSet::new();
    for platform in spec["platforms"].as_array().into_iter().flatten() {
        let labels = &platform["selector"]["matchLabels"];
        let pair = (text(&labels["os"]), text(&labels["arch"]));
        mistakes.extend(mistakes_of_platform(platform, &pair, &downloads));
        if !taken.insert(pair) {
            mistakes.push("no two platforms overlap");
        }
    }
    if taken.is_empty() {
        mistakes.push("some platform");
    }
    mistakes
}

fn mistakes_of_platform(
    platform: &Value,
    pair: &(String, String),
    downloads: &str,
) -> Vec<&'static str> {
    let labels = platform["selector"]["matchLabels"].as_object();
    let (uri, sum) = (text(&platform["uri"]), text(&platform["sha256"]));
    let binary = if pair.0 == "windows" {
        "kubectl-rs.exe"
    } else {
        "kubectl-rs"
    };
    broken(&[
        (
            labels.is_some_and(|labels| labels.len() == 2),
            "a selector with os and arch alone",
        ),
        (
            PLATFORMS.contains(&(&pair.0, &pair.1)),
            "a platform that krew supports",
        ),
        (uri.ends_with(".tar.gz"), "uri of an archive"),
        (
            uri.starts_with(downloads),
            "uri of this version, below the homepage",
        ),
        (
            uri.contains(&format!("-{}-{}.", pair.0, pair.1)),
            "uri of this platform",
        ),
        (
            sum.len() == 64 && sum.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')),
            "sha256 in lower-case hex",
        ),
        (
            platform.get("files").is_none(),
            "no files: everything is extracted",
        ),
        (platform["bin"] == binary, "bin"),
    ])
}

fn broken(rules: &[(bool, &'static str)]) -> Vec<&'static str> {
    let broken = rules.iter().filter(|(holds, _)| !holds);
    broken.map(|(_, rule)| *rule).collect()
}

#[test]
fn the_manifest_obeys_krews_rules() {
    let manifest = read(&repository().join("krew-manifest.yaml"));
    assert_eq!(mistakes(&manifest), Vec::<&str>::new());
    assert_eq!(manifest["metadata"]["name"], "rs");
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["spec"]["version"], version.as_str());
    let mut broken = manifest.clone();
    broken["spec"]["version"] = "1.0".into();
    broken["spec"]["platforms"][0]["sha256"] = "ABC".into();
    broken["spec"]["platforms"][1]["selector"]["matchLabels"]["arch"] = "amd64".into();
    assert!(mistakes(&broken).len() >= 4, "{:?}", mistakes(&broken));
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("a command that runs");
    let utf8 = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        utf8(&output.stderr)
    );
    utf8(&output.stdout) + &utf8(&output.stderr)
}

/// Extracts into a folder of its own, finds a licence, and links `kubectl-rs` to the binary.
#[cfg(unix)]
#[test]
fn the_archive_is_installed_as_krew_installs_it() {
    let work = tempfile::tempdir().expect("a temporary directory");
    run(Command::new(repository().join(".ci/package"))
        .args([env!("CARGO_BIN_EXE_kubectl-rs"), "linux", "amd64"])
        .arg(work.path()));
    let manifest = read(&work.path().join("rs.yaml"));
    assert_eq!(mistakes(&manifest), Vec::<&str>::new());
    let platform = &manifest["spec"]["platforms"][0];
    let archive = platform["uri"]
        .as_str()
        .and_then(|uri| uri.rsplit('/').next())
        .expect("a uri");
    let archive = work.path().join(archive);
    let sum = run(Command::new("sha256sum").arg(&archive));
    assert_eq!(sum.split(' ').next(), platform["sha256"].as_str());

    let store = work.path().join("store/rs").join(env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(&store).expect("a folder");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(&store));
    assert!(store.join("LICENSE").is_file());
    assert!(store.join("completions/kubectl_complete-rs").is_file());
    let bin = work.path().join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let target = store.join(platform["bin"].as_str().expect("a binary"));
    std::os::unix::fs::symlink(target, bin.join("kubectl-rs")).expect("a link");

    let version = format!("kubectl-rs {}", env!("CARGO_PKG_VERSION"));
    let said = run(Command::new(bin.join("kubectl-rs")).arg("version"));
    assert!(said.starts_with(&version), "{said}");
    through_kubectl(&bin, &version);
}

/// Stock kubectl finds the plugin, where there is a kubectl.
fn through_kubectl(bin: &Path, version: &str) {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bin.display());
    if !stock_kubectl::is_there() {
        return;
    }
    let said = run(Command::new("kubectl")
        .args(["rs", "version"])
        .env("PATH", &path));
    assert!(said.starts_with(version), "{said}");
    let list = run(Command::new("kubectl")
        .args(["plugin", "list"])
        .env("PATH", &path));
    assert!(
        list.contains(&bin.join("kubectl-rs").display().to_string()),
        "{list}"
    );
    assert!(!list.contains("warning"), "{list}");
}
