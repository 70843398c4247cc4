use std::sync::Arc;

use warpwatt_circuit::logic::Arrivals;
use warpwatt_circuit::{Cost, Gated, Granularity, OperatingPoint, Profile, Spec, Workshop, cost};
use warpwatt_gpu::trace::{
    Flow, LaunchShape, MemoryOp, MemoryOpKind, Register, RegisterKind, Space, StaticInst,
    WarpRecorder,
};
use warpwatt_gpu::{LateOperations, simulate};
use warpwatt_techlib::published::variation;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library, Sigma, Technology};

use warpwatt_gpu::trace::Unit;

use super::regions::Region;
use super::*;

fn technique(text: &str) -> Box<dyn Technique> {
    DEFINITION.parse(&text.parse().unwrap()).unwrap()
}

const fn word(number: u16) -> Register {
    Register {
        kind: RegisterKind::Word,
        number,
    }
}

fn compute(destination: Register, sources: &[Register]) -> StaticInst {
    StaticInst {
        sources: sources.to_vec(),
        destinations: vec![destination],
        bytes: 4,
        line: 1,
        ..StaticInst::bare(Unit::Int)
    }
}

fn access(kind: MemoryOpKind) -> StaticInst {
    StaticInst {
        unit: Unit::Memory,
        sources: Vec::new(),
        destinations: Vec::new(),
        memory: Some(MemoryOp::new(Space::Global, kind, 4)),
        ..compute(word(0), &[])
    }
}

fn of_unit(unit: Unit) -> StaticInst {
    StaticInst {
        unit,
        flow: (unit == Unit::Control).then_some(Flow::Exit),
        ..access(MemoryOpKind::Load)
    }
}

/// An instruction, the lanes that execute it, and the address of its first lane.
type Done = (StaticInst, u64, u64);

