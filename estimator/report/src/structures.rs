//! What each structure takes without and with a configuration.

use super::chart::Family;
use super::format::{self, NONE};
use super::model::Report;
use super::text::Column;
use crate::outcome::{Outcome, PricedStructure};

/// Sums over the kernels of a configuration.
#[derive(Clone, Copy, Default)]
struct Sums {
    dynamic_j: f64,
    leakage_j: f64,
    /// Of one kernel: it does not depend on the kernel.
    area_m2: f64,
}

impl Sums {
    fn add(&mut self, structure: &PricedStructure) {
        self.dynamic_j += structure.dynamic_j;
        self.leakage_j += structure.leakage_j;
        self.area_m2 = structure.total_area_m2();
    }
}

/// Energy of the structures of the block of this number by family: `icache` of `icache.tag` and `icache.data`.
pub(super) fn families(report: &Report, block: usize) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for (name, sums) in sums(report, block) {
        let energy_j = sums.map(|sums| sums.dynamic_j + sums.leakage_j);
        let name = name.split('.').next().unwrap_or(&name);
        // Names are sorted: a family stands together.
        match families.last_mut().filter(|family| family.name == name) {
            Some(family) => (0..2).for_each(|side| family.energy_j[side] += energy_j[side]),
            None => families.push(Family {
                name: name.to_owned(),
                energy_j,
            }),
        }
    }
    families
}

/// What every structure of a block takes without and with, by name.
fn sums(report: &Report, block: usize) -> Vec<(String, [Sums; 2])> {
    let mut sums: Vec<(String, [Sums; 2])> = Vec::new();
    let mut add = |outcome: &Outcome, side: usize| {
        for structure in &outcome.structures {
            let place = match sums.binary_search_by(|(name, _)| name.as_str().cmp(&structure.name))
            {
                Ok(place) => place,
                Err(place) => {
                    sums.insert(place, (structure.name.to_string(), Default::default()));
                    place
                }
            };
            sums[place].1[side].add(structure);
        }
    };
    for (without, with) in report.pairs(block) {
        add(without, 0);
        add(with, 1);
    }
    sums
}

/// The structures of the block of this number with their energy and area, by name.
pub(super) fn columns(report: &Report, block: usize) -> (Vec<String>, Vec<Column>) {
    let (names, sums): (Vec<String>, Vec<[Sums; 2]>) = sums(report, block).into_iter().unzip();
    let energy = |sums: &Sums| sums.dynamic_j + sums.leakage_j;
    let column = |heading: [&str; 2], meaning: &str, cell: &dyn Fn(&[Sums; 2]) -> String| Column {
        heading: heading.map(str::to_owned).to_vec(),
        meaning: meaning.to_owned(),
        cells: sums.iter().map(cell).collect(),
    };
    let columns = vec![
        column(["dynamic", "nJ"], "dynamic energy without", &|[w, _]| {
            format::nanojoules(w.dynamic_j)
        }),
        column(["with", "nJ"], "dynamic energy with", &|[_, w]| {
            format::nanojoules(w.dynamic_j)
        }),
        column(["leakage", "nJ"], "leakage energy without", &|[w, _]| {
            format::nanojoules(w.leakage_j)
        }),
        column(["with", "nJ"], "leakage energy with", &|[_, w]| {
            format::nanojoules(w.leakage_j)
        }),
        column(
            ["energy", "change"],
            "relative change of both",
            &|[without, with]| {
                let ratio = energy(with) / energy(without);
                if ratio.is_finite() {
                    format::change(ratio - 1.0)
                } else {
                    NONE.to_owned()
                }
            },
        ),
        column(["area", "mm2"], "area without", &|[w, _]| {
            format::number(w.area_m2 * 1e6)
        }),
        column(["with", "mm2"], "area with", &|[_, w]| {
            format::number(w.area_m2 * 1e6)
        }),
    ];
    (names, columns)
}
