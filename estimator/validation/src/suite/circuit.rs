//! Circuits that a suite builds to compare them with published ones.

use std::collections::BTreeMap;

use warpwatt_circuit::{Cost, OperatingPoint, Profile, Spec, cost};
use warpwatt_gpu::{GpuSpec, Inventory, Preset};
use warpwatt_pricing::pricing::{CostTable, NodeCircuits};
use warpwatt_structures::{Group, inventory};
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library, Technology};
use warpwatt_techniques::{Structure, find};

/// Of what circuits are made, and whose GPU their sizes are. Transistors are high-performance ones, as in the papers; the technology library is the one that
/// goes with the profile.
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
    /// Its own, where it is not that of the setting.
    pub node: Option<String>,
    /// Whose structure it is, where that is not the setting's.
    pub gpu: Option<&'static Preset>,
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
    /// All that is priced of a chip, with as many SMs as its die has.
    Chip { sms: Option<u32> },
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

/// What an expression may take of a chip; DRAM is none of it.
const OF_CHIP: [&str; 5] = ["area_m2", "sms_m2", "uncore_m2", "clock_m2", "bits"];

fn bits(spec: &Spec) -> f64 {
    match spec {
        Spec::Buffer(buffer) => (buffer.entries * buffer.bits) as f64,
        Spec::Ram(ram) => (ram.words * ram.bits) as f64,
        _ => f64::NAN,
    }
}

impl Circuit {
    /// The names that expressions may use for it.
    pub fn names(&self) -> Vec<String> {
        let figures = match self.made_of {
            MadeOf::Chip { .. } => OF_CHIP.to_vec(),
            _ => FIGURES.map(|(figure, _)| figure).to_vec(),
        };
        let name = |figure: &str| format!("{}.{figure}", self.name);
        figures.into_iter().map(name).collect()
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
    let library = match setting.profile {
        Profile::Silicon => Library::silicon(),
        _ => Library::itrs(),
    };
    let library = library.map_err(|error| error.to_string())?;
    let mut at = OperatingPoint::at(setting.temperature);
    at.vdd = setting.vdd;
    for circuit in circuits {
        let node = circuit.node.as_deref().unwrap_or(&setting.node);
        let technology = library.node(node, Flavour::Hp);
        let technology = technology.map_err(|error| error.to_string())?;
        let values = match circuit.made_of {
            MadeOf::Chip { sms } => {
                let circuits = NodeCircuits::new(technology, at, setting.profile);
                chip(&gpu_of(setting, circuit)?, sms, &circuits)
            }
            _ => of_circuit(setting, circuit, (&technology, &at)),
        };
        let values = values.map_err(|error| format!("`{}`: {error}", circuit.name))?;
        figures.extend(circuit.names().into_iter().zip(values));
    }
    Ok(figures)
}

/// The values of [`FIGURES`].
fn of_circuit(
    setting: &Setting,
    circuit: &Circuit,
    (technology, at): (&Technology, &OperatingPoint),
) -> Result<Vec<f64>, String> {
    let structure = structure(setting, circuit)?;
    let cost = cost(technology, at, setting.profile, &structure.spec);
    let cost = cost.map_err(|error| error.to_string())?;
    let values = FIGURES.map(|(_, value)| value(&cost, &structure));
    Ok(values.to_vec())
}

/// The values of [`OF_CHIP`]. Papers' GPUs are priced as chips too.
fn chip(gpu: &GpuSpec, sms: Option<u32>, circuits: &NodeCircuits) -> Result<Vec<f64>, String> {
    let mut gpu = gpu.clone();
    gpu.chip.inventory = Inventory::Chip;
    gpu.sm.count = sms.unwrap_or(gpu.sm.count);
    let structures = inventory(&gpu);
    let table = CostTable::of(&structures, gpu.sm.count, circuits);
    let table = table.map_err(|error| error.to_string())?;
    let area = |groups: &[Group]| -> f64 {
        let entries = table.iter().map(|(_, entry)| entry);
        let of_groups =
            entries.filter(|entry| groups.iter().any(|group| group.name() == entry.group));
        of_groups
            .map(|entry| entry.instances as f64 * entry.cost.area.si())
            .sum()
    };
    let parts = [
        area(&[Group::FrontEnd, Group::Storage, Group::Execution]),
        area(&[Group::Uncore]),
        area(&[Group::Clock]),
    ];
    let arrays = structures
        .iter()
        .filter(|it| matches!(it.spec, Spec::Ram(_)));
    let cells = arrays.map(|it| bits(&it.spec) * it.count.of(gpu.sm.count) as f64);
    Ok([&[parts.iter().sum()], &parts[..], &[cells.sum()]].concat())
}

/// The GPU that it is of.
fn gpu_of(setting: &Setting, circuit: &Circuit) -> Result<GpuSpec, String> {
    let preset = circuit.gpu.or(setting.gpu);
    let gpu = preset.and_then(|preset| preset.spec().ok());
    gpu.ok_or_else(|| "structures and chips need a `gpu`, their own or under `[circuits]`".into())
}

fn structure(setting: &Setting, circuit: &Circuit) -> Result<Structure, String> {
    let (name, technique, parameters) = match &circuit.made_of {
        MadeOf::Spec(spec) => return Ok(Structure::execution("circuit", (**spec).clone(), 1)),
        MadeOf::Structure {
            name,
            technique,
            parameters,
        } => (name, technique, parameters),
        MadeOf::Chip { .. } => return Err("a chip is no structure".to_owned()),
    };
    let gpu = gpu_of(setting, circuit)?;
    let structures = match technique {
        None => inventory(&gpu),
        Some(technique) => {
            let definition =
                find(technique).map_err(|_| format!("there is no technique `{technique}`"))?;
            let technique = definition.parse(parameters);
            technique
                .map_err(|_| "parameters that do not fit".to_owned())?
                .structures(&gpu)
        }
    };
    let found = structures.into_iter().find(|it| it.name == name);
    found.ok_or_else(|| format!("there is no structure `{name}`"))
}
