//! A strip of launches above what they spend.

use super::super::svg::{Anchor, Canvas};
use super::super::{at_most, text_width};
use super::Time;
use crate::metric::quantity;

/// Height of the strip.
const STRIP: f64 = 16.0;
/// Shades that tell kernels apart.
const SHADES: usize = 5;
/// Launches beyond which no line marks where each begins.
const MARKED: usize = 60;

/// Draws the strip below `top`, and a line down over `height` where each launch begins; gives back the height used.
pub(super) fn draw(
    canvas: &mut Canvas,
    launches: &[(f64, String)],
    time: &Time,
    [top, height]: [f64; 2],
) -> f64 {
    if launches.is_empty() {
        return 0.0;
    }
    let ends = launches.iter().skip(1).map(|(at, _)| *at).chain([time.end]);
    let mut kernels: Vec<&str> = Vec::new();
    for ((at, name), end) in launches.iter().zip(ends) {
        let known = kernels.iter().position(|kernel| kernel == name);
        let number = known.unwrap_or_else(|| {
            kernels.push(name);
            kernels.len() - 1
        });
        let (left, right) = (time.at(*at), time.at(end));
        let tooltip = format!("{name}: from {}, for {}", shown(*at), shown(end - at));
        let class = format!("tile d{}", number % SHADES);
        canvas.rect(&class, [left, top, right - left, STRIP], &tooltip);
        let room = ((right - left - 8.0) / text_width("x")).max(0.0) as usize;
        if room >= 4 {
            let label = at_most(room, name);
            canvas.text(Anchor::Start, left + 4.0, top + STRIP / 2.0, &label);
        }
        if (2..=MARKED).contains(&launches.len()) && *at > time.begin {
            canvas.line("reference", [left, top + STRIP, left, top + STRIP + height]);
        }
    }
    STRIP
}

fn shown(seconds: f64) -> String {
    quantity::show(seconds, "s")
}
