//! Reading of `name(key=value, ...)`.

use super::Rule;
use crate::launch::problem::nearest;

/// What an `init` text turned out to be.
pub(crate) enum Reading {
    /// A rule.
    Rule(Rule),
    /// A known rule with something wrong.
    Wrong {
        message: String,
        help: Option<String>,
    },
    /// Not of the form of a rule: a note for people.
    Note,
}

/// A rule's name and its parameters in order, each with its default.
struct Signature {
    name: &'static str,
    parameters: &'static [(&'static str, Option<f64>)],
    build: fn(&[f64]) -> Rule,
}

const SIGNATURES: &[Signature] = &[
    Signature {
        name: "zeros",
        parameters: &[],
        build: |_| Rule::Zeros,
    },
    Signature {
        name: "poison_bytes",
        parameters: &[("byte", None)],
        build: |v| Rule::PoisonBytes(v[0] as u8),
    },
    Signature {
        name: "iota",
        parameters: &[],
        build: |_| Rule::Iota,
    },
    Signature {
        name: "range_f32",
        parameters: &[("seed", None), ("lo", None), ("hi", None)],
        build: |v| Rule::RangeF32 {
            seed: v[0] as u64,
            low: v[1] as f32,
            high: v[2] as f32,
        },
    },
    Signature {
        name: "bits_u32",
        parameters: &[("seed", None)],
        build: |v| Rule::BitsU32 { seed: v[0] as u64 },
    },
    Signature {
        name: "mod_i32",
        parameters: &[("seed", None), ("modulus", None), ("offset", Some(0.0))],
        build: |v| Rule::ModI32 {
            seed: v[0] as u64,
            modulus: v[1] as u32,
            offset: v[2] as i64,
        },
    },
    Signature {
        name: "running_sum",
        parameters: &[("seed", None), ("base", None), ("modulus", None)],
        build: |v| Rule::RunningSum {
            seed: v[0] as u64,
            base: v[1] as u32,
            modulus: v[2] as u32,
        },
    },
    Signature {
        name: "skewed_bytes",
        parameters: &[("seed", None), ("choose", None)],
        build: |v| Rule::SkewedBytes {
            seed: v[0] as u64,
            choose: v[1] as u64,
        },
    },
    Signature {
        name: "spike",
        parameters: &[("index", None), ("peak", None), ("rest", None)],
        build: |v| Rule::Spike {
            index: v[0] as u64,
            peak: v[1] as i64,
            rest: v[2] as i64,
        },
    },
    Signature {
        name: "border",
        parameters: &[("width", None), ("step", None)],
        build: |v| Rule::Border {
            width: v[0] as u64,
            step: v[1] as i64,
        },
    },
    Signature {
        name: "queens",
        parameters: &[("board", None), ("rows", None), ("mask", None)],
        build: |v| Rule::Queens {
            board: v[0] as u32,
            rows: v[1] as u32,
            mask: v[2] as u32,
        },
    },
    Signature {
        name: "reads",
        parameters: &[
            ("seed", None),
            ("text", None),
            ("length", None),
            ("read", None),
            ("errors", None),
        ],
        build: |v| Rule::Reads {
            seed: v[0] as u64,
            text: v[1] as u64,
            length: v[2] as u64,
            read: v[3] as u64,
            errors: v[4] as u32,
        },
    },
    Signature {
        name: "suffix_array",
        parameters: &[("text", None)],
        build: |v| Rule::SuffixArray { text: v[0] as u64 },
    },
    Signature {
        name: "suffix_tree",
        parameters: &[("text", None), ("length", None)],
        build: |v| Rule::SuffixTree {
            text: v[0] as u64,
            length: v[1] as u64,
        },
    },
];

/// Parameters that may have a fraction; all others are integers.
const REAL: [&str; 2] = ["lo", "hi"];
/// Parameters that may be negative.
const SIGNED: [&str; 6] = ["lo", "hi", "offset", "peak", "rest", "step"];

/// Reads an `init` text.
pub(crate) fn read(text: &str) -> Reading {
    let Some((name, arguments)) = call(text) else {
        return Reading::Note;
    };
    let Some(signature) = SIGNATURES.iter().find(|known| known.name == name) else {
        let names: Vec<_> = SIGNATURES.iter().map(|known| known.name).collect();
        return Reading::Wrong {
            message: format!("there is no rule `{name}`"),
            help: Some(nearest(name, &names)),
        };
    };
    match signature.values(arguments) {
        Ok(values) => Reading::Rule((signature.build)(&values)),
        Err(message) => Reading::Wrong {
            message,
            help: Some(format!("the rule is `{}`", signature.usage())),
        },
    }
}

/// Splits `name(arguments)`.
fn call(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.trim().split_once('(')?;
    let arguments = rest.strip_suffix(')')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = !name.is_empty() && name.chars().all(is_name);
    (plain && !arguments.contains(['(', ')'])).then_some((name, arguments))
}

impl Signature {
    fn usage(&self) -> String {
        let parameters = self.parameters.iter();
        let named = parameters.map(|(name, default)| match default {
            Some(value) => format!("{name}={value}"),
            None => format!("{name}=..."),
        });
        format!("{}({})", self.name, named.collect::<Vec<_>>().join(", "))
    }

    /// The parameters' values, in order, from `key=value` or plain values in order.
    fn values(&self, arguments: &str) -> Result<Vec<f64>, String> {
        let mut values: Vec<Option<f64>> =
            self.parameters.iter().map(|(_, value)| *value).collect();
        let mut given = vec![false; values.len()];
        for (position, argument) in arguments.split(',').enumerate() {
            if arguments.trim().is_empty() {
                break;
            }
            let (slot, text) = match argument.split_once('=') {
                Some((key, text)) => (self.slot(key.trim())?, text.trim()),
                None => (position, argument.trim()),
            };
            let Some(&(name, _)) = self.parameters.get(slot) else {
                return Err(format!("`{}` takes fewer parameters", self.name));
            };
            if std::mem::replace(&mut given[slot], true) {
                return Err(format!("`{name}` is given twice"));
            }
            values[slot] = Some(number(name, text)?);
        }
        let named = self.parameters.iter().zip(values);
        named
            .map(|((name, _), value)| value.ok_or_else(|| format!("`{name}` is missing")))
            .collect()
    }

    fn slot(&self, key: &str) -> Result<usize, String> {
        let position = self.parameters.iter().position(|(name, _)| *name == key);
        position.ok_or_else(|| format!("`{}` has no parameter `{key}`", self.name))
    }
}

/// A parameter's value: integers of at most 32 bits, so that a double holds them exactly.
fn number(name: &str, text: &str) -> Result<f64, String> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let value = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => text.parse().ok(),
    };
    let value = value.filter(|value: &f64| value.is_finite());
    let value = value.ok_or_else(|| format!("`{text}` is not a number"))?;
    if !REAL.contains(&name) && value.fract() != 0.0 {
        return Err(format!("`{name}` must be an integer, not {text}"));
    }
    let low = if SIGNED.contains(&name) {
        -(2f64.powi(32))
    } else {
        0.0
    };
    let high = if name == "byte" {
        255.0
    } else {
        f64::from(u32::MAX)
    };
    if REAL.contains(&name) || (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(format!("`{name}` must be from {low} to {high}, not {text}"))
    }
}
