//! The flow of joules, from the whole to the structures that take them, as Sankey drew a steam engine's (A. B. W. Kennedy, H. R. Sankey, "The thermal efficiency
//! of steam engines", Minutes of the Proceedings of the Institution of Civil Engineers 134, 1898, pages 278 to 312).

mod column;
mod groups;
mod streams;

use std::collections::BTreeMap;

use column::{BAR, Band, Bar, bands, stacked, total};
use groups::Kinds;
use streams::{Flow, Node, Stream};

use super::svg::{Anchor, Canvas};
use super::{WIDTH, short};
use crate::format;
use crate::metric::quantity;
use crate::outcome::{Outcome, PricedStructure};

/// Where the columns stand.
const COLUMNS: [f64; 4] = [4.0, 100.0, 214.0, 336.0];
/// The room that each label needs: structures have one line, all others two.
const SLOTS: [f64; 4] = [34.0, 34.0, 34.0, 17.0];
/// Height of the whole.
const HIGH: f64 = 280.0;
/// Free space between a bar and its label.
const ASIDE: f64 = 6.0;
/// Colours that tell groups apart.
const COLOURS: usize = 8;

/// The dynamic energy of a class of instructions by structure.
pub type Class = (String, BTreeMap<String, f64>);

/// The energy of `points` together, dynamic and leakage. `None` where there is none.
pub fn flow(points: &[&Outcome], id: &str) -> Option<String> {
    let kinds = Kinds {
        names: vec!["dynamic", "leakage"],
        of: &|structure| vec![structure.dynamic_j, structure.leakage_j],
    };
    Some(draw(&Flow::of(points, &kinds)?, id))
}

/// The energy of a run: the dynamic part by what causes it, of which `classes` have all, and leakage. `None` where there is none.
pub fn flow_by_class(point: &Outcome, classes: &[Class], id: &str) -> Option<String> {
    let names = classes.iter().map(|(name, _)| name.as_str());
    let of = |structure: &PricedStructure| {
        let own = classes.iter().map(|(_, by)| by.get(&*structure.name));
        let own = own.map(|joules| joules.copied().unwrap_or_default());
        own.chain([structure.leakage_j]).collect()
    };
    let kinds = Kinds {
        names: names.chain(["leakage"]).collect(),
        of: &of,
    };
    Some(draw(&Flow::of(&[point], &kinds)?, id))
}

fn draw(flow: &Flow, id: &str) -> String {
    let scale = HIGH / flow.columns[0][0].joules;
    let heights = flow.columns.each_ref().map(|nodes| {
        let nodes = nodes.iter();
        nodes.map(|node| scale * node.joules).collect::<Vec<f64>>()
    });
    let totals = heights.iter().zip(SLOTS).map(|(it, slot)| total(it, slot));
    let high = totals.fold(0.0, f64::max);
    let bars = [0, 1, 2, 3].map(|place| stacked(&heights[place], SLOTS[place], high));
    let mut canvas = Canvas::default();
    for (place, streams) in flow.streams.iter().enumerate() {
        let column = |place: usize| (COLUMNS[place], &bars[place][..]);
        let own = streams.iter().filter(|stream| stream.joules > 0.0);
        let own = own.map(|stream| band(flow, place, stream, scale));
        bands(&mut canvas, column(place), column(place + 1), own);
    }
    for (place, own) in bars.iter().enumerate() {
        for (number, bar) in own.iter().enumerate() {
            node(&mut canvas, flow, (place, number), bar);
        }
    }
    let names = flow.columns[1].iter().map(|node| node.name.as_str());
    let description = format!(
        "Bands as wide as the energy in them: from the whole on the left over {} and groups of structures to the structures on the right, with joules and shares of the whole.",
        names.collect::<Vec<&str>>().join(", ")
    );
    canvas.finish(id, "Flow of joules", &description, [WIDTH, high + 2.0])
}

fn class(group: Option<usize>) -> String {
    group.map_or_else(
        || "whole".to_owned(),
        |group| format!("s{}", group.min(COLOURS - 1)),
    )
}

fn band(flow: &Flow, place: usize, stream: &Stream, scale: f64) -> Band {
    let [from, to] = [(place, stream.from), (place + 1, stream.to)]
        .map(|(place, number)| &flow.columns[place][number].name);
    Band {
        ends: [stream.from, stream.to],
        width: scale * stream.joules,
        class: class(stream.group),
        tooltip: format!("{from} to {to}: {}", figures(flow, stream.joules)),
    }
}

/// Joules and their share of the whole.
fn figures(flow: &Flow, joules: f64) -> String {
    let share = joules / flow.columns[0][0].joules;
    format!("{} {}", quantity::show(joules, "J"), format::percent(share))
}

/// A bar with its label: a structure's in one line, with figures at the right edge; else a line each.
fn node(canvas: &mut Canvas, flow: &Flow, (place, number): (usize, usize), bar: &Bar) {
    let Node { name, joules } = &flow.columns[place][number];
    let group = match place {
        2 => Some(number),
        3 => Some(flow.group_of[number]),
        _ => None,
    };
    let figures = figures(flow, *joules);
    let tooltip = format!("{name}: {figures}");
    let x = COLUMNS[place];
    canvas.rect(&class(group), [x, bar.top, BAR, bar.height], &tooltip);
    let (x, y) = (x + BAR + ASIDE, bar.middle());
    if place == 3 {
        canvas.text(Anchor::Start, x, y, &short(name));
        canvas.text(Anchor::End, WIDTH - 4.0, y, &figures);
        return;
    }
    canvas.text_of("strong", Anchor::Start, x, y - 8.0, &short(name));
    let figures = match place {
        0 => quantity::show(*joules, "J"),
        _ => figures,
    };
    canvas.text(Anchor::Start, x, y + 8.0, &figures);
}

#[cfg(test)]
mod tests;
