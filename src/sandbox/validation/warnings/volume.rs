//! Remarks on volumes: plugins that are gone, and files of one volume that lie on top of each other.

use serde_json::Value;

use super::Warnings;
use crate::sandbox::json::{list, text};
use crate::sandbox::validation::path::Path;

/// Plugins in the order in which they are remarked on.
const DEPRECATED: [(&str, &str); 9] = [
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

pub(super) fn warn(volumes: &[Value], place: &Path<'_>, warnings: &mut Warnings) {
    for (index, volume) in volumes.iter().enumerate() {
        for (plugin, remark) in DEPRECATED {
            if !volume[plugin].is_null() {
                // The field is spelled otherwise where the remark comes from.
                let field = if plugin == "storageos" {
                    "storageOS"
                } else {
                    plugin
                };
                let here = place.index(index);
                warnings.at(here.child(field), remark);
            }
        }
    }
    for volume in volumes {
        warn_of_overlaps(volume, warnings);
    }
}

/// A file of a volume and what it is from.
struct File<'v> {
    path: &'v str,
    source: String,
}

impl File<'_> {
    fn describe(&self) -> String {
        match self.source.as_str() {
            "" => format!("{:?}", self.path),
            source => format!("{:?} ({source})", self.path),
        }
    }

    /// Whether one is the other or lies below it.
    fn overlaps(&self, other: &Self) -> bool {
        let is_below = |path: &str, above: &str| {
            let rest = path.strip_prefix(above);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.path.is_empty()
            && !other.path.is_empty()
            && (is_below(self.path, other.path) || is_below(other.path, self.path))
    }
}

fn warn_of_overlaps(volume: &Value, warnings: &mut Warnings) {
    let name = text(&volume["name"]);
    let config_map = text(&volume["configMap"]["name"]);
    let secret = text(&volume["secret"]["secretName"]);
    let single = [
        ("configMap", format!("ConfigMap {config_map:?}")),
        ("secret", format!("Secret {secret:?}")),
        ("downwardAPI", "DownwardAPI".to_owned()),
    ];
    for (plugin, described) in single {
        let files = items(&volume[plugin]["items"], "");
        compare(name, &described, files, warnings);
    }
    let mut files = Vec::new();
    for source in list(&volume["projected"]["sources"]) {
        if source.as_object().is_some_and(serde_json::Map::is_empty) {
            warnings.add(format!(
                "volume {name:?} (Projected) has no sources provided"
            ));
        }
        files.extend(projected(source));
    }
    compare(name, "Projected", files, warnings);
}

fn compare(volume: &str, described: &str, files: Vec<File<'_>>, warnings: &mut Warnings) {
    let mut before: Vec<File<'_>> = Vec::new();
    for file in files {
        for other in before.iter().filter(|other| file.overlaps(other)) {
            let (file, other) = (file.describe(), other.describe());
            warnings.add(format!(
                "volume {volume:?} ({described}): overlapping paths: {file} with {other}"
            ));
        }
        before.push(file);
    }
}

fn items<'v>(items: &'v Value, source: &str) -> Vec<File<'v>> {
    let paths = list(items).iter().map(|item| text(&item["path"]));
    paths.map(|path| file(path, source)).collect()
}

fn file<'v>(path: &'v str, source: &str) -> File<'v> {
    File {
        path: path.trim_end_matches('/'),
        source: source.to_owned(),
    }
}

/// The files that a source of a projected volume names.
fn projected(source: &Value) -> Vec<File<'_>> {
    let [config_map, secret] = ["configMap", "secret"].map(|field| &source[field]);
    if config_map["items"].is_array() {
        let described = format!("ConfigMap {:?}", text(&config_map["name"]));
        return items(&config_map["items"], &described);
    }
    if secret["items"].is_array() {
        let described = format!("Secret {:?}", text(&secret["name"]));
        return items(&secret["items"], &described);
    }
    if source["downwardAPI"]["items"].is_array() {
        return items(&source["downwardAPI"]["items"], "DownwardAPI");
    }
    let path = text(&source["serviceAccountToken"]["path"]);
    if path.is_empty() {
        return Vec::new();
    }
    vec![file(path, "ServiceAccountToken")]
}
