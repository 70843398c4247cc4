//! What a kernel's run costs at a node: energy, power, and how they part among the structures of the GPU.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use warpwatt_gpu::GpuSpec;
use warpwatt_gpu::trace::KernelTrace;

use super::files::write_one;
use super::present::bar;
use super::spent::{Instructions, Parts};
use crate::by_sm::{PowerBySm, SmSampler};
use crate::diag::{Diag, Rejection, Sink};
use crate::goal::quantity::readable;
use crate::outcome::{NoteKind, Outcome, PricedStructure};
use crate::peak::Sampler;
use crate::pricing::NodeCircuits;
use crate::report::Scope;
use crate::run::by_instruction::by_instruction;
use crate::run::plain::{PowerOverTime, Priced, TimedKernel, priced};
use crate::run::resolve_text;
use crate::study::Question;
use crate::timeline::{Recorder, SmSet};

/// Shares of the energy below which structures are shown together.
const SHOWN: f64 = 0.01;

/// In which technology a run is priced.
#[derive(Debug, Args)]
pub struct Conditions {
    /// Price the run at a technology node: energy, power, and their parts by structure
    #[arg(long, value_name = "NODE", conflicts_with = "no_timing")]
    pub node: Option<String>,
    /// The technology library: silicon, itrs [default: silicon]
    #[arg(long, value_name = "NAME", requires = "node")]
    pub library: Option<String>,
    /// Transistors: hp, lop, lstp [default: hp]
    #[arg(long, value_name = "NAME", requires = "node")]
    pub flavour: Option<String>,
    /// Junction temperature, such as 330K [default: 350 K]
    #[arg(long, value_name = "TEMPERATURE", requires = "node")]
    pub temperature: Option<String>,
    /// Supply, such as 0.75V [default: the nominal one]
    #[arg(long, value_name = "SUPPLY", requires = "node")]
    pub vdd: Option<String>,
    /// Write power over time as CSV, of everything and of each structure, a row a window
    #[arg(long, value_name = "FILE.csv", requires = "node")]
    pub power: Option<PathBuf>,
    /// Whose power it is: a row a window, or a row a window and SM
    #[arg(long, value_name = "WHOSE", requires = "power", default_value = "gpu")]
    pub power_by: Whose,
    /// Show what takes the dynamic energy: opcodes, lines
    #[arg(long, value_name = "PARTS", requires = "node")]
    pub show: Option<Parts>,
    /// Cycles of a window of --power, and of power in a timeline
    #[arg(long, value_name = "N", requires = "node", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub power_window: u64,
}

/// Whose power a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Whose {
    /// The whole GPU's
    Gpu,
    /// That of each SM, and of what belongs to none
    Sm,
}

impl Conditions {
    /// At a node, if one is given, with everything else as usual.
    pub fn at(node: Option<String>, library: Option<String>) -> Self {
        Self {
            node,
            library,
            flavour: None,
            temperature: None,
            vdd: None,
            power: None,
            power_by: Whose::Gpu,
            show: None,
            power_window: 1000,
        }
    }

    /// What counts by windows, if power over time is asked for, as a table or in a timeline.
    pub fn sampler(&self, timeline: bool) -> Option<Sampler> {
        let wanted = self.power.is_some() || timeline && self.node.is_some();
        wanted.then(|| Sampler::new(self.power_window))
    }

    /// What counts single SMs of a GPU by windows, likewise: all of them, or those that the timeline shows.
    pub fn by_sm(&self, gpu: &GpuSpec, timeline: Option<&SmSet>) -> Option<SmSampler> {
        let all = self.is_by_sm();
        let shown = |sm: u16| all || timeline.is_some_and(|shown| shown.contains(sm));
        let wanted = all || timeline.is_some() && self.node.is_some();
        wanted.then(|| SmSampler::new(self.power_window, gpu, shown))
    }

    /// Whether the table is by SM.
    pub fn is_by_sm(&self) -> bool {
        self.power.is_some() && self.power_by == Whose::Sm
    }

    /// Circuits under them; nothing if no node was given, or if something is wrong, which is in `sink` then.
    pub fn circuits(&self, sink: &mut Sink) -> Option<NodeCircuits> {
        let node = self.node.clone()?;
        let bare = self.bare();
        if !bare.is_empty() {
            bare.into_iter().for_each(|diag| sink.push(diag));
            return None;
        }
        let optional = [
            ("library", &self.library),
            ("flavour", &self.flavour),
            ("temperature", &self.temperature),
            ("vdd", &self.vdd),
        ];
        let optional = optional.into_iter();
        let given = optional.filter_map(|(key, value)| Some((key, value.clone()?)));
        let question = Question {
            // Which one plays no part.
            kernels: vec!["vector_add".to_owned()],
            gpu: [("preset", "tesla-16sm".to_owned()), ("node", node)]
                .into_iter()
                .chain(given)
                .collect(),
            ..Question::default()
        };
        let text = question.study(sink)?;
        let resolved = resolve_text("the conditions, as a study", &text, Path::new(""), sink)?;
        let mut technologies = resolved.plan.axes.technologies;
        if technologies.len() > 1 {
            let message = "a run is priced in one technology at a time";
            sink.push(
                Diag::error("kernel::conditions", message)
                    .help("`warpwatt what-if` takes lists: --node 16nm,7nm"),
            );
            return None;
        }
        technologies.pop()
    }

