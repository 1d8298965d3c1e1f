//! The resource types that can be named on the command line: kubectl's words for them, and where they are served.
//!
//! Every API server has these, so nothing needs to be discovered before a command can start.

use crate::error::Failure;

/// A resource type.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// The kind of its objects.
    pub kind: &'static str,
    /// The `apiVersion` of its objects.
    pub api_version: &'static str,
    /// Its name in URLs.
    pub plural: &'static str,
    /// Short names.
    pub short: &'static [&'static str],
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

const fn namespaced(
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
) -> Resource {
    Resource {
        kind,
        api_version,
        plural,
        short,
        namespaced: true,
    }
}

const fn cluster_scoped(
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
) -> Resource {
    Resource {
        namespaced: false,
        ..namespaced("v1", kind, plural, short)
    }
}

static RESOURCES: [Resource; 28] = [
    namespaced("apps/v1", "Deployment", "deployments", &["deploy"]),
    namespaced("apps/v1", "ReplicaSet", "replicasets", &["rs"]),
    namespaced("apps/v1", "StatefulSet", "statefulsets", &["sts"]),
    namespaced("apps/v1", "DaemonSet", "daemonsets", &["ds"]),
    namespaced("apps/v1", "ControllerRevision", "controllerrevisions", &[]),
    namespaced("v1", "Pod", "pods", &["po"]),
    namespaced(
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        &["rc"],
    ),
    namespaced("batch/v1", "Job", "jobs", &[]),
    namespaced("batch/v1", "CronJob", "cronjobs", &["cj"]),
    namespaced("v1", "ConfigMap", "configmaps", &["cm"]),
    namespaced("v1", "Endpoints", "endpoints", &["ep"]),
    namespaced("v1", "Event", "events", &["ev"]),
    namespaced("v1", "LimitRange", "limitranges", &["limits"]),
    namespaced(
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        &["pvc"],
    ),
    namespaced("v1", "PodTemplate", "podtemplates", &[]),
    namespaced("v1", "ResourceQuota", "resourcequotas", &["quota"]),
    namespaced("v1", "Secret", "secrets", &[]),
    namespaced("v1", "Service", "services", &["svc"]),
    namespaced("v1", "ServiceAccount", "serviceaccounts", &["sa"]),
    cluster_scoped("Namespace", "namespaces", &["ns"]),
    cluster_scoped("Node", "nodes", &["no"]),
    cluster_scoped("PersistentVolume", "persistentvolumes", &["pv"]),
    namespaced(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        &["hpa"],
    ),
    namespaced("networking.k8s.io/v1", "Ingress", "ingresses", &["ing"]),
    namespaced(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "networkpolicies",
        &["netpol"],
    ),
    namespaced(
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        &["pdb"],
    ),
    namespaced("coordination.k8s.io/v1", "Lease", "leases", &[]),
    namespaced("rbac.authorization.k8s.io/v1", "Role", "roles", &[]),
];

