//! What a run costs at a node: energy, power, and how they part among the structures of the GPU.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_pricing::uncertainty::half_width;

use super::bar;
use super::spent::{Instructions, Parts};
use crate::diag::Diag;
use crate::goal::quantity::readable;
use crate::outcome::{NoteKind, Outcome, PricedStructure};
use crate::pricing::NodeCircuits;
use crate::report::Scope;
use crate::run::by_instruction::{ByInstruction, by_instruction};
use crate::run::plain::{PowerOverTime, Priced, TimedKernel, priced};
use crate::run::trace_store::unstored;

/// Shares of the energy below which structures are shown together.
const SHOWN: f64 = 0.01;

/// What was executed, for energy by instruction.
pub struct Program<'p> {
    /// What its warps did.
    pub traces: &'p [KernelTrace],
    /// The name and the text of the PTX.
    pub source: (&'p str, &'p str),
    /// What the text shows of it.
    pub show: Option<Parts>,
}

/// A run's price as data and as text.
pub struct Energy {
    /// The keys that it adds to the document of a kernel.
    pub value: Map<String, Value>,
    /// Lines of text.
    pub text: String,
    /// Power over time, if the run was counted by windows.
    pub power: Option<PowerOverTime>,
    /// The dynamic energy by instruction, if the program's traces were there.
    pub parts: Option<ByInstruction>,
    /// The price itself.
    pub outcome: Outcome,
}

impl Energy {
    /// That of a run; by opcode and line too, where the program's traces are there.
    ///
    /// # Errors
    /// A structure cannot be built, or a trace not be read where it is kept.
    pub fn of(
        timed: TimedKernel<'_>,
        circuits: &NodeCircuits,
        program: Option<&Program<'_>>,
    ) -> Result<Self, Diag> {
        let gpu = timed.gpu;
        let priced = priced(timed, circuits);
        let Priced { outcome, power } =
            priced.map_err(|error| Diag::error("kernel::pricing", error.to_string()))?;
        let scope = Scope::of(std::slice::from_ref(&outcome));
        let mut energy = Self {
            value: value(&outcome, &scope),
            text: text(&outcome, &scope),
            power,
            parts: None,
            outcome,
        };
        if let Some(program) = program {
            let parts = by_instruction(gpu, program.traces, &energy.outcome);
            let parts = parts.map_err(|error| unstored(&error))?;
            let instructions = Instructions::of(program.source, &parts);
            energy.value.extend(instructions.value());
            if let Some(parts) = program.show {
                energy.text += &instructions.text(parts);
            }
            energy.parts = Some(parts);
        }
        Ok(energy)
    }
}

/// Structures by what they take, the first the most; equal ones by name.
fn ordered(outcome: &Outcome) -> Vec<&PricedStructure> {
    let mut all: Vec<&PricedStructure> = outcome.structures.iter().collect();
    all.sort_by(|a, b| {
        b.energy_j()
            .total_cmp(&a.energy_j())
            .then(a.name.cmp(&b.name))
    });
    all
}

fn value(outcome: &Outcome, scope: &Scope) -> Map<String, Value> {
    let totals = &outcome.totals;
    let joules = totals.dynamic_j + totals.leakage_j;
    let structures = ordered(outcome).into_iter().map(|structure| {
        let instances = structure.instances as f64;
        let mut row = json!({
            "name": structure.name, "group": structure.group, "instances": structure.instances,
            "area_m2": instances * structure.area_m2, "dynamic_j": structure.dynamic_j,
            "leakage_j": structure.leakage_j, "energy_j": structure.energy_j(),
            "power_w": structure.energy_j() / outcome.time_s,
            "actions": structure.actions, "model": structure.model,
            "uncertainty": structure.uncertainty,
        });
        if let Some(flavour) = &structure.flavour {
            row["flavour"] = json!(flavour);
        }
        row
    });
    let mut document = json!({
        "technology": outcome.point.technology, "time_s": outcome.time_s, "energy_j": joules,
        "dynamic_energy_j": totals.dynamic_j, "leakage_energy_j": totals.leakage_j,
        "power_w": joules / outcome.time_s,
        "structures": structures.collect::<Vec<Value>>(),
        "unpriced": scope.unpriced_events,
    });
    if let Some(sampled) = &outcome.sampled {
        document["sampling_halfwidth"] = json!({
            "time_s": half_width(sampled.time_sigma_s()), "energy_j": half_width(sampled.energy_sigma_j()),
        });
    }
    match document {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

fn text(outcome: &Outcome, scope: &Scope) -> String {
    let totals = &outcome.totals;
    let joules = totals.dynamic_j + totals.leakage_j;
    let technology = &outcome.point.technology;
    let mut text = format!(
        "  {} at {} {}, {:.2} V, {:.0} K\n",
        outcome.point.gpu,
        technology.node,
        technology.flavour,
        technology.vdd_v,
        technology.temperature_k
    );
    let mut line = |what: &str, figure: String| {
        let _ = writeln!(text, "  {what:<24}{figure:>16}");
    };
    line("time", readable(outcome.time_s, "s"));
    line("energy", readable(joules, "J"));
    line("of it leakage", readable(totals.leakage_j, "J"));
    line("power", readable(joules / outcome.time_s, "W"));
    if let Some(sampled) = &outcome.sampled {
        let off = half_width(sampled.energy_sigma_j()) / joules;
        let off = format!("± {:.1} %", 100.0 * off);
        line("energy, by what was timed", off);
    }
    text.push_str("  energy by structure\n");
    let mut rest = 0.0;
    let mut row = |name: &str, joules: f64, share: f64| {
        let bar = bar(share);
        let figure = readable(joules, "J");
        let _ = writeln!(
            text,
            "    {name:<26}{figure:>12} {:>6.1}% {bar}",
            100.0 * share
        );
    };
    for structure in ordered(outcome) {
        let share = structure.energy_j() / joules;
        if share < SHOWN {
            rest += structure.energy_j();
        } else {
            row(&structure.name, structure.energy_j(), share);
        }
    }
    row("all others", rest, rest / joules);
    let notes = outcome.notes.iter();
    for note in notes.filter(|note| note.kind == NoteKind::Timing) {
        let _ = writeln!(text, "  {}", note.text);
    }
    if let Some(words) = scope.words() {
        let _ = writeln!(text, "  {words}");
    }
    text
}
