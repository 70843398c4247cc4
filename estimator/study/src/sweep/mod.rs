//! `[sweep]`: which of the values that the axes of a study list or span go together.
//!
//! Without it every value meets every other. `zip` lets axes walk together; `sample` draws points instead of walking all of them. Axes are read by
//! [`axis`], which notes each in a [`Sweep`]. When all are read, [`Sweep::finish`] checks that what `[sweep]` names is there and makes the [`Design`].

mod axis;
mod design;
mod odometer;
mod span;
mod zip;

pub use axis::{NUMBERS, Scale};
pub use design::{Choice, Counted, Design};
pub(super) use span::is_span;

use std::collections::BTreeSet;

use toml::de::DeValue;

use crate::axes::{Method, Sampling, Sweep, draw};
use crate::diag::did_you_mean;
use crate::reader::{Fault, Placed, Reader, Section, known, positive, text};

/// More samples than anyone waits for.
const MOST_SAMPLES: u64 = 1_000_000;

const KEYS: [&str; 5] = ["zip", "sample", "count", "seed", "over"];

/// How a sampled study is written.
const EXAMPLE: &str = "sample = \"latin_hypercube\"\ncount = 100\nseed = 1";

/// Reads `[sweep]`, before any axis.
pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Sweep {
    let Some(section) = reader.section(root, "sweep") else {
        return Sweep::default();
    };
    reader.refuse_unknown(&section, &KEYS);
    Sweep {
        zips: zip::read(reader, &section),
        sampling: read_sampling(reader, &section),
        over: read_over(reader, &section),
        ..Sweep::default()
    }
}

fn read_sampling(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Sampling> {
    if section.get("sample").is_none() {
        for (key, _) in section.in_file_order() {
            if ["count", "seed", "over"].contains(&key.get_ref().as_ref()) {
                let fault = Fault {
                    code: "study::sample",
                    message: format!(
                        "`{}` says how to sample, but nothing is sampled",
                        key.get_ref()
                    ),
                    label: String::new(),
                    help: Some(format!("write for example:\n{EXAMPLE}")),
                };
                reader.fault(key.span(), fault);
            }
        }
        return None;
    }
    let method = reader.one(section, "sample", |value| {
        let name = text("`sample`", value, "sample = \"sobol\"")?;
        let names = Method::ALL.map(Method::name);
        let name = known("way of sampling", "study::unknown_sampling", &name, names)?;
        Ok(Method::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .unwrap_or(Method::Random))
    });
    if section.get("count").is_none() {
        reader.missing(section, "count", "count = 100");
    }
    let method = method.map_or(Method::Random, |method| method.value);
    let count = reader.one(section, "count", |value| {
        let most = match method {
            Method::Sobol => u64::from(draw::MOST_SOBOL),
            Method::Random | Method::LatinHypercube => MOST_SAMPLES,
        };
        bounded("count", value, "count = 100", 1, most)
    });
    let seed = reader.one(section, "seed", |value| {
        bounded("seed", value, "seed = 1", 0, u64::from(u32::MAX))
    });
    // What is wrong rejects the study; ranges without steps are not wrong as well.
    Some(Sampling {
        method,
        count: count.map_or(1, |count| count.value),
        seed: seed.map_or(0, |seed| seed.value),
    })
}

/// A whole number within bounds.
fn bounded(
    key: &str,
    value: &DeValue<'_>,
    example: &str,
    least: u64,
    most: u64,
) -> Result<u32, Fault> {
    let what = format!("`{key}`");
    let number = match value {
        DeValue::Integer(zero) if least == 0 && zero.as_str() == "0" => 0,
        _ => positive(&what, value, example)?,
    };
    u32::try_from(number)
        .ok()
        .filter(|_| number <= most)
        .ok_or_else(|| Fault {
            code: "study::absurd_size",
            message: format!("{what} is {number}, more than {most}"),
            label: format!("at most {most}"),
            help: Some(format!("write for example `{example}`")),
        })
}

fn read_over(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Vec<Placed<String>>> {
    reader.axis(section, "over", |value| {
        text(
            "an axis",
            value,
            "over = [\"gpu.vdd\", \"gpu.temperature\"]",
        )
    })
}

impl Sweep {
    /// Checks what `[sweep]` names against the axes that there are.
    pub(super) fn finish(self, reader: &mut Reader<'_>) -> Design {
        let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
        let known: BTreeSet<&str> = names.iter().copied().collect();
        let named = self.zips.iter().flatten().chain(self.over.iter().flatten());
        for name in named.filter(|name| !known.contains(name.value.as_str())) {
            let fault = Fault {
                code: "study::unknown_axis",
                message: format!("the study has no axis `{}`", name.value),
                label: "no such key".to_owned(),
                help: Some(did_you_mean(&name.value, names.iter().copied())),
            };
            reader.fault(name.range.clone(), fault);
        }
        for zip in &self.zips {
            zip::check(reader, zip, &self.axes);
        }
        let sobol = self
            .sampling
            .as_ref()
            .is_some_and(|sampling| sampling.method == Method::Sobol);
        if sobol && self.columns.len() > draw::SOBOL_DIMENSIONS {
            let message = format!(
                "Sobol's sequence has at most {} dimensions here, and {} axes are drawn",
                draw::SOBOL_DIMENSIONS,
                self.columns.len()
            );
            let range = self.axes.last().map_or(0..0, |axis| axis.range.clone());
            let help = "draw fewer with `over`, or take `sample = \"latin_hypercube\"`".to_owned();
            reader.fault(
                range,
                Fault {
                    code: "study::sample",
                    message,
                    label: String::new(),
                    help: Some(help),
                },
            );
        }
        Design::new(self)
    }
}
