//! What lanes and units are left idle: statistics without a cost.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, Figures 4.1, 4.4 and 4.7: how many lanes
//! execute, which of three kinds of units, how many instructions of a kind issue one after the other, and how long a result lies before it is read.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, Register, RegisterKind};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, PlaceEvent, Port, Run};

use crate::{Definition, Metric, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "execution_profile",
    summary: "statistics: executing lanes, kinds of units, runs of one kind, and how long results lie before they are read",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, Figures 4.1, 4.4 and 4.7",
    parameters: &[],
    counters: &[
        (
            "execution_profile_lanes_N",
            "instructions that issued to a unit and that N lanes executed",
        ),
        (
            "execution_profile_sp_instructions",
            "of them to arithmetic units other than the special-function units",
        ),
        (
            "execution_profile_sfu_instructions",
            "of them to special-function units",
        ),
        (
            "execution_profile_ldst_instructions",
            "of them to the load-store unit",
        ),
        (
            "execution_profile_sp_runs",
            "times that a scheduler went over to this kind of unit",
        ),
        ("execution_profile_sfu_runs", "likewise"),
        ("execution_profile_ldst_runs", "likewise"),
        (
            "execution_profile_reads",
            "reads of registers that an instruction of the warp has written",
        ),
        (
            "execution_profile_reads_from_N",
            "of them N cycles after that instruction issued, but less than 2 N; N is a power of two",
        ),
        (
            "execution_profile_reads_under_8",
            "of them less than 8 cycles after it",
        ),
        (
            "execution_profile_reads_over_100",
            "of them more than 100 cycles after it",
        ),
        (
            "execution_profile_reads_over_1000",
            "of them more than 1000 cycles after it",
        ),
    ],
    metrics: &[],
    configure: |_| Ok(Box::new(ExecutionProfile)),
};

/// The statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExecutionProfile;

/// Kinds of units, as the work tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Units {
    Sp,
    Sfu,
    Ldst,
}

const UNITS: [(Units, &str); 3] = [
    (Units::Sp, "sp"),
    (Units::Sfu, "sfu"),
    (Units::Ldst, "ldst"),
];

impl Technique for ExecutionProfile {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (warps, schedulers) = (gpu.warps_per_sm(), gpu.scheduler.count);
        hooks
            .issue
            .push(Box::new(move |_| Box::new(Profile::new(warps, schedulers))));
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(&format!("execution_profile_{name}"));
        let share = |name: String, part, whole| {
            Metric::ratio(format!("execution_profile.{name}"), part, whole)
        };
        let lanes = |few: usize, many: usize| -> u64 {
            (few..=many)
                .map(|lanes| count(&format!("lanes_{lanes}")))
                .sum()
        };
        let all = lanes(0, MOST_LANES);
        let mut metrics = Vec::new();
        for (few, many) in [
            (0, 0),
            (1, 1),
            (2, 8),
            (9, 16),
            (17, 24),
            (25, 31),
            (32, 32),
        ] {
            let name = match few == many {
                true => format!("lanes.{few}"),
                false => format!("lanes.{few}_to_{many}"),
            };
            metrics.push(share(name, lanes(few, many), all));
        }
        for (_, name) in UNITS {
            let instructions = count(&format!("{name}_instructions"));
            metrics.push(share(format!("units.{name}"), instructions, all));
            let runs = count(&format!("{name}_runs"));
            metrics.push(share(format!("run_length.{name}"), instructions, runs));
        }
        let runs = UNITS
            .iter()
            .map(|(_, name)| count(&format!("{name}_runs")))
            .sum();
        metrics.push(share("run_length".to_owned(), all, runs));
        for bound in ["under_8", "over_100", "over_1000"] {
            let reads = count(&format!("reads_{bound}"));
            metrics.push(share(format!("reads.{bound}"), reads, count("reads")));
        }
        metrics
    }
}

/// Lanes of the widest warp.
const MOST_LANES: usize = 64;

/// One SM.
struct Profile {
    code: Vec<Inst>,
    /// By warp and register: when the instruction issued that wrote it last.
    written: Vec<Vec<Option<u64>>>,
    /// What each scheduler issued to last.
    last: Vec<Option<Units>>,
    lanes: [u64; MOST_LANES + 1],
    instructions: [u64; 3],
    runs: [u64; 3],
    reads: Reads,
}

