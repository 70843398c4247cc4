//! A smaller register file, and a compiler that makes do with it: what does not fit goes to local memory.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, section 3.4.2: the comparison for
//! [`register_shrink`](crate::register_shrink). Claim: programs that are compiled to need no more than half the register file take 73 % longer.
//!
//! The compiler gives a thread so many registers that an SM holds as many CTAs as it did with the whole file; a program that cannot do with so few keeps as few as it
//! can, and an SM holds fewer of its CTAs. It is a program of its own: loads and stores of values are executed, and its results checked as any program's.
//!
//! ```
//! let technique = warpwatt_techniques::compiler_spill::DEFINITION.parse(&Default::default());
//! assert_eq!(technique.unwrap().label(), "compiler_spill");
//! ```

use warpwatt_activity::Activity;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::trace::{KernelTrace, LaunchShape, MemoryOpKind, Space};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, Run, resident_ctas};

use crate::compiled::needs_facts;
use crate::register_file::{REGISTER_FILE_KB, Size};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Technique};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "compiler_spill",
    summary: "a smaller register file, for which the compiler keeps values in local memory so that as many CTAs fit as before",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, section 3.4.2",
    parameters: &[REGISTER_FILE_KB.declared()],
    counters: &[
        (
            "local_loads",
            "loads from local memory issued: of values that left their registers, and the program's own",
        ),
        ("local_stores", "stores to local memory issued, likewise"),
        (
            "thread_registers",
            "registers of a thread; the most of any launch",
        ),
    ],
    metrics: &[Judged::headline_low("local_accesses")],
    configure: |values| {
        Ok(Box::new(CompilerSpill {
            size: Size::of(values),
            label: values.label(),
        }))
    },
};

/// A configured smaller file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerSpill {
    size: Size,
    label: String,
}

impl Technique for CompilerSpill {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn reshape(&self, gpu: &mut GpuSpec) {
        *gpu = self.size.applied(gpu);
    }

    fn fit(&self, gpu: &mut GpuSpec, _: &dyn Circuits) -> Result<Fit, CircuitError> {
        self.size.check(gpu)?;
        Ok(Fit::default())
    }

    /// The most with which as many CTAs are on an SM; none would do if even one register is too many.
    fn thread_registers(&self, gpu: &GpuSpec, launch: &LaunchShape) -> Option<u32> {
        let ctas = |gpu: &GpuSpec, registers: u32| {
            let launch = LaunchShape {
                registers,
                ..launch.clone()
            };
            resident_ctas(gpu, "", &launch).unwrap_or(0)
        };
        let whole = ctas(gpu, launch.registers);
        let small = self.size.applied(gpu);
        let fitting = (1..=launch.registers)
            .rev()
            .find(|&registers| ctas(&small, registers) >= whole);
        Some(fitting.unwrap_or(1))
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        needs_facts(hooks, "registers that could be kept in memory instead");
        hooks
            .issue
            .push(Box::new(|sm| Box::new(Counter::new(sm == 0))));
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let n = |counter: &str| run.activity.get(counter);
        vec![Metric::ratio(
            "compiler_spill.local_accesses",
            n("local_loads") + n("local_stores"),
            n("warp_instructions"),
        )]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterFileSize]
    }
}

/// Counts accesses to local memory.
#[derive(Debug, Default)]
struct Counter {
    /// By instruction: what it does there.
    local: Vec<Option<MemoryOpKind>>,
    loads: u64,
    stores: u64,
    registers: u32,
    /// Facts of the program go into the results once, not once an SM.
    first: bool,
}

impl Counter {
    fn new(first: bool) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }
}

impl IssueHook for Counter {
    fn begin(&mut self, trace: &KernelTrace) {
        let accesses = trace.code.iter().map(|inst| inst.memory);
        let local = accesses.map(|access| access.filter(|access| access.space == Space::Local));
        self.local = local
            .map(|access| access.map(|access| access.kind))
            .collect();
        self.registers = self.registers.max(trace.launch.registers);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        match self.local[event.step.inst as usize] {
            None => {}
            Some(MemoryOpKind::Store) => self.stores += 1,
            Some(_) => self.loads += 1,
        }
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("local_loads", self.loads);
        activity.add("local_stores", self.stores);
        if self.first {
            activity.add("thread_registers", u64::from(self.registers));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six CTAs of 256 threads and 20 registers fit 128 KB; for as many in 64 KB a thread has ten, and eight in units of four.
    #[test]
    fn as_many_ctas_fit_as_before() {
        let gpu = GpuSpec::preset("fermi-16sm").unwrap();
        let launch = |registers| LaunchShape {
            grid: [1; 3],
            block: [256, 1, 1],
            warp_width: 32,
            shared_bytes: 0,
            registers,
        };
        let technique = DEFINITION.parse(&toml::Table::new()).unwrap();
        let limit = |registers| technique.thread_registers(&gpu, &launch(registers));
        assert_eq!(limit(20), Some(8));
        assert_eq!(limit(6), Some(6), "which it has room for");
        // Four CTAs only: a thread may have 16.
        assert_eq!(limit(32), Some(16));
    }
}
