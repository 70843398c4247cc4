//! Charts as inline SVG. Colours come from the page's style sheet, by class, so that they follow its dark and print styles.

mod bars;
mod heat;
mod legend;
mod pareto;
mod scale;
mod scatter;
mod stack;
mod svg;
mod trend;

pub use bars::{hit_rates, icache_energy};
pub use heat::register_accesses;
pub use pareto::front;
pub use scatter::ratio_against_miss_rate;
pub use stack::front_end_breakdown;
pub use trend::over_nodes;

/// Width of every chart in its own units; the page scales it.
const WIDTH: f64 = 640.0;

/// A kernel's name, cut if it would leave no room for the bars; tooltips have it whole.
fn short(name: &str) -> String {
    const MOST: usize = 22;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let kept: String = name.chars().take(MOST - 1).collect();
    format!("{kept}…")
}

/// Width that a text of the charts' size needs, on the safe side for proportional fonts of 12 units.
fn text_width(text: &str) -> f64 {
    8.0 * text.chars().count() as f64
}
