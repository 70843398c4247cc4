//! Figures for people.

pub use crate::goal::quantity::{count, number};

use super::estimate::Estimate;
use crate::outcome::{KernelName, Outcome};

/// What stands where there is no value.
pub const NONE: &str = "-";

/// Follows a figure whose sign is not known.
pub const INSIDE_OWN_ERROR: &str = " *";

/// An energy in nanojoules.
pub fn nanojoules(joules: f64) -> String {
    number(joules * 1e9)
}

/// A number with three significant digits, thousands apart: `0.0123`.
pub fn three(value: f64) -> String {
    let size = value.abs();
    if size >= 100.0 || !size.is_finite() {
        return number(value.round()).replace(".0", "");
    }
    let power = if size > 0.0 {
        libm::floor(libm::log10(size)) as i32
    } else {
        0
    };
    fixed(value, (2 - power).clamp(0, 12) as usize)
}

/// A fraction as a percentage: `95.0%`.
pub fn percent(fraction: f64) -> String {
    format!("{}%", fixed(100.0 * fraction, 1))
}

/// A relative change as a percentage with its sign: `-12.6%`.
pub fn change(fraction: f64) -> String {
    signed(100.0 * fraction, decimals(100.0 * fraction))
}

fn signed(percent: f64, decimals: usize) -> String {
    let text = fixed(percent, decimals);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if is_zero || text.starts_with('-') {
        ""
    } else {
        "+"
    };
    format!("{sign}{text}%")
}

/// One decimal of a percentage, two below one percent.
fn decimals(percent: f64) -> usize {
    let size = percent.abs();
    if size > 0.0 && size < 0.995 { 2 } else { 1 }
}

/// A relative change with half its 95 % interval, marked if its sign is not known: `-12.6% ± 1.9`.
pub fn estimate(change: Option<Estimate>) -> String {
    let Some(change) = change else {
        return NONE.to_owned();
    };
    // A change without any error of its own is exact: both configurations spend the same.
    let mark = if change.is_inside_own_error() && change.sigma > 0.0 {
        INSIDE_OWN_ERROR
    } else {
        ""
    };
    let percent = 100.0 * change.value;
    let decimals = decimals(percent);
    let half_width = fixed(100.0 * change.half_width(), decimals);
    format!("{} ± {half_width}{mark}", signed(percent, decimals))
}

/// With so many decimals; never `-0.0`.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// The names of kernels, with the case where a kernel is there with several.
pub fn kernels(kernels: &[&KernelName]) -> Vec<String> {
    let name = |kernel: &&KernelName| {
        let others = kernels.iter().filter(|other| other.name == kernel.name);
        if others.clone().any(|other| other.case != kernel.case) {
            format!("{} {}", kernel.name, kernel.case)
        } else {
            kernel.name.clone()
        }
    };
    kernels.iter().map(name).collect()
}

/// The cells of a point without comparison: kernel, node, technique, cycles, dynamic and leakage energy.
pub fn outcome(outcome: &Outcome) -> [String; 6] {
    [
        outcome.point.kernel.name.clone(),
        outcome.point.technology.label(),
        outcome.point.technique.to_string(),
        count(outcome.cycles),
        nanojoules(outcome.totals.dynamic_j),
        nanojoules(outcome.totals.leakage_j),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_people_write_them() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(nanojoules(644.114e-9), "644.1");
        assert_eq!(nanojoules(16_532.2e-9), "16,532");
        assert_eq!(nanojoules(1.5e-12), "0.002");
        let threes = [0.0, 0.012_345, 0.5, 9.876, 56.78, 567.8, 12_345.0].map(three);
        let expected = ["0.00", "0.0123", "0.500", "9.88", "56.8", "568", "12,345"];
        assert_eq!(threes, expected);
        assert_eq!(percent(0.95), "95.0%");
        assert_eq!(change(-0.126), "-12.6%");
        assert_eq!(change(0.004), "+0.40%");
        assert_eq!(change(-0.0001), "-0.01%");
        assert_eq!(change(-0.000_001), "0.00%");
        assert_eq!(change(0.00996), "+1.0%");
        assert_eq!(change(0.0), "0.0%");
    }

    #[test]
    fn a_change_shows_its_interval_and_whether_its_sign_is_known() {
        let change = |value, sigma| estimate(Some(Estimate { value, sigma }));
        assert_eq!(change(-0.126, 0.01), "-12.6% ± 2.0");
        assert_eq!(change(-0.01, 0.01), "-1.0% ± 2.0 *");
        assert_eq!(change(0.0, 0.0), "0.0% ± 0.0");
        assert_eq!(estimate(None), "-");
    }
}
