//! Power of every SM over time: a row an SM, a column a stretch of time.

use super::bins::Bins;
use super::shades::{self, SHADES, SWATCH};
use super::svg::{Anchor, Canvas};
use super::{WIDTH, cells};
use crate::metric::quantity;

/// Where the rows begin and end.
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 34.0;
/// Stretches of time at most.
const MOST: usize = 200;
/// Height of all rows together, and what one has at most.
const HEIGHT: f64 = 260.0;
const ROW: f64 = 14.0;

/// The power of an SM.
#[derive(Clone, Debug)]
pub struct OfSm {
    /// Its number.
    pub sm: u16,
    /// Watts by window.
    pub watts: Vec<f64>,
}

/// The picture; nothing without SMs or windows. `spans` are the windows in seconds, each from where the one before ends.
pub fn sms(all: &[OfSm], spans: &[(f64, f64)], id: &str) -> Option<String> {
    let bins = Bins::even(spans, MOST);
    let rows = all.iter().map(|it| bins.means(|window| it.watts[window]));
    let rows: Vec<Vec<f64>> = rows.collect();
    let values = || rows.iter().flatten().copied();
    let (least, most) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    if !least.is_finite() || !most.is_finite() {
        return None;
    }
    let shades = Shades { least, most };
    let mut canvas = Canvas::default();
    shades.legend(&mut canvas);
    let top = 36.0;
    let row = (HEIGHT / all.len() as f64).min(ROW);
    let width = (RIGHT - LEFT) / (bins.edges.len() - 1) as f64;
    let shaded = rows
        .iter()
        .map(|row| row.iter().map(|watts| shades.of(*watts)).collect());
    cells::draw(&mut canvas, 'd', [LEFT, top, width, row], shaded);
    label(&mut canvas, (all, &rows, &bins), [top, row]);
    let bottom = top + row * all.len() as f64;
    time(&mut canvas, &bins, bottom);
    let description = format!(
        "A row an SM, a column a stretch of time; {} SMs with between {} and {}.",
        all.len(),
        quantity::show(least, "W"),
        quantity::show(most, "W")
    );
    Some(canvas.finish(id, "Power of each SM", &description, [WIDTH, bottom + 28.0]))
}

/// Numbers of SMs where they have room, and what each takes where one points.
fn label(
    canvas: &mut Canvas,
    (all, rows, bins): (&[OfSm], &[Vec<f64>], &Bins<'_>),
    [top, row]: [f64; 2],
) {
    let every = (ROW / row).ceil().max(1.0) as usize;
    for (place, (of, watts)) in all.iter().zip(rows).enumerate() {
        let y = top + row * place as f64;
        if place % every == 0 {
            canvas.text(Anchor::End, LEFT - 8.0, y + row / 2.0, &of.sm.to_string());
        }
        let (mean, most) = bins.mean_and_most(watts);
        let [mean, most] = [mean, most].map(|watts| quantity::show(watts, "W"));
        let tooltip = format!("SM {}: mean {mean}, at most {most}", of.sm);
        canvas.rect("clear", [LEFT, y, RIGHT - LEFT, row], &tooltip);
    }
    canvas.text(Anchor::Start, 4.0, top - 12.0, "SM");
}

/// When the columns are: at a fifth of them each.
fn time(canvas: &mut Canvas, bins: &Bins<'_>, bottom: f64) {
    let count = bins.edges.len() - 1;
    let every = count.div_ceil(5).max(1);
    for number in (0..=count).step_by(every) {
        let x = LEFT + (RIGHT - LEFT) * number as f64 / count as f64;
        canvas.line("grid", [x, bottom, x, bottom + 5.0]);
        let label = quantity::show(bins.edges[number], "s");
        canvas.text(Anchor::Middle, x, bottom + 15.0, &label);
    }
}

/// Shades of equal steps between the least and the most.
struct Shades {
    least: f64,
    most: f64,
}

impl Shades {
    fn of(&self, watts: f64) -> usize {
        let spread = self.most - self.least;
        // What differs in its last bits does not differ.
        if spread <= 1e-9 * self.most.abs() {
            return SHADES / 2;
        }
        shades::of((watts - self.least) / spread)
    }

    /// At the upper right: the shades with their ends.
    fn legend(&self, canvas: &mut Canvas) {
        let [width, height] = SWATCH;
        let step = (self.most - self.least) / SHADES as f64;
        let left = RIGHT - width * SHADES as f64 - 90.0;
        let ends = [self.least, self.most].map(|watts| quantity::show(watts, "W"));
        canvas.text(Anchor::End, left - 8.0, 6.0 + height / 2.0, &ends[0]);
        canvas.text(
            Anchor::Start,
            left + width * SHADES as f64 + 8.0,
            6.0 + height / 2.0,
            &ends[1],
        );
        let bound = |number: usize| quantity::show(self.least + step * number as f64, "W");
        shades::legend(canvas, [left, 6.0], |shade| {
            format!("{} to {}", bound(shade), bound(shade + 1))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: [(f64, f64); 2] = [(0.0, 1e-6), (1e-6, 3e-6)];

    fn of(sm: u16, watts: [f64; 2]) -> OfSm {
        OfSm {
            sm,
            watts: watts.to_vec(),
        }
    }

    /// 1 W for 1 us and 4 W for 2 us: 3 W.
    #[test]
    fn a_row_says_what_its_sm_takes() {
        let picture = sms(&[of(0, [1.0, 1.0]), of(3, [1.0, 4.0])], &SPANS, "sms").unwrap();
        assert!(picture.contains("SM 3: mean 3.000 W, at most"), "{picture}");
    }

    #[test]
    fn shades_are_even_steps_from_the_least_to_the_most() {
        let shades = Shades {
            least: 1.0,
            most: 8.0,
        };
        let of = [1.0, 1.99, 2.0, 4.5, 7.9, 8.0].map(|watts| shades.of(watts));
        assert_eq!(of, [0, 0, 1, 3, 6, 6]);
        let even = Shades {
            least: 2.0,
            most: 2.0,
        };
        assert_eq!(even.of(2.0), 3);
    }

    #[test]
    fn rows_look_like_this() {
        let all = [of(0, [1.0, 2.0]), of(1, [8.0, 2.0])];
        insta::assert_snapshot!(sms(&all, &SPANS, "sms").unwrap());
        assert!(sms(&[], &SPANS, "x").is_none() && sms(&all[..0], &[], "x").is_none());
    }
}
