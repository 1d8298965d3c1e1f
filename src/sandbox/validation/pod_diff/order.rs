//! The order of the fields in Kubernetes' internal types, by their Go names.

use serde_json::Value;

use crate::sandbox::json::is_zero;
use crate::schema::{Field, Type};

const ORDER: &[(&str, &str)] = &[
    (
        "PodSpec",
        "Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds
        ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName AutomountServiceAccountToken NodeName
        SecurityContext ImagePullSecrets Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName Tolerations
        HostAliases PriorityClassName Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead
        EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources HostnameOverride
        SchedulingGroup",
    ),
    (
        "Volume",
        "Name HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS ISCSI Glusterfs
        PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS Flocker DownwardAPI FC AzureFile ConfigMap
        VsphereVolume AzureDisk PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS CSI Ephemeral Image",
    ),
    ("HostPathVolumeSource", "Path Type"),
    ("EmptyDirVolumeSource", "Medium SizeLimit"),
    (
        "SecretVolumeSource",
        "SecretName Items DefaultMode Optional",
    ),
    ("ConfigMapVolumeSource", "Name Items DefaultMode Optional"),
    ("KeyToPath", "Key Path Mode"),
    ("NFSVolumeSource", "Server Path ReadOnly"),
    ("PersistentVolumeClaimVolumeSource", "ClaimName ReadOnly"),
    ("DownwardAPIVolumeSource", "Items DefaultMode"),
    (
        "DownwardAPIVolumeFile",
        "Path FieldRef ResourceFieldRef Mode",
    ),
    ("ObjectFieldSelector", "APIVersion FieldPath"),
    ("ResourceFieldSelector", "ContainerName Resource Divisor"),
    ("ProjectedVolumeSource", "Sources DefaultMode"),
    (
        "VolumeProjection",
        "Secret DownwardAPI ConfigMap ServiceAccountToken ClusterTrustBundle PodCertificate",
    ),
    ("SecretProjection", "Name Items Optional"),
    ("ConfigMapProjection", "Name Items Optional"),
    (
        "ServiceAccountTokenProjection",
        "Audience ExpirationSeconds Path",
    ),
    (
        "CSIVolumeSource",
        "Driver ReadOnly FSType VolumeAttributes NodePublishSecretRef",
    ),
    ("ImageVolumeSource", "Reference PullPolicy"),
    ("Container", CONTAINER),
    // The part that it shares with other containers comes first.
    ("EphemeralContainer", CONTAINER),
    (
        "ContainerPort",
        "Name HostPort ContainerPort Protocol HostIP",
    ),
    ("EnvFromSource", "Prefix ConfigMapRef SecretRef"),
    ("ConfigMapEnvSource", "Name Optional"),
    ("SecretEnvSource", "Name Optional"),
    ("EnvVar", "Name Value ValueFrom"),
    (
        "EnvVarSource",
        "FieldRef ResourceFieldRef ConfigMapKeyRef SecretKeyRef FileKeyRef",
    ),
    ("ConfigMapKeySelector", "Name Key Optional"),
    ("SecretKeySelector", "Name Key Optional"),
    ("FileKeySelector", "VolumeName Path Key Optional"),
    ("ResourceRequirements", "Limits Requests Claims"),
    ("ResourceClaim", "Name Request"),
    ("ContainerResizePolicy", "ResourceName RestartPolicy"),
    ("ContainerRestartRule", "Action ExitCodes"),
    ("ContainerRestartRuleOnExitCodes", "Operator Values"),
    (
        "VolumeMount",
        "Name ReadOnly RecursiveReadOnly MountPath SubPath MountPropagation SubPathExpr",
    ),
    ("VolumeDevice", "Name DevicePath"),
    (
        "Probe",
        "Exec HTTPGet TCPSocket GRPC InitialDelaySeconds TimeoutSeconds PeriodSeconds SuccessThreshold
        FailureThreshold TerminationGracePeriodSeconds",
    ),
    ("HTTPGetAction", "Path Port Host Scheme HTTPHeaders"),
    ("HTTPHeader", "Name Value"),
    ("TCPSocketAction", "Port Host"),
    ("GRPCAction", "Port Service"),
    ("Lifecycle", "PostStart PreStop StopSignal"),
    ("LifecycleHandler", "Exec HTTPGet TCPSocket Sleep"),
    (
        "SecurityContext",
        "Capabilities Privileged SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot
        ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile AppArmorProfile",
    ),
    ("Capabilities", "Add Drop"),
    ("SELinuxOptions", "User Role Type Level"),
    (
        "WindowsSecurityContextOptions",
        "GMSACredentialSpecName GMSACredentialSpec RunAsUserName HostProcess",
    ),
    ("SeccompProfile", "Type LocalhostProfile"),
    ("AppArmorProfile", "Type LocalhostProfile"),
    (
        "PodSecurityContext",
        "HostNetwork HostPID HostIPC ShareProcessNamespace HostUsers SELinuxOptions WindowsOptions RunAsUser RunAsGroup
        RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls SeccompProfile
        AppArmorProfile SELinuxChangePolicy",
    ),
    ("Affinity", "NodeAffinity PodAffinity PodAntiAffinity"),
    ("NodeAffinity", AFFINITY),
    ("PodAffinity", AFFINITY),
    ("PodAntiAffinity", AFFINITY),
    ("NodeSelectorTerm", "MatchExpressions MatchFields"),
    ("NodeSelectorRequirement", "Key Operator Values"),
    ("PreferredSchedulingTerm", "Weight Preference"),
    (
        "PodAffinityTerm",
        "LabelSelector Namespaces TopologyKey NamespaceSelector MatchLabelKeys MismatchLabelKeys",
    ),
    ("WeightedPodAffinityTerm", "Weight PodAffinityTerm"),
    ("Toleration", "Key Operator Value Effect TolerationSeconds"),
    ("HostAlias", "IP Hostnames"),
    ("PodDNSConfig", "Nameservers Searches Options"),
    ("PodDNSConfigOption", "Name Value"),
    (
        "TopologySpreadConstraint",
        "MaxSkew TopologyKey WhenUnsatisfiable LabelSelector MinDomains NodeAffinityPolicy NodeTaintsPolicy
        MatchLabelKeys",
    ),
    (
        "PodResourceClaim",
        "Name ResourceClaimName ResourceClaimTemplateName",
    ),
];

