//! Sizes and weights as text.

use warpwatt_circuit::Weights;

use super::Refusal;

/// Units of sizes in bits. Memories are counted in powers of two, so that `KB` is `KiB`, as in CACTI.
const UNITS: [(&str, u64); 13] = [
    ("b", 1),
    ("bit", 1),
    ("bits", 1),
    ("Kib", 1 << 10),
    ("Mib", 1 << 20),
    ("B", 8),
    ("bytes", 8),
    ("KB", 8 << 10),
    ("kB", 8 << 10),
    ("KiB", 8 << 10),
    ("MB", 8 << 20),
    ("MiB", 8 << 20),
    ("GiB", 8 << 30),
];

/// A capacity such as `4KiB` or `80 b`, in bits.
///
/// # Errors
/// If it is no positive number with a unit, or no whole number of bits.
pub fn parse_capacity(text: &str) -> Result<u64, Refusal> {
    bits("a capacity", "4KiB", text)
}

/// A width such as `128b` or `16B`, in bits.
///
/// # Errors
/// As of [`parse_capacity`].
pub fn parse_bits(text: &str) -> Result<u64, Refusal> {
    bits("a width", "128b", text)
}

fn bits(what: &str, example: &str, text: &str) -> Result<u64, Refusal> {
    let text = text.trim();
    let example = format!("write it like `{example}` (units: b, B, KiB, MiB; KB is KiB)");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let value: f64 = number.parse().map_err(|_| {
        Refusal::new(format!("`{text}` does not start with a number")).help(example.clone())
    })?;
    if unit.is_empty() {
        return Err(Refusal::new(format!("`{text}` has no unit")).help(example));
    }
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(Refusal::new(format!("`{unit}` is not a unit of {what}")).help(example));
    };
    let bits = value * *factor as f64;
    if bits < 1.0 || bits.fract() != 0.0 {
        let message =
            format!("`{text}` is {bits} bits; {what} is a whole number of bits, at least 1");
        return Err(Refusal::new(message).help(example));
    }
    // Far above every array; the models say where they end.
    if bits > 1e15 {
        return Err(
            Refusal::new(format!("`{text}` is more than any array holds"))
                .help("arrays end at 64 MiB; split it into several"),
        );
    }
    Ok(bits as u64)
}

/// Five weights as CACTI writes them: `delay:dynamic:leakage:cycle:area`, as in `0:0:0:100:0`.
///
/// # Errors
/// If they are not five finite numbers of which none is negative and one is positive.
pub fn parse_weights(text: &str) -> Result<Weights, Refusal> {
    let weights = five("weights", "0:0:0:100:0", text)?;
    if weights == Weights::all(0.0) {
        return Err(Refusal::new("all five weights are zero")
            .help("give at least one of delay:dynamic:leakage:cycle:area a weight"));
    }
    Ok(weights)
}

/// Five deviations in percent as CACTI writes them: `20:100000:100000:100000:100000`.
///
/// # Errors
/// If they are not five finite numbers of which none is negative.
pub fn parse_deviations(text: &str) -> Result<Weights, Refusal> {
    five("deviations", "20:100000:100000:100000:100000", text)
}

fn five(what: &str, example: &str, text: &str) -> Result<Weights, Refusal> {
    let fault = || {
        Refusal::new(format!("`{}` are no five {what}", text.trim())).help(format!(
            "write delay:dynamic:leakage:cycle:area, none negative, for example {example}"
        ))
    };
    let values: Vec<f64> = text
        .split(':')
        .map(|part| part.trim().parse().map_err(|_| fault()))
        .collect::<Result<_, _>>()?;
    let [delay, dynamic, leakage, cycle, area] = values[..] else {
        return Err(fault());
    };
    if values
        .iter()
        .any(|value| !value.is_finite() || *value < 0.0)
    {
        return Err(fault());
    }
    Ok(Weights {
        delay,
        dynamic,
        leakage,
        cycle,
        area,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_need_a_unit() {
        assert_eq!(parse_capacity("4KiB"), Ok(32768));
        assert_eq!(parse_capacity(" 4 KB "), Ok(32768));
        assert_eq!(parse_capacity("1.5KiB"), Ok(12288));
        assert_eq!(parse_bits("128b"), Ok(128));
        assert_eq!(parse_bits("16B"), Ok(128));
        for (wrong, says) in [
            ("4096", "has no unit"),
            ("KiB", "does not start with a number"),
            ("4 kilo", "`kilo` is not a unit"),
            ("0B", "at least 1"),
            ("0.3b", "whole number of bits"),
            ("-4B", "does not start with a number"),
            ("1..2B", "does not start with a number"),
            ("99999999999999999999GiB", "more than any array"),
        ] {
            let refusal = parse_capacity(wrong).unwrap_err();
            assert!(refusal.message.contains(says), "{wrong}: {refusal}");
            assert!(refusal.help.is_some());
        }
    }

    #[test]
    fn weights_are_five() {
        assert_eq!(parse_weights("0:0:0:100:0").map(|w| w.cycle), Ok(100.0));
        for wrong in [
            "",
            "1",
            "1:2:3:4",
            "1:2:3:4:5:6",
            "1:2:3:4:x",
            "0:0:0:0:0",
            "-1:0:0:0:1",
            "inf:0:0:0:0",
            "NaN:1:1:1:1",
        ] {
            assert!(parse_weights(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,40}") {
            let _ = (parse_capacity(&text), parse_bits(&text), parse_weights(&text), parse_deviations(&text));
        }

        #[test]
        fn bits_come_back(bits in 1_u64..1 << 40) {
            prop_assert_eq!(parse_bits(&format!("{bits}b")), Ok(bits));
        }
    }
}
