//! Kernels of the suite timed in part, beside the whole: how far off cycles and energy are, and how far off they say that they may be.
//!
//! `cargo run --release -p warpwatt-tests --example sampling -- [preset=NAME] [error=0.02] [way=any|ctas] [case=NAME] [least=INSTRUCTIONS] [KERNEL...]`
//!
//! A line for each kernel of which a part was left out: warp instructions, the share of them that was timed, errors of cycles and energy with half their 95 % intervals in percent, and
//! how many times less time it took; the last line has how many cycles and energies lie within. Without a preset `gtx480`, of each kernel the case `paper`, or its first one.

use std::time::Instant;

use warpwatt::outcome::{KernelName, Outcome, Samples};
use warpwatt::pricing::NodeCircuits;
use warpwatt::run::plain::{TimedKernel, priced};
use warpwatt::run::sampling::Goal;
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::{Control, GpuSpec, Hooks, Run, Way, simulate_under};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::{Kernel, RunOptions, kernels, run_case};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

/// Half the width of an interval of 95 %, in standard deviations.
const HALF: f64 = 1.96;

struct Asked {
    preset: String,
    goal: Goal,
    case: String,
    least: u64,
    names: Vec<String>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        preset: "gtx480".to_owned(),
        goal: Goal {
            error: 0.02,
            way: Way::Any,
        },
        case: "paper".to_owned(),
        least: 1_000_000,
        names: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("preset", name)) => asked.preset = name.to_owned(),
            Some(("error", error)) => asked.goal.error = error.parse().expect("a number"),
            Some(("way", "ctas")) => asked.goal.way = Way::Ctas,
            Some(("case", name)) => asked.case = name.to_owned(),
            Some(("least", count)) => asked.least = count.parse().expect("a number"),
            _ => asked.names.push(argument),
        }
    }
    asked
}

fn traces(kernel: &Kernel, case: &str, warp_width: u32) -> Option<Vec<KernelTrace>> {
    let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is valid");
    let prepared = kernel.prepare(Some(case)).or_else(|_| kernel.prepare(None));
    let (case, prepared) = prepared.expect("the suite's cases are valid");
    let options = RunOptions {
        record: true,
        warp_width,
        threads: 2,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options).ok()?;
    Some(run.into_traces())
}

fn main() {
    let asked = asked();
    let spec = GpuSpec::preset(&asked.preset).expect("a preset");
    let technology = Library::itrs()
        .and_then(|library| library.node("32nm", Flavour::Hp))
        .expect("the library has it");
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let circuits = NodeCircuits::new(technology, at, Profile::Silicon);
    println!(
        "kernel               instructions   timed    cycles              energy              times"
    );
    let (mut figures, mut within) = (0, 0);
    let wanted = |kernel: &&Kernel| {
        asked.names.is_empty() || asked.names.iter().any(|name| name == kernel.name)
    };
    for kernel in kernels().iter().filter(wanted) {
        let Some(traces) = traces(kernel, &asked.case, spec.sm.warp_width) else {
            continue;
        };
        let instructions: u64 = traces.iter().map(KernelTrace::warp_instructions).sum();
        if instructions < asked.least {
            continue;
        }
        let Some(beside) = Beside::of(&spec, &traces, asked.goal, &circuits) else {
            continue;
        };
        figures += 2;
        within += beside.within();
        beside.print(kernel.name, instructions);
    }
    println!("{within} of {figures} within");
}

/// A figure of the sample against that of the whole.
struct Figure {
    off: f64,
    half_width: f64,
}

impl Figure {
    fn of(whole: f64, part: f64, sigma: f64) -> Self {
        Self {
            off: part / whole - 1.0,
            half_width: HALF * sigma / part,
        }
    }

    fn is_within(&self) -> bool {
        self.off.abs() <= self.half_width
    }
}

struct Beside {
    timed: f64,
    cycles: Figure,
    energy: Figure,
    faster: f64,
}

impl Beside {
    /// Nothing if nothing was left out.
    #[expect(clippy::disallowed_methods, reason = "the time is what is asked for")]
    fn of(
        spec: &GpuSpec,
        traces: &[KernelTrace],
        goal: Goal,
        circuits: &NodeCircuits,
    ) -> Option<Self> {
        let time = |sampling| {
            let control = Control {
                sampling,
                ..Control::default()
            };
            simulate_under(spec, traces, Hooks::default(), control).expect("it runs")
        };
        let sigma = |run: &Run| Samples::of(run).map(|samples| samples.cycles_sigma(run.cycles));
        let begin = Instant::now();
        let part = goal
            .meet(|sampling| Ok::<Run, ()>(time(sampling)), sigma)
            .ok()?;
        let part_s = begin.elapsed().as_secs_f64();
        let samples = Samples::of(&part)?;
        let begin = Instant::now();
        let whole = time(None);
        let whole_s = begin.elapsed().as_secs_f64();
        let price = |run: &Run| -> Outcome {
            let timed = TimedKernel {
                kernel: &KernelName::default(),
                preset: "",
                gpu: spec,
                run,
                windows: None,
                by_sm: None,
            };
            priced(timed, circuits).expect("it can be built").outcome
        };
        let (exact, sampled) = (price(&whole), price(&part));
        let sigma_j = sampled.sampled.as_ref()?.energy_sigma_j();
        let sigma = samples.sigma(part.cycles) * part.cycles as f64;
        Some(Self {
            timed: 1.0 - samples.skipped(),
            cycles: Figure::of(whole.cycles as f64, part.cycles as f64, sigma),
            energy: Figure::of(exact.energy_j(), sampled.energy_j(), sigma_j),
            faster: whole_s / part_s,
        })
    }

    fn within(&self) -> u32 {
        u32::from(self.cycles.is_within()) + u32::from(self.energy.is_within())
    }

    fn print(&self, name: &str, instructions: u64) {
        let figure = |figure: &Figure| {
            let mark = if figure.is_within() { ' ' } else { '*' };
            let [off, half] = [figure.off, figure.half_width].map(|it| 100.0 * it);
            format!("{off:+6.2} ± {half:5.2} %{mark}")
        };
        println!(
            "{name:20} {instructions:12} {:6.1} %  {}  {}  {:6.1}",
            100.0 * self.timed,
            figure(&self.cycles),
            figure(&self.energy),
            self.faster
        );
    }
}
