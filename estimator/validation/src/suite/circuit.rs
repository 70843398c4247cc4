//! Circuits that a suite builds to compare them with published ones.

use std::collections::BTreeMap;

use warpwatt_circuit::{Cost, OperatingPoint, Profile, Spec, cost};
use warpwatt_gpu::Preset;
use warpwatt_structures::inventory;
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library};
use warpwatt_techniques::{Structure, find};

/// Of what circuits are made, and whose GPU their sizes are. Transistors are high-performance ones, as in the papers.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub node: String,
    pub profile: Profile,
    pub temperature: Temperature,
    pub vdd: Option<Voltage>,
    pub gpu: Option<&'static Preset>,
}

/// A circuit by its name in expressions.
#[derive(Clone, Debug)]
pub(super) struct Circuit {
    pub name: String,
    pub made_of: MadeOf,
}

/// Where its description comes from.
#[derive(Clone, Debug)]
pub(super) enum MadeOf {
    /// Itself.
    Spec(Box<Spec>),
    /// A structure of the plain GPU, or one that a technique adds to it.
    Structure {
        name: String,
        technique: Option<String>,
        parameters: toml::Table,
    },
}

type Figure = (&'static str, fn(&Cost, &Structure) -> f64);

/// What an expression may take of a circuit, called as in the catalogue of metrics.
const FIGURES: [Figure; 9] = [
    ("area_m2", |cost, _| cost.area.si()),
    ("delay_s", |cost, _| cost.access_time.si()),
    ("read_j", |cost, _| cost.read_energy.si()),
    ("write_j", |cost, _| cost.write_energy.si()),
    ("leakage_w", |cost, _| cost.leakage.si()),
    ("gate_leakage_w", |cost, _| cost.gate_leakage.si()),
    ("total_leakage_w", |cost, _| {
        cost.leakage.si() + cost.gate_leakage.si()
    }),
    ("per_sm", |_, structure| structure.count.of(1) as f64),
    ("bits", |_, structure| bits(&structure.spec)),
];

fn bits(spec: &Spec) -> f64 {
    match spec {
        Spec::Buffer(buffer) => (buffer.entries * buffer.bits) as f64,
        Spec::Ram(ram) => (ram.words * ram.bits) as f64,
        _ => f64::NAN,
    }
}

impl Circuit {
    /// The names that expressions may use for it.
    pub fn names(&self) -> impl Iterator<Item = String> {
        FIGURES
            .iter()
            .map(|(figure, _)| format!("{}.{figure}", self.name))
    }
}

/// Every figure of every circuit by name.
///
/// # Errors
/// The technology data have a defect, a structure is not there, or a circuit cannot be built.
pub(super) fn price(
    setting: Option<&Setting>,
    circuits: &[Circuit],
) -> Result<BTreeMap<String, f64>, String> {
    let mut figures = BTreeMap::new();
    let Some(setting) = setting else {
        return Ok(figures);
    };
    let technology = Library::itrs()
        .and_then(|library| library.node(&setting.node, Flavour::Hp))
        .map_err(|error| error.to_string())?;
    let mut at = OperatingPoint::at(setting.temperature);
    at.vdd = setting.vdd;
    for circuit in circuits {
        let structure = structure(setting, circuit)?;
        let cost = cost(&technology, &at, setting.profile, &structure.spec);
        let cost = cost.map_err(|error| format!("`{}`: {error}", circuit.name))?;
        for (figure, value) in FIGURES {
            let name = format!("{}.{figure}", circuit.name);
            figures.insert(name, value(&cost, &structure));
        }
    }
    Ok(figures)
}

fn structure(setting: &Setting, circuit: &Circuit) -> Result<Structure, String> {
    let (name, technique, parameters) = match &circuit.made_of {
        MadeOf::Spec(spec) => return Ok(Structure::execution("circuit", (**spec).clone(), 1)),
        MadeOf::Structure {
            name,
            technique,
            parameters,
        } => (name, technique, parameters),
    };
    let gpu = setting.gpu.and_then(|preset| preset.spec().ok());
    let gpu = gpu.ok_or("structures need a `gpu` under `[circuits]`")?;
    let structures = match technique {
        None => inventory(&gpu),
        Some(technique) => {
            let definition =
                find(technique).map_err(|_| format!("there is no technique `{technique}`"))?;
            let technique = definition.parse(parameters);
            technique
                .map_err(|_| format!("`{}`: parameters that do not fit", circuit.name))?
                .structures(&gpu)
        }
    };
    let found = structures.into_iter().find(|it| it.name == name);
    found.ok_or_else(|| format!("`{}`: there is no structure `{name}`", circuit.name))
}
