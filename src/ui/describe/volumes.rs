//! Volumes: what each is, and where it comes from.

use serde_json::Value;

use super::{Text, any, fields, is_empty, is_true, items, number, word};

/// A source whose fields are written as they are: its JSON name, what kubectl calls it, and its fields by their labels.
type Plain = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const PLAIN: [Plain; 16] = [
    (
        "gcePersistentDisk",
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        &[
            ("PDName", "pdName"),
            ("FSType", "fsType"),
            ("Partition", "#partition"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "awsElasticBlockStore",
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        &[
            ("VolumeID", "volumeID"),
            ("FSType", "fsType"),
            ("Partition", "#partition"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "gitRepo",
        "GitRepo (a volume that is pulled from git when the pod is created)",
        &[("Repository", "repository"), ("Revision", "revision")],
    ),
    (
        "secret",
        "Secret (a volume populated by a Secret)",
        &[("SecretName", "secretName"), ("Optional", "?optional")],
    ),
    (
        "configMap",
        "ConfigMap (a volume populated by a ConfigMap)",
        &[("Name", "name"), ("Optional", "?optional")],
    ),
    (
        "nfs",
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        &[
            ("Server", "server"),
            ("Path", "path"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "glusterfs",
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        &[
            ("EndpointsName", "endpoints"),
            ("Path", "path"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "persistentVolumeClaim",
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        &[("ClaimName", "claimName"), ("ReadOnly", "?readOnly")],
    ),
    (
        "vsphereVolume",
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        &[
            ("VolumePath", "volumePath"),
            ("FSType", "fsType"),
            ("StoragePolicyName", "storagePolicyName"),
        ],
    ),
    (
        "photonPersistentDisk",
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        &[("PdID", "pdID"), ("FSType", "fsType")],
    ),
    (
        "portworxVolume",
        "PortworxVolume (a Portworx Volume resource)",
        &[("VolumeID", "volumeID")],
    ),
    (
        "azureFile",
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        &[
            ("SecretName", "secretName"),
            ("ShareName", "shareName"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "quobyte",
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        &[
            ("Registry", "registry"),
            ("Volume", "volume"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
    (
        "flocker",
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        &[
            ("DatasetName", "datasetName"),
            ("DatasetUUID", "datasetUUID"),
        ],
    ),
    (
        "image",
        "Image (a container image or OCI artifact)",
        &[("Reference", "reference"), ("PullPolicy", "pullPolicy")],
    ),
    (
        "csi",
        "CSI (a Container Storage Interface (CSI) volume source)",
        &[
            ("Driver", "driver"),
            ("FSType", "fsType"),
            ("ReadOnly", "?readOnly"),
        ],
    ),
];

impl Text {
    pub(super) fn volumes(&mut self, volumes: &Value) {
        if is_empty(volumes) {
            self.line(1, "Volumes:\t<none>");
            return;
        }
        self.line(1, "Volumes:");
        for volume in items(volumes) {
            self.line(1, format_args!(" {}:", word(&volume["name"])));
            self.source(volume);
        }
    }

    fn source(&mut self, volume: &Value) {
        let plain = PLAIN.iter().find(|(name, ..)| volume[*name].is_object());
        if let Some((name, title, labels)) = plain {
            self.line(2, format_args!("Type:\t{title}"));
            for (label, field) in *labels {
                self.line(
                    2,
                    format_args!("{label}:\t{}", shown(&volume[*name], field)),
                );
            }
            if *name == "csi" {
                self.attributes(&volume["csi"]["volumeAttributes"]);
            }
        } else if volume["hostPath"].is_object() {
            self.host_path(&volume["hostPath"]);
        } else if volume["emptyDir"].is_object() {
            self.empty_dir(&volume["emptyDir"]);
        } else if volume["projected"].is_object() {
            self.projected(&volume["projected"]);
        } else if volume["downwardAPI"].is_object() {
            self.downward(&volume["downwardAPI"]);
        } else if volume["ephemeral"].is_object() {
            self.ephemeral(&volume["ephemeral"]["volumeClaimTemplate"]);
        } else {
            self.line(1, "<unknown>");
        }
    }

    fn host_path(&mut self, source: &Value) {
        let kind = source["type"].as_str().unwrap_or("<none>");
        self.line(2, "Type:\tHostPath (bare host directory volume)");
        self.line(2, format_args!("Path:\t{}", word(&source["path"])));
        self.line(2, format_args!("HostPathType:\t{kind}"));
    }

    fn empty_dir(&mut self, source: &Value) {
        let limit = match any(&source["sizeLimit"]) {
            limit if limit.is_empty() || limit == "0" => "<unset>".to_owned(),
            limit => limit,
        };
        self.line(
            2,
            "Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)",
        );
        self.line(2, format_args!("Medium:\t{}", word(&source["medium"])));
        self.line(2, format_args!("SizeLimit:\t{limit}"));
    }

    fn projected(&mut self, source: &Value) {
        self.line(
            2,
            "Type:\tProjected (a volume that contains injected data from multiple sources)",
        );
        let optional = |reference: &Value| match &reference["optional"] {
            Value::Null => "<nil>".to_owned(),
            set => set.to_string(),
        };
        for source in items(&source["sources"]) {
            let (secret, config) = (&source["secret"], &source["configMap"]);
            if secret.is_object() {
                self.line(2, format_args!("SecretName:\t{}", word(&secret["name"])));
                self.line(2, format_args!("SecretOptionalName:\t{}", optional(secret)));
            } else if source["downwardAPI"].is_object() {
                self.line(2, "DownwardAPI:\ttrue");
            } else if config.is_object() {
                self.line(2, format_args!("ConfigMapName:\t{}", word(&config["name"])));
                self.line(2, format_args!("ConfigMapOptional:\t{}", optional(config)));
            } else if source["serviceAccountToken"].is_object() {
                let seconds = number(&source["serviceAccountToken"]["expirationSeconds"]);
                self.line(2, format_args!("TokenExpirationSeconds:\t{seconds}"));
            }
        }
    }

    fn downward(&mut self, source: &Value) {
        self.line(
            2,
            "Type:\tDownwardAPI (a volume populated by information about the pod)",
        );
        self.line(2, "Items:");
        for item in items(&source["items"]) {
            let path = word(&item["path"]);
            let from = [
                &item["fieldRef"]["fieldPath"],
                &item["resourceFieldRef"]["resource"],
            ];
            for from in from.into_iter().filter(|from| from.is_string()) {
                self.line(3, format_args!("{} -> {path}", word(from)));
            }
        }
    }

    fn ephemeral(&mut self, claim: &Value) {
        self.line(
            2,
            "Type:\tEphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        );
        if !claim.is_object() {
            return;
        }
        let spec = &claim["spec"];
        self.line(
            2,
            format_args!("StorageClass:\t{}", word(&spec["storageClassName"])),
        );
        self.line(2, format_args!("Volume:\t{}", word(&spec["volumeName"])));
        let labels = fields(&claim["metadata"]["labels"]);
        let labels = labels.map(|(key, value)| format!("{key}={}", word(value)));
        self.nested("Labels", "        ", labels);
        let annotations = fields(&claim["metadata"]["annotations"]);
        let annotations = annotations.map(|(key, value)| format!("{key}: {}", word(value)));
        self.nested("Annotations", "    ", annotations);
        self.line(2, "Capacity:\t");
        self.line(2, "Access Modes:\t");
        if let Some(mode) = spec["volumeMode"].as_str() {
            self.line(2, format_args!("VolumeMode:\t{mode}"));
        }
    }

    fn attributes(&mut self, attributes: &Value) {
        let shown = fields(attributes).map(|(key, value)| format!("{key}={}", word(value)));
        self.nested("VolumeAttributes", "        ", shown);
    }

    /// Entries below a volume: kubectl indents each part of a line anew.
    fn nested(&mut self, title: &str, indent: &str, entries: impl IntoIterator<Item = String>) {
        self.part(format_args!("    {title}:"));
        let mut before = "";
        for entry in entries {
            self.part(format_args!("{before}\t    {entry}\n"));
            before = indent;
        }
        if before.is_empty() {
            self.part("\t    <none>\n");
        }
    }
}

/// A field as it is; `?` before its name: whether it is true, `#`: its number.
fn shown(source: &Value, field: &str) -> String {
    match field.split_at(1) {
        ("?", field) => is_true(&source[field]).to_string(),
        ("#", field) => number(&source[field]).to_string(),
        _ => any(&source[field]),
    }
}
