//! Energy by structure as two stacked bars: without on top, with below.

use super::WIDTH;
use super::bars::{Frame, Look};
use super::legend::{self, Mark};
use super::svg::Canvas;
use crate::format;

/// How many colours the page has for structures, the last one for all others.
const COLOURS: usize = 8;

/// The energy of a family of structures, summed over kernels.
pub struct Family {
    /// Its name: `icache` of `icache.tag` and `icache.data`.
    pub name: String,
    /// Without and with, in joules.
    pub energy_j: [f64; 2],
}

/// Dynamic and leakage energy by family, relative to the whole without. `None` where there is none.
pub fn by_structure(families: Vec<Family>, id: &str) -> Option<String> {
    let families = largest(families);
    let whole = [0, 1].map(|side| families.iter().map(|f| f.energy_j[side]).sum::<f64>());
    if whole[0] <= 0.0 {
        return None;
    }
    let classes: Vec<String> = (0..families.len())
        .map(|place| format!("s{place}"))
        .collect();
    let keys: Vec<(Mark, &str, &str)> = families
        .iter()
        .zip(&classes)
        .map(|(family, class)| (Mark::Square, class.as_str(), family.name.as_str()))
        .collect();
    let mut canvas = Canvas::default();
    let top = legend::draw(&mut canvas, &keys);
    let remarks = whole.map(|energy| format!("{} nJ", format::nanojoules(energy)));
    let largest = f64::max(1.0, whole[1] / whole[0]);
    let names = ["without", "with"].map(str::to_owned);
    let look = Look {
        top,
        bars: 1,
        largest,
    };
    let frame = Frame::draw(&mut canvas, &names, &remarks, look);
    for (side, name) in names.iter().enumerate() {
        let y = frame.y(side, 0);
        let mut from = 0.0;
        for (family, class) in families.iter().zip(&classes) {
            let share = family.energy_j[side] / whole[0];
            let tooltip = format!("{}, {name}: {}", family.name, format::percent(share));
            canvas.rect(class, frame.bar(y, from, from + share), &tooltip);
            from += share;
        }
    }
    Some(canvas.finish(
        id,
        "Energy by structure",
        "Two stacked bars: dynamic and leakage energy of the structures summed over the kernels, without the technique on top and with it below, as shares of the energy without.",
        [WIDTH, frame.height(2)],
    ))
}

/// The largest families by name; the others together.
fn largest(mut families: Vec<Family>) -> Vec<Family> {
    let size = |family: &Family| family.energy_j[0].max(family.energy_j[1]);
    families.sort_by(|a, b| {
        size(b)
            .total_cmp(&size(a))
            .then_with(|| a.name.cmp(&b.name))
    });
    if families.len() > COLOURS {
        let rest = families.split_off(COLOURS - 1);
        let sum = |side: usize| rest.iter().map(|family| family.energy_j[side]).sum();
        families.push(Family {
            name: format!("{} others", rest.len()),
            energy_j: [sum(0), sum(1)],
        });
    }
    families
}
