//! Numbers and units as other tools write them.

/// A number, with commas between thousands or without. What is no number is nothing; what looks like one of another country is an error.
pub(super) fn number(text: &str) -> Result<Option<f64>, ()> {
    let text = text.trim();
    let plain: Option<f64> = text.parse().ok();
    if let Some(number) = plain {
        return Ok(Some(number).filter(|number| number.is_finite()));
    }
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '+');
    if text.is_empty() || !text.chars().all(numeric) || !text.contains(|c: char| c.is_ascii_digit())
    {
        return Ok(None);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next().unwrap_or_default();
    let grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    if !grouped || fraction.contains([',', '.']) {
        return Err(());
    }
    text.replace(',', "").parse().map(Some).map_err(|_| ())
}

/// What a unit is in SI units without prefixes; one of anything that is counted.
pub(super) fn factor(unit: &str) -> f64 {
    let (above, below) = unit.split_once('/').unwrap_or((unit, ""));
    let [above, below] = [above, below].map(|unit| simple(unit.trim()));
    // Powers of ten are exact as long as they are no fractions.
    above.0 * below.1 / (above.1 * below.0)
}

/// A unit as a multiple and a part: a nanosecond is 1 of 1e9.
fn simple(unit: &str) -> (f64, f64) {
    const PARTS: [(&str, f64); 8] = [
        ("nsecond", 1e9),
        ("usecond", 1e6),
        ("msecond", 1e3),
        ("ns", 1e9),
        ("us", 1e6),
        ("\u{3bc}s", 1e6),
        ("ms", 1e3),
        ("%", 100.0),
    ];
    if let Some((_, part)) = PARTS.iter().find(|(name, _)| *name == unit) {
        return (1.0, *part);
    }
    let lower = unit.to_ascii_lowercase();
    let prefixed = ["byte", "bytes", "hz", "b"].iter().find_map(|base| {
        let prefix = lower.strip_suffix(base)?;
        match prefix {
            "k" => Some(1e3),
            "m" => Some(1e6),
            "g" => Some(1e9),
            "t" => Some(1e12),
            _ => None,
        }
    });
    (prefixed.unwrap_or(1.0), 1.0)
}
