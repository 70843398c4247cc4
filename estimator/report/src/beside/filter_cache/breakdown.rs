//! Stacked bars of the front end's energy: without on top, with below.

use std::collections::BTreeSet;

use crate::chart::{Canvas, Frame, Look, Mark, WIDTH, legend};
use crate::{Block, Comparison, Part, format};

/// How many colours the page has for structures.
const COLOURS: usize = 8;

/// Front-end energy by structure, without and with the technique, relative to the whole without.
pub(super) fn front_end(block: &Block, id: &str) -> String {
    let families = families(block);
    let classes: Vec<String> = (0..families.len())
        .map(|i| format!("s{}", i % COLOURS))
        .collect();
    let keys: Vec<(Mark, &str, &str)> = families
        .iter()
        .zip(&classes)
        .map(|(family, class)| (Mark::Square, class.as_str(), *family))
        .collect();
    let mut canvas = Canvas::default();
    let top = legend::draw(&mut canvas, &keys);
    let remarks: Vec<String> = block.comparisons.iter().map(energies).collect();
    let with = |c: &Comparison| c.front_end.ratio().unwrap_or(0.0);
    let look = Look {
        top,
        bars: 2,
        largest: block.comparisons.iter().map(with).fold(1.0, f64::max),
    };
    let frame = Frame::draw(&mut canvas, &block.names(), &remarks, look);
    for (row, comparison) in block.comparisons.iter().enumerate() {
        for (bar, energy) in [
            (0, (|p| p.without_j) as fn(&Part) -> f64),
            (1, |p| p.with_j),
        ] {
            let y = frame.y(row, bar);
            let mut from = 0.0;
            for (family, class) in families.iter().zip(&classes) {
                let share = share(comparison, family, energy);
                let side = if bar == 0 { "without" } else { "with" };
                let tooltip = format!(
                    "{}, {family}, {side}: {}",
                    comparison.point.kernel.name,
                    format::percent(share)
                );
                canvas.rect(class, frame.bar(y, from, from + share), &tooltip);
                from += share;
            }
        }
    }
    canvas.finish(
        id,
        "Front-end dynamic energy by structure",
        "For every kernel two stacked bars: the front end's dynamic energy without the technique on top and with it below, as shares of the energy without.",
        [WIDTH, frame.height(block.comparisons.len())],
    )
}

/// The structures of a family share the first part of their names: `icache.tag` and `icache.data`.
fn families(block: &Block) -> Vec<&str> {
    let names: BTreeSet<&str> = block
        .comparisons
        .iter()
        .flat_map(|c| c.front_end_parts.iter().map(family))
        .collect();
    names.into_iter().collect()
}

fn family(part: &Part) -> &str {
    part.structure.split('.').next().unwrap_or_default()
}

fn share(comparison: &Comparison, of: &str, energy: fn(&Part) -> f64) -> f64 {
    let parts = comparison.front_end_parts.iter();
    let joules: f64 = parts.filter(|part| family(part) == of).map(energy).sum();
    if comparison.front_end.without_j > 0.0 {
        joules / comparison.front_end.without_j
    } else {
        0.0
    }
}

fn energies(comparison: &Comparison) -> String {
    format!(
        "{} → {} nJ",
        format::nanojoules(comparison.front_end.without_j),
        format::nanojoules(comparison.front_end.with_j)
    )
}
