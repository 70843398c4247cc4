//! Quantities as text.

use std::fmt;

/// One unit of a quantity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// As written: `pJ`.
    pub(super) symbol: &'static str,
    /// How many SI units it is.
    pub(super) factor: f64,
}

/// Text that is not the quantity it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// The text does not start with a number.
    #[error("`{text}` does not start with a number; {what} is written like \"{example}\"")]
    Number {
        /// The text.
        text: String,
        /// Which quantity was expected.
        what: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// There is a number but no unit.
    #[error("`{text}` has no unit; {what} is written like \"{example}\" (units: {units})")]
    MissingUnit {
        /// The text.
        text: String,
        /// Which quantity was expected.
        what: &'static str,
        /// How it is written.
        example: &'static str,
        /// The units that would do.
        units: String,
    },
    /// The unit belongs to another quantity or to none.
    #[error("`{unit}` is not a unit of {what}; units: {units}")]
    Unit {
        /// The unit found.
        unit: String,
        /// Which quantity was expected.
        what: &'static str,
        /// The units that would do.
        units: String,
    },
}

/// Reads a number and one of `units`, with or without a space between them, and returns it in SI.
pub(super) fn read(
    text: &str,
    what: &'static str,
    example: &'static str,
    units: &[Unit],
) -> Result<f64, ParseQuantityError> {
    let trimmed = text.trim();
    let (number, unit) = split(trimmed).ok_or_else(|| ParseQuantityError::Number {
        text: trimmed.to_owned(),
        what,
        example,
    })?;
    if unit.is_empty() {
        return Err(ParseQuantityError::MissingUnit {
            text: trimmed.to_owned(),
            what,
            example,
            units: listed(units),
        });
    }
    let found = units.iter().find(|candidate| candidate.symbol == unit);
    match found {
        Some(unit) => Ok(number * unit.factor),
        None => Err(ParseQuantityError::Unit {
            unit: unit.to_owned(),
            what,
            units: listed(units),
        }),
    }
}

/// The number at the start of `text` and what follows it. The longest prefix that is a number wins, so that `1e-3 A` is not `1` of `e-3 A`.
fn split(text: &str) -> Option<(f64, &str)> {
    let plausible = text
        .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
        .unwrap_or(text.len());
    (1..=plausible).rev().find_map(|end| {
        let number = text[..end].parse::<f64>().ok()?;
        number
            .is_finite()
            .then(|| (number, text[end..].trim_start()))
    })
}

fn listed(units: &[Unit]) -> String {
    let symbols: Vec<&str> = units.iter().map(|unit| unit.symbol).collect();
    symbols.join(", ")
}

/// Writes `value` in the largest unit in which it is at least one, with four significant digits (or the precision that was asked for).
pub(super) fn show(f: &mut fmt::Formatter<'_>, value: f64, units: &[Unit]) -> fmt::Result {
    let smallest = units[units.len() - 1];
    let unit = if value == 0.0 {
        si(units)
    } else {
        // A hair below one still counts as one: 1e-9 / 1e-9 may round to 0.99..9.
        let fits = |unit: &&Unit| (value / unit.factor).abs() >= 1.0 - 1e-9;
        units.iter().find(fits).copied().unwrap_or(smallest)
    };
    let scaled = value / unit.factor;
    let decimals = f.precision().unwrap_or_else(|| decimals(scaled));
    write!(f, "{scaled:.decimals$} {}", unit.symbol)
}

/// Decimals that leave four significant digits.
fn decimals(value: f64) -> usize {
    let magnitude = value.abs();
    match magnitude {
        m if m >= 1000.0 || m == 0.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        m if m >= 1.0 => 3,
        _ => 6,
    }
}

/// The symbol of the SI unit.
pub(super) const fn si_symbol(units: &'static [Unit]) -> &'static str {
    let mut at = 0;
    while at < units.len() {
        if units[at].factor == 1.0 {
            return units[at].symbol;
        }
        at += 1;
    }
    ""
}

fn si(units: &[Unit]) -> Unit {
    let position = units.iter().position(|unit| unit.factor == 1.0);
    units[position.unwrap_or(0)]
}

/// A value in its SI unit with as many digits as it takes to read back the same bits.
pub(super) struct Exact(pub(super) f64, pub(super) &'static [Unit]);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e} {}", self.0, si(self.1).symbol)
    }
}
