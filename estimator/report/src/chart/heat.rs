//! How often each physical register was accessed: a strip a kernel, a row a bank, a cell a register.

use std::fmt::Write;

use super::legend::{self, Mark};
use super::svg::{Anchor, Canvas};
use super::{WIDTH, cells, short};
use crate::format;
use crate::outcome::{Outcome, RegisterAccesses};

/// Shades between never accessed and the most accesses.
const SHADES: u64 = 8;
/// Height of a bank's row.
const BANK: f64 = 7.0;
/// Height of the line of text above a strip.
const LINE: f64 = 18.0;
/// Free height below it.
const GAP: f64 = 10.0;

/// Strips for the points that have one; nothing if none has.
pub fn register_accesses(points: &[&Outcome], id: &str) -> Option<String> {
    let strips = points.iter().filter_map(|point| {
        let accesses = point.register_accesses.as_deref()?;
        Some((*point, accesses))
    });
    let strips: Vec<(&Outcome, &RegisterAccesses)> = strips.collect();
    if strips.is_empty() {
        return None;
    }
    let mut canvas = Canvas::default();
    let keys = [
        (Mark::Square, "h0", "no access"),
        (Mark::Square, "h1", "up to 1/8 of the most"),
        (Mark::Square, "h4", "1/2"),
        (Mark::Square, "h8", "the most accesses"),
    ];
    let mut y = legend::draw(&mut canvas, &keys);
    let mut description = String::new();
    for (point, accesses) in strips {
        let said = words(point, accesses);
        let _ = write!(description, "{}: {said}. ", point.point.kernel.name);
        canvas.text(
            Anchor::Start,
            4.0,
            y + LINE / 2.0,
            &short(&point.point.kernel.name),
        );
        canvas.text(Anchor::End, WIDTH - 4.0, y + LINE / 2.0, &said);
        y += LINE;
        y += strip(&mut canvas, accesses, y) + GAP;
    }
    let title = "Accesses of physical registers";
    Some(canvas.finish(id, title, description.trim_end(), [WIDTH, y]))
}

/// What a strip shows, in words.
fn words(point: &Outcome, accesses: &RegisterAccesses) -> String {
    let most = accesses.counts.iter().copied().max().unwrap_or(0);
    let unused = accesses.counts.iter().filter(|&&count| count == 0).count();
    let mut words = format!(
        "most {} accesses, {unused} registers none",
        format::count(most)
    );
    for (metric, name) in [
        ("wear_variation", "variation"),
        ("wear_lifetime", "lifetime"),
    ] {
        let ends = |found: &&crate::outcome::Metric| found.name.ends_with(metric);
        if let Some(found) = point.metrics.iter().find(ends) {
            let _ = write!(words, ", {name} {:.3}", found.value);
        }
    }
    words
}

/// Draws a strip below `y`; gives its height.
fn strip(canvas: &mut Canvas, accesses: &RegisterAccesses, y: f64) -> f64 {
    let banks = accesses.banks.max(1) as usize;
    let rows = accesses.counts.len().div_ceil(banks).max(1);
    let most = accesses.counts.iter().copied().max().unwrap_or(0);
    let of_bank = |bank| {
        let own = accesses.counts.iter().skip(bank).step_by(banks);
        own.map(|&count| shade(count, most)).collect()
    };
    let place = [4.0, y, (WIDTH - 8.0) / rows as f64, BANK];
    cells::draw(canvas, 'h', place, (0..banks).map(of_bank));
    banks as f64 * BANK
}

/// Zero for none, else eighths of the most, rounded up.
fn shade(count: u64, most: u64) -> usize {
    let eighths = u128::from(count) * u128::from(SHADES);
    eighths.div_ceil(u128::from(most.max(1))) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_eighths_rounded_up() {
        let shades = [0, 1, 12, 13, 50, 99, 100].map(|count| shade(count, 100));
        assert_eq!(shades, [0, 1, 1, 2, 4, 8, 8]);
        assert_eq!(shade(0, 0), 0);
        assert_eq!(shade(u64::MAX, u64::MAX), 8_usize);
    }

    /// Register i lies in bank i modulo banks: of two banks the even ones are in the upper row.
    #[test]
    fn a_cell_lies_in_the_row_of_its_bank() {
        let mut canvas = Canvas::default();
        let accesses = RegisterAccesses {
            banks: 2,
            counts: vec![8, 0, 8, 4, 0, 4],
        };
        assert_eq!(strip(&mut canvas, &accesses, 0.0), 2.0 * BANK);
        let svg = canvas.finish("x", "", "", [1.0, 1.0]);
        assert!(svg.contains("M0 0h2v1h-2z"), "{svg}");
        assert!(svg.contains("M2 0h1v1h-1zM0 1h1v1h-1z"), "{svg}");
        assert!(svg.contains("M1 1h2v1h-2z"), "{svg}");
    }
}
