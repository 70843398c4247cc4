//! Vulnerability of structures over timing runs, on kernels small enough to be followed by hand.

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use support::{launch, trace};
use warpwatt_gpu::{
    Course, GpuSpec, Hooks, IssueEvent, PlaceEvent, Policy, StorageObserver, simulate,
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
    let probe = Probe::new(spec, vec![Arc::new(Liveness::of(trace))], 16);
    let mut hooks = Hooks::default();
    probe.attach(&mut hooks, whole_structures(protections.to_vec()));
    let run = simulate(spec, std::slice::from_ref(trace), hooks).unwrap();
    let found = probe.finish();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].cycles, run.launches[0].cycles);
    found.into_iter().next().unwrap()
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
}

struct Logger(Rc<RefCell<Log>>);

impl StorageObserver for Logger {
    fn placed(&mut self, event: PlaceEvent) {
        self.0.borrow_mut().placed = event.cycle;
    }
    fn buffered(&mut self, cycle: u64, _: u8, right: u8, _: u8) {
        let log = &mut self.0.borrow_mut().buffered;
        log.extend((0..right).map(|_| cycle));
    }
    fn issued(&mut self, event: &IssueEvent<'_>, _: &Course, read: u64) {
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
        _: (warpwatt_simt::trace::Addresses<'_>, u64),
    ) {
        self.0.borrow_mut().shared.push(cycle);
    }
    fn retired(&mut self, cycle: u64, _: u8) {
        self.0.borrow_mut().retired = cycle;
    }
}

fn log(trace: &KernelTrace) -> Log {
    let log = Rc::new(RefCell::new(Log::default()));
    let shown = log.clone();
    let mut hooks = Hooks::default();
    hooks
        .storage
        .push(Box::new(move |_| Box::new(Logger(shown.clone()))));
    simulate(&gpu(), std::slice::from_ref(trace), hooks).unwrap();
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
    let trace = trace(
        "setp.gt.u32 %p1, %r1, 99; add.u32 %r2, %r1, 1; @%p1 add.u32 %r1, %r1, 1; membar.cta; st.global.u32 [%rd2], %r1;",
    );
    let (found, log) = (measure(&trace), log(&trace));
    // Dead: operation, guard and destination. Switched off: the guard. A fence: the operation.
    let bits = [64u128, 64, 64, 64, 20, 4, 10, 64, 64];
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
        let bits = u128::from(shape.bits(structure)) * u128::from(spec.sm.count);
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
