//! Integer arithmetic with a carry in or out.

use warpwatt_ptx::program::{Carry, CarryOp};

use crate::trace::LaneMask;

/// Results, and the lanes that carry. A subtraction adds the complement, as in machines: it carries where it does not borrow, which `addc` behind `sub.cc` tells.
pub fn carry<const W: usize>(
    how: Carry,
    operands: [&[u64; W]; 3],
    carried: LaneMask,
) -> ([u64; W], LaneMask) {
    let mut out: LaneMask = 0;
    let values = std::array::from_fn(|lane| {
        let came_in = how.comes_in && carried >> lane & 1 == 1;
        let (value, goes_out) = one(how, operands.map(|operand| operand[lane]), came_in);
        out |= LaneMask::from(goes_out) << lane;
        value
    });
    (values, out)
}

fn one(how: Carry, [a, b, c]: [u64; 3], came_in: bool) -> (u64, bool) {
    let width = if how.double { 64 } else { 32 };
    let keep = |wide: u128| wide & ((1 << width) - 1);
    let came_in = u128::from(came_in);
    let product = || {
        if how.signed {
            let extend = |value: u64| i128::from((value << (64 - width)) as i64 >> (64 - width));
            (extend(a) * extend(b)) as u128
        } else {
            u128::from(a) * u128::from(b)
        }
    };
    let sum = match how.op {
        CarryOp::Add => u128::from(a) + u128::from(b) + came_in,
        CarryOp::Sub => {
            let one = if how.comes_in { came_in } else { 1 };
            u128::from(a) + keep(!u128::from(b)) + one
        }
        CarryOp::MadLow => keep(product()) + u128::from(c) + came_in,
        CarryOp::MadHigh => keep(product() >> width) + u128::from(c) + came_in,
    };
    (keep(sum) as u64, sum >> width != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn how(op: CarryOp, double: bool) -> Carry {
        Carry {
            op,
            double,
            signed: false,
            comes_in: true,
            goes_out: true,
        }
    }

    proptest! {
        #[test]
        fn two_words_with_a_carry_are_a_double(a in any::<u64>(), b in any::<u64>()) {
            for op in [CarryOp::Add, CarryOp::Sub] {
                let word = |at: u64, shift: u32| [at >> shift & 0xffff_ffff];
                let zero = [0];
                let first = u32::from(op == CarryOp::Sub).into();
                let low = carry(how(op, false), [&word(a, 0), &word(b, 0), &zero], first);
                let high = carry(how(op, false), [&word(a, 32), &word(b, 32), &zero], low.1);
                let whole = carry(how(op, true), [&[a], &[b], &zero], first);
                prop_assert_eq!(high.0[0] << 32 | low.0[0], whole.0[0]);
                prop_assert_eq!(high.1, whole.1);
                let want = if op == CarryOp::Add { a.wrapping_add(b) } else { a.wrapping_sub(b) };
                prop_assert_eq!(whole.0[0], want);
            }
        }

        #[test]
        fn products_from_halves(a in any::<u32>(), b in any::<u32>(), c in any::<u64>()) {
            let (a, b) = ([u64::from(a)], [u64::from(b)]);
            let low = carry(how(CarryOp::MadLow, false), [&a, &b, &[c & 0xffff_ffff]], 0);
            let high = carry(how(CarryOp::MadHigh, false), [&a, &b, &[c >> 32]], low.1);
            let want = u128::from(a[0]) * u128::from(b[0]) + u128::from(c);
            prop_assert_eq!(high.0[0] << 32 | low.0[0], want as u64);
            prop_assert_eq!(high.1 == 1, want >> 64 != 0);
        }
    }
}
