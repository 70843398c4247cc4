//! Vulnerability of structures over timing runs, on kernels small enough to be followed by hand.

mod support;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use support::{launch, trace};
use warpwatt_gpu::{
    CodeEvent, Fetched, GpuSpec, Hooks, IssueEvent, IssuePlan, PlaceEvent, Policy, SharedEvent,
    SharedObserver, StorageObserver, simulate,
};
use warpwatt_reliability::{
    BitCycles, LaunchAvf, Liveness, Outcome, Probe, Shape, Structure, Whole, whole_structures,
};
use warpwatt_simt::trace::KernelTrace;

fn gpu() -> GpuSpec {
    let mut spec = GpuSpec::preset("softerror-28sm").unwrap();
    spec.sm.count = 1;
    spec
}

fn measure_with(spec: &GpuSpec, trace: &KernelTrace, protections: &[Whole]) -> LaunchAvf {
    let found = measure_all(spec, std::slice::from_ref(trace), protections);
    found.into_iter().next().unwrap()
}

fn measure_all(spec: &GpuSpec, traces: &[KernelTrace], protections: &[Whole]) -> Vec<LaunchAvf> {
    let needs = traces
        .iter()
        .map(|trace| Arc::new(Liveness::of(trace).unwrap()));
    let probe = Probe::new(spec, needs.collect(), 16);
    let mut hooks = Hooks::default();
    probe.attach(&mut hooks, whole_structures(protections.to_vec()));
    let run = simulate(spec, traces, hooks).unwrap();
    let found = probe.finish();
    let cycles = run.launches.iter().map(|launch| launch.cycles);
    assert!(cycles.eq(found.iter().map(|launch| launch.cycles)));
    found
}

fn measure(trace: &KernelTrace) -> LaunchAvf {
    measure_with(&gpu(), trace, &[])
}

/// When instructions of one warp came, issued, read, entered and wrote.
#[derive(Default)]
struct Log {
    placed: u64,
    retired: u64,
    buffered: Vec<u64>,
    issued: Vec<(u64, u64)>,
    entered: Vec<(u32, u64)>,
    written: Vec<(u32, u64)>,
    shared: Vec<u64>,
    launches: Vec<u64>,
    /// Addresses of instructions that the warp will issue, in the order of their fetches; those that a fetch has not read yet, and when each was read.
    fetched: Vec<u64>,
    read: Vec<u64>,
    filled: BTreeMap<u64, u64>,
}

struct Logger(Rc<RefCell<Log>>);

impl StorageObserver for Logger {
    fn placed(&mut self, event: PlaceEvent) {
        self.0.borrow_mut().placed = event.cycle;
    }
    fn begin(&mut self, cycle: u64, _: &KernelTrace) {
        self.0.borrow_mut().launches.push(cycle);
    }
    fn fetched(&mut self, cycle: u64, event: Fetched) {
        let words = (0..8).filter(|place| event.path >> place & 1 != 0);
        let log = &mut *self.0.borrow_mut();
        log.fetched.extend(words.map(|place| event.pc + 8 * place));
        if event.read {
            log.read.resize(log.fetched.len(), cycle);
        }
    }
    fn code_cached(&mut self, cycle: u64, event: CodeEvent) {
        let log = &mut *self.0.borrow_mut();
        match event {
            CodeEvent::Filled { line } => assert_eq!(log.filled.insert(line, cycle), None),
            CodeEvent::Read { .. } => log.read.resize(log.fetched.len(), cycle),
            CodeEvent::Evicted { line } => panic!("{line} went"),
        }
    }
    fn buffered(&mut self, cycle: u64, _: u8, right: u8, _: u8) {
        let log = &mut self.0.borrow_mut().buffered;
        log.extend((0..right).map(|_| cycle));
    }
    fn issued(&mut self, event: &IssueEvent<'_>, _: &IssuePlan, read: u64) {
        self.0.borrow_mut().issued.push((event.cycle, read));
    }
    fn entered(&mut self, cycle: u64, _: u8, inst: u32) {
        self.0.borrow_mut().entered.push((inst, cycle));
    }
    fn written(&mut self, cycle: u64, _: u8, inst: u32) {
        self.0.borrow_mut().written.push((inst, cycle));
    }
    fn accesses_shared(
        &mut self,
        cycle: u64,
        _: u8,
        _: u32,
        _: (&warpwatt_simt::trace::Addresses, u64),
    ) {
        self.0.borrow_mut().shared.push(cycle);
    }
    fn retired(&mut self, cycle: u64, _: u8) {
        self.0.borrow_mut().retired = cycle;
    }
}

