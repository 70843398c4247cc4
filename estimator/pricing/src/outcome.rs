//! What one point of a study came out as: counts, cycles, and what they cost.
//!
//! A point is one kernel on one GPU variant at one technology with one technique configuration. An [`Outcome`] is plain data in SI units with the unit in
//! the key, in an order that depends on nothing but its content, so that equal points serialise to equal bytes. The result store keeps one an entry.

mod actions;
#[cfg(test)]
pub(crate) mod by_hand;
mod form;
mod peak;
mod sampled;

pub use actions::{Action, Actions};
pub use form::{Form, Taken};
pub use peak::Peak;
pub use sampled::{DISTURBANCE, SampleError, Sampled, Samples};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_activity::Activity;

use crate::label;
use crate::performance::Performance;

/// The configuration label of a point without any technique.
pub const BASELINE: &str = "baseline";

/// One priced point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What was run.
    pub point: Point,
    /// Cycles of the core clock from the first launch to the last retired warp.
    pub cycles: u64,
    /// The core clock.
    pub clock_hz: f64,
    /// `cycles / clock_hz`.
    pub time_s: f64,
    /// Everything that the GPU model counted, over all streaming multiprocessors.
    pub activity: Arc<Activity>,
    /// How the run went: IPC, occupancy, what cycles went into.
    pub performance: Arc<Performance>,
    /// What techniques report beyond energy, in their order.
    pub metrics: Arc<Vec<Metric>>,
    /// How often each physical register was accessed, where a technique says in which one a value lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_accesses: Option<Arc<RegisterAccesses>>,
    /// What the activity and the time cost, structure by structure, by name.
    pub structures: Vec<PricedStructure>,
    /// The counters that structures of other names are charged for, those of them that counted something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub charged: Arc<BTreeSet<String>>,
    /// Sums over `structures`.
    pub totals: Totals,
    /// What a reader must know to judge the figures.
    pub notes: Arc<Vec<Note>>,
    /// The temperature at which it was priced, if the study asks for the one that its own heat makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// The window of time that takes the most power, if the study asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Peak>,
    /// What was timed, if not all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
}

/// How hot the GPU becomes when the kernel is run again and again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// Whether power and temperature come to rest.
    pub state: HeatState,
    /// The air.
    pub ambient_k: f64,
    /// The SMs, where structures leak; if there is no rest, the last temperature that was reached.
    pub junction_k: f64,
    /// The heat sink.
    pub sink_k: f64,
    /// Kelvin that the additional leakage of one kelvin more makes; from one on there is no rest.
    pub loop_gain: f64,
    /// Mean leakage power at the study's own temperature, for comparison.
    pub study_leakage_w: f64,
    /// How soon the die follows a change of power.
    pub die_time_s: f64,
    /// How soon the heat sink does.
    pub sink_time_s: f64,
    /// By how much a watt of what is priced warms the SMs.
    #[serde(default)]
    pub rise_k_per_w: f64,
    /// By how much the rest of the die warms them.
    #[serde(default)]
    pub others_k: f64,
}

/// How power and temperature came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeatState {
    /// They come to rest.
    Settled,
    /// Leakage makes more heat than is carried away.
    Runaway,
    /// They would come to rest, if at all, above the temperatures that the technology's laws cover.
    OutOfRange,
}

/// What decides a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The kernel and its inputs.
    pub kernel: Arc<KernelName>,
    /// The GPU preset, or the name the study gives its GPU.
    pub gpu: Arc<str>,
    /// The swept settings of the GPU and their values here (`sm.threads` = `512`). Techniques and their parameters are not among them: points that
    /// differ in nothing but `technique` have equal axes, and are compared with each other.
    pub axes: Arc<BTreeMap<String, String>>,
    /// What the circuits are made of and how they run.
    pub technology: TechnologyName,
    /// [`BASELINE`], or the label of the techniques: `filter_cache(entries=32)`, with ` + ` between those of a stack.
    pub technique: Arc<str>,
}

/// A kernel and one of its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelName {
    /// For example `matrix_mul`.
    pub name: String,
    /// The case of its launch file.
    pub case: String,
    /// Abbreviations under which the filter-cache paper lists it, for example `MTM`.
    pub paper: Vec<String>,
}

/// A technology library, a node in it, and the conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TechnologyName {
    /// The library of technology data: `itrs`.
    pub library: Arc<str>,
    /// The node: `32nm`.
    pub node: Arc<str>,
    /// The transistor flavour: `hp`.
    pub flavour: Arc<str>,
    /// Whose rules the circuit models follow: `cacti65`.
    pub profile: Arc<str>,
    /// Junction temperature.
    pub temperature_k: f64,
    /// Supply voltage.
    pub vdd_v: f64,
    /// The rule that made the node out of its neighbours, if the library has no table for it.
    pub interpolation: Option<Arc<str>>,
    /// How the values of the technology were obtained.
    pub provenance: Provenance,
    /// The documents behind them.
    pub sources: Arc<Vec<String>>,
}

