//! Which instructions take a run's dynamic energy.
//!
//! What an instruction does whenever it issues is charged to it exactly. What its accesses do in caches, network and DRAM hangs on all others' too: those energies
//! go to the instructions by the sectors that they ask for or write. What no instruction causes, as a clock that runs, stays apart.

use std::collections::BTreeMap;

use warpwatt_gpu::trace::{
    KernelTrace, MemoryOp, MemoryOpKind, Space, StaticInst, StoreError, Unit,
};
use warpwatt_gpu::{Caused, GpuSpec, caused};
use warpwatt_structures::{Charge, Structure, inventory};

use crate::outcome::{Outcome, PricedStructure};

/// What one static instruction took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Its line in the PTX.
    pub line: u32,
    /// Its number among those of this line.
    pub place: usize,
    /// How often warps issued it.
    pub count: u64,
    /// Its dynamic energy, over all of these.
    pub dynamic_j: f64,
}

/// The dynamic energy of a run by static instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByInstruction {
    /// Instructions that were issued, in the order of the code. An entry that is launched several times has its instructions once.
    pub spent: Vec<Spent>,
    /// The same by class of instructions and structure.
    pub classes: BTreeMap<&'static str, BTreeMap<String, f64>>,
    /// Dynamic energy of structures that is no instruction's, by their names.
    pub rest: BTreeMap<String, f64>,
}

/// Parts the dynamic energy of `outcome`, a run of `traces` on a plain `gpu`.
///
/// # Errors
/// A trace cannot be read where it is kept.
pub fn by_instruction(
    gpu: &GpuSpec,
    traces: &[KernelTrace],
    outcome: &Outcome,
) -> Result<ByInstruction, StoreError> {
    let all = together(gpu, traces)?;
    let mut joules = vec![0.0; all.len()];
    let mut classes: BTreeMap<&str, BTreeMap<String, f64>> = BTreeMap::new();
    let mut rest = BTreeMap::new();
    let structures = inventory(gpu);
    for structure in &outcome.structures {
        let known = structures.iter().find(|it| it.name == &*structure.name);
        let left: f64 = events(structure, known, outcome)
            .map(|(counter, energy)| {
                let shares = shares(&all, &counter, outcome.activity.get(&counter));
                for ((issued, joules), share) in all.iter().zip(&mut joules).zip(&shares) {
                    *joules += energy * share;
                    if *share > 0.0 {
                        let class = classes.entry(issued.class).or_default();
                        *class.entry(structure.name.to_string()).or_default() += energy * share;
                    }
                }
                energy * (1.0 - shares.iter().sum::<f64>())
            })
            .sum();
        // What is left of exact shares is rounding.
        if left > ROUNDING * structure.dynamic_j {
            rest.insert(structure.name.to_string(), left);
        }
    }
    let spent = all.iter().zip(joules);
    let spent = spent.map(|(issued, dynamic_j)| Spent {
        line: issued.line,
        place: issued.place,
        count: issued.caused.times,
        dynamic_j,
    });
    Ok(ByInstruction {
        spent: spent.collect(),
        classes,
        rest,
    })
}

/// An instruction that was issued.
struct Issued {
    line: u32,
    /// Its number among those of the line.
    place: usize,
    class: &'static str,
    caused: Caused,
}

/// The class of an instruction by what executes it; of accesses by where they go.
fn class(inst: &StaticInst) -> &'static str {
    match (inst.unit, &inst.memory) {
        (Unit::Memory, Some(access)) if access.kind == MemoryOpKind::Texture => "textures",
        (Unit::Memory, Some(MemoryOp { space, .. })) => match space {
            Space::Global => "global memory",
            Space::Shared => "shared memory",
            Space::Local => "local memory",
            Space::Const | Space::Param => "constants",
            Space::Generic => "generic memory",
        },
        (Unit::Memory, None) => "other memory",
        (Unit::Int, _) => "integer",
        (Unit::Fp32, _) => "single precision",
        (Unit::Fp64, _) => "double precision",
        (Unit::Sfu, _) => "special functions",
        (Unit::Matrix, _) => "matrix",
        (Unit::Scalar, _) => "scalar",
        (Unit::Control | Unit::Barrier | Unit::Fence, _) => "control",
    }
}

