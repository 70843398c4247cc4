//! What is measured of a point: metrics of the catalogue, expressions of them that a suite names, sums over structures, and what no catalogue has.

use warpwatt_circuit::memory::{MemoryKind, MemoryPart, MemorySpec};
use warpwatt_circuit::{OperatingPoint, Profile, Spec, cost};
use warpwatt_gpu::SECTOR_BYTES;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use warpwatt_input::expression::Expression;
use warpwatt_pricing::outcome::{Outcome, PricedStructure};
use warpwatt_report::metric::FIGURES;

/// A measure that a suite names.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    /// An expression over measures and metrics.
    Is(Expression),
    /// A sum over structures, in the order of their names.
    Sum {
        /// Names; one that ends with `*` stands for all that begin so.
        structures: Vec<String>,
        /// Over the figures of a structure.
        of: Expression,
    },
}

/// What is measured of a point and is no metric of the catalogue: name and value.
type Native = (&'static str, fn(&Outcome) -> Option<f64>);

/// The registry of them.
const NATIVE: [Native; 2] = [
    ("gddr5_energy_j", gddr5_energy_j),
    ("idle_lanes", idle_lanes),
];

/// After the name of an action: its price, and how often it happened.
const UNIT: &str = ".unit_j";
const COUNT: &str = ".count";

/// A measure of the registry.
pub(super) fn native(name: &str) -> Option<fn(&Outcome) -> Option<f64>> {
    let found = NATIVE.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}

/// The names of the registry.
pub(super) fn natives<'a>() -> impl Iterator<Item = &'a str> + Clone {
    NATIVE.iter().map(|(name, _)| *name)
}

/// Whether sums may use a figure of this name.
pub(super) fn is_figure(name: &str) -> bool {
    name.ends_with(UNIT) || name.ends_with(COUNT) || figures().any(|known| known == name)
}

/// The figures that sums may use, beside `ACTION.unit_j` and `ACTION.count`.
pub(super) fn figures() -> impl Iterator<Item = &'static str> + Clone {
    FIGURES.iter().map(|(name, ..)| *name)
}

/// The sum of an expression over the structures of a point that have one of the names.
pub(super) fn sum(outcome: &Outcome, structures: &[String], of: &Expression) -> f64 {
    let named = |structure: &&PricedStructure| {
        structures.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => structure.name.starts_with(prefix),
            None => *structure.name == **name,
        })
    };
    let parts = outcome.structures.iter().filter(named);
    parts
        .map(|structure| {
            let value = of.value(&|name| figure(structure, name));
            value.unwrap_or(f64::NAN)
        })
        .sum()
}

fn figure(structure: &PricedStructure, name: &str) -> f64 {
    if let Some(action) = name.strip_suffix(UNIT) {
        return structure.unit_j(action);
    }
    if let Some(action) = name.strip_suffix(COUNT) {
        return structure.count(action) as f64;
    }
    let found = FIGURES.iter().find(|(known, ..)| *known == name);
    found.map_or(f64::NAN, |(.., value)| value(structure))
}

/// The energy of what memory served: sectors that the second-level cache asked for or sent back. GDDR5 stands for the GDDR3 of a GTX 285, of which no currents are
/// known here.
fn gddr5_energy_j(outcome: &Outcome) -> Option<f64> {
    let n = |name: &str| outcome.activity.get(name) as f64;
    let (hits, misses) = (n("dram_row_hits"), n("dram_row_misses"));
    let row_hits = 100.0 * hits / (hits + misses).max(1.0);
    let spec = Spec::Memory(MemorySpec {
        kind: MemoryKind::Gddr5,
        bits: 8 * u64::from(SECTOR_BYTES),
        row_hits: row_hits.round() as u8,
        part: MemoryPart::Access,
    });
    // The node plays no part in what memory costs.
    let technology = Library::itrs().ok()?.node("32nm", Flavour::Hp).ok()?;
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let access = cost(&technology, &at, Profile::Cacti65, &spec).ok()?;
    let read = n("l2_read_misses") * access.read_energy.si();
    Some(read + n("l2_write_backs") * access.write_energy.si())
}

/// The share of the lanes that execute nothing while their warp does, by the counters of `execution_profile`.
fn idle_lanes(outcome: &Outcome) -> Option<f64> {
    let of = |lanes: u64| {
        let name = format!("execution_profile_lanes_{lanes}");
        outcome.activity.get(&name)
    };
    let (busy, all) = (1..=32).fold((0, 0), |(busy, all), lanes| {
        (busy + lanes * of(lanes), all + 32 * of(lanes))
    });
    Some(1.0 - busy as f64 / all as f64)
}
