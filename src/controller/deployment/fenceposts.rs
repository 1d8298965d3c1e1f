//! Surge and unavailability: what the strategy's numbers and percentages come to (deployment-controller sections 8.1
//! and 8.2).

use crate::controller::api::{Deployment, IntOrPercent};
use crate::controller::keys;

/// Why a bound can't be resolved. The API server's validation lets none of these through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value {0:?}: neither a number nor a percentage")]
pub struct FencepostError(String);

/// The bounds that a rolling update keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fenceposts {
    /// `spec.replicas`.
    pub desired: i32,
    /// How many pods there may be above `desired`.
    pub max_surge: i32,
    /// How many pods below `desired` may be available.
    pub max_unavailable: i32,
}

impl Fenceposts {
    /// The bounds of a Deployment. Outside a rolling update, and where the values can't be read, both are 0;
    /// unavailability never exceeds what is wanted.
    pub fn of(deployment: &Deployment) -> Self {
        let strategy = &deployment.spec.strategy;
        let desired = deployment.spec.replicas;
        let none = Self {
            desired,
            ..Self::default()
        };
        if strategy.type_ != keys::ROLLING_UPDATE {
            return none;
        }
        let resolved = resolve_fenceposts(
            strategy.max_surge.as_ref(),
            strategy.max_unavailable.as_ref(),
            desired,
        )
        .unwrap_or(none);
        Self {
            max_unavailable: if desired == 0 {
                0
            } else {
                resolved.max_unavailable.min(desired)
            },
            ..resolved
        }
    }

    /// The most pods that there may be in total.
    pub fn max_total(self) -> i32 {
        self.desired.saturating_add(self.max_surge)
    }

    /// The fewest pods that must stay available.
    pub fn min_available(self) -> i32 {
        self.desired.saturating_sub(self.max_unavailable)
    }
}

/// Resolves both bounds: surge rounds up, unavailability down. Where both come to 0 nothing could ever move, so
/// unavailability becomes 1.
///
/// # Errors
/// When one of them is text that is no percentage.
pub fn resolve_fenceposts(
    max_surge: Option<&IntOrPercent>,
    max_unavailable: Option<&IntOrPercent>,
    desired: i32,
) -> Result<Fenceposts, FencepostError> {
    let max_surge = resolve_surge(max_surge, desired)?;
    let max_unavailable = resolve(max_unavailable, desired, |hundredths| {
        hundredths.div_euclid(100)
    })?;
    Ok(Fenceposts {
        desired,
        max_surge,
        max_unavailable: if max_surge == 0 && max_unavailable == 0 {
            1
        } else {
            max_unavailable
        },
    })
}

/// Resolves maxSurge alone, rounding up.
pub(super) fn resolve_surge(
    max_surge: Option<&IntOrPercent>,
    desired: i32,
) -> Result<i32, FencepostError> {
    resolve(max_surge, desired, |hundredths| {
        -(-hundredths).div_euclid(100)
    })
}

fn resolve(
    value: Option<&IntOrPercent>,
    desired: i32,
    round: fn(i64) -> i64,
) -> Result<i32, FencepostError> {
    let text = match value {
        None => return Ok(0),
        Some(IntOrPercent::Int(count)) => return Ok(*count),
        Some(IntOrPercent::Text(text)) => text,
    };
    let percent: i32 = text
        .strip_suffix('%')
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| FencepostError(text.clone()))?;
    Ok(saturate(round(i64::from(percent) * i64::from(desired))))
}

/// The nearest count that 32 bits hold.
pub(super) fn saturate(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(if count < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::api::Strategy;

    fn value(text: &str) -> IntOrPercent {
        text.parse()
            .map_or_else(|_| IntOrPercent::Text(text.to_owned()), IntOrPercent::Int)
    }

    #[test]
    fn rounds_surge_up_and_unavailability_down() {
        for (surge, unavailable, desired, expected) in [
            ("25%", "25%", 10, (3, 2)),
            ("25%", "25%", 1, (1, 0)),
            ("0", "10%", 5, (0, 1)),
            ("0%", "1%", 2, (0, 1)),
            ("30%", "0", 7, (3, 0)),
            ("200%", "100%", i32::MAX, (i32::MAX, i32::MAX)),
        ] {
            let resolved =
                resolve_fenceposts(Some(&value(surge)), Some(&value(unavailable)), desired)
                    .unwrap();
            assert_eq!(
                (resolved.max_surge, resolved.max_unavailable),
                expected,
                "{surge} {unavailable} of {desired}"
            );
        }
    }

    #[test]
    fn derives_what_a_rolling_update_may_use() {
        for (type_, surge, unavailable, desired, expected) in [
            ("RollingUpdate", "25%", "25%", 0, (0, 0)),
            ("RollingUpdate", "1", "5", 3, (1, 3)),
            ("Recreate", "1", "1", 4, (0, 0)),
            ("RollingUpdate", "1", "nonsense", 4, (0, 0)),
            ("RollingUpdate", "2147483647", "0", 4, (i32::MAX, 0)),
        ] {
            let mut deployment = Deployment::default();
            deployment.spec.replicas = desired;
            deployment.spec.strategy = Strategy {
                type_: type_.to_owned(),
                max_surge: Some(value(surge)),
                max_unavailable: Some(value(unavailable)),
            };
            let bounds = Fenceposts::of(&deployment);
            assert_eq!((bounds.max_surge, bounds.max_unavailable), expected);
            assert!(bounds.max_total() >= bounds.min_available());
        }
    }
}
