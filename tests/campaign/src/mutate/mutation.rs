//! How an input is damaged.

use crate::random::Random;

/// What is put where a token stood, besides other tokens of the file.
const ODDITIES: &[&str] = &[
    "0",
    "-1",
    "1",
    "-0.0",
    "99999999999999999999",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "0x7fffffff",
    "4294967296",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    "\"",
    "'''",
    "/*",
    "\n",
    "\r",
    "\t",
    "\u{e9}",
    "\u{202e}",
    "\u{1f600}",
    "\u{0}",
    "\u{1b}[2J",
    "\u{feff}",
    "%r0",
    ".b8",
    ".global",
    "=",
    "_",
    "'",
    "..",
    "/dev/null",
    "../../..",
];

/// Characters that are nested.
const BRACKETS: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("-(", ")"),
    ("{a=", "}"),
    ("[[", "]]"),
    ("a.", ""),
];

/// A token may become so long.
const LONG: usize = 20_000;

/// So deep may it be nested.
const DEEP: usize = 5_000;

/// A seed that is damaged in one to eight ways.
pub fn damaged(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.of(seeds).clone();
    // Most inputs stay near what is right, so that they get far.
    let ways = 1 + random.below(8).min(random.below(8));
    for _ in 0..ways {
        input = match random.below(10) {
            0 => flipped(input, random),
            1 => cut(input, random),
            2 => doubled(input, random),
            3 => spliced(input, random.of(seeds).as_slice(), random),
            _ => exchanged(&input, random),
        };
    }
    input
}

fn flipped(mut input: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len());
        if let Some(byte) = input.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    input
}

/// Cut off behind a place, or a piece taken out.
fn cut(mut input: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let at = random.below(input.len() + 1);
    let end = match random.below(3) {
        0 => input.len(),
        _ => (at + random.below(200)).min(input.len()),
    };
    input.drain(at..end);
    input
}

/// A piece again, once or many times.
fn doubled(mut input: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let at = random.below(input.len() + 1);
    let end = (at + random.below(400)).min(input.len());
    let times = [1, 1, 1, 2, 30][random.below(5)];
    let piece = input[at..end].repeat(times);
    input.splice(at..at, piece);
    input
}

/// The beginning of one and the end of another.
fn spliced(mut input: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    input.truncate(random.below(input.len() + 1));
    input.extend(&other[random.below(other.len() + 1)..]);
    input
}

/// A token removed, doubled, exchanged with another, replaced by an oddity, made long or nested.
fn exchanged(input: &[u8], random: &mut Random) -> Vec<u8> {
    let spans = tokens(input);
    let at = spans[random.below(spans.len())].clone();
    let other = &input[spans[random.below(spans.len())].clone()];
    let token = &input[at.clone()];
    let new: Vec<u8> = match random.below(12) {
        0 => Vec::new(),
        1 => token.repeat(2),
        2 | 3 => other.to_vec(),
        4 => [token, other].concat(),
        5 if random.below(8) == 0 => long(token, random),
        6 if random.below(8) == 0 => nested(token, random),
        7 | 8 => number(token, random).unwrap_or_else(|| other.to_vec()),
        _ => random.of(ODDITIES).as_bytes().to_vec(),
    };
    [&input[..at.start], &new, &input[at.end..]].concat()
}

fn long(token: &[u8], random: &mut Random) -> Vec<u8> {
    let token = if token.is_empty() { b"a" } else { token };
    token.repeat(1 + random.below(LONG / token.len() + 1))
}

fn nested(token: &[u8], random: &mut Random) -> Vec<u8> {
    let (open, close) = random.of(BRACKETS);
    let depth = random.below(DEEP);
    let close = close.repeat(if random.below(2) == 0 { depth } else { 0 });
    [open.repeat(depth).as_bytes(), token, close.as_bytes()].concat()
}

/// A number near the one that stood there, or far from it.
fn number(token: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(token).ok()?;
    let value: f64 = text.parse().ok()?;
    let factor = [-1.0, 0.0, 0.5, 2.0, 10.0, 1e3, 1e6, 1e-6, 1e12, 1e30][random.below(10)];
    let text = match random.below(3) {
        0 => format!("{}", value * factor),
        1 => format!("{:e}", value * factor),
        _ => format!("{:.0}", value + [1.0, -1.0, 255.0][random.below(3)]),
    };
    Some(text.into_bytes())
}

/// Runs of letters and digits, and single other bytes; never empty.
fn tokens(input: &[u8]) -> Vec<std::ops::Range<usize>> {
    let in_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_.%$".contains(byte) || *byte >= 0x80;
    let mut spans = Vec::new();
    let mut start = 0;
    for at in 1..input.len() {
        if !(in_word(&input[at - 1]) && in_word(&input[at])) {
            spans.push(start..at);
            start = at;
        }
    }
    spans.push(start..input.len());
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_the_same_every_time_and_its_neighbour_another() {
        let seeds = [b"node = \"7nm\"\nvdd = 0.7".to_vec(), b"[gpu]".to_vec()];
        let of = |case| damaged(&seeds, &mut Random::of_case(1, case));
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn nothing_is_too_short_to_be_damaged() {
        for seed in [&b""[..], b"a", b"1"] {
            for case in 0..2_000 {
                damaged(&[seed.to_vec()], &mut Random::of_case(3, case));
            }
        }
    }
}
