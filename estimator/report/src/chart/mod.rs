//! Charts as inline SVG. Colours come from the page's style sheet, by class, so that they follow its dark and print styles.

mod bars;
mod bins;
mod cells;
mod changes;
mod die;
mod energy;
mod flow;
mod grid;
mod heat;
mod kernels;
pub(crate) mod legend;
mod over_time;
mod pareto;
mod ratios;
mod registers;
mod roofline;
mod round;
mod scale;
pub(crate) mod shades;
mod sms;
mod squarify;
mod strips;
mod svg;
mod trend;

pub(crate) use bars::{Frame, Look};
pub use changes::{Change, energy_changes};
pub use die::{Tiles, dies};
pub use energy::{Family, by_structure};
pub use flow::{Class, flow, flow_by_class};
pub use heat::register_accesses;
pub use kernels::{MOST as MOST_ROWS, Panel, by_kernel};
pub(crate) use legend::Mark;
pub use over_time::{Layer, OverTime, over_time};
pub use pareto::front;
pub use ratios::{Ratio, ratios};
pub use registers::{InUse, registers};
pub use roofline::{Curves, roofline};
pub(crate) use scale::Scale;
pub use sms::{OfSm, sms};
pub use strips::{Strip, strips};
pub(crate) use svg::{Anchor, Canvas};
pub use trend::over_nodes;

use super::estimate::Estimate;

/// Width of every chart in its own units; the page scales it.
pub(crate) const WIDTH: f64 = 640.0;

/// A kernel's name, cut if it would leave no room for the bars; tooltips have it whole.
fn short(name: &str) -> String {
    at_most(22, name)
}

/// A label that fits a line; tooltips have it whole.
fn cut(label: &str) -> String {
    at_most(70, label)
}

/// A text of at most so many characters, the last of them a mark where it is cut.
fn at_most(most: usize, text: &str) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// Width that a text of the charts' size needs, on the safe side for proportional fonts of 12 units.
fn text_width(text: &str) -> f64 {
    8.0 * text.chars().count() as f64
}

/// The least and the largest end of intervals, zero among them.
fn ends(values: impl Iterator<Item = Estimate>) -> [f64; 2] {
    let ends = values.flat_map(|one| [-1.0, 1.0].map(|side| one.value + side * one.half_width()));
    ends.fold([0.0, 0.0], |[least, most], end| {
        [least.min(end), most.max(end)]
    })
}
