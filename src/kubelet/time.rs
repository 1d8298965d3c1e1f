//! Instants as the kubelet writes them.

use k8s_openapi::jiff::Timestamp;
use serde::{Serialize, Serializer};

/// An instant in whole seconds: `metav1.Time`, written in a fraction of the time that its own type takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub(super) Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.0}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as MetaTime;

    use super::*;

    #[test]
    fn it_is_written_as_kubernetes_writes_it() {
        for nanos in [0, 1, 999_999_999, 1_700_000_000_500_000_000, -1_500_000_000] {
            let at = Timestamp::from_nanosecond(nanos).unwrap();
            let expected = serde_json::to_string(&MetaTime(at)).unwrap();
            assert_eq!(serde_json::to_string(&Time(at)).unwrap(), expected);
        }
    }
}
