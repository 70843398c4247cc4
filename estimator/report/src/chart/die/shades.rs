//! Classes of power density, each with a shade.

use super::super::round;
use super::super::shades::{self, SHADES, SWATCH};
use super::super::svg::{Anchor, Canvas};
use crate::format;

/// Round bounds between the shades, the least first: from each on, the next shade holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shades([f64; SHADES - 1]);

impl Shades {
    /// Shades around a density, which has the one in the middle: most of a chip is near its mean, and little of it far above.
    pub fn around(mean: f64) -> Self {
        let middle = if mean > 0.0 && mean.is_finite() {
            round::below(mean)
        } else {
            0
        };
        Self([-2, -1, 0, 1, 2, 3].map(|place| round::number(middle + place)))
    }

    /// The class of a density.
    pub fn class(&self, density: f64) -> String {
        // A bound that is reached but for its last bits counts, as it did when it was chosen.
        let reached = self
            .0
            .iter()
            .filter(|bound| density >= **bound * (1.0 - 1e-9));
        format!("d{}", reached.count())
    }

    /// The legend, its right end at `right`, its top at `y`.
    pub fn legend(&self, canvas: &mut Canvas, right: f64, y: f64) {
        let [width, height] = SWATCH;
        let left = right - width * SHADES as f64;
        canvas.text(Anchor::End, left - 8.0, y + height / 2.0, "W/mm²");
        shades::legend(canvas, [left, y], |shade| self.words(shade));
        for (place, bound) in self.0.iter().enumerate() {
            let at = left + width * (place + 1) as f64;
            canvas.text(Anchor::Middle, at, y + height + 9.0, &bound.to_string());
        }
    }

    fn words(&self, shade: usize) -> String {
        let bound = |place: usize| format::number(self.0[place]);
        match shade {
            0 => format!("below {} W/mm²", bound(0)),
            last if last == SHADES - 1 => format!("{} W/mm² and more", bound(last - 1)),
            shade => format!("{} to {} W/mm²", bound(shade - 1), bound(shade)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_the_shade_of_the_last_bound_that_it_reaches() {
        let shades = Shades::around(0.083);
        assert_eq!(shades.0, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]);
        let classes = [0.0, 0.0099, 0.01, 0.083, 0.5, 83.0].map(|it| shades.class(it));
        assert_eq!(classes, ["d0", "d0", "d1", "d3", "d6", "d6"]);
        assert_eq!(Shades::around(0.0).0[2], 1.0);
    }
}