impl Resource {
    /// The type that a word names: plural, singular or short, with version and group or without, in any case.
    ///
    /// # Errors
    /// A word that names none, in kubectl's words.
    pub fn parse(word: &str) -> Result<&'static Self, Failure> {
        let lower = word.to_ascii_lowercase();
        let (name, rest) = lower.split_once('.').unwrap_or((&lower, ""));
        RESOURCES
            .iter()
            .find(|resource| resource.is_called(name) && (rest.is_empty() || resource.is_in(rest)))
            .ok_or_else(|| {
                Failure::usage(format!(
                    "the server doesn't have a resource type \"{name}\""
                ))
            })
    }

    /// The type of an object in a file.
    pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Self> {
        RESOURCES
            .iter()
            .find(|resource| resource.api_version == api_version && resource.kind == kind)
    }

    fn is_called(&self, name: &str) -> bool {
        self.plural == name || self.kind.eq_ignore_ascii_case(name) || self.short.contains(&name)
    }

    /// Whether the end of a word, `apps` or `v1.apps`, names the group.
    fn is_in(&self, rest: &str) -> bool {
        let (group, version) = self.group_and_version();
        match rest
            .strip_prefix(version)
            .map(|rest| rest.strip_prefix('.'))
        {
            Some(Some(named)) => named == group,
            _ => rest == group && !group.is_empty(),
        }
    }

    fn group_and_version(&self) -> (&'static str, &'static str) {
        self.api_version
            .split_once('/')
            .unwrap_or(("", self.api_version))
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.group_and_version().0
    }

    /// The API version, without the group.
    pub fn version(&self) -> &'static str {
        self.group_and_version().1
    }

    fn with_group(&self, name: &str) -> String {
        match self.group() {
            "" => name.to_owned(),
            group => format!("{name}.{group}"),
        }
    }

    /// `deployment.apps`, as in front of a slash.
    pub fn singular_with_group(&self) -> String {
        self.with_group(&self.kind.to_ascii_lowercase())
    }

    /// `deployments.apps`, as in the API server's messages.
    pub fn plural_with_group(&self) -> String {
        self.with_group(self.plural)
    }

    /// `Deployment.apps`, as in kubectl's messages about kinds.
    pub fn kind_with_group(&self) -> String {
        self.with_group(self.kind)
    }

    /// `apps/v1, Resource=deployments`, as in kubectl's messages about lists.
    pub fn with_version(&self) -> String {
        let (group, version) = self.group_and_version();
        format!("{group}/{version}, Resource={}", self.plural)
    }

    /// The collection's path in a namespace.
    pub fn path(&self, namespace: &str) -> String {
        if self.namespaced {
            format!("{}/namespaces/{namespace}/{}", self.root(), self.plural)
        } else {
            self.path_everywhere()
        }
    }

    /// The path of all objects, whatever their namespace.
    pub fn path_everywhere(&self) -> String {
        format!("{}/{}", self.root(), self.plural)
    }

    fn root(&self) -> String {
        let root = match self.group() {
            "" => "/api",
            _ => "/apis",
        };
        format!("{root}/{}", self.api_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_kubectl_takes_for_a_type() {
        for (word, expected) in [
            ("deploy", Ok("Deployment")),
            ("deployment", Ok("Deployment")),
            ("Deployments", Ok("Deployment")),
            ("deployments.apps", Ok("Deployment")),
            ("deployments.v1.apps", Ok("Deployment")),
            ("po", Ok("Pod")),
            ("pods.v1.", Ok("Pod")),
            ("sts", Ok("StatefulSet")),
            ("cj", Ok("CronJob")),
            ("cronjobs.batch", Ok("CronJob")),
            (
                "deployments.example.com",
                Err("the server doesn't have a resource type \"deployments\""),
            ),
            (
                "deployments.v2.apps",
                Err("the server doesn't have a resource type \"deployments\""),
            ),
            (
                "web",
                Err("the server doesn't have a resource type \"web\""),
            ),
            ("", Err("the server doesn't have a resource type \"\"")),
        ] {
            let found = Resource::parse(word);
            let found = found.as_ref().map(|resource| resource.kind);
            assert_eq!(
                found.map_err(|failure| failure.message.as_str()),
                expected,
                "{word}"
            );
        }
    }

    #[test]
    fn names_as_messages_have_them() {
        let names = |word: &str| {
            let resource = Resource::parse(word).unwrap();
            [
                resource.singular_with_group(),
                resource.plural_with_group(),
                resource.kind_with_group(),
                resource.with_version(),
                resource.path("default"),
            ]
        };
        assert_eq!(
            names("deploy"),
            [
                "deployment.apps",
                "deployments.apps",
                "Deployment.apps",
                "apps/v1, Resource=deployments",
                "/apis/apps/v1/namespaces/default/deployments"
            ]
        );
        assert_eq!(
            names("po"),
            [
                "pod",
                "pods",
                "Pod",
                "/v1, Resource=pods",
                "/api/v1/namespaces/default/pods"
            ]
        );
        assert_eq!(names("node")[4], "/api/v1/nodes");
        let everywhere = |word: &str| Resource::parse(word).unwrap().path_everywhere();
        assert_eq!(everywhere("deploy"), "/apis/apps/v1/deployments");
        assert_eq!(everywhere("po"), "/api/v1/pods");
    }
}
