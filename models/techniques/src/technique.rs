//! What a technique is.

use std::fmt::Debug;
use std::sync::Arc;

use warpwatt_circuit::logic::Arrivals;
use warpwatt_circuit::{CircuitError, Cost, Flavours, Gated, Granularity, OperatingPoint, Spec};
use warpwatt_gpu::trace::LaunchShape;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage, Whole};
use warpwatt_structures::Stage;
use warpwatt_techlib::Technology;
use warpwatt_techlib::quantity::{Time, Voltage};

use crate::recovery::Recovery;
use crate::registers_over_time::RegistersOverTime;
use crate::{LaneCheck, Structure};

/// One configured technique.
///
/// The order of a study's point: [`reshape`](Self::reshape), then [`fit`](Self::fit) at the point's node and clock, then [`attach`](Self::attach) and the
/// run; [`structures`](Self::structures) are priced and [`metrics`](Self::metrics) read from the run. Everything that is not overridden does nothing.
pub trait Technique: Send + Sync + Debug {
    /// The name in studies and in the registry: `filter_cache`.
    fn name(&self) -> &'static str;

    /// The name with the parameters that tell it apart: `filter_cache(entries=32)`. Equal labels mean equal techniques.
    fn label(&self) -> String {
        self.name().to_owned()
    }

    /// Changes the GPU before the run.
    fn reshape(&self, gpu: &mut GpuSpec) {
        let _ = gpu;
    }

    /// Checks at one node whether the technique's circuits fit the clock; what does not fit makes the pipeline longer in `gpu`.
    ///
    /// # Errors
    /// If a circuit cannot be built.
    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let _ = (gpu, circuits);
        Ok(Fit::default())
    }

    /// Attaches to the pipeline.
    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let _ = (gpu, hooks);
    }

    /// In words of its own, everything about it that can change time, or what the GPU counts without it: on equal GPUs, techniques with equal words take equal
    /// time, and one without any only watches. What changes the [GPU](Self::reshape) or the [program](Self::thread_registers) need not be said.
    fn decides(&self) -> String {
        self.label()
    }

    /// Names of what it attaches: hooks at the issue, then watchers of fetches. In one run, those of equal names count the same if what stands before them does. If it
    /// gives none, only those of techniques with equal labels do.
    fn attached(&self) -> Vec<String> {
        Vec::new()
    }

    /// As [`attach`](Self::attach), for a run in which needed bits are followed: what is attached notes in `journals` what happens in [`storage`](Self::storage).
    /// Gives in addition what makes flips of stored bits noticed in each SM; `None` if nothing does. What it gives may share what it knows with what it attaches,
    /// and must not change the run.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        journals: &Journals,
    ) -> Option<ProtectionFactory> {
        let _ = journals;
        self.attach(gpu, hooks);
        None
    }

    /// Attaches the technique to a run, telling of registers over time; says whether it manages any.
    fn attach_over_time(&self, gpu: &GpuSpec, hooks: &mut Hooks, log: &RegistersOverTime) -> bool {
        let _ = log;
        self.attach(gpu, hooks);
        false
    }

    /// Storage that the technique adds to each SM and whose bits are followed, with its bits.
    fn storage(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        let _ = gpu;
        Vec::new()
    }

    /// Whether traces must show where the lanes of a computation have the same operands.
    fn needs_values(&self) -> bool {
        false
    }

    /// Whether whole CTAs can be left out of a run, as what it counts adds up over CTAs: no counts of the most there was, of squares, of what happens between events that are
    /// far apart, or of states that last longer than a few CTAs. Of others every run is timed whole.
    fn adds_up(&self) -> bool {
        false
    }

    /// The most registers that the compiler may give a thread of such a launch, if the technique says so; `gpu` is the GPU as it is without techniques. What does
    /// not fit goes to local memory, in a program of its own.
    fn thread_registers(&self, gpu: &GpuSpec, launch: &LaunchShape) -> Option<u32> {
        let _ = (gpu, launch);
        None
    }

    /// The structures that the technique adds.
    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let _ = gpu;
        Vec::new()
    }

    /// What it adds around structures that are there, those of the other techniques among them.
    fn around(&self, gpu: &GpuSpec, structures: &[Structure]) -> Vec<Structure> {
        let _ = (gpu, structures);
        Vec::new()
    }

    /// Codes on whole structures that all SMs share, for a run in which needed bits are followed.
    fn shared_codes(&self) -> Vec<Whole> {
        Vec::new()
    }

    /// Changes structures that are there without it, those that other techniques add among them: what it resizes, or switches off at times.
    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        let _ = (gpu, structures);
    }

    /// What the technique reports beyond energy.
    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let _ = run;
        Vec::new()
    }

    /// How the technique finds that a lane computes wrongly, if it does.
    fn lane_check(&self, gpu: &GpuSpec) -> Option<LaneCheck> {
        let _ = gpu;
        None
    }

    /// How it corrects a flip in a structure, where it does.
    fn recovery(&self, gpu: &GpuSpec, structure: Storage) -> Option<Recovery> {
        let _ = (gpu, structure);
        None
    }

    /// What only one technique of a configuration can have.
    fn claims(&self) -> &'static [Claim] {
        &[]
    }
}