/// How many values of a technology were obtained in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Read in a publication.
    pub published: u64,
    /// Measured on hardware.
    pub measured: u64,
    /// From other values by a named rule.
    pub scaled: u64,
    /// Fitted by a script to data.
    pub fitted: u64,
    /// Assumed for a stated reason.
    pub assumed: u64,
}

/// Something that a technique reports: a hit rate, a coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// For example `filter_cache.hit_rate`.
    pub name: String,
    /// Its unit; `1` for a ratio.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// The two counts of which it is the ratio, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<[u64; 2]>,
}

/// Reads and writes of each physical register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterAccesses {
    /// Banks of an SM's register file.
    pub banks: u32,
    /// Accesses by register, summed over SMs: register i lies in bank i modulo `banks`, at row i over `banks`.
    pub counts: Vec<u64>,
}

/// A structure of the GPU with its cost and what the run made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricedStructure {
    /// Its name, as in the activity counters: `icache.data`.
    pub name: Arc<str>,
    /// What it belongs to: [`FRONT_END`] or another part of the streaming multiprocessor.
    pub group: Arc<str>,
    /// How many of it the whole GPU has.
    pub instances: u64,
    /// Area of one.
    pub area_m2: f64,
    /// Sub-threshold leakage of one.
    pub leakage_w: f64,
    /// Gate leakage of one; zero where the profile leaves it out.
    pub gate_leakage_w: f64,
    /// Access time.
    pub delay_s: f64,
    /// The actions that were counted, by name. Empty if nothing was: the structure then only leaks.
    pub actions: Actions,
    /// Sum over `actions`.
    pub dynamic_j: f64,
    /// Leakage of all instances over the whole time, gate leakage included.
    pub leakage_j: f64,
    /// Of which transistors it is, where they are not those of the technology: `lstp`, or `sram cells, lop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavour: Option<Arc<str>>,
    /// The circuit model that priced it.
    pub model: Arc<str>,
    /// How the model splits the array, if it is one.
    pub organisation: Option<Arc<str>>,
    /// One standard deviation of each figure, relative.
    pub uncertainty: RelativeUncertainty,
}

/// The group of the structures that fetch, buffer, check and dispatch instructions.
pub const FRONT_END: &str = "front_end";

/// The group of what lies between the streaming multiprocessors and DRAM: network, second-level cache, memory controllers.
pub const UNCORE: &str = "uncore";

/// The group of what stands beside the chip, and does not warm it.
pub const DRAM: &str = "dram";

/// How often something happened, and at what price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricedAction {
    /// Events over all instances.
    pub count: u64,
    /// Energy of one event.
    pub unit_j: f64,
    /// `count * unit_j`.
    pub total_j: f64,
}

/// One standard deviation of each kind of figure, relative to its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelativeUncertainty {
    /// Of areas.
    pub area: f64,
    /// Of delays.
    pub delay: f64,
    /// Of energies.
    pub energy: f64,
    /// Of leakages.
    pub leakage: f64,
    /// What of each is the circuit model's own error, in quadrature; the rest is shared by all structures of the technology.
    pub method: f64,
}

/// Sums over the structures of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Dynamic energy.
    pub dynamic_j: f64,
    /// Leakage energy.
    pub leakage_j: f64,
    /// Area of all instances.
    pub area_m2: f64,
    /// Leakage power of all instances, gate leakage included.
    pub leakage_w: f64,
}

/// A remark on a point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// One sentence.
    pub text: Arc<str>,
}

/// What a [`Note`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A path was checked against the clock period: a technique's, or those of structures whose transistors are as slow as that allows.
    Timing,
    /// A value stands between two tables.
    Interpolation,
    /// A source table has a known fault in the values used.
    TableDefect,
    /// Something the figures leave out.
    Scope,
    /// A program needs more registers than a technique leaves it.
    Registers,
    /// A structure is the study's own.
    Structure,
    /// The technology is the user's own.
    OwnTechnology,
    /// Power and temperature do not come to rest.
    Thermal,
    /// Another tool counted.
    Foreign,
    /// A part of the run was timed.
    Sampled,
}

/// A GPU and its swept settings in one line.
pub fn gpu_label(gpu: &str, axes: &BTreeMap<String, String>) -> String {
    let mut label = gpu.to_owned();
    for (name, value) in axes {
        label += &format!(" · {name} = {value}");
    }
    label
}