/// Distances in cycles.
#[derive(Clone, Debug, Default)]
struct Reads {
    all: u64,
    under_8: u64,
    over_100: u64,
    over_1000: u64,
    by_power: [u64; 32],
}

/// Words and predicates that an instruction reads and writes.
struct Inst {
    sources: Vec<usize>,
    destinations: Vec<usize>,
}

impl Profile {
    fn new(warps: u32, schedulers: u32) -> Self {
        Self {
            code: Vec::new(),
            written: vec![Vec::new(); warps as usize],
            last: vec![None; schedulers as usize],
            lanes: [0; MOST_LANES + 1],
            instructions: [0; 3],
            runs: [0; 3],
            reads: Reads::default(),
        }
    }

    fn results(&mut self, event: &IssueEvent<'_>) {
        let inst = &self.code[event.step.inst as usize];
        let written = &mut self.written[usize::from(event.warp)];
        for &source in &inst.sources {
            if let Some(&Some(cycle)) = written.get(source) {
                self.reads.add(event.cycle - cycle);
            }
        }
        for &result in &inst.destinations {
            if written.len() <= result {
                written.resize(result + 1, None);
            }
            written[result] = Some(event.cycle);
        }
    }
}

impl Reads {
    fn add(&mut self, distance: u64) {
        self.all += 1;
        self.under_8 += u64::from(distance < 8);
        self.over_100 += u64::from(distance > 100);
        self.over_1000 += u64::from(distance > 1000);
        let power = distance.max(1).ilog2() as usize;
        self.by_power[power.min(31)] += 1;
    }
}

impl IssueHook for Profile {
    fn begin(&mut self, trace: &KernelTrace) {
        let inst = |registers: &[Register]| registers.iter().flat_map(|&it| places(it)).collect();
        let code = trace.code.iter().map(|it| Inst {
            sources: inst(&it.sources),
            destinations: inst(&it.destinations),
        });
        self.code = code.collect();
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.written[usize::from(event.warp)].clear();
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        if event.step.executed != 0 {
            self.results(event);
        }
        let units = match event.port {
            Port::Sp | Port::Int | Port::Fp64 | Port::Tensor | Port::Scalar => Units::Sp,
            Port::Sfu => Units::Sfu,
            Port::Ldst => Units::Ldst,
            Port::Barrier => return,
        };
        self.lanes[event.step.executed.count_ones() as usize] += 1;
        self.instructions[units as usize] += 1;
        let scheduler = usize::from(event.warp) % self.last.len();
        if self.last[scheduler].replace(units) != Some(units) {
            self.runs[units as usize] += 1;
        }
    }

    fn report(&self, activity: &mut Activity) {
        let mut add =
            |name: String, count| activity.add(&format!("execution_profile_{name}"), count);
        for (lanes, &count) in self
            .lanes
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            add(format!("lanes_{lanes}"), count);
        }
        for (units, name) in UNITS {
            add(
                format!("{name}_instructions"),
                self.instructions[units as usize],
            );
            add(format!("{name}_runs"), self.runs[units as usize]);
        }
        let reads = &self.reads;
        for (name, count) in [
            ("reads", reads.all),
            ("reads_under_8", reads.under_8),
            ("reads_over_100", reads.over_100),
            ("reads_over_1000", reads.over_1000),
        ] {
            add(name.to_owned(), count);
        }
        for (power, &count) in reads
            .by_power
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            add(format!("reads_from_{}", 1u64 << power), count);
        }
    }
}

/// Even places for words, odd ones for predicates; a double is two words.
fn places(register: Register) -> impl Iterator<Item = usize> {
    let predicate = register.kind == RegisterKind::Predicate;
    let count = register.kind.words().max(1) as usize;
    let first = usize::from(register.number) * count;
    (first..first + count).map(move |number| 2 * number + usize::from(predicate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_powers_of_two() {
        let mut reads = Reads::default();
        for distance in [1, 7, 8, 101, 1500] {
            reads.add(distance);
        }
        assert_eq!(
            (reads.all, reads.under_8, reads.over_100, reads.over_1000),
            (5, 2, 2, 1)
        );
        assert_eq!([0, 2, 3, 6, 10].map(|power| reads.by_power[power]), [1; 5]);
    }
}