/// Something that techniques cannot share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The place before the I-cache ([`Hooks::fetch_filter`]).
    FetchFilter,
    /// Which lanes execute an instruction whose operands are the same in all of them.
    Scalars,
    /// Where the registers of warps lie in the register file.
    RegisterPlaces,
    /// Which operands come from the register file, and which results go there.
    Operands,
    /// How large the register file is.
    RegisterFileSize,
    /// The check bits of the instruction buffer.
    InstructionCheckBits,
    /// The check bits of the register file.
    RegisterCheckBits,
    /// The second execution of instructions.
    SecondExecution,
}

impl Claim {
    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::FetchFilter => "the place of the fetch filter before the I-cache",
            Self::Scalars => "the execution of instructions whose lanes have the same operands",
            Self::RegisterPlaces => "to decide where registers lie in the register file",
            Self::Operands => "to decide which operands are read from the register file",
            Self::RegisterFileSize => "to decide how large the register file is",
            Self::InstructionCheckBits => "to give instructions in the buffer their check bits",
            Self::RegisterCheckBits => "to give registers their check bits",
            Self::SecondExecution => "to execute every instruction a second time",
        }
    }
}

/// Costs of circuits at one node and operating point.
pub trait Circuits {
    /// What `spec` costs.
    ///
    /// # Errors
    /// If it cannot be built.
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError>;

    /// What sleep transistors do to `spec`.
    ///
    /// # Errors
    /// If it cannot be built, or has no parts of that granularity.
    fn gated(&self, spec: &Spec, granularity: Granularity) -> Result<Gated, CircuitError>;

    /// The least leaky flavours in which `spec` is in time for `stage`; none where those that everything is asked for with are.
    ///
    /// # Errors
    /// If it cannot be built.
    fn in_time(&self, _spec: &Spec, _stage: Stage) -> Result<Option<Flavours>, CircuitError> {
        Ok(None)
    }

    /// When the outputs of a block of logic change last, at the nominal supply.
    ///
    /// # Errors
    /// If it is no logic of gates alone, or nothing is known of paths here.
    fn arrivals(&self, _spec: &Spec) -> Result<Arc<Arrivals>, CircuitError> {
        Err(CircuitError::NotModelled {
            what: "distribution of path delays",
        })
    }

    /// The technology and the operating point, where there is one.
    fn conditions(&self) -> Option<(&Technology, OperatingPoint)> {
        None
    }

    /// The same node in other flavours, if it is there in them.
    fn of_flavours(&self, _flavours: Flavours) -> Option<&dyn Circuits> {
        None
    }
}

/// The outcome of a timing check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// The paths that were checked.
    pub paths: Vec<Path>,
    /// What a reader of the results must know, with the figures in picoseconds.
    pub notes: Vec<String>,
    /// The supply at which everything on it runs, where the technique says so.
    pub supply: Option<Voltage>,
}

/// A chain of circuits that has to work within a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Its name.
    pub name: &'static str,
    /// The circuits passed, with their delays.
    pub parts: Vec<(&'static str, Time)>,
}

impl Path {
    /// The sum of the delays.
    pub fn total(&self) -> Time {
        Time::from_ps(self.parts.iter().map(|(_, delay)| delay.as_ps()).sum())
    }

    /// One line about the path against the clock's period, for the notes of `technique`.
    pub fn against(&self, period: Time, technique: &str) -> String {
        let parts = self.parts.iter();
        let parts: Vec<String> = parts
            .map(|(name, delay)| format!("{name} {:.0} ps", delay.as_ps()))
            .collect();
        let (total, period) = (self.total().as_ps(), period.as_ps());
        let verdict = if total <= period {
            "fits"
        } else {
            "does not fit"
        };
        format!(
            "{technique}: {}: {} = {total:.0} ps; {verdict} the period of {period:.0} ps",
            self.name,
            parts.join(" + ")
        )
    }
}

/// A figure that a technique reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// For example `filter_cache.hit_rate`.
    pub name: String,
    /// Its unit; `1` for a ratio.
    pub unit: &'static str,
    /// The value.
    pub value: f64,
    /// The two counts of which it is the ratio, if it is one.
    pub ratio: Option<[u64; 2]>,
}

impl Metric {
    /// The ratio of two counts; zero if there was nothing.
    pub fn ratio(name: impl Into<String>, part: u64, whole: u64) -> Self {
        let value = if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        };
        Self {
            name: name.into(),
            unit: "1",
            value,
            ratio: Some([part, whole]),
        }
    }
}