fn log(trace: &KernelTrace) -> Log {
    log_all(std::slice::from_ref(trace))
}

fn log_all(traces: &[KernelTrace]) -> Log {
    let log = Rc::new(RefCell::new(Log::default()));
    let shown = log.clone();
    let mut hooks = Hooks::default();
    hooks
        .storage
        .push(Box::new(move |_| Box::new(Logger(shown.clone()))));
    simulate(&gpu(), traces, hooks).unwrap();
    log.take()
}

impl Log {
    fn written(&self, inst: u32) -> u128 {
        let found = self.written.iter().find(|(it, _)| *it == inst);
        u128::from(found.unwrap().1)
    }

    fn read(&self, inst: usize) -> u128 {
        u128::from(self.issued[inst].1)
    }
}

fn of(found: &LaunchAvf, structure: Structure) -> BitCycles {
    *found.of(structure)
}

/// Instructions: 0 `mov r1, tid`; 1 `ld.param rd1`; 2 `mad.wide rd2`; 3 the first of the body.
#[test]
fn registers_are_needed_from_their_write_to_their_last_needed_read() {
    // 3 `add r2, r1, 1`: dead; 4 `and r3, r1, 255`; 5 `st [rd2], r3`; 6 `ret`.
    let trace = trace("add.u32 %r2, %r1, 1; and.b32 %r3, %r1, 255; st.global.u32 [%rd2], %r3;");
    let (found, log) = (measure(&trace), log(&trace));
    let expected = [
        // All of r1 for the address until 2, and its lower eight bits until 4.
        24 * (log.read(2) - log.written(0)),
        8 * (log.read(4) - log.written(0)),
        // rd1 until 2, rd2 until 5, and all of r3 until then: what a mask of ones gives is stored whole.
        64 * (log.read(2) - log.written(1)),
        64 * (log.read(5) - log.written(2)),
        32 * (log.read(5) - log.written(4)),
    ];
    let file = of(&found, Structure::RegisterFile);
    assert_eq!(file.ace, 32 * expected.iter().sum::<u128>());
    assert_eq!(file.total, 16384 * 32 * u128::from(found.cycles));
    let resident = u128::from(log.retired - log.placed);
    let registers = u128::from(trace.launch.registers);
    assert_eq!(file.occupied, registers * 1024 * resident);
}

#[test]
fn buffers_hold_instructions_that_are_needed_in_parts() {
    let trace = trace(KINDS);
    let (found, log) = (measure(&trace), log(&trace));
    // Dead: operation, guard and destination. Switched off: the guard. A fence: the operation.
    let bits = NEEDED_OF_KINDS;
    let times = log.buffered.iter().zip(&log.issued);
    let waits: Vec<u128> = times
        .map(|(came, (went, _))| u128::from(went - came))
        .collect();
    let expected: u128 = waits
        .iter()
        .zip(bits)
        .map(|(cycles, bits)| cycles * bits)
        .sum();
    let buffer = of(&found, Structure::InstructionBuffer);
    assert_eq!(waits.len(), bits.len());
    assert_eq!(buffer.ace, expected);
    assert_eq!(buffer.occupied, 64 * waits.iter().sum::<u128>());
    let entries = gpu().warps_per_sm() * gpu().fetch.buffer_entries;
    assert_eq!(
        buffer.total,
        u128::from(entries) * 64 * u128::from(found.cycles)
    );
}

/// The body of a kernel with an instruction of each kind, and the bits of each that are needed, those around it included.
const KINDS: &str = "setp.gt.u32 %p1, %r1, 99; add.u32 %r2, %r1, 1; @%p1 add.u32 %r1, %r1, 1; membar.cta; st.global.u32 [%rd2], %r1;";
const NEEDED_OF_KINDS: [u128; 9] = [64, 64, 64, 64, 20, 4, 10, 64, 64];