/// Every instruction that was issued, with what it caused, over all launches.
fn together(gpu: &GpuSpec, traces: &[KernelTrace]) -> Result<Vec<Issued>, StoreError> {
    let mut sums: BTreeMap<(u32, usize), (&'static str, Caused)> = BTreeMap::new();
    for trace in traces {
        let code = trace.code.iter().zip(places(trace));
        for ((inst, place), caused) in code.zip(caused(gpu, trace)?) {
            if caused.times > 0 {
                let sum = sums.entry((inst.line, place));
                let (_, sum) = sum.or_insert_with(|| (class(inst), Caused::default()));
                sum.times += caused.times;
                sum.counts += &caused.counts;
                sum.sectors_read += caused.sectors_read;
                sum.sectors_written += caused.sectors_written;
                sum.constants += caused.constants;
                sum.textures += caused.textures;
            }
        }
    }
    let sums = sums.into_iter();
    let issued = sums.map(|((line, place), (class, caused))| Issued {
        line,
        place,
        class,
        caused,
    });
    Ok(issued.collect())
}

/// Relative error of sums of some thousand floats.
const ROUNDING: f64 = 1e-12;

/// The number of each instruction among those of its line.
fn places(trace: &KernelTrace) -> Vec<usize> {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    let numbers = trace.code.iter().map(|inst| {
        let next = seen.entry(inst.line).or_default();
        *next += 1;
        *next - 1
    });
    numbers.collect()
}

/// The counters that work a structure, and the energy that goes with each.
fn events<'s>(
    structure: &'s PricedStructure,
    known: Option<&'s Structure>,
    outcome: &'s Outcome,
) -> impl Iterator<Item = (String, f64)> + 's {
    structure.actions.iter().flat_map(move |(action, priced)| {
        let charges = known.map_or(&[][..], |structure| &structure.charges[..]);
        let charge = charges.iter().find(|charge| charge.action == action.name());
        let events: Vec<(String, u32)> = match charge {
            Some(Charge { events, .. }) => events
                .iter()
                .map(|(counter, each)| ((*counter).to_owned(), *each))
                .collect(),
            None => vec![(format!("{}.{action}", structure.name), 1)],
        };
        let weight = |(counter, each): &(String, u32)| {
            outcome.activity.get(counter) as f64 * f64::from(*each)
        };
        let all: f64 = events.iter().map(weight).sum();
        let energies: Vec<(String, f64)> = events
            .iter()
            .filter(|_| all > 0.0)
            .map(|event| (event.0.clone(), priced.total_j * weight(event) / all))
            .collect();
        energies
    })
}

/// The share of each instruction in what a counter counted.
fn shares(all: &[Issued], counter: &str, counted: u64) -> Vec<f64> {
    let of = |caused_by: &dyn Fn(&Caused) -> u64, least: u64| -> Vec<f64> {
        let causes: Vec<u64> = all.iter().map(|issued| caused_by(&issued.caused)).collect();
        let sum = causes.iter().sum::<u64>().max(least).max(1) as f64;
        causes.into_iter().map(|it| it as f64 / sum).collect()
    };
    let exact = |caused: &Caused| caused.counts.get(counter);
    if all.iter().any(|issued| exact(&issued.caused) > 0) {
        return of(&exact, counted);
    }
    match basis(counter) {
        Some(basis) => of(&basis, 0),
        None => vec![0.0; all.len()],
    }
}

/// By what the events of a counter go to instructions.
fn basis(counter: &str) -> Option<fn(&Caused) -> u64> {
    let begins = |starts: &[&str]| starts.iter().any(|start| counter.starts_with(start));
    if begins(&["fetches", "icache.", "l15.", "instruction_buffer.", "code_"]) {
        return Some(|caused| caused.times);
    }
    if begins(&["constant_"]) {
        return Some(|caused| caused.constants);
    }
    if begins(&["texture_"]) {
        return Some(|caused| caused.textures);
    }
    if begins(&["l1_", "l2_"]) {
        return Some(match counter.contains("write") {
            true => |caused| caused.sectors_written,
            false => |caused| caused.sectors_read,
        });
    }
    if begins(&["load_"]) {
        return Some(|caused| caused.sectors_read);
    }
    if begins(&["store_"]) {
        return Some(|caused| caused.sectors_written);
    }
    if begins(&["atomic_"]) {
        // Only atomics read and write what they ask for.
        return Some(|caused| caused.sectors_read.min(caused.sectors_written));
    }
    begins(&["dram_"]).then_some(|caused| caused.sectors_read + caused.sectors_written)
}