    /// Numbers without a unit, which nothing behind the prompt would take for a quantity.
    fn bare(&self) -> Vec<Diag> {
        let given = [
            ("node", &self.node, "nm"),
            ("temperature", &self.temperature, "K"),
            ("vdd", &self.vdd, "V"),
        ];
        let bare = given.into_iter().filter_map(|(option, value, unit)| {
            let value = value.as_deref()?.trim();
            value.parse::<f64>().ok()?;
            let diag = Diag::error(
                "kernel::conditions",
                format!("`--{option} {value}` has no unit"),
            );
            Some(diag.help(format!("write for example `--{option} {value}{unit}`")))
        });
        bare.collect()
    }
}

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
    power: Option<PowerOverTime>,
    outcome: Outcome,
}

impl Energy {
    /// That of a run; by opcode and line too, where the program's traces are there.
    ///
    /// # Errors
    /// A structure cannot be built.
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
            outcome,
        };
        if let Some(program) = program {
            let parts = by_instruction(gpu, program.traces, &energy.outcome);
            let instructions = Instructions::of(program.source, parts);
            energy.value.extend(instructions.value());
            if let Some(parts) = program.show {
                energy.text += &instructions.text(parts);
            }
        }
        Ok(energy)
    }

    /// Puts power over time into a timeline, if the run was counted by windows.
    pub fn show_power<W: Write>(&self, timeline: &mut Recorder<W>) {
        if let Some(power) = &self.power {
            timeline.power(power, &self.outcome.structures);
        }
    }

    /// Writes power over time, if the run was counted by windows, and says so.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_power(&mut self, path: &Path, whose: Whose) -> Result<(), Rejection> {
        let Some(power) = &self.power else {
            return Ok(());
        };
        let text = match &power.by_sm {
            Some(by_sm) if whose == Whose::Sm => table_by_sm(power, by_sm, &self.outcome),
            _ => table(power, &self.outcome),
        };
        write_one(path, text.as_bytes())?;
        let (file, windows) = (path.display().to_string(), power.spans.len());
        self.text += &format!("  power over time, {windows} windows: {file}\n");
        let written = json!({ "file": file, "windows": windows });
        self.value.insert("power_over_time".to_owned(), written);
        Ok(())
    }
}

/// A row a window: where it begins and ends, the power of everything and of each structure.
fn table(power: &PowerOverTime, outcome: &Outcome) -> String {
    let mut text = "from_s,to_s,power_w".to_owned();
    for structure in &outcome.structures {
        let _ = write!(text, ",{}_w", structure.name);
    }
    text.push('\n');
    for ((from, to), watts) in power.spans.iter().zip(&power.watts) {
        let _ = write!(text, "{from},{to},{}", watts.iter().sum::<f64>());
        for watts in watts {
            let _ = write!(text, ",{watts}");
        }
        text.push('\n');
    }
    text
}

/// A row a window and SM, and one of each window without an SM for what belongs to none. Cells of structures that are not the row's are empty.
fn table_by_sm(power: &PowerOverTime, by_sm: &PowerBySm, outcome: &Outcome) -> String {
    let mut text = "from_s,to_s,sm,power_w".to_owned();
    for structure in &outcome.structures {
        let _ = write!(text, ",{}_w", structure.name);
    }
    text.push('\n');
    for (window, ((from, to), watts)) in power.spans.iter().zip(&power.watts).enumerate() {
        let mut row = |sm: &str, watts: Vec<Option<f64>>| {
            let _ = write!(
                text,
                "{from},{to},{sm},{}",
                watts.iter().flatten().sum::<f64>()
            );
            for watts in watts {
                let _ = match watts {
                    Some(watts) => write!(text, ",{watts}"),
                    None => write!(text, ","),
                };
            }
            text.push('\n');
        };
        for (place, sm) in by_sm.sms().iter().enumerate() {
            row(&sm.to_string(), by_sm.watts(window, place));
        }
        let others = watts.iter().enumerate();
        let others = others.map(|(place, watts)| (!by_sm.is_of_sms(place)).then_some(*watts));
        row("", others.collect());
    }
    text
}

/// Dynamic energy and leakage of a structure.
fn energy(structure: &PricedStructure) -> f64 {
    structure.dynamic_j + structure.leakage_j
}

/// Structures by what they take, the first the most; equal ones by name.
fn ordered(outcome: &Outcome) -> Vec<&PricedStructure> {
    let mut all: Vec<&PricedStructure> = outcome.structures.iter().collect();
    all.sort_by(|a, b| energy(b).total_cmp(&energy(a)).then(a.name.cmp(&b.name)));
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
            "leakage_j": structure.leakage_j, "energy_j": energy(structure),
            "power_w": energy(structure) / outcome.time_s,
            "actions": structure.actions, "model": structure.model,
        });
        if let Some(flavour) = &structure.flavour {
            row["flavour"] = json!(flavour);
        }
        row
    });
    let document = json!({
        "technology": outcome.point.technology, "time_s": outcome.time_s, "energy_j": joules,
        "dynamic_energy_j": totals.dynamic_j, "leakage_energy_j": totals.leakage_j,
        "power_w": joules / outcome.time_s,
        "structures": structures.collect::<Vec<Value>>(),
        "unpriced": scope.unpriced_events,
    });
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
        let share = energy(structure) / joules;
        if share < SHOWN {
            rest += energy(structure);
        } else {
            row(&structure.name, energy(structure), share);
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
