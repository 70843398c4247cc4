//! Many figures over published ones, a strip a source of them, for pages that stand alone.

use super::WIDTH;
use super::ratios::{Ratio, alone, factor, factors};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};

/// Height of a strip, and of a mark in it.
const STRIP: f64 = 30.0;
const MARK: f64 = 11.0;
/// Room for the names, and for how many hold.
const LEFT: f64 = 210.0;
const RIGHT: f64 = 90.0;
/// Factors of two that the axis has on each side, as few as the figures need of these; what is farther off stands at its end.
const LEAST: f64 = 1.0;
const MOST: f64 = 4.0;

/// Figures of one source.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The source.
    pub label: String,
    /// Its figures.
    pub rows: Vec<Ratio>,
}

/// A mark a figure, where ours over the published one lies on an axis of factors of two: what holds above, gaps below. A negative ratio has none.
pub fn strips(all: &[Strip], title: &str) -> String {
    let mut canvas = Canvas::default();
    let reach = reach(all);
    let axis = Scale::over([-reach, reach], LEFT, WIDTH - RIGHT);
    let bottom = STRIP * all.len() as f64;
    factors(&mut canvas, &axis, bottom);
    for (number, strip) in all.iter().enumerate() {
        let y = STRIP * number as f64;
        let middle = y + STRIP / 2.0;
        canvas.text(Anchor::End, LEFT - 8.0, middle, &strip.label);
        let holds = strip.rows.iter().filter(|row| row.holds).count();
        let sum = format!("{holds} of {}", strip.rows.len());
        canvas.text(Anchor::End, WIDTH - 4.0, middle, &sum);
        canvas.line("grid", [LEFT, middle, WIDTH - RIGHT, middle]);
        for row in &strip.rows {
            let Some(x) = place(row.ratio, reach).map(|factor| axis.at(factor)) else {
                continue;
            };
            let (class, top) = match row.holds {
                true => ("holds mark", middle - MARK - 1.0),
                false => ("gap mark", middle + 1.0),
            };
            let tooltip = format!("{}: {:.3}", row.label, row.ratio);
            canvas.rect(class, [x - 1.0, top, 2.0, MARK], &tooltip);
        }
    }
    let description = "For every source its figures of ours over the published values, on an axis of factors of two: those that hold above the line, gaps below it; negative ones have no mark. The tables have the figures.";
    let picture = canvas.finish("strips", title, description, [WIDTH, bottom + 24.0]);
    alone(&picture)
}

/// Where a ratio lies on an axis of `reach` factors of two to each side; nowhere if it is negative or no number.
fn place(ratio: f64, reach: f64) -> Option<f64> {
    (ratio >= 0.0).then(|| libm::log2(ratio).clamp(-reach, reach))
}

/// Whole factors of two to each side of 1 that all figures lie within, or the most that the axis has.
fn reach(all: &[Strip]) -> f64 {
    let rows = all.iter().flat_map(|strip| &strip.rows);
    let factors = rows.filter_map(|row| factor(row.ratio));
    let most = factors.map(f64::abs).fold(LEAST, f64::max);
    most.ceil().min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_is_above_and_gaps_are_below() {
        let row = |ratio, holds| Ratio {
            label: "row".to_owned(),
            ratio,
            holds,
        };
        let strip = Strip {
            label: "a & b".to_owned(),
            rows: vec![
                row(1.0, true),
                row(2.0, false),
                row(-1.0, false),
                row(1e9, false),
                row(0.0, true),
            ],
        };
        let picture = strips(&[strip], "All");
        assert_eq!(picture.matches("<rect").count(), 4, "{picture}");
        assert!(picture.contains("a &amp; b") && picture.contains("2 of 5"));
        // 210 to 550 for eight factors of two: 1 is in the middle, 2 is 42.5 farther on, and what is beyond 16 stands there.
        assert!(
            picture.contains(r#"class="holds mark" x="379.0" y="3.0""#),
            "{picture}"
        );
        assert!(picture.contains(r#"class="gap mark" x="421.5" y="16.0""#));
        assert!(picture.contains(r#"class="gap mark" x="549.0""#));
        assert!(picture.contains(r#"class="holds mark" x="209.0""#));
    }

    #[test]
    fn the_axis_is_as_long_as_the_figures_need_it() {
        let of = |ratio| Strip {
            label: String::new(),
            rows: vec![Ratio {
                label: String::new(),
                ratio,
                holds: true,
            }],
        };
        assert_eq!(reach(&[of(1.1), of(0.9)]), 1.0);
        assert_eq!(reach(&[of(1.1), of(0.2)]), 3.0);
        assert_eq!(reach(&[of(1e9), of(0.0)]), 4.0);
        assert_eq!(reach(&[of(0.0)]), 1.0);
    }
}
