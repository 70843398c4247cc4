//! Floating-point numbers as C shows them. Decimal digits are exact and rounded once, to even at a tie.

/// Digits behind the point where no precision is given.
const PRECISION: usize = 6;

/// A number that is not negative: what stands before its digits, they, and whether zeros may stand in between.
pub(super) fn shown(
    value: f64,
    kind: u8,
    precision: Option<usize>,
    alternative: bool,
) -> (&'static str, String, bool) {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return ("", text.to_owned(), false);
    }
    let digits = precision.unwrap_or(PRECISION);
    match kind {
        b'e' => ("", exponential(value, digits, alternative), true),
        b'g' => ("", general(value, digits.max(1), alternative), true),
        b'a' => ("0x", hexadecimal(value, precision, alternative), true),
        _ => ("", fixed(value, digits, alternative), true),
    }
}

fn fixed(value: f64, digits: usize, alternative: bool) -> String {
    let point = if digits == 0 && alternative { "." } else { "" };
    format!("{value:.digits$}{point}")
}

/// Its digits and its exponent.
fn scientific(value: f64, digits: usize) -> (String, i32) {
    let text = format!("{value:.digits$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn exponential(value: f64, digits: usize, alternative: bool) -> String {
    let (mantissa, exponent) = scientific(value, digits);
    let point = if digits == 0 && alternative { "." } else { "" };
    with_exponent(&format!("{mantissa}{point}"), exponent)
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// The shorter of both, without zeros at its end.
fn general(value: f64, digits: usize, alternative: bool) -> String {
    let (mantissa, exponent) = scientific(value, digits - 1);
    let strip = |text: String| match text.contains('.') && !alternative {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if exponent < -4 || exponent >= digits as i32 {
        let point = if digits == 1 && alternative { "." } else { "" };
        return with_exponent(&strip(format!("{mantissa}{point}")), exponent);
    }
    let behind = (digits as i32 - 1 - exponent) as usize;
    strip(fixed(value, behind, alternative))
}

/// Bits of a fraction.
const FRACTION: u32 = 52;

fn hexadecimal(value: f64, precision: Option<usize>, alternative: bool) -> String {
    let bits = value.to_bits();
    let (mut fraction, field) = (bits & ((1 << FRACTION) - 1), (bits >> FRACTION) as i32);
    let mut lead = u64::from(field != 0);
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field - 1023,
    };
    let most = (FRACTION / 4) as usize;
    let digits = match precision {
        Some(digits) if digits < most => {
            let cut = 4 * (most - digits) as u32;
            let whole = lead << FRACTION | fraction;
            let (kept, rest) = (whole >> cut, whole & ((1 << cut) - 1));
            let half = 1 << (cut - 1);
            let up = rest > half || rest == half && kept & 1 == 1;
            let rounded = (kept + u64::from(up)) << cut;
            (lead, fraction) = (rounded >> FRACTION, rounded & ((1 << FRACTION) - 1));
            digits
        }
        Some(digits) => digits,
        None => most - (fraction.trailing_zeros().min(FRACTION) / 4) as usize,
    };
    let all = format!("{fraction:013x}{}", "0".repeat(digits.saturating_sub(most)));
    let point = if digits > 0 || alternative { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{lead}{point}{}p{sign}{}", &all[..digits], exponent.abs())
}
