//! Functions that machines approximate by tables, and how far ours may be from them.

use crate::kernel::Outcome;
use crate::record::{Record, numbers};

/// Values that are kept of each.
pub const KEPT: usize = 256;

/// A distance between two results.
#[derive(Clone, Copy)]
enum Bound {
    /// In units of the last place.
    Places(u64),
    /// Of the values themselves, or relative to them.
    Absolute(f64),
    Relative(f64),
}

/// Ours are rounded to the nearest, so that these are errors of the machine; PTX allows more.
fn bound(name: &str) -> Option<Bound> {
    let upper = 1 << 32;
    let opcode = name.split(' ').next()?;
    let narrow = opcode.contains("f16");
    let double = opcode.ends_with("f64");
    let function = opcode.split('.').next()?;
    if !opcode.contains(".approx") && !opcode.contains(".full") {
        return None;
    }
    Some(match function {
        _ if narrow => Bound::Places(1),
        "rcp" | "rsqrt" if double && opcode.contains("ftz") => Bound::Places(upper),
        "sin" | "cos" => Bound::Absolute(2f64.powf(-21.6)),
        "lg2" => Bound::Absolute(2f64.powi(-16)),
        "tanh" => Bound::Relative(2f64.powi(-16)),
        "ex2" => Bound::Places(2),
        _ => Bound::Places(1),
    })
}

pub fn is(outcome: &Outcome) -> bool {
    bound(&outcome.name).is_some()
}

/// What is wrong with our result, if anything.
pub fn objection(outcome: &Outcome, bytes: &[u8], record: &Record) -> Option<String> {
    let bound = bound(&outcome.name)?;
    // Pairs of halves are compared half by half.
    let narrow = outcome.name.contains("f16");
    let halves = |number: u64| match narrow && outcome.width == 4 {
        true => vec![number & 0xffff, number >> 16],
        false => vec![number],
    };
    let width = if narrow { 2 } else { outcome.width };
    let measured = record
        .values(outcome)
        .iter()
        .flat_map(|&number| halves(number));
    let ours = numbers(bytes, outcome.width).flat_map(halves);
    let far = measured
        .zip(ours)
        .find(|&(measured, ours)| !near(bound, width, measured, ours));
    far.map(|(measured, ours)| format!("{}: {ours:x}, measured {measured:x}", outcome.name))
}

fn near(bound: Bound, width: usize, measured: u64, ours: u64) -> bool {
    let value = |bits: u64| match width {
        8 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    };
    let (one, other) = (value(measured), value(ours));
    let distance = (one - other).abs();
    measured == ours
        || match bound {
            Bound::Places(places) => measured.abs_diff(ours) <= places,
            Bound::Absolute(bound) => distance <= bound,
            Bound::Relative(bound) => distance <= bound * other.abs(),
        }
}
