//! Round numbers: 1, 2 and 5 times powers of ten, numbered so that 1 has the number zero.

/// The digits of a decade.
const DIGITS: [f64; 3] = [1.0, 2.0, 5.0];

/// The round number of this number. Negative powers divide, so that the result is the nearest to what its decimals say.
pub fn number(place: i32) -> f64 {
    let digit = DIGITS[place.rem_euclid(3) as usize];
    match place.div_euclid(3) {
        power if power < 0 => digit / libm::exp10(f64::from(-power)),
        power => digit * libm::exp10(f64::from(power)),
    }
}

/// The place of the largest round number at or below a positive `value`, whose last bits do not count.
pub fn below(value: f64) -> i32 {
    let first = 3 * libm::floor(libm::log10(value)) as i32 - 1;
    let reached = (first..first + 6).rev();
    let mut reached = reached.filter(|&place| number(place) <= value * (1.0 + 1e-9));
    reached.next().unwrap_or(first)
}

/// The place of the least round number at or above it.
pub fn above(value: f64) -> i32 {
    let place = below(value);
    if number(place) >= value * (1.0 - 1e-9) {
        place
    } else {
        place + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn round_numbers_are_those_of_their_decimals() {
        let numbers = [-17, -4, -3, -2, -1, 0, 1, 2, 3, 7].map(number);
        let decimals = [2e-6, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 200.0];
        assert_eq!(numbers, decimals);
    }

    proptest! {
        #[test]
        fn a_value_lies_between_its_neighbours(value in -15.0..15.0f64) {
            let value = libm::exp10(value);
            let (below, above) = (below(value), above(value));
            prop_assert!(number(below) <= value * (1.0 + 1e-9) && number(above) >= value * (1.0 - 1e-9));
            prop_assert!(above - below <= 1);
            prop_assert!(number(below + 1) > value);
        }

        #[test]
        fn a_round_number_is_its_own_neighbour(place in -40..40) {
            prop_assert_eq!((below(number(place)), above(number(place))), (place, place));
        }
    }
}
