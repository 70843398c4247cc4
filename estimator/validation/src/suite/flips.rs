//! Campaigns of flips in flip-flops that a suite compares: how many, of which blocks, on which GPU. Who runs them hands in what came of them, by name.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::read::{fault, preset, tables};
use warpwatt_gpu::Preset;
use warpwatt_study::reader::{Reader, Section, plain, text};
use warpwatt_suite::Paper;

/// Campaigns over the benchmarks of a paper, in machine code.
#[derive(Clone, Debug)]
pub struct Flips {
    /// The GPU.
    pub gpu: &'static Preset,
    /// Flips of a campaign, spread over the benchmarks.
    pub samples: u64,
    /// What they are drawn with.
    pub seed: u64,
    /// Their names, and the blocks that each leaves out.
    pub campaigns: Vec<(String, Vec<String>)>,
}

/// What came of a campaign over all benchmarks, and over one.
const FIGURES: [&str; 6] = [
    "match",
    "sdc",
    "terminated",
    "gray",
    "samples",
    "gray_in_files",
];

impl Flips {
    /// The names that rows may use: `flips.CAMPAIGN.gray`, and of a benchmark `flips.CAMPAIGN.BinS.gray`. Figures are counts.
    pub fn names(&self, paper: Option<&Paper>) -> Vec<String> {
        let benchmarks = paper.into_iter().flat_map(|paper| paper.benchmarks);
        let of: Vec<&str> = benchmarks.map(|benchmark| benchmark.abbreviation).collect();
        let campaigns = self.campaigns.iter();
        campaigns
            .flat_map(|(name, _)| {
                let all = FIGURES.iter().map(move |it| format!("flips.{name}.{it}"));
                let each = of.iter().flat_map(move |benchmark| {
                    FIGURES
                        .iter()
                        .map(move |it| format!("flips.{name}.{benchmark}.{it}"))
                });
                all.chain(each)
            })
            .collect()
    }

    /// How many flips a benchmark gets, by its number among so many.
    pub fn samples_of(&self, number: usize, of: usize) -> u64 {
        let of = of.max(1) as u64;
        self.samples / of + u64::from((number as u64) < self.samples % of)
    }
}

/// What came of campaigns, by the names of [`Flips::names`].
pub type Flipped = BTreeMap<String, f64>;

/// `[flips]`, if the suite has it.
pub(super) fn flips(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Flips> {
    root.get("flips")?;
    let section = reader.section(root, "flips")?;
    reader.refuse_unknown(&section, &["gpu", "samples", "seed", "campaigns"]);
    for (key, example) in [
        ("gpu", "gpu = \"miaow\""),
        ("samples", "samples = 2000"),
        ("seed", "seed = 1"),
        ("campaigns", "campaigns = [{ name = \"all\" }]"),
    ] {
        if section.get(key).is_none() {
            reader.missing(&section, key, example);
        }
    }
    let gpu = preset(reader, &section, "gpu");
    let samples = count(reader, &section, "samples");
    let seed = count(reader, &section, "seed");
    let of = tables(reader, &section, "campaigns");
    let campaigns = of.iter().filter_map(|campaign| {
        const EXAMPLE: &str = "{ name = \"no_files\", without = [\"register_file\"] }";
        reader.refuse_unknown(campaign, &["name", "without"]);
        let name = reader.one(campaign, "name", |value| text("`name`", value, EXAMPLE));
        if name.is_none() {
            reader.missing(campaign, "name", EXAMPLE);
        }
        let without = campaign.get("without").and_then(|value| {
            reader.axis_of("without", value, |value| text("a block", value, EXAMPLE))
        });
        let without = without.into_iter().flatten().map(|block| block.value);
        Some((name?.value, without.collect()))
    });
    let campaigns = campaigns.collect();
    Some(Flips {
        gpu: gpu?,
        samples: samples?,
        seed: seed?,
        campaigns,
    })
}

fn count(reader: &mut Reader<'_>, section: &Section<'_>, key: &str) -> Option<u64> {
    let read = reader.one(section, key, |value: &DeValue<'_>| {
        let number = plain(value)?.as_integer();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| {
            let help = format!("{key} = 2000");
            fault(format!("`{key}` is a whole number"), help)
        })
    });
    read.map(|read| read.value)
}