/// Instructions one after the other, in `warps` warps of one CTA each.
fn launch(done: &[Done], ctas: u32) -> KernelTrace {
    let code: Vec<StaticInst> = done.iter().map(|it| it.0.clone()).collect();
    let shape = LaunchShape {
        grid: [ctas, 1, 1],
        block: [64, 1, 1],
        warp_width: 64,
        shared_bytes: 0,
        registers: 8,
    };
    let mut trace = KernelTrace::new("k", code.into(), shape);
    let mut recorder = WarpRecorder::default();
    for _ in 0..ctas {
        recorder.clear();
        for (inst, (what, lanes, first)) in (0..).zip(done) {
            let each: Vec<u64> = (0..64).map(|lane| (1 << 40) + first + 4 * lane).collect();
            match what.unit {
                Unit::Memory => recorder.access(inst, u64::MAX, *lanes, &each),
                _ => recorder.step(inst, u64::MAX, *lanes),
            }
        }
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

/// Behind which instructions regions end.
fn ends(done: &[Done], rule: Rule) -> Vec<usize> {
    let trace = launch(done, 1);
    let mut region = Region::new(rule);
    let steps = trace.warp(0, 0).unwrap().enumerate();
    steps
        .filter(|(place, step)| region.ends_behind(&trace.code[*place], step))
        .map(|it| it.0)
        .collect()
}

fn all(inst: StaticInst) -> Done {
    (inst, u64::MAX, 0)
}

#[test]
fn a_region_ends_behind_what_overwrites_what_it_read() {
    let [a, b, c] = [0, 1, 2].map(word);
    let code = [
        all(compute(a, &[b])),
        // The region has read it.
        all(compute(b, &[a])),
        // It reads what it overwrites.
        all(compute(c, &[c])),
        // What it wrote itself it may write again.
        all(compute(a, &[])),
        all(compute(b, &[a])),
        all(compute(a, &[b])),
    ];
    assert_eq!(ends(&code, Rule::Overwritten), [1, 2]);
    assert_eq!(ends(&code, Rule::Memory), [0; 0]);
    assert_eq!(ends(&code, Rule::Instruction), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn registers_are_followed_lane_by_lane_and_doubles_as_words() {
    let [a, b] = [0, 1].map(word);
    let half = 0xffff_ffff;
    let write = |lanes| (compute(a, &[]), lanes, 0);
    let read = |lanes| (compute(b, &[a]), lanes, 0);
    assert_eq!(
        ends(&[write(half), read(half), write(half)], Rule::Overwritten),
        [0; 0]
    );
    assert_eq!(
        ends(
            &[write(half), read(u64::MAX), write(half)],
            Rule::Overwritten
        ),
        [0; 0]
    );
    assert_eq!(
        ends(
            &[write(half), read(u64::MAX), write(!half)],
            Rule::Overwritten
        ),
        [2]
    );
    let double = Register {
        kind: RegisterKind::Double,
        number: 0,
    };
    let code = [all(compute(word(9), &[double])), all(compute(b, &[]))];
    assert_eq!(ends(&code, Rule::Overwritten), [1]);
}

#[test]
fn memory_is_followed_by_words() {
    let load = |first| (access(MemoryOpKind::Load), 1, first);
    let store = |first| (access(MemoryOpKind::Store), 1, first);
    for rule in [Rule::Overwritten, Rule::Memory] {
        assert_eq!(ends(&[load(0), store(4), store(2)], rule), [2]);
        assert_eq!(ends(&[store(0), load(0), store(0)], rule), [0; 0]);
        let atomic = (access(MemoryOpKind::Atomic), 1, 0);
        assert_eq!(
            ends(&[store(8), atomic, all(of_unit(Unit::Barrier))], rule),
            [1, 2]
        );
    }
}

/// Twenty instructions in regions of two, a barrier in the middle.
fn program() -> Vec<Done> {
    let [a, b] = [0, 1].map(word);
    let pair = [all(compute(a, &[b])), all(compute(b, &[a]))];
    let half: Vec<Done> = (0..10).flat_map(|_| pair.clone()).collect();
    let ends = [all(of_unit(Unit::Control))];
    let barrier = [all(of_unit(Unit::Barrier))];
    [&half[..], &barrier, &half, &ends].concat()
}

fn late(parts: u32) -> LateOperations {
    LateOperations {
        fetch: 0,
        wavepool: 0,
        decode: 0,
        issue: parts,
        exec: 0,
        salu: 0,
        simd: 0,
        simf: 0,
        lsu: 0,
        reduction: 100,
    }
}

/// Nothing is lost: without what is behind the code, and of each instruction the last time only, a warp executes its program.
#[test]
fn what_runs_again_is_what_had_run() {
    let trace = launch(&program(), 40);
    let chances = Chances::new(&late(1 << 29));
    let (done, found) = replayed(&trace, (&chances, Rule::Overwritten, 0)).unwrap();
    assert_eq!(found.instructions, trace.warp_instructions());
    // Ten pairs, the barrier, ten pairs, the end.
    assert_eq!(found.regions, 40 * 22);
    assert!(found.errors > 100, "{found:?}");
    let mut issued = 0;
    for cta in 0..40 {
        let steps: Vec<u32> = done.warp(cta, 0).unwrap().map(|step| step.inst).collect();
        issued += steps.len() as u64;
        let program = trace.code.len() as u32;
        let mut left: Vec<u32> = Vec::new();
        for (place, inst) in steps
            .iter()
            .enumerate()
            .filter(|(_, inst)| **inst < program)
        {
            if !steps[place + 1..].contains(inst) {
                left.push(*inst);
            }
        }
        assert_eq!(left, (0..program).collect::<Vec<_>>());
        let barriers = steps.iter().filter(|inst| **inst == 20).count();
        assert_eq!(barriers, 1, "a barrier is reached once");
    }
    assert_eq!(issued, found.instructions + found.again + 3 * found.errors);
    // Drawn from one chance in eight, of all that issued.
    let expected = (issued - 3 * found.errors) as f64 / 8.0;
    let deviation = (found.errors as f64 - expected) / expected.sqrt();
    assert!(deviation.abs() < 4.0, "{deviation}");
    assert_eq!(
        surveyed(&trace, Rule::Overwritten).unwrap().regions,
        found.regions
    );
}

#[test]
fn what_never_passes_is_refused() {
    let trace = launch(&program(), 1);
    let never = Chances::new(&late(u32::MAX));
    let refused = replayed(&trace, (&never, Rule::Overwritten, 0)).unwrap_err();
    assert!(refused.contains("never ends"), "{refused}");
}

#[test]
fn errors_take_time_and_none_take_none() {
    let mut gpu = GpuSpec::preset("miaow").unwrap();
    let traces = [launch(&program(), 40), launch(&program(), 40)];
    let plain = simulate(&gpu, &traces, Hooks::default()).unwrap();
    let run = |gpu: &GpuSpec, text: &str| {
        let mut hooks = Hooks::default();
        technique(text).attach(gpu, &mut hooks);
        simulate(gpu, &traces, hooks).unwrap()
    };
    gpu.late = Some(late(0));
    let never = run(&gpu, "");
    assert_eq!(never.cycles, plain.cycles);
    let same =
        |name: &str| assert_eq!(never.activity.get(name), plain.activity.get(name), "{name}");
    warpwatt_gpu::COUNTERS.iter().for_each(|it| same(it.name));
    assert_eq!(
        never.activity.get("timing_speculation_regions"),
        2 * 40 * 22
    );
    gpu.late = Some(late(1 << 27));
    let [soon, later] = ["penalty = 0", "penalty = 50"].map(|text| run(&gpu, text));
    let of = |name: &str| soon.activity.get(&format!("timing_speculation_{name}"));
    assert!(of("errors") > 0 && of("again") >= of("errors"));
    assert!(plain.cycles < soon.cycles && soon.cycles < later.cycles);
    let metrics = technique("").metrics(&soon);
    let reduction = metrics
        .iter()
        .find(|it| it.name == "timing_speculation.reduction");
    assert!((reduction.unwrap().value - 0.1).abs() < 1e-12);
}

/// Circuits of the 32 nm node for low power.
struct Gates {
    technology: Arc<Technology>,
    at: OperatingPoint,
}

impl Gates {
    fn new() -> Self {
        let technology = Library::silicon().unwrap().node("32nm", Flavour::Lstp);
        Self {
            technology: Arc::new(technology.unwrap()),
            at: OperatingPoint::at(Temperature::from_k(300.0)),
        }
    }
}

impl Circuits for Gates {
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        cost(&self.technology, &self.at, Profile::Silicon, spec).map(Arc::new)
    }

    fn gated(&self, _: &Spec, _: Granularity) -> Result<Gated, CircuitError> {
        Err(CircuitError::NotModelled { what: "gate here" })
    }

    fn arrivals(&self, spec: &Spec) -> Result<Arc<Arrivals>, CircuitError> {
        let varied = variation(&self.technology)?;
        let within = Sigma {
            vth: varied.vth_within_die.value,
            log_length: varied.length_within_die.value,
        };
        let workshop = Workshop::new(Arc::clone(&self.technology), &self.at, Profile::Silicon)?;
        workshop.arrivals(spec, within).map(Arc::new)
    }

    fn conditions(&self) -> Option<(&Technology, OperatingPoint)> {
        Some((&self.technology, self.at))
    }
}

fn each(late: &LateOperations) -> [u32; 9] {
    let LateOperations {
        fetch,
        wavepool,
        decode,
        issue,
        exec,
        salu,
        simd,
        simf,
        lsu,
        ..
    } = *late;
    [fetch, wavepool, decode, issue, exec, salu, simd, simf, lsu]
}

/// Nothing is late at the full supply; the lower it is, and the shorter the period, the more is, in every block; and energy has its least in between.
#[test]
fn lateness_grows_and_energy_has_a_least() {
    let (gpu, circuits) = (GpuSpec::preset("miaow").unwrap(), Gates::new());
    let with = |period, slowest_die| {
        let settings = Settings {
            period,
            slowest_die,
            penalty: 4,
        };
        Blocks::of(&gpu, &circuits, settings).unwrap().unwrap()
    };
    let blocks = with(100, 0);
    assert_eq!(each(&blocks.late(0).unwrap()), [0; 9]);
    let by_supply: Vec<[u32; 9]> = (0..10)
        .map(|step| each(&blocks.late(20 * step).unwrap()))
        .collect();
    let grows = |pair: &[[u32; 9]]| (0..9).all(|block| pair[0][block] <= pair[1][block]);
    assert!(by_supply.windows(2).all(grows), "{by_supply:?}");
    assert!(by_supply[9].iter().any(|parts| *parts > 0));
    let by_period = [100, 95, 90, 80, 70].map(|period| each(&with(period, 0).late(0).unwrap()));
    assert!(by_period.windows(2).all(grows), "{by_period:?}");
    assert!(by_period[4] != [0; 9]);
    // A period for slow dies leaves the typical one room.
    let roomy = each(&with(100, 3).late(100).unwrap());
    let tight = each(&blocks.late(100).unwrap());
    assert!((0..9).all(|block| roomy[block] <= tight[block]));

    let best = blocks.best().unwrap();
    let energy = |millivolt: u32| blocks.energy(millivolt).unwrap().0;
    assert!(best > 0, "{best}");
    assert!(energy(best) < energy(0) && energy(best) < energy(best + 60));
    assert!(energy(best) <= energy(best - 5) && energy(best) <= energy(best + 5));
}

#[test]
fn other_gpus_are_refused_with_the_reason() {
    let mut gpu = GpuSpec::preset("v100").unwrap();
    let refused = technique("").fit(&mut gpu, &Gates::new()).unwrap_err();
    assert!(refused.to_string().contains("compute-unit"), "{refused}");
}
