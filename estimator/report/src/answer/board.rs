//! What the graphics board draws, if the study names one.

use warpwatt_board::reported::Reported;

use crate::outcome::{BASELINE, Outcome};

/// A sentence: means over the points of the plain GPU.
pub(super) fn words(points: &[Outcome]) -> Option<String> {
    let plain = points
        .iter()
        .filter(|point| &*point.point.technique == BASELINE);
    let drawn: Vec<Reported> = plain.filter_map(crate::board::reported).collect();
    if drawn.is_empty() {
        return None;
    }
    let mean =
        |of: &dyn Fn(&Reported) -> f64| drawn.iter().map(of).sum::<f64>() / drawn.len() as f64;
    let of_parts = |wanted: &dyn Fn(&Reported) -> f64| format!("{:.0} W", mean(wanted));
    let standing = |key: &'static str| {
        of_parts(&|one: &Reported| {
            let own = one.parts.iter().filter(|(part, _)| part.key == key);
            own.map(|(_, watts)| watts).sum()
        })
    };
    let dynamic = of_parts(&|one: &Reported| {
        let own = one.parts.iter().filter(|(part, _)| part.dynamic);
        own.map(|(_, watts)| watts).sum()
    });
    let over = match drawn.len() {
        1 => String::new(),
        count => format!(", as a mean over {count} points"),
    };
    Some(format!(
        "The board draws {:.0} W with the plain GPU (95 % within {:.0} to {:.0} W){over}: {} constant, {} leakage, {} of active SMs, {} of what they execute.",
        mean(&|one| one.power_w),
        mean(&|one| one.within_w.0),
        mean(&|one| one.within_w.1),
        standing("constant"),
        standing("leakage"),
        standing("active"),
        dynamic
    ))
}
