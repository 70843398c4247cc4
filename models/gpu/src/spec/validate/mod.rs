//! Values that no GPU can have.

mod memory;
mod ranges;
mod read_only;
mod sm;
#[cfg(test)]
mod tests;

use super::{GpuSpec, SpecProblem};

/// Everything that is wrong with `spec`.
pub fn problems(spec: &GpuSpec) -> Vec<SpecProblem> {
    let mut check = Check::default();
    ranges::all(spec, &mut check);
    // What goes together is looked at where each value alone can be.
    for &(tables, relations) in RELATIONS {
        if check.allows(tables) {
            relations(spec, &mut check);
        }
    }
    check.problems
}

type Relations = fn(&GpuSpec, &mut Check);

/// Rules about several values, with the tables that these are in.
const RELATIONS: &[(&[&str], Relations)] = &[
    (&["sm", "operands"], sm::sm),
    (&["icache", "fetch", "operands", "sm"], sm::front_end),
    (&["fetch", "operands", "scheduler", "units"], sm::back_end),
    (
        &["operands", "l1", "shared", "constant", "texture"],
        sm::latencies,
    ),
    (&["ldst", "dram", "shared", "l2"], memory::memory),
    (&["ldst", "dram", "l1", "l2"], memory::caches),
    (&["noc"], memory::network),
    (
        &["ldst", "icache", "constant", "l15", "texture", "l2"],
        read_only::caches,
    ),
    (
        &["sm", "icache", "constant", "texture", "l15", "l1", "l2"],
        memory::footprint,
    ),
];

#[derive(Default)]
struct Check {
    problems: Vec<SpecProblem>,
}

impl Check {
    fn require(&mut self, holds: bool, path: &str, message: impl FnOnce() -> String, help: &str) {
        if !holds {
            self.problems.push(SpecProblem {
                path: path.to_owned(),
                message: message(),
                help: Some(help.to_owned()),
                unknown: false,
            });
        }
    }

    /// Whether nothing is wrong yet in any of the tables.
    fn allows(&self, tables: &[&str]) -> bool {
        let in_tables = |problem: &SpecProblem| {
            let table = problem.path.split('.').next();
            table.is_some_and(|table| tables.contains(&table))
        };
        !self.problems.iter().any(in_tables)
    }

    fn range(&mut self, path: &str, value: u32, lowest: u32, highest: u32) {
        self.require(
            (lowest..=highest).contains(&value),
            path,
            || format!("{value} is out of range"),
            &format!("a whole number from {lowest} to {highest}"),
        );
    }

    fn power_of_two(&mut self, path: &str, value: u32) {
        self.require(
            value.is_power_of_two(),
            path,
            || format!("{value} is not a power of two"),
            "use a power of two",
        );
    }
}
