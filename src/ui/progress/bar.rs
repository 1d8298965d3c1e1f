//! The bar of one revision. All bars of a Deployment share one scale, so their lengths can be compared.

use crate::ui::line::{Line, Tone};

/// The widest bar; longer ones say no more.
const CELLS_MAX: usize = 40;

/// What a revision's pods amount to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pods {
    /// Whether they belong to the new revision.
    pub(super) new: bool,
    pub(super) available: i32,
    pub(super) ready: i32,
    pub(super) current: i32,
    /// What is wanted of the new revision in the end; old ones are wanted no more.
    pub(super) goal: i32,
}

/// How many cells `room` columns give a bar in which `pods` pods fit: the same number for each pod, unless that would
/// leave much of the room empty.
pub(super) fn cells(room: usize, pods: i32) -> usize {
    let cells = room.min(CELLS_MAX);
    let pods = usize::try_from(pods).unwrap_or(0).max(1);
    let even = cells / pods * pods;
    if even * 4 >= cells * 3 { even } else { cells }
}

/// Draws the pods on a scale of `scale` pods to `cells` cells: `█` available, `▓` ready, `░` not ready, `·` missing.
pub(super) fn draw(pods: Pods, scale: i32, cells: usize) -> Line {
    let (available, ready, current) = if pods.new {
        (Tone::Good, Tone::Pending, Tone::Pending)
    } else {
        (Tone::Plain, Tone::Plain, Tone::Faint)
    };
    let goal = if pods.new { pods.goal } else { 0 };
    let mut bar = Line::default();
    let mut drawn = 0;
    for (upto, cell, tone) in [
        (pods.available, "█", available),
        (pods.ready, "▓", ready),
        (pods.current, "░", current),
        (goal, "·", Tone::Faint),
    ] {
        let end = position(upto, scale, cells).max(drawn);
        bar.push(tone, cell.repeat(end - drawn));
        drawn = end;
    }
    bar
}

/// The cell that `pods` reach up to, rounded to the nearest; some pods are never nothing.
fn position(pods: i32, scale: i32, cells: usize) -> usize {
    let (Ok(pods), Ok(scale)) = (usize::try_from(pods), usize::try_from(scale)) else {
        return 0;
    };
    let scale = scale.max(1);
    match pods {
        0 => 0,
        _ if cells == 0 => 0,
        _ => ((pods * cells + scale / 2) / scale).clamp(1, cells),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(new: bool, counts: [i32; 4], scale: i32, cells: usize) -> String {
        let [available, ready, current, goal] = counts;
        let pods = Pods {
            new,
            available,
            ready,
            current,
            goal,
        };
        draw(pods, scale, cells).to_string()
    }

    #[test]
    fn each_pod_shows_what_it_is() {
        assert_eq!(bar(true, [1, 2, 3, 5], 6, 12), "██▓▓░░····");
        assert_eq!(bar(false, [3, 3, 4, 5], 6, 12), "██████░░");
        assert_eq!(bar(true, [0, 0, 0, 0], 6, 12), "");
    }

    #[test]
    fn large_and_odd_numbers_stay_inside() {
        assert_eq!(bar(true, [1, 1, 1, 1000], 1250, 20), "█···············");
        assert_eq!(bar(true, [2000, 2000, 2000, 2000], 10, 4), "████");
        assert_eq!(bar(true, [-3, 0, 0, 2], 0, 4), "····");
        assert_eq!(bar(false, [i32::MAX; 4], i32::MAX, 8), "████████");
    }

    #[test]
    fn pods_get_whole_cells_where_there_is_room() {
        assert_eq!(cells(25, 6), 24);
        assert_eq!(cells(90, 6), 36);
        assert_eq!(cells(25, 13), 25, "13 would leave half of it empty");
        assert_eq!(cells(25, 1000), 25);
        assert_eq!(cells(25, 0), 25);
    }
}