#[test]
fn lines_of_code_are_needed_from_their_coming_to_the_last_fetch() {
    let trace = trace(KINDS);
    let (found, log) = (measure(&trace), log(&trace));
    assert_eq!(log.read.len(), NEEDED_OF_KINDS.len());
    let line_bytes = u64::from(gpu().icache.line_bytes);
    let lies = |number: usize| {
        let line = log.fetched[number] / line_bytes * line_bytes;
        u128::from(log.read[number] - log.filled[&line])
    };
    let needed = NEEDED_OF_KINDS.iter().enumerate();
    let expected: u128 = needed.map(|(number, bits)| bits * lies(number)).sum();
    let code = of(&found, Structure::InstructionCache);
    assert!(expected > 0);
    assert_eq!(code.ace, expected);
    let end = found.cycles;
    let there: u64 = log.filled.values().map(|since| end - since).sum();
    let bits = 8 * u128::from(line_bytes);
    assert_eq!(code.occupied, bits * u128::from(there));
    let all = 8 * u128::from(gpu().icache.bytes);
    assert_eq!(code.total, all * u128::from(end));
}

/// What the first of two launches brings, the second needs: it is needed to the end of the first, though nothing reads it there any more.
#[test]
fn code_that_a_later_launch_needs_is_needed_in_the_earlier_one() {
    let traces = [trace(KINDS), trace(KINDS)];
    let found = measure_all(&gpu(), &traces, &[]);
    let log = log_all(&traces);
    let start = log.launches[1];
    assert_eq!(start, found[0].cycles);
    let line_bytes = u64::from(gpu().icache.line_bytes);
    let (mut first, mut second) = (0, 0);
    for (number, bits) in NEEDED_OF_KINDS.iter().enumerate() {
        let line = log.fetched[number] / line_bytes * line_bytes;
        first += bits * u128::from(start - log.filled[&line]);
        second += bits * u128::from(log.read[9 + number] - start);
    }
    let code = found.iter().map(|it| of(it, Structure::InstructionCache));
    let code: Vec<u128> = code.map(|it| it.ace).collect();
    assert_eq!(code, [first, second]);
    for launch in &found {
        holds(launch, &gpu());
    }
}

#[test]
fn collectors_hold_needed_operands_until_the_unit_takes_them() {
    let trace = trace("add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r1;");
    let (found, log) = (measure(&trace), log(&trace));
    let bits = [0u128, 0, 96, 0, 96];
    let wait = |inst: usize| {
        let entered = log.entered.iter().find(|(it, _)| *it == inst as u32);
        u128::from(entered.unwrap().1 - log.issued[inst].0)
    };
    let expected: u128 = (0..5).map(|inst| 32 * bits[inst] * wait(inst)).sum();
    assert_eq!(of(&found, Structure::OperandCollector).ace, expected);
}

const SHARED: &str = "shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;";

#[test]
fn shared_memory_is_needed_from_store_to_last_needed_load() {
    let trace = trace(&format!(
        "{SHARED} st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2];
        st.shared.u32 [%r2], %r5; setp.lt.u32 %p1, %r1, 4; @%p1 ld.shared.u32 %r7, [%r2];
        mov.u32 %r8, 0; @%p1 mov.u32 %r8, %r7; add.u32 %r8, %r8, %r5; st.global.u32 [%rd2], %r8;"
    ));
    let (found, log) = (measure(&trace), log(&trace));
    // Store, load (needed), load (dead), store, load by four lanes.
    let [first, load, _, second, last] = log.shared[..] else {
        panic!("five accesses, not {:?}", log.shared)
    };
    let expected = 32 * 32 * (load - first) + 4 * 32 * (last - second);
    let memory = of(&found, Structure::SharedMemory);
    assert_eq!(memory.ace, u128::from(expected));
    let bits = 8 * u128::from(trace.launch.shared_bytes);
    assert_eq!(memory.occupied, bits * u128::from(log.retired - log.placed));
}

