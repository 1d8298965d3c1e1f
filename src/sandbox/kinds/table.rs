//! The table of kinds itself. Order is discovery's: by group as a real server lists them, by resource within a group.

use super::{Generation, Kind, Serves, Subresource};

const READ_WRITE: &[&str] = &["get", "patch", "update"];

const fn sub(name: &'static str, verbs: &'static [&'static str]) -> Subresource {
    Subresource {
        name,
        verbs,
        group_version: None,
        kind: "",
    }
}

const STATUS: Subresource = sub("status", READ_WRITE);
const SCALE_SUB: Subresource = Subresource {
    group_version: Some(("autoscaling", "v1")),
    kind: "Scale",
    ..sub("scale", READ_WRITE)
};
const WITH_STATUS: &[Subresource] = &[STATUS];
const WITH_SCALE: &[Subresource] = &[SCALE_SUB, STATUS];
const PROXY_VERBS: &[&str] = &["create", "delete", "get", "patch", "update"];

const POD_SUBRESOURCES: &[Subresource] = &[
    Subresource {
        kind: "PodAttachOptions",
        ..sub("attach", &["create", "get"])
    },
    Subresource {
        kind: "Binding",
        ..sub("binding", &["create"])
    },
    sub("ephemeralcontainers", READ_WRITE),
    Subresource {
        group_version: Some(("policy", "v1")),
        kind: "Eviction",
        ..sub("eviction", &["create"])
    },
    Subresource {
        kind: "PodExecOptions",
        ..sub("exec", &["create", "get"])
    },
    sub("log", &["get"]),
    Subresource {
        kind: "PodPortForwardOptions",
        ..sub("portforward", &["create", "get"])
    },
    Subresource {
        kind: "PodProxyOptions",
        ..sub("proxy", PROXY_VERBS)
    },
    sub("resize", READ_WRITE),
    STATUS,
];

const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

const POD_FIELDS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
];

const fn kind(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind {
        api_version,
        kind,
        plural,
        short_names: &[],
        categories: &[],
        namespaced: true,
        subresources: &[],
        generation: Generation::Never,
        put_creates: false,
        returns_deleted: false,
        serves: Serves::Everything,
        fields: &[],
        collection: plural,
    }
}

impl Kind {
    const fn short(self, short_names: &'static [&'static str]) -> Self {
        Self {
            short_names,
            ..self
        }
    }

    const fn in_all(self) -> Self {
        Self {
            categories: &["all"],
            ..self
        }
    }

    const fn cluster_scoped(self) -> Self {
        Self {
            namespaced: false,
            ..self
        }
    }

    const fn subs(self, subresources: &'static [Subresource]) -> Self {
        Self {
            subresources,
            ..self
        }
    }

    const fn spec_generation(self) -> Self {
        Self {
            generation: Generation::Spec,
            ..self
        }
    }

    const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    const fn put_creates(self) -> Self {
        Self {
            put_creates: true,
            ..self
        }
    }

    const fn returns_deleted(self) -> Self {
        Self {
            returns_deleted: true,
            ..self
        }
    }

    const fn create_only(self) -> Self {
        Self {
            serves: Serves::CreateOnly,
            ..self
        }
    }
}

/// What the scale subresource speaks.
pub static SCALE: Kind = kind("autoscaling/v1", "Scale", "scales");

