//! `[gpu]`: the GPU, its settings and its technology.

use std::fmt::Debug;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::DeValue;
use warpwatt_circuit::Profile;
use warpwatt_techlib::Flavour;
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};

use super::reader::{Fault, Placed, Reader, Section, known, plain, text};
use super::sweep::{NUMBERS, Scale, is_span};
use super::{Axis, Catalogue};
use crate::array::LibraryName;
use crate::technology;

/// The GPUs of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuAxes {
    /// The presets to start from.
    pub preset: Axis<String>,
    /// Settings that differ from the preset's, in the order of the file.
    pub overrides: Vec<Override>,
    /// The board whose watts are reported, by name or as a file relative to the study.
    pub board: Option<Placed<String>>,
    /// The table's heading, where faults of the whole GPU are shown.
    pub range: Range<usize>,
}

/// A setting of the GPU and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Where it is in the GPU's table: `sm.threads`.
    pub path: String,
    /// Where its key stands.
    pub key: Range<usize>,
    /// Its values.
    pub values: Axis<toml::Value>,
}

/// What the GPUs are made of and how they run.
#[derive(Clone, Debug, PartialEq)]
pub struct TechnologyAxes {
    /// The technology library.
    pub library: Placed<String>,
    /// Nodes.
    pub node: Axis<NodeChoice>,
    /// Transistor flavours.
    pub flavour: Axis<Flavour>,
    /// Junction temperatures.
    pub temperature: Axis<Temperature>,
    /// Supplies; `None` is the technology's nominal one.
    pub vdd: Axis<Option<Voltage>>,
    /// Whose rules the circuit models follow.
    pub profile: Axis<Profile>,
    /// What the core clock does at another supply.
    pub clock: Clock,
}

/// What the core clock does where the supply is not the technology's nominal one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// It stays.
    #[default]
    Fixed,
    /// It goes as the delay of gates allows.
    FollowsVdd,
}

impl Clock {
    /// As written in a study.
    pub const NAMES: [&str; 2] = ["fixed", "follows_vdd"];
}

/// A node, as a study names it.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeChoice {
    /// A feature size of the library.
    Feature(Length),
    /// A node file of the user's own, relative to the study.
    File(String),
}

/// Keys of `[gpu]` that are no settings of the GPU's own table.
pub const KEYS: [&str; 9] = [
    "preset",
    "board",
    "node",
    "flavour",
    "temperature",
    "vdd",
    "library",
    "profile",
    "clock",
];

/// Library and profiles from what a study says of each, by the rule of every command: CACTI's profiles go with CACTI's tables, these with CACTI 7.
fn paired(
    library: Option<Placed<String>>,
    profiles: Option<Axis<Profile>>,
    nowhere: &Range<usize>,
) -> (Placed<String>, Axis<Profile>) {
    let said = library.as_ref().and_then(|name| name.value.parse().ok());
    let all = profiles.as_deref().unwrap_or_default();
    let first = all.first().map(|profile| profile.value);
    let own = all.iter().find(|profile| profile.value == Profile::Silicon);
    let (chosen, profile) =
        LibraryName::with_profile(said, own.map(|profile| profile.value).or(first));
    (
        library.unwrap_or_else(|| Placed::new(chosen.name().to_owned(), nowhere.clone())),
        profiles.unwrap_or_else(|| vec![Placed::new(profile, nowhere.clone())]),
    )
}

/// The junction temperature of a study or a command that names none. CACTI's and McPAT's sample configurations use 350 K and 360 K.
pub const DEFAULT_KELVIN: f64 = 350.0;

pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
) -> (Option<GpuAxes>, Option<TechnologyAxes>) {
    if root.get("gpu").is_none() {
        reader.missing_section(
            root,
            "gpu",
            "[gpu]\npreset = \"tesla-16sm\"\nnode = \"32nm\"",
        );
    }
    let Some(section) = reader.section(root, "gpu") else {
        return (None, None);
    };
    let preset = read_preset(reader, &section, catalogue);
    let board = reader.one(&section, "board", |value| {
        text("`board`", value, "board = \"titan-v\"")
    });
    let technology = read_technology(reader, &section);
    let mut overrides = Vec::new();
    for (key, value) in section.in_file_order() {
        if !KEYS.contains(&key.get_ref().as_ref()) {
            read_override(
                reader,
                key.get_ref().to_string(),
                key.span(),
                value,
                &mut overrides,
            );
        }
    }
    let gpu = preset.map(|preset| GpuAxes {
        preset,
        overrides,
        board,
        range: section.range,
    });
    (gpu, technology)
}

fn read_preset(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    catalogue: &Catalogue,
) -> Option<Axis<String>> {
    if section.get("preset").is_none() {
        let example = format!(
            "preset = \"{}\"",
            catalogue.presets.first().map_or("", String::as_str)
        );
        reader.missing(section, "preset", &example);
        return None;
    }
    let parse = |value: &DeValue<'_>| {
        let name = text("`preset`", value, "preset = \"tesla-16sm\"")?;
        known(
            "preset",
            "study::unknown_preset",
            &name,
            catalogue.presets.iter().map(String::as_str),
        )
    };
    axis(reader, section, "preset", parse, None)
}

