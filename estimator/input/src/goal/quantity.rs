//! Values of metrics as people write and read them: with a unit.

use std::fmt::Display;
use std::str::FromStr;

use warpwatt_techlib::quantity::{Area, Energy, Frequency, Power, Temperature, Time, Voltage};

/// A count with its thousands apart: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with about four significant digits, thousands apart.
pub fn number(value: f64) -> String {
    let value = unsigned_zero(value);
    let size = value.abs();
    if size >= 1000.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(size.round() as u64));
    }
    let decimals = match size {
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The value, but zero for the other zero: `-0` says nothing to a reader.
pub fn unsigned_zero(value: f64) -> f64 {
    // Any other sum with zero is the value itself, bit for bit.
    value + 0.0
}

/// Reads a value of a metric of `unit`: `1 mJ`, `5%`, `0.05`; counts are plain numbers.
///
/// # Errors
/// What is wrong, in a few words.
pub fn read(text: &str, unit: &str) -> Result<f64, String> {
    let text = text.trim();
    let value = match unit {
        "J" => si(text, Energy::as_j),
        "W" => si(text, Power::as_w),
        "s" => si(text, Time::as_s),
        "m2" => si(text, Area::as_m2),
        "Hz" => si(text, Frequency::as_hz),
        "V" => si(text, Voltage::as_v),
        "K" => si(text, Temperature::as_k),
        "1" => match text.strip_suffix('%') {
            Some(percent) => parsed(percent).map(|value| value / 100.0),
            None => parsed(text).map_err(|_| "a ratio is a number or ends in %".to_owned()),
        },
        _ => {
            let bare = text.strip_suffix(unit).unwrap_or(text);
            parsed(bare).map_err(|_| format!("not a number in {unit}"))
        }
    }?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err("not a finite number".to_owned())
    }
}

/// A value with a unit that suits its size.
pub fn show(value: f64, unit: &str) -> String {
    let value = unsigned_zero(value);
    match unit {
        "J" => Energy::from_j(value).to_string(),
        "W" => Power::from_w(value).to_string(),
        "s" => Time::from_s(value).to_string(),
        "m2" => Area::from_m2(value).to_string(),
        "Hz" => Frequency::from_hz(value).to_string(),
        "V" => Voltage::from_v(value).to_string(),
        "K" => Temperature::from_k(value).to_string(),
        "1" => format!("{:.2}%", 100.0 * value),
        _ if value != 0.0 && !(1e-3..1e15).contains(&value.abs()) => format!("{value:.3e} {unit}"),
        _ => format!("{} {unit}", number(value)),
    }
}

/// A value in its unit with a prefix, of any unit that formulas have.
pub fn readable(value: f64, unit: &str) -> String {
    let value = unsigned_zero(value);
    const PREFIXES: [(f64, &str); 10] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "u"),
        (1e-9, "n"),
        (1e-12, "p"),
        (1e-15, "f"),
        (1e-18, "a"),
    ];
    let size = value.abs();
    if unit == "m2" {
        let (scale, name) = if size >= 1e-8 {
            (1e6, "mm2")
        } else {
            (1e12, "um2")
        };
        return format!("{} {name}", digits(value * scale));
    }
    let prefixed = matches!(
        unit,
        "J" | "W" | "s" | "V" | "Hz" | "A" | "m" | "B/s" | "J s"
    );
    if prefixed && size > 0.0 {
        let (factor, prefix) = PREFIXES
            .iter()
            .find(|(factor, _)| size >= *factor)
            .unwrap_or(&PREFIXES[9]);
        return format!("{} {prefix}{unit}", digits(value / factor));
    }
    let whole = size.fract() == 0.0 && size < 1e15;
    let text = if whole {
        format!("{value:.0}")
    } else {
        digits(value)
    };
    if unit == "1" {
        text
    } else {
        format!("{text} {unit}")
    }
}

/// Four significant digits or a little more.
fn digits(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        s if !(1e-3..1e6).contains(&s) => format!("{value:.4e}"),
        s if s >= 100.0 => format!("{value:.2}"),
        s if s >= 10.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// A round value beside an axis: few digits.
pub fn tick(value: f64, unit: &str) -> String {
    let short = |number: &str| match number.split_once('.') {
        Some((whole, decimals)) => {
            let decimals = decimals.trim_end_matches('0');
            if decimals.is_empty() {
                whole.to_owned()
            } else {
                format!("{whole}.{decimals}")
            }
        }
        None => number.to_owned(),
    };
    let shown = match unit {
        "1" => format!("{:.4}%", 100.0 * value + 0.0).replace('%', " %"),
        _ => show(value, unit),
    };
    match shown.split_once(' ') {
        Some((number, "%")) => format!("{}%", short(number)),
        Some((number, unit)) if !number.contains('e') => format!("{} {unit}", short(number)),
        _ => shown,
    }
}

/// How a value of a metric of `unit` may be written.
pub fn example(unit: &str) -> &'static str {
    match unit {
        "J" => "1 mJ",
        "W" => "2 W",
        "s" => "10 us",
        "m2" => "1 mm2",
        "Hz" => "1 GHz",
        "V" => "0.9 V",
        "K" => "350 K",
        "1" => "5%",
        _ => "1000",
    }
}

fn parsed(text: &str) -> Result<f64, String> {
    let number = text.trim().replace('_', "").parse();
    number.map_err(|_| "not a number".to_owned())
}

fn si<T: FromStr>(text: &str, value: fn(T) -> f64) -> Result<f64, String>
where
    T::Err: Display,
{
    let parsed: Result<T, T::Err> = text.parse();
    parsed.map(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_unit() {
        assert_eq!(read("1 mJ", "J"), Ok(1e-3));
        assert_eq!(read("90%", "1"), Ok(0.9));
        assert_eq!(read("0.9", "1"), Ok(0.9));
        assert_eq!(read("1_000", "cycles"), Ok(1000.0));
        assert_eq!(read("1000 cycles", "cycles"), Ok(1000.0));
        assert!(
            read("1 mW", "J")
                .unwrap_err()
                .contains("not a unit of energy")
        );
        assert!(read("1", "J").is_err() && read("x", "1").is_err() && read("inf", "1").is_err());
    }

    #[test]
    fn zero_has_no_sign() {
        for unit in ["J", "W", "s", "m2", "1", "cycles", "J s"] {
            assert!(!show(-0.0, unit).contains('-'), "{}", show(-0.0, unit));
            assert!(!readable(-0.0, unit).contains('-'), "{unit}");
        }
        assert_eq!(number(-0.0), "0.000");
    }

    #[test]
    fn every_example_can_be_read() {
        for unit in ["J", "W", "s", "m2", "Hz", "V", "K", "1", "cycles"] {
            assert!(read(example(unit), unit).is_ok(), "{unit}");
        }
    }

    #[test]
    fn values_are_shown_in_a_unit_that_suits_them() {
        assert_eq!(show(1.5e-3, "J"), "1.500 mJ");
        assert_eq!(show(0.0123, "1"), "1.23%");
        assert_eq!(show(1234.0, "cycles"), "1,234 cycles");
        assert_eq!(tick(1.5e-3, "J"), "1.5 mJ");
        assert_eq!(tick(0.05, "1"), "5%");
        assert_eq!(tick(2000.0, "cycles"), "2,000 cycles");
        assert_eq!(show(1.5e-12, "J s"), "1.500e-12 J s");
    }
}
