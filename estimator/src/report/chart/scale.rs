//! Linear axes with round ticks.

/// From values to places on the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The largest value, a tick.
    pub top: f64,
    /// The distance of the ticks.
    pub step: f64,
    /// Place of zero.
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
        let rough = largest / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            // A rough step that is itself round must not be pushed up by its last bit.
            .find(|step| *step >= rough * (1.0 - 1e-9))
            .unwrap_or(10.0 * power);
        let top = step * (largest / step * (1.0 - 1e-9)).ceil();
        Self {
            top,
            step,
            from,
            to,
        }
    }

    /// Where `value` stands; values beyond the axis stand at its end.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value / self.top).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// The ticks from zero to the top.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = (self.top / self.step).round() as u32;
        let step = self.step;
        (0..=count).map(move |index| f64::from(index) * step)
    }
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
    fn an_axis_without_values_still_has_ticks() {
        assert_eq!(Scale::new(0.0, 0.0, 1.0).top, 1.0);
        assert_eq!(Scale::new(f64::NAN, 0.0, 1.0).top, 1.0);
    }
}
