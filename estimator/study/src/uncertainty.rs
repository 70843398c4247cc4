//! `[uncertainty]`: how intervals are found.

use toml::de::DeValue;
use warpwatt_techlib::quantity::Voltage;

use super::gpu::quantity;
use super::reader::{Fault, Reader, Section, plain, positive};
use warpwatt_pricing::uncertainty::{Draws, ProcessVariation};

const KEYS: [&str; 3] = ["samples", "seed", "process"];
const PROCESS: [&str; 4] = [
    "vth_die_to_die",
    "vth_within_die",
    "length_die_to_die",
    "length_within_die",
];

/// Standard deviations beyond which nobody would call it the same process.
const WIDEST_VTH: f64 = 0.1;
const WIDEST_LENGTH: f64 = 0.2;

pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Draws> {
    root.get("uncertainty")?;
    let section = reader.section(root, "uncertainty")?;
    reader.refuse_unknown(&section, &KEYS);
    let samples = reader.one(&section, "samples", |value| {
        let samples = positive("`samples`", value, "samples = 200")?;
        let (least, most) = (Draws::FEWEST as u64, Draws::MOST as u64);
        if (least..=most).contains(&samples) {
            return Ok(samples as usize);
        }
        Err(Fault {
            code: "study::absurd_size",
            message: format!("`samples` is {samples}"),
            label: format!("from {least}, which is little for a 95 % interval, to {most}"),
            help: Some("write for example `samples = 200`".to_owned()),
        })
    });
    let seed = reader.one(&section, "seed", |value| {
        positive("`seed`", value, "seed = 1")
    });
    let default = Draws::DEFAULT;
    Some(Draws {
        samples: samples.map_or(default.samples, |placed| placed.value),
        seed: seed.map_or(default.seed, |placed| placed.value),
        process: process(reader, &section),
    })
}

/// How transistors of a process differ; what is left out is as published for the node.
fn process(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<ProcessVariation> {
    let section = reader.section(section, "process")?;
    reader.refuse_unknown(&section, &PROCESS);
    let mut voltage = |key: &str| {
        let read = |value: &DeValue<'_>| vth(key, value);
        reader.one(&section, key, read).map(|placed| placed.value)
    };
    let [vth_die_to_die, vth_within_die] = [voltage(PROCESS[0]), voltage(PROCESS[1])];
    let mut length = |key: &str| {
        let read = |value: &DeValue<'_>| share(key, value);
        reader.one(&section, key, read).map(|placed| placed.value)
    };
    Some(ProcessVariation {
        vth_die_to_die,
        vth_within_die,
        length_die_to_die: length(PROCESS[2]),
        length_within_die: length(PROCESS[3]),
    })
}

fn vth(key: &str, value: &DeValue<'_>) -> Result<Voltage, Fault> {
    let example = format!("{key} = \"20 mV\"");
    let sigma: Voltage = quantity(&format!("`{key}`"), value, "20 mV")?;
    if (0.0..=WIDEST_VTH).contains(&sigma.si()) {
        return Ok(sigma);
    }
    Err(too_wide(
        key,
        &sigma.to_string(),
        "between 0 V and 100 mV",
        &example,
    ))
}

fn share(key: &str, value: &DeValue<'_>) -> Result<f64, Fault> {
    let example = format!("{key} = 0.03");
    let found = plain(value)?;
    let number = found
        .as_float()
        .or_else(|| found.as_integer().map(|whole| whole as f64));
    let Some(sigma) = number else {
        return Err(Fault::wrong_type(&format!("`{key}`"), value, &example));
    };
    if (0.0..=WIDEST_LENGTH).contains(&sigma) {
        return Ok(sigma);
    }
    Err(too_wide(
        key,
        &sigma.to_string(),
        "between 0 and 0.2 of the gate length",
        &example,
    ))
}

fn too_wide(key: &str, found: &str, range: &str, example: &str) -> Fault {
    Fault {
        code: "study::absurd_size",
        message: format!("`{key}` cannot be {found}"),
        label: range.to_owned(),
        help: Some(format!("write for example `{example}`")),
    }
}
