//! Conditions in a status: reading, and the rules for changing them (deployment-controller section 15).
//!
//! A list holds at most one condition of a type; changing one moves it to the end.

use super::api::Condition;

/// The condition of this type, if there is one.
pub fn get_condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Takes the condition of this type out of the list.
pub fn remove_condition(conditions: &mut Vec<Condition>, type_: &str) {
    conditions.retain(|condition| condition.type_ != type_);
}

/// Sets a condition, unless one with the same status and reason is there: then nothing changes at all, message and
/// times included. The transition time moves only with the status.
pub fn set_condition(conditions: &mut Vec<Condition>, mut condition: Condition) {
    if let Some(current) = get_condition(conditions, &condition.type_)
        && current.status == condition.status
    {
        if current.reason == condition.reason {
            return;
        }
        condition.last_transition_time = current.last_transition_time.clone();
    }
    remove_condition(conditions, &condition.type_);
    conditions.push(condition);
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::controller::api::ConditionStatus;

    fn condition(type_: &str, status: ConditionStatus, reason: &str, second: i64) -> Condition {
        let time = Some(Time(Timestamp::from_second(second).unwrap()));
        Condition {
            type_: type_.into(),
            status,
            reason: reason.into(),
            message: format!("{reason} at {second}"),
            last_update_time: time.clone(),
            last_transition_time: time,
            ..Condition::default()
        }
    }

    #[test]
    fn same_status_and_reason_change_nothing() {
        let before = vec![
            condition("A", ConditionStatus::True, "Fine", 1),
            condition("B", ConditionStatus::True, "Fine", 1),
        ];
        let mut after = before.clone();
        set_condition(&mut after, condition("A", ConditionStatus::True, "Fine", 2));
        assert_eq!(after, before);
    }

    #[test]
    fn another_reason_keeps_the_transition_time_and_moves_to_the_end() {
        let first = condition("A", ConditionStatus::True, "Fine", 1);
        let other = condition("B", ConditionStatus::True, "Fine", 1);
        let mut conditions = vec![first.clone(), other.clone()];
        let new = condition("A", ConditionStatus::True, "Better", 2);
        set_condition(&mut conditions, new.clone());
        let expected = Condition {
            last_transition_time: first.last_transition_time,
            ..new
        };
        assert_eq!(conditions, [other, expected]);
    }

    #[test]
    fn another_status_renews_both_times() {
        let mut conditions = vec![condition("A", ConditionStatus::True, "Fine", 1)];
        let new = condition("A", ConditionStatus::False, "Fine", 2);
        set_condition(&mut conditions, new.clone());
        assert_eq!(conditions, [new]);
    }

    #[test]
    fn removing_takes_only_that_type() {
        let kept = condition("B", ConditionStatus::True, "Fine", 1);
        let mut conditions = vec![
            condition("A", ConditionStatus::True, "Fine", 1),
            kept.clone(),
        ];
        remove_condition(&mut conditions, "A");
        assert_eq!(conditions, [kept]);
        assert_eq!(get_condition(&conditions, "A"), None);
    }
}