fn read_technology(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<TechnologyAxes> {
    if section.get("node").is_none() {
        reader.missing(section, "node", "node = \"32nm\"");
    }
    let nowhere = section.range.clone();
    let library = reader.one(section, "library", |value| {
        let name = text("`library`", value, "library = \"silicon\"")?;
        known(
            "technology library",
            "study::unknown_library",
            &name,
            LibraryName::ALL.map(LibraryName::name),
        )
    });
    let node = axis(reader, section, "node", parse_node, None);
    let flavour = axis(reader, section, "flavour", parse_flavour, None);
    let kelvin = |value: &DeValue<'_>| quantity("`temperature`", value, "350 K");
    let temperature = axis(reader, section, "temperature", kelvin, Some(&TEMPERATURES));
    let volt = |value: &DeValue<'_>| quantity("`vdd`", value, "0.9 V").map(Some);
    let vdd = axis(reader, section, "vdd", volt, Some(&SUPPLIES));
    let profile = axis(reader, section, "profile", parse_profile, None);
    let clock = reader.one(section, "clock", parse_clock);
    let default = |value| vec![Placed::new(value, nowhere.clone())];
    let (library, profile) = paired(library, profile, &nowhere);
    Some(TechnologyAxes {
        library,
        node: node?,
        flavour: flavour.unwrap_or_else(|| vec![Placed::new(Flavour::default(), nowhere.clone())]),
        temperature: temperature.unwrap_or_else(|| {
            vec![Placed::new(
                Temperature::from_k(DEFAULT_KELVIN),
                nowhere.clone(),
            )]
        }),
        vdd: vdd.unwrap_or_else(|| default(None)),
        profile,
        clock: clock.map_or_else(Clock::default, |clock| clock.value),
    })
}

const TEMPERATURES: Scale<Temperature> = Scale {
    number: |kelvin| Some(kelvin.si()),
    value: |kelvin, _| Temperature::from_k(kelvin),
    example: "{ from = \"300 K\", to = \"400 K\", step = \"10 K\" }",
};

const SUPPLIES: Scale<Option<Voltage>> = Scale {
    number: |volt| volt.map(Voltage::si),
    value: |volt, _| Some(Voltage::from_v(volt)),
    example: "{ from = \"0.6 V\", to = \"1.0 V\", step = \"0.05 V\" }",
};

/// An axis of the technology.
fn axis<'d, T: PartialEq + Debug>(
    reader: &mut Reader<'_>,
    section: &Section<'d>,
    key: &str,
    parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
    scale: Option<&Scale<T>>,
) -> Option<Axis<T>> {
    reader.values(&format!("gpu.{key}"), section.get(key)?, parse, scale)
}

fn parse_node(value: &DeValue<'_>) -> Result<NodeChoice, Fault> {
    let name = text("`node`", value, "node = \"32nm\"")?;
    if technology::is_file(&name) {
        return Ok(NodeChoice::File(name));
    }
    let feature = Length::from_str(&name);
    feature.map(NodeChoice::Feature).map_err(|error| Fault {
        code: "study::wrong_unit",
        message: format!("`{name}` is not the name of a technology node"),
        label: error.to_string(),
        help: Some(
            "write a feature size such as \"32nm\", or the path of a node file such as \"my.toml\"; `warpwatt list nodes` shows what there is"
                .to_owned(),
        ),
    })
}

fn parse_flavour(value: &DeValue<'_>) -> Result<Flavour, Fault> {
    let name = text("`flavour`", value, "flavour = \"hp\"")?;
    let name = known(
        "transistor flavour",
        "study::unknown_flavour",
        &name,
        Flavour::ALL.map(Flavour::name),
    )?;
    Flavour::from_str(&name).map_err(|error| bad("study::unknown_flavour", error.to_string()))
}

/// A circuit profile by name.
///
/// # Errors
/// There is none of the name.
pub fn parse_profile(value: &DeValue<'_>) -> Result<Profile, Fault> {
    let name = text("`profile`", value, "profile = \"cacti65\"")?;
    crate::array::parse_profile(&name).map_err(|refusal| Fault {
        help: refusal.help,
        ..bad(
            "study::unknown_profile",
            format!("no circuit profile is called `{name}`"),
        )
    })
}

fn parse_clock(value: &DeValue<'_>) -> Result<Clock, Fault> {
    let name = text("`clock`", value, "clock = \"follows_vdd\"")?;
    let name = known(
        "rule of the clock",
        "study::unknown_clock",
        &name,
        Clock::NAMES,
    )?;
    Ok(match name == Clock::NAMES[1] {
        true => Clock::FollowsVdd,
        false => Clock::Fixed,
    })
}

/// A quantity with its unit, as text.
///
/// # Errors
/// It is no text, or no quantity of the kind.
pub fn quantity<T: FromStr>(what: &str, value: &DeValue<'_>, example: &str) -> Result<T, Fault>
where
    T::Err: std::fmt::Display,
{
    let Some(written) = value.as_str() else {
        let fault = Fault::wrong_type(what, value, &format!("\"{example}\""));
        return Err(Fault {
            help: Some("a quantity is a text with a number and a unit".to_owned()),
            ..fault
        });
    };
    T::from_str(written).map_err(|error| Fault {
        code: "study::wrong_unit",
        message: format!("{what} cannot be `{written}`"),
        label: error.to_string(),
        help: Some(format!("write for example \"{example}\"")),
    })
}

fn bad(code: &'static str, message: String) -> Fault {
    Fault {
        code,
        message,
        label: String::new(),
        help: None,
    }
}

/// A setting, or a table of settings at any depth.
fn read_override(
    reader: &mut Reader<'_>,
    path: String,
    key: Range<usize>,
    value: &Spanned<DeValue<'_>>,
    overrides: &mut Vec<Override>,
) {
    if value.get_ref().is_table() && !is_span(value.get_ref()) {
        let Some(section) = reader.as_section(format!("gpu.{path}"), value) else {
            return;
        };
        for (key, value) in section.in_file_order() {
            read_override(
                reader,
                format!("{path}.{}", key.get_ref()),
                key.span(),
                value,
                overrides,
            );
        }
        return;
    }
    if let Some(values) = reader.values(&format!("gpu.{path}"), value, plain, Some(&NUMBERS)) {
        overrides.push(Override { path, key, values });
    }
}
