//! Area, delay, energy and leakage of arrays, caches, buffers and logic.
//!
//! One pure function, [`cost`], from a technology, an operating point, a profile and a specification to a [`Cost`] with its breakdown.

mod array;
mod associative;
mod build;
mod choices;
mod compare;
mod cost;
mod design;
mod equation;
mod error;
mod gate;
mod gating;
mod interface;
pub mod logic;
mod low_swing;
pub mod memory;
pub mod noc;
mod process;
pub mod registry;
mod repeater;
mod settings;
mod slices;
mod small;
mod spec;
pub mod thermal;
pub mod units;

pub use cost::{Alternative, Cost, Organisation, Part, Uncertainty};
pub use design::{Design, Layout, Running, Workshop};
pub use equation::{Equation, Quantity};
pub use error::CircuitError;
pub use gating::{CostAt, Gated, GatedMode, GatedSide, Gating, Granularity, gate as power_gate};
pub use interface::MacroStyle;
pub use settings::{
    BitCell, Circuits, Layer, Objective, Profile, Projection, Settings, Signalling, Weights,
    WireChoice,
};
pub use spec::{
    Access, BufferSpec, CacheSpec, CamSpec, ComparatorSpec, Flavours, FullyAssociativeSpec,
    MuxSpec, OperatingPoint, Ports, RamSpec, SelectSpec, Spec, TagSpec,
};

use process::Process;
use warpwatt_techlib::Technology;

/// Area, delay, energy and leakage of a structure.
///
/// Pure: the same arguments give the same bits. An array that CACTI would refuse for its size is modelled by the same equations without CACTI's limits, and
/// [`Cost::model`] says so.
///
/// # Errors
///
/// If a size or the operating point is outside what the models cover; the error names the constraint and the nearest value that works.
///
/// ```
/// use warpwatt_circuit::{OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
/// use warpwatt_techlib::{Flavour, Library, quantity::Temperature};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let technology = Library::itrs()?.node("32nm", Flavour::Hp)?;
/// let spec = Spec::Ram(RamSpec { words: 256, bits: 128, out_bits: None, ports: Ports::READ_AND_WRITE, banks: 1 });
/// let cost = cost(&technology, &OperatingPoint::at(Temperature::from_k(350.0)), Profile::Cacti65, &spec)?;
/// assert!((cost.read_energy.as_pj() - 4.3).abs() < 0.1);
/// # Ok(())
/// # }
/// ```
pub fn cost(
    technology: &Technology,
    at: &OperatingPoint,
    profile: Profile,
    spec: &Spec,
) -> Result<Cost, CircuitError> {
    cost_with(technology, technology, at, &profile.settings(), spec)
}

/// The same with cells and periphery of two flavours of one node, and with every setting. Structures without memory cells use the periphery alone.
///
/// # Errors
///
/// As of [`cost`]; also if the two technologies are not of one node.
pub fn cost_with(
    cell: &Technology,
    periphery: &Technology,
    at: &OperatingPoint,
    settings: &Settings,
    spec: &Spec,
) -> Result<Cost, CircuitError> {
    let design = Process::design(cell, periphery, at.temperature, settings)?;
    let nominal = settings.profile.design_temperature(at.temperature);
    let elsewhere = at.vdd.is_some() || at.temperature != nominal;
    let run = elsewhere.then(|| design.running((cell, periphery), at, settings));
    let run = run.transpose()?;
    let layout = Layout::new(&design, (periphery, settings), spec)?;
    let mut cost = match run {
        Some(run) => layout.running(&run, (periphery, settings))?,
        None => layout.cost().clone(),
    };
    if let Some(gating) = &settings.gating {
        cost.gated = Some(power_gate(
            periphery,
            cell,
            (&OperatingPoint::at(nominal), layout.cost()),
            (at, &cost),
            gating,
        )?);
    }
    Ok(cost)
}

fn priced(sizing: &build::Sizing, spec: &Spec) -> Result<Cost, CircuitError> {
    let (run, periphery) = (sizing.run, sizing.technology);
    match spec {
        Spec::Ram(ram) => build::ram(sizing, ram),
        Spec::Cache(cache) => build::cache(sizing, cache),
        Spec::CacheData(cache) => build::cache_data(sizing, cache),
        Spec::Tags(tags) => build::tags(sizing, tags),
        Spec::Cam(cam) => associative::cam(sizing, cam),
        Spec::FullyAssociative(cache) => associative::cache(sizing, cache),
        Spec::Buffer(buffer) => small::buffer(sizing, buffer),
        Spec::Mux(mux) => logic::mux(run, periphery, mux),
        Spec::Select(select) => logic::select(run, periphery, select),
        Spec::Comparator(comparator) => logic::comparator(run, periphery, comparator),
        Spec::Logic(block) => logic::block(sizing, block),
        Spec::Unit(unit) => units::unit(sizing, unit, units::Scope::Built),
        Spec::Datapath(unit) => units::unit(sizing, unit, units::Scope::Datapath),
        Spec::Mcpat(block) => units::mcpat_block(sizing, block),
        Spec::Noc(block) => noc::block(sizing, block),
        Spec::Memory(device) => memory::device(sizing, device),
    }
}
