//! Extended codes of Bose, Ray-Chaudhuri and Hocquenghem that correct two errors and detect three: their columns in systematic form.
//!
//! The generator polynomial is the product of the minimal polynomials of a primitive element and of its cube (R. C. Bose, D. K. Ray-Chaudhuri, "On a Class of
//! Error Correcting Binary Group Codes", Information and Control 3(1), 1960); a parity over everything makes the distance six.

/// Primitive polynomials of the degrees from [`LEAST`] on (S. Lin, D. J. Costello, "Error Control Coding", table 2.7).
const PRIMITIVE: [u32; 6] = [0x13, 0x25, 0x43, 0x89, 0x11d, 0x211];

/// The least degree.
const LEAST: u32 = 4;

/// Data bits of a code over the field of so many bits: all but two checks for each.
const fn capacity(degree: u32) -> u64 {
    (1 << degree) - 1 - 2 * degree as u64
}

/// The least field for so many data bits.
fn degree(data: u64) -> u32 {
    let last = LEAST + PRIMITIVE.len() as u32 - 1;
    let fits = |degree: &u32| capacity(*degree) >= data;
    (LEAST..last).find(fits).unwrap_or(last)
}

/// Check bits of a word of `data` bits: 13 of 32, 15 of 64.
pub(super) fn check_bits(data: u64) -> u64 {
    2 * u64::from(degree(data)) + 1
}

/// Of each data bit, in which checks it takes part. The last check makes every column odd, which is the parity over everything.
pub(super) fn columns(data: u64) -> Vec<u32> {
    let degree = degree(data);
    let (generator, checks) = (generator(degree), 2 * degree);
    // Powers of x by the generator, from that of the highest check on.
    let mut power: u32 = 1 << (checks - 1);
    let mut next = || {
        power <<= 1;
        if power >> checks & 1 == 1 {
            power ^= generator;
        }
        power | ((power.count_ones() + 1) % 2) << checks
    };
    (0..data).map(|_| next()).collect()
}

/// The product of the minimal polynomials of x and of its cube; coefficients are bits.
fn generator(degree: u32) -> u32 {
    let primitive = PRIMITIVE[(degree - LEAST) as usize];
    let times = |a: u32, b: u32| {
        let mut product = 0;
        for bit in (0..degree).rev() {
            product <<= 1;
            if product >> degree & 1 == 1 {
                product ^= primitive;
            }
            if b >> bit & 1 == 1 {
                product ^= a;
            }
        }
        product
    };
    // The cube's conjugates are its squares, its squares' squares and so on: (y + c)(y + c^2)(y + c^4) ...
    let cube = 0b1000;
    let mut minimal = vec![1];
    let mut conjugate = cube;
    loop {
        let mut product = vec![0; minimal.len() + 1];
        for (place, coefficient) in minimal.iter().enumerate() {
            product[place + 1] ^= coefficient;
            product[place] ^= times(*coefficient, conjugate);
        }
        minimal = product;
        conjugate = times(conjugate, conjugate);
        if conjugate == cube {
            break;
        }
    }
    // Its coefficients are zeros and ones.
    let places = minimal.iter().enumerate();
    places.fold(0, |sum, (place, coefficient)| {
        sum ^ if *coefficient == 1 {
            primitive << place
        } else {
            0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn generators_are_those_of_textbooks() {
        // Of the (15, 7), (31, 21) and (63, 51) codes: Lin and Costello, table 6.1 and appendix C (octal 721, 3551, 12471).
        for (degree, octal) in [(4, 0o721), (5, 0o3551), (6, 0o12471)] {
            assert_eq!(generator(degree), octal, "{degree}");
        }
    }

    #[test]
    fn check_bits_are_as_many_as_textbooks_say() {
        for (data, checks) in [(7, 9), (8, 11), (16, 11), (32, 13), (64, 15), (128, 17)] {
            assert_eq!(check_bits(data), checks, "{data}");
        }
    }

    /// Odd columns, and different sums of any two: one and two errors are told apart from each other, three from both.
    #[test]
    fn any_two_errors_have_a_syndrome_of_their_own() {
        for data in [1, 7, 8, 21, 22, 32, 51, 64, 113, 128] {
            let mut all = columns(data);
            assert_eq!(all.len() as u64, data);
            let checks = check_bits(data) as u32;
            all.extend((0..checks).map(|check| 1 << check));
            assert!(
                all.iter()
                    .all(|column| column.count_ones() % 2 == 1 && column >> checks == 0)
            );
            let mut sums = BTreeSet::new();
            for (at, first) in all.iter().enumerate() {
                for second in &all[..at] {
                    assert!(first != second && sums.insert(first ^ second), "{data}");
                }
            }
        }
    }
}