impl Point {
    /// Whether no technique is at work.
    pub fn is_baseline(&self) -> bool {
        &*self.technique == BASELINE
    }

    /// The labels of the techniques that work together: one if there is no stack.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        label::members(&self.technique)
    }

    /// Technique, GPU with its swept settings, technology and operating point in one line: the configuration that reports name.
    pub fn configuration(&self) -> String {
        let gpu = gpu_label(&self.gpu, &self.axes);
        format!("{} · {gpu} · {}", self.technique, self.technology.label())
    }

    /// Whether the two differ in nothing but their technique.
    pub fn differs_only_in_technique(&self, other: &Self) -> bool {
        self.kernel == other.kernel
            && self.gpu == other.gpu
            && self.axes == other.axes
            && self.technology == other.technology
    }
}

impl TechnologyName {
    /// Node, flavour, library, profile and operating point in one line.
    pub fn label(&self) -> String {
        format!(
            "{} {} ({}, {}), {:.2} V, {:.0} K",
            self.node, self.flavour, self.library, self.profile, self.vdd_v, self.temperature_k
        )
    }
}

impl Outcome {
    /// Dynamic and leakage energy of everything that is priced.
    pub fn energy_j(&self) -> f64 {
        self.totals.dynamic_j + self.totals.leakage_j
    }

    /// The temperatures at which it was priced, if it has any of its own.
    pub fn at_rest(&self) -> Option<Heat> {
        self.heat.filter(|heat| heat.state == HeatState::Settled)
    }

    /// Mean leakage power; zero of a run that took no time.
    pub fn leakage_power_w(&self) -> f64 {
        self.power_w(self.totals.leakage_j)
    }

    /// Mean dynamic power; zero of a run that took no time.
    pub fn dynamic_power_w(&self) -> f64 {
        self.power_w(self.totals.dynamic_j)
    }

    /// Mean dynamic power of what stands beside the chip.
    pub fn beside_power_w(&self) -> f64 {
        let beside = self.structures.iter().filter(|it| &*it.group == DRAM);
        self.power_w(beside.map(|it| it.dynamic_j).sum())
    }

    /// Power of the window that takes the most.
    pub fn peak_power_w(&self) -> Option<f64> {
        self.peak.as_ref().map(|peak| peak.power_w(self))
    }

    fn power_w(&self, energy_j: f64) -> f64 {
        if self.time_s > 0.0 {
            energy_j / self.time_s
        } else {
            0.0
        }
    }

    /// The structure `name`, if the GPU has it.
    pub fn structure(&self, name: &str) -> Option<&PricedStructure> {
        self.structures
            .iter()
            .find(|structure| &*structure.name == name)
    }

    /// The structures of `group`.
    pub fn group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a PricedStructure> {
        self.structures
            .iter()
            .filter(move |structure| &*structure.group == group)
    }
}

impl PricedStructure {
    /// Area of all instances.
    pub fn total_area_m2(&self) -> f64 {
        self.instances as f64 * self.area_m2
    }

    /// Dynamic and leakage energy of all instances.
    pub fn energy_j(&self) -> f64 {
        self.dynamic_j + self.leakage_j
    }

    /// Leakage power of all instances, gate leakage included.
    pub fn total_leakage_w(&self) -> f64 {
        self.instances as f64 * (self.leakage_w + self.gate_leakage_w)
    }

    /// The circuit model, and the transistors where they are not the technology's.
    pub fn made_of(&self) -> String {
        let flavour = self.flavour.iter().map(AsRef::as_ref);
        let both: Vec<&str> = [&*self.model].into_iter().chain(flavour).collect();
        both.join(", ")
    }

    /// How often `action` was counted.
    pub fn count(&self, action: &str) -> u64 {
        self.actions.get(action).map_or(0, |priced| priced.count)
    }

    /// The price of `action`; zero if it was never counted.
    pub fn unit_j(&self, action: &str) -> f64 {
        self.actions.get(action).map_or(0.0, |priced| priced.unit_j)
    }
}

impl Totals {
    /// The sums over `structures`, in their order.
    pub fn of(structures: &[PricedStructure]) -> Self {
        structures
            .iter()
            .fold(Self::default(), |sum, structure| Self {
                dynamic_j: sum.dynamic_j + structure.dynamic_j,
                leakage_j: sum.leakage_j + structure.leakage_j,
                area_m2: sum.area_m2 + structure.total_area_m2(),
                leakage_w: sum.leakage_w + structure.total_leakage_w(),
            })
    }
}
