//! Linear axes with round ticks.

/// From values to places on the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The least value, a tick: zero unless there are values below it, or all are far above.
    low: f64,
    /// The largest value, a tick.
    pub top: f64,
    /// The distance of the ticks.
    pub step: f64,
    /// Place of `low`.
    from: f64,
    /// Place of `top`.
    to: f64,
}

impl Scale {
    /// From zero to a tick at or above `largest`, drawn from `from` to `to`.
    pub fn new(largest: f64, from: f64, to: f64) -> Self {
        let largest = if largest.is_finite() && largest > 0.0 {
            largest
        } else {
            1.0
        };
        let step = round_step(largest);
        let top = step * (largest / step * (1.0 - 1e-9)).ceil();
        Self {
            low: 0.0,
            top,
            step,
            from,
            to,
        }
    }

    /// Over values from `least` to `largest`. Zero is on the axis unless it would leave more than half of it empty.
    pub fn over([least, largest]: [f64; 2], from: f64, to: f64) -> Self {
        if least >= 0.0 && least <= largest / 2.0 {
            return Self::new(largest, from, to);
        }
        let spread = if largest > least {
            largest - least
        } else {
            largest.abs().max(1e-300)
        };
        let step = round_step(spread);
        let low = step * (least / step + 1e-9).floor();
        let top = step * (largest / step - 1e-9).ceil();
        Self {
            low,
            top: top.max(low + step),
            step,
            from,
            to,
        }
    }

    /// Where `value` stands; values beyond the axis stand at its end.
    pub fn at(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.top - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// The ticks from the least value to the top.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = ((self.top - self.low) / self.step).round() as u32;
        let (step, low) = (self.step, self.low);
        (0..=count).map(move |index| low + f64::from(index) * step)
    }
}

/// A round distance of ticks for a stretch of `spread`.
fn round_step(spread: f64) -> f64 {
    let rough = spread / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        // A rough step that is itself round must not be pushed up by its last bit.
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        let scale = Scale::new(1.0, 100.0, 600.0);
        let ticks: Vec<f64> = scale.ticks().collect();
        assert_eq!(ticks.len(), 6);
        assert_abs_diff_eq!(ticks[5], 1.0, epsilon = 1e-12);
        assert_abs_diff_eq!(scale.at(0.5), 350.0, epsilon = 1e-9);
        assert_eq!(scale.at(7.0), 600.0);
        assert!(Scale::new(1.13, 0.0, 1.0).top >= 1.13);
    }

    #[test]
    fn an_axis_holds_values_below_zero_and_far_above() {
        let below = Scale::over([-0.3, 0.4], 0.0, 100.0);
        assert!(below.at(-0.3) >= 0.0 && below.at(-0.3) < below.at(0.0));
        let above = Scale::over([900.0, 1000.0], 0.0, 100.0);
        assert_abs_diff_eq!(above.at(900.0), 0.0, epsilon = 1e-9);
        assert_abs_diff_eq!(above.at(1000.0), 100.0, epsilon = 1e-9);
        let one = Scale::over([5.0, 5.0], 0.0, 100.0);
        assert!(one.ticks().count() >= 2 && one.at(5.0).is_finite());
    }

    #[test]
    fn an_axis_without_values_still_has_ticks() {
        assert_eq!(Scale::new(0.0, 0.0, 1.0).top, 1.0);
        assert_eq!(Scale::new(f64::NAN, 0.0, 1.0).top, 1.0);
    }
}
