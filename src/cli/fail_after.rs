//! `--fail-after`: what is let pass before a rollout fails.

use std::str::FromStr;
use std::time::Duration;

use super::duration;
use crate::diagnose::Budgets;

/// Limits by kind of cause; those not named keep their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailAfter(pub Budgets);

impl FromStr for FailAfter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            return Ok(Self(Budgets::NONE));
        }
        let mut budgets = Budgets::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            set(&mut budgets, part)?;
        }
        Ok(Self(budgets))
    }
}

fn set(budgets: &mut Budgets, part: &str) -> Result<(), String> {
    let (name, value) = part
        .split_once('=')
        .ok_or_else(|| format!("{part:?}: give a limit, such as crashes=3 or pending=180s"))?;
    match name {
        "crashes" => budgets.crashes = count(value)?,
        "pulls" => budgets.pulls = count(value)?,
        "rejections" => budgets.rejections = count(value)?,
        "registry" => budgets.registry = time(value)?,
        "start" => budgets.start = time(value)?,
        "pending" => budgets.pending = time(value)?,
        "waiting" => budgets.waiting = time(value)?,
        _ => {
            return Err(format!(
                "{name:?}: limits are crashes, pulls, rejections, registry, start, pending and waiting"
            ));
        }
    }
    Ok(())
}

fn count(value: &str) -> Result<Option<u32>, String> {
    if value == "none" {
        return Ok(None);
    }
    value
        .parse()
        .ok()
        .filter(|count| *count > 0)
        .map(Some)
        .ok_or_else(|| format!("{value:?}: give a number from 1, or none"))
}

fn time(value: &str) -> Result<Option<Duration>, String> {
    if value == "none" {
        return Ok(None);
    }
    duration::parse(value).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_and_the_rest_stays() {
        let parse = |text: &str| text.parse::<FailAfter>().map(|it| it.0);
        assert_eq!(parse(""), Ok(Budgets::default()));
        assert_eq!(parse("none"), Ok(Budgets::NONE));
        let limits = Budgets {
            crashes: Some(5),
            pulls: None,
            pending: Some(Duration::from_secs(180)),
            ..Budgets::default()
        };
        assert_eq!(parse("crashes=5, pulls=none,pending=180s"), Ok(limits));
        for wrong in ["crashes", "crashes=0", "crashes=x", "pending=3", "luck=3"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
