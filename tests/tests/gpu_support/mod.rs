//! Small kernels written as traces, for tests of the GPU model.

use std::sync::Arc;

use warpwatt_gpu::{GpuError, GpuSpec, Hooks, Preset, Run, presets, simulate};
use warpwatt_simt::trace::{
    KernelTrace, LaunchShape, MemoryOp, MemoryOpKind, Register, RegisterKind, Space, StaticInst,
    Unit, WarpRecorder,
};

pub const ALL: u64 = 0xffff_ffff;

pub fn gpu() -> GpuSpec {
    GpuSpec::preset("tesla-16sm").unwrap()
}

/// One SM of the preset: nothing else to disturb.
pub fn one_sm() -> GpuSpec {
    let mut spec = gpu();
    spec.sm.count = 1;
    spec
}

pub fn word(number: u16) -> Register {
    Register {
        kind: RegisterKind::Word,
        number,
    }
}

/// Presets whose warps are as wide as those of the traces here.
pub fn presets_of_32() -> impl Iterator<Item = &'static Preset> {
    let is_32 = |preset: &&Preset| preset.spec().unwrap().sm.warp_width == 32;
    presets().iter().filter(is_32)
}

pub fn inst(unit: Unit, sources: &[u16], destinations: &[u16]) -> StaticInst {
    StaticInst {
        sources: sources.iter().map(|&number| word(number)).collect(),
        destinations: destinations.iter().map(|&number| word(number)).collect(),
        line: 1,
        ..StaticInst::bare(unit)
    }
}

pub fn add(destination: u16, sources: &[u16]) -> StaticInst {
    inst(Unit::Int, sources, &[destination])
}

pub fn exit() -> StaticInst {
    inst(Unit::Control, &[], &[])
}

pub fn barrier() -> StaticInst {
    inst(Unit::Barrier, &[], &[])
}

pub fn access(space: Space, kind: MemoryOpKind, register: u16) -> StaticInst {
    let (sources, destinations) = match kind {
        MemoryOpKind::Store => (vec![register, 1000], vec![]),
        MemoryOpKind::Load | MemoryOpKind::Atomic | MemoryOpKind::Texture => {
            (vec![1000], vec![register])
        }
    };
    StaticInst {
        memory: Some(MemoryOp::new(space, kind, 4)),
        ..inst(Unit::Memory, &sources, &destinations)
    }
}

pub fn load(space: Space, register: u16) -> StaticInst {
    access(space, MemoryOpKind::Load, register)
}

pub fn store(space: Space, register: u16) -> StaticInst {
    access(space, MemoryOpKind::Store, register)
}

/// What a warp executes: an instruction, its lanes, its addresses.
pub struct Dynamic {
    pub inst: u32,
    pub executed: u64,
    pub addresses: Option<Vec<u64>>,
}

impl Dynamic {
    pub fn plain(inst: u32) -> Self {
        Self {
            inst,
            executed: ALL,
            addresses: None,
        }
    }

    pub fn at(inst: u32, executed: u64, address: impl Fn(u64) -> u64) -> Self {
        Self {
            inst,
            executed,
            addresses: Some((0..64).map(address).collect()),
        }
    }
}

/// Code as the compiler leaves it: a strand begins at its first instruction.
pub fn compiled(mut code: Vec<StaticInst>) -> Vec<StaticInst> {
    if let Some(first) = code.first_mut() {
        first.marks.begins = true;
    }
    code
}

/// A launch of `ctas` CTAs of `warps` warps; `steps(cta, warp)` is what a warp executes.
pub fn launch(
    code: Vec<StaticInst>,
    ctas: u32,
    warps: u32,
    mut steps: impl FnMut(u32, u32) -> Vec<Dynamic>,
) -> KernelTrace {
    let shape = LaunchShape {
        grid: [ctas, 1, 1],
        block: [32 * warps, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    };
    let mut trace = KernelTrace::new("synthetic", Arc::from(compiled(code)), shape);
    let mut recorder = WarpRecorder::default();
    for cta in 0..ctas {
        for warp in 0..warps {
            recorder.clear();
            for step in steps(cta, warp) {
                match &step.addresses {
                    Some(addresses) => recorder.access(step.inst, ALL, step.executed, addresses),
                    None => recorder.step(step.inst, ALL, step.executed),
                }
            }
            trace.push_warp(&recorder).unwrap();
        }
    }
    trace
}

/// Every warp executes the code once from its first to its last instruction; memory instructions access word `lane`.
pub fn straight(code: Vec<StaticInst>, ctas: u32, warps: u32) -> KernelTrace {
    let kinds: Vec<bool> = code.iter().map(|inst| inst.memory.is_some()).collect();
    launch(code, ctas, warps, |_, _| {
        let step = |(inst, memory): (usize, &bool)| match memory {
            true => Dynamic::at(inst as u32, ALL, |lane| 0xc000_0000 + 4 * lane),
            false => Dynamic::plain(inst as u32),
        };
        kinds.iter().enumerate().map(step).collect()
    })
}

/// A loop that loads, computes and stores; every warp has its own lines.
pub fn streaming(ctas: u32, iterations: u32) -> KernelTrace {
    let code = vec![
        load(Space::Global, 1),
        add(2, &[1]),
        add(3, &[2]),
        store(Space::Global, 3),
        exit(),
    ];
    launch(code, ctas, 4, |cta, warp| {
        let mut steps = Vec::new();
        for iteration in 0..iterations {
            let line = u64::from((cta * 4 + warp) * iterations + iteration);
            let at = |lane: u64| 0xc000_0000 + 128 * line + 4 * lane;
            steps.push(Dynamic::at(0, ALL, at));
            steps.push(Dynamic::plain(1));
            steps.push(Dynamic::plain(2));
            steps.push(Dynamic::at(3, ALL, at));
        }
        steps.push(Dynamic::plain(4));
        steps
    })
}

pub fn run(spec: &GpuSpec, trace: KernelTrace) -> Run {
    try_run(spec, trace).unwrap()
}

pub fn try_run(spec: &GpuSpec, trace: KernelTrace) -> Result<Run, GpuError> {
    simulate(spec, &[trace], Hooks::default())
}

/// Cycles of one warp that runs `code` and exits.
pub fn cycles(spec: &GpuSpec, mut code: Vec<StaticInst>) -> u64 {
    code.push(exit());
    run(spec, straight(code, 1, 1)).cycles
}
