//! Our figures over published ones, for pages that stand alone.

use super::WIDTH;
use super::scale::Scale;
use super::svg::{Anchor, Canvas};

/// Height of a row.
const ROW: f64 = 18.0;
/// Room for the names.
const LEFT: f64 = 330.0;
/// Room for the figures.
const RIGHT: f64 = 60.0;
/// The colours, which on reports' pages come from their style sheet.
const STYLE: &str = "<style>text { font: 10px sans-serif; fill: #444 } .holds { fill: #2a78b8 } .gap { fill: #d2691e } .grid { stroke: #ccc } .reference { stroke: #444 } .mark { fill-opacity: .6 }</style>\n";

/// A figure of ours beside a published one.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// What it is.
    pub label: String,
    /// Ours over the published one.
    pub ratio: f64,
    /// Whether it is as near as it should be.
    pub holds: bool,
}

/// A bar a row, from 1 to the ratio, on an axis of factors of two; those that are no positive number have none.
pub fn ratios(rows: &[Ratio], title: &str) -> String {
    let mut canvas = Canvas::default();
    let all = rows.iter().filter_map(|row| factor(row.ratio));
    let range = all.fold([-1.0f64, 1.0], |[least, most], it| {
        [least.min(it), most.max(it)]
    });
    let bottom = ROW * rows.len() as f64;
    let axis = Scale::over(range, LEFT, WIDTH - RIGHT);
    factors(&mut canvas, &axis, bottom);
    for (number, row) in rows.iter().enumerate() {
        let y = ROW * number as f64;
        canvas.text(Anchor::End, LEFT - 8.0, y + ROW / 2.0, &row.label);
        canvas.text(
            Anchor::End,
            WIDTH - 4.0,
            y + ROW / 2.0,
            &format!("{:.2}", row.ratio),
        );
        let Some(factor) = factor(row.ratio) else {
            continue;
        };
        let (from, to) = (axis.at(factor.min(0.0)), axis.at(factor.max(0.0)));
        let class = if row.holds { "holds" } else { "gap" };
        let tooltip = format!("{}: {:.3}", row.label, row.ratio);
        canvas.rect(class, [from, y + 3.0, to - from, ROW - 6.0], &tooltip);
    }
    let description = "For every row ours over the published value, on an axis of factors of two. The table has the figures.";
    let picture = canvas.finish("ratios", title, description, [WIDTH, bottom + 24.0]);
    alone(&picture)
}

/// A ratio in factors of two; nothing of what is no positive number.
pub(super) fn factor(ratio: f64) -> Option<f64> {
    (ratio > 0.0 && ratio.is_finite()).then(|| libm::log2(ratio))
}

/// The axis of factors of two, over rows that end at `bottom`.
pub(super) fn factors(canvas: &mut Canvas, axis: &Scale, bottom: f64) {
    for tick in axis.ticks().filter(|tick| tick.fract() == 0.0) {
        let class = if tick == 0.0 { "reference" } else { "grid" };
        canvas.line(class, [axis.at(tick), 0.0, axis.at(tick), bottom]);
        let label = match tick < 0.0 {
            true => format!("1/{:.0}", libm::exp2(-tick)),
            false => format!("{:.0}", libm::exp2(tick)),
        };
        canvas.text(Anchor::Middle, axis.at(tick), bottom + 12.0, &label);
    }
}

/// A picture with its colours in it, as a file.
pub(super) fn alone(picture: &str) -> String {
    let body = picture.find('\n').map_or(0, |end| end + 1);
    format!("{}{STYLE}{}\n", &picture[..body], &picture[body..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_to_the_left_below_one_and_what_has_no_ratio_has_none() {
        let row = |label: &str, ratio, holds| Ratio {
            label: label.to_owned(),
            ratio,
            holds,
        };
        let rows = [
            row("a & b", 0.25, false),
            row("c", 2.0, true),
            row("d", 0.0, true),
        ];
        let picture = ratios(&rows, "Dies");
        assert_eq!(picture.matches("<rect").count(), 2);
        assert!(
            picture.contains("a &amp; b") && picture.contains(">1/4<"),
            "{picture}"
        );
        assert!(picture.starts_with("<svg") && picture.contains("<style>"));
    }
}