/// Every kind that is served.
pub static KINDS: &[Kind] = &[
    kind("v1", "Binding", "bindings").create_only(),
    kind("v1", "ConfigMap", "configmaps").short(&["cm"]),
    kind("v1", "Endpoints", "endpoints").short(&["ep"]),
    kind("v1", "Event", "events")
        .short(&["ev"])
        .put_creates()
        .fields(EVENT_FIELDS),
    kind("v1", "LimitRange", "limitranges").short(&["limits"]),
    Kind {
        serves: Serves::SingleDeletes,
        subresources: &[sub("finalize", &["update"]), STATUS],
        ..kind("v1", "Namespace", "namespaces")
            .returns_deleted()
            .fields(&["status.phase"])
            .short(&["ns"])
            .cluster_scoped()
    },
    kind("v1", "Node", "nodes")
        .fields(&["spec.unschedulable"])
        .short(&["no"])
        .cluster_scoped()
        .subs(&[
            Subresource {
                kind: "NodeProxyOptions",
                ..sub("proxy", PROXY_VERBS)
            },
            STATUS,
        ]),
    kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
        .returns_deleted()
        .short(&["pvc"])
        .subs(WITH_STATUS),
    kind("v1", "PersistentVolume", "persistentvolumes")
        .returns_deleted()
        .short(&["pv"])
        .cluster_scoped()
        .subs(WITH_STATUS),
    kind("v1", "Pod", "pods")
        .returns_deleted()
        .short(&["po"])
        .in_all()
        .spec_generation()
        .subs(POD_SUBRESOURCES)
        .fields(POD_FIELDS),
    kind("v1", "PodTemplate", "podtemplates")
        .returns_deleted()
        .spec_generation(),
    kind("v1", "ReplicationController", "replicationcontrollers")
        .short(&["rc"])
        .in_all()
        .spec_generation()
        .subs(WITH_SCALE),
    kind("v1", "ResourceQuota", "resourcequotas")
        .returns_deleted()
        .short(&["quota"])
        .subs(WITH_STATUS),
    kind("v1", "Secret", "secrets").fields(&["type"]),
    kind("v1", "ServiceAccount", "serviceaccounts")
        .returns_deleted()
        .short(&["sa"])
        .subs(&[Subresource {
            group_version: Some(("authentication.k8s.io", "v1")),
            kind: "TokenRequest",
            ..sub("token", &["create"])
        }]),
    kind("v1", "Service", "services")
        .returns_deleted()
        .fields(&["spec.clusterIP", "spec.type"])
        .short(&["svc"])
        .in_all()
        .put_creates()
        .subs(&[
            Subresource {
                kind: "ServiceProxyOptions",
                ..sub("proxy", PROXY_VERBS)
            },
            STATUS,
        ]),
    kind("apps/v1", "ControllerRevision", "controllerrevisions"),
    kind("apps/v1", "DaemonSet", "daemonsets")
        .short(&["ds"])
        .in_all()
        .spec_generation()
        .subs(WITH_STATUS),
    Kind {
        generation: Generation::SpecAndAnnotations,
        ..kind("apps/v1", "Deployment", "deployments")
            .short(&["deploy"])
            .in_all()
            .subs(WITH_SCALE)
    },
    kind("apps/v1", "ReplicaSet", "replicasets")
        .short(&["rs"])
        .in_all()
        .spec_generation()
        .subs(WITH_SCALE),
    kind("apps/v1", "StatefulSet", "statefulsets")
        .short(&["sts"])
        .in_all()
        .spec_generation()
        .subs(WITH_SCALE),
    kind("events.k8s.io/v1", "Event", "events")
        .short(&["ev"])
        .put_creates(),
    kind(
        "authorization.k8s.io/v1",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
    )
    .cluster_scoped()
    .create_only(),
    kind(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    )
    .short(&["hpa"])
    .in_all()
    .subs(WITH_STATUS),
    kind("batch/v1", "CronJob", "cronjobs")
        .short(&["cj"])
        .in_all()
        .spec_generation()
        .subs(WITH_STATUS),
    kind("batch/v1", "Job", "jobs")
        .fields(&["status.successful"])
        .in_all()
        .spec_generation()
        .subs(WITH_STATUS),
    kind("networking.k8s.io/v1", "Ingress", "ingresses")
        .short(&["ing"])
        .spec_generation()
        .subs(WITH_STATUS),
    kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")
        .short(&["netpol"])
        .spec_generation(),
    kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
        .short(&["pdb"])
        .spec_generation()
        .subs(WITH_STATUS),
    kind(
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        "clusterroles",
    )
    .cluster_scoped(),
    kind(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
    )
    .cluster_scoped(),
    kind("rbac.authorization.k8s.io/v1", "Role", "roles").put_creates(),
    kind(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "rolebindings",
    )
    .put_creates(),
    kind("storage.k8s.io/v1", "StorageClass", "storageclasses")
        .short(&["sc"])
        .cluster_scoped(),
    kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses")
        .short(&["pc"])
        .cluster_scoped(),
    kind("coordination.k8s.io/v1", "Lease", "leases").put_creates(),
    kind("node.k8s.io/v1", "RuntimeClass", "runtimeclasses").cluster_scoped(),
    kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices").spec_generation(),
];