#[test]
fn a_stack_has_an_entry_while_its_warp_lives_and_more_while_it_diverges() {
    let straight = trace("st.global.u32 [%rd2], %r1;");
    let (found, one) = (measure(&straight), log(&straight));
    let entry = 64 + 32;
    let stack = of(&found, Structure::SimtStack);
    assert_eq!(stack.ace, entry * u128::from(one.retired - one.issued[0].0));
    // 4 the branch, 5 its other side, 6 where the sides meet.
    let split = trace(
        "setp.lt.u32 %p1, %r1, 4; @%p1 bra $l; add.u32 %r1, %r1, 1; $l: st.global.u32 [%rd2], %r1;",
    );
    let (found, log) = (measure(&split), log(&split));
    let alone = log.retired - log.issued[0].0;
    let above = log.issued[6].0 - log.issued[4].0;
    let stack = of(&found, Structure::SimtStack);
    assert_eq!(stack.ace, entry * u128::from(alone + above));
}

#[test]
fn a_launch_without_output_is_not_vulnerable() {
    let found = measure(&trace(&format!(
        "{SHARED} st.shared.u32 [%r2], %r1; bar.sync 0; ld.shared.u32 %r5, [%r2]; ld.global.u32 %r6, [%rd2];"
    )));
    for structure in Structure::ALL {
        assert_eq!(of(&found, structure).ace, 0, "{structure}");
    }
    assert!(of(&found, Structure::RegisterFile).occupied > 0);
}

#[test]
fn dead_code_makes_less_of_what_is_there_needed() {
    let dead =
        "mad.lo.u32 %r2, %r1, 3, %r1; mad.lo.u32 %r3, %r2, 3, %r1; mad.lo.u32 %r4, %r3, 3, %r2;";
    let of_occupied = |body: &str| {
        let found = measure(&trace(body));
        [Structure::RegisterFile, Structure::InstructionBuffer]
            .map(|it| of(&found, it).avf_of_occupied())
    };
    let live = of_occupied(&format!("{dead} st.global.u32 [%rd2], %r4;"));
    let less = of_occupied(&format!("{dead} st.global.u32 [%rd2], %r1;"));
    assert!(less[0] < live[0] && less[1] < live[1], "{less:?} {live:?}");
}

/// Sectors of the second level in a run: since when each is there, and until when it is read, or that it is written.
#[derive(Default)]
struct Sectors {
    since: BTreeMap<(u32, u32), u64>,
    read: BTreeMap<(u32, u32), u64>,
    written: BTreeSet<(u32, u32)>,
}

struct SectorLogger(Rc<RefCell<Sectors>>);

impl SharedObserver for SectorLogger {
    fn cached(&mut self, cycle: u64, event: SharedEvent) {
        let log = &mut *self.0.borrow_mut();
        let each = |place, sectors: u8| {
            let bits = (0..8).filter(move |bit| sectors >> bit & 1 != 0);
            bits.map(move |bit| (place, bit))
        };
        match event {
            SharedEvent::Filled { place, sectors } => {
                log.since.extend(each(place, sectors).map(|it| (it, cycle)));
            }
            SharedEvent::Read { place, sectors } => {
                log.read.extend(each(place, sectors).map(|it| (it, cycle)));
            }
            SharedEvent::Written { place, sectors } => {
                for sector in each(place, sectors) {
                    log.since.entry(sector).or_insert(cycle);
                    log.written.insert(sector);
                }
            }
            SharedEvent::Evicted { place } => {
                assert!(log.since.keys().all(|(known, _)| *known != place));
            }
        }
    }
}

/// Each lane loads four bytes, and stores them behind those of all. Both launches load the same, which stays in the second level though the first level forgets it.
#[test]
fn the_second_level_is_needed_until_it_is_read_and_what_is_written_in_it_until_the_end() {
    let mut spec = GpuSpec::preset("gtx480").unwrap();
    spec.sm.count = 1;
    let trace = || trace("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2+4096], %r2;");
    let traces = [trace(), trace()];
    let found = measure_all(&spec, &traces, &[]);
    let log = Rc::new(RefCell::new(Sectors::default()));
    let shown = log.clone();
    let mut hooks = Hooks::default();
    hooks
        .shared
        .push(Box::new(move || Box::new(SectorLogger(shown.clone()))));
    let run = simulate(&spec, &traces, hooks).unwrap();
    let log = log.take();
    let (first, end) = (run.launches[0].cycles, run.cycles);
    // Lanes lie eight bytes apart.
    assert_eq!(log.written.len(), 32 * 8 / 32);
    let (mut ace, mut occupied) = ([0, 0], [0, 0]);
    for (sector, &since) in &log.since {
        let until = if log.written.contains(sector) {
            end
        } else {
            log.read[sector]
        };
        assert!(since < first, "all of it comes in the first launch");
        for (sums, until) in [(&mut ace, until), (&mut occupied, end)] {
            sums[0] += 256 * u128::from(until.min(first) - since);
            sums[1] += 256 * u128::from(until.saturating_sub(first));
        }
    }
    let loaded = log.read.values().filter(|&&read| read > first).count();
    assert!(
        loaded >= 8,
        "{loaded} sectors were there for the second launch"
    );
    for (place, launch) in found.iter().enumerate() {
        let it = of(launch, Structure::L2);
        assert_eq!((it.ace, it.occupied), (ace[place], occupied[place]));
        let bits = 8 * 1024 * u128::from(spec.l2.kb);
        assert_eq!(it.total, bits * u128::from(launch.cycles));
        holds(launch, &spec);
    }
}