const CONTAINER: &str = "Name Image Command Args WorkingDir Ports EnvFrom Env Resources ResizePolicy RestartPolicy
    RestartPolicyRules VolumeMounts VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle
    TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY
    TargetContainerName";

const AFFINITY: &str = "RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution";

/// Types of `meta/v1`, which have no other form: their JSON names, and only what is set.
const TAGGED: &[(&str, &str)] = &[
    ("LabelSelector", "matchLabels matchExpressions"),
    ("LabelSelectorRequirement", "key operator values"),
];

/// The fields of a type to write, each with the name it is written by.
pub(super) fn fields<'a>(ty: &'a Type, value: &Value) -> Vec<(String, &'a Field)> {
    if let Some((_, names)) = TAGGED.iter().find(|(name, _)| *name == ty.name()) {
        return names
            .split_ascii_whitespace()
            .filter_map(|name| ty.field(name))
            .filter(|field| field.name == "operator" || !is_zero(&value[field.name]))
            .map(|field| (field.name.to_owned(), field))
            .collect();
    }
    let Some((_, names)) = ORDER.iter().find(|(name, _)| *name == ty.name()) else {
        // Volumes of single storage systems and the like: as the API has them.
        let fields = ty.fields().iter();
        return fields
            .map(|field| (capitalized(field.name), field))
            .collect();
    };
    names
        .split_ascii_whitespace()
        .filter_map(|name| Some((name.to_owned(), field(ty, &json_name(name))?)))
        .collect()
}

/// The internal security context has some fields that the API has in the spec.
fn field<'a>(ty: &'a Type, name: &str) -> Option<&'a Field> {
    ty.field(name).or_else(|| {
        (ty.name() == "PodSecurityContext")
            .then(|| super::pod_spec().field(name))
            .flatten()
    })
}

/// `DNSPolicy` is `dnsPolicy`, `HostIP` is `hostIP`, `OS` is `os`.
fn json_name(name: &str) -> String {
    match name {
        "CephFS" => return "cephfs".to_owned(),
        "StorageOS" => return "storageos".to_owned(),
        _ => {}
    }
    let capitals = name.chars().take_while(char::is_ascii_uppercase).count();
    let lowered = match capitals {
        all if all == name.len() => all,
        0 | 1 => capitals,
        several => several - 1,
    };
    name[..lowered].to_ascii_lowercase() + &name[lowered..]
}

fn capitalized(name: &str) -> String {
    let mut characters = name.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + characters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn every_name_is_a_field_of_its_type() {
        for (ty, names) in ORDER {
            let ty = schema::named(ty).expect("the type is in the table");
            for name in names.split_ascii_whitespace() {
                let is_shared = name == "TargetContainerName" && ty.name() == "Container";
                let found = field(ty, &json_name(name)).is_some();
                assert!(found || is_shared, "{} {name}", ty.name());
            }
        }
    }
}
