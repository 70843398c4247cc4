//! `[uncertainty]`: how intervals are found.

use super::toml_reader::{Fault, Reader, Section, positive};
use crate::uncertainty::Draws;

const KEYS: [&str; 2] = ["samples", "seed"];

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
    })
}