/// Many warps that load, compute and diverge.
fn busy() -> KernelTrace {
    launch(
        6,
        128,
        &format!(
            "{SHARED} ld.global.u32 %r4, [%rd2]; st.shared.u32 [%r2], %r4; bar.sync 0; ld.shared.u32 %r5, [%r2];
            mov.u32 %r6, 0; $l: mad.lo.u32 %r5, %r5, %r1, %r6; add.u32 %r6, %r6, 1; and.b32 %r7, %r1, 3;
            setp.le.u32 %p1, %r6, %r7; @%p1 bra $l; st.global.u32 [%rd2], %r5;"
        ),
    )
}

fn holds(found: &LaunchAvf, spec: &GpuSpec) {
    let shape = Shape::new(spec);
    for structure in Structure::ALL {
        let it = of(found, structure);
        let bits = u128::from(shape.bits(structure));
        assert_eq!(it.total, bits * u128::from(found.cycles), "{structure}");
        assert!(it.ace <= it.occupied, "{structure}: {it:?}");
        assert!(it.occupied <= it.total, "{structure}: {it:?}");
        assert_eq!(it.ace + it.unace(), it.total);
        assert!((0.0..=1.0).contains(&it.avf()));
        assert!(it.detected + it.corrected <= it.ace);
        let windows = found.over_time.windows.iter();
        let sum: u128 = windows.map(|window| window[structure as usize]).sum();
        assert_eq!(sum, it.ace, "{structure}");
    }
}

#[test]
fn what_is_needed_is_part_of_what_is_there() {
    for preset in ["softerror-28sm", "dmr-30sm", "gtx480", "v100"] {
        let mut spec = GpuSpec::preset(preset).unwrap();
        spec.sm.count = 2;
        let found = measure_with(&spec, &busy(), &[]);
        holds(&found, &spec);
        assert!(of(&found, Structure::RegisterFile).ace > 0);
        assert!(of(&found, Structure::SharedMemory).ace > 0);
    }
}

#[test]
fn protection_changes_nothing_but_what_comes_of_a_flip() {
    let spec = gpu();
    let plain = measure_with(&spec, &busy(), &[]);
    let whole = |structure, outcome| Whole { structure, outcome };
    let protections = [
        whole(Structure::RegisterFile, Outcome::Corrected),
        whole(Structure::InstructionBuffer, Outcome::Detected),
    ];
    let found = measure_with(&spec, &busy(), &protections);
    holds(&found, &spec);
    for structure in Structure::ALL {
        let (before, after) = (of(&plain, structure), of(&found, structure));
        assert_eq!(before.ace, after.ace);
        assert!(after.sdc_avf() <= before.sdc_avf());
    }
    assert_eq!(of(&found, Structure::RegisterFile).silent(), 0);
    let buffer = of(&found, Structure::InstructionBuffer);
    assert_eq!((buffer.silent(), buffer.detected), (0, buffer.ace));
}

/// Another scheduler moves residencies in time, and nothing else.
#[test]
fn a_probe_changes_nothing_and_schedulers_only_times() {
    let trace = busy();
    for policy in [Policy::RoundRobin, Policy::Gto] {
        let mut spec = gpu();
        spec.scheduler.policy = policy;
        let plain = simulate(&spec, std::slice::from_ref(&trace), Hooks::default()).unwrap();
        let found = measure_with(&spec, &trace, &[]);
        assert_eq!(plain.cycles, found.cycles);
        holds(&found, &spec);
    }
}
