//! Logarithmic axes with round ticks.

use super::super::round;

/// Ticks beyond which only powers of ten have one.
const MOST_TICKS: i32 = 9;

/// From values to places on the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogScale {
    /// The least and the largest value, by their numbers among round ones.
    ends: [i32; 2],
    /// Places of these.
    places: [f64; 2],
}

impl LogScale {
    /// Over positive values from `least` to `largest`, to the round numbers beyond, drawn from `from` to `to`.
    pub fn over([least, largest]: [f64; 2], from: f64, to: f64) -> Self {
        let low = round::below(least);
        let high = round::above(largest).max(low + 1);
        Self {
            ends: [low, high],
            places: [from, to],
        }
    }

    /// The values at both ends.
    pub fn ends(&self) -> [f64; 2] {
        self.ends.map(round::number)
    }

    /// Where `value` stands; values beyond the axis stand at its end.
    pub fn at(&self, value: f64) -> f64 {
        let [low, high] = self.ends().map(libm::log10);
        let share = ((libm::log10(value) - low) / (high - low)).clamp(0.0, 1.0);
        self.places[0] + share * (self.places[1] - self.places[0])
    }

    /// The value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        let [low, high] = self.ends().map(libm::log10);
        libm::exp10(low + share * (high - low))
    }

    /// Round values, powers of ten alone where there are many.
    pub fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let [low, high] = self.ends;
        let every = if high - low >= MOST_TICKS { 3 } else { 1 };
        let places = (low..=high).filter(move |place| place.rem_euclid(every) == 0);
        places.map(round::number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn ends_and_ticks_are_round() {
        let few = LogScale::over([0.3, 4.0], 100.0, 500.0);
        assert_eq!(few.ends(), [0.2, 5.0]);
        assert_eq!(few.ticks().collect::<Vec<f64>>(), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert_abs_diff_eq!(few.at(1.0), 300.0, epsilon = 1e-9);
        assert_abs_diff_eq!(few.value(0.5), 1.0, epsilon = 1e-12);
        let many = LogScale::over([0.3, 4000.0], 0.0, 1.0);
        let ticks: Vec<f64> = many.ticks().collect();
        assert_eq!(ticks, [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn one_value_has_an_axis_too() {
        let one = LogScale::over([5.0, 5.0], 0.0, 1.0);
        assert_eq!(one.ends(), [5.0, 10.0]);
        assert_eq!((one.at(5.0), one.at(1e9)), (0.0, 1.0));
    }
}
