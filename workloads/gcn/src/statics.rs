//! What timing needs to know of instructions: registers, units, accesses.
//!
//! A vector register of a lane is a word; a scalar register stands beside the vector register file, as predicates do, and has its own number there.

use warpwatt_simt::trace::{
    Asynchronous, Flow, LatencyClass, MemoryOp, MemoryOpKind, Outstanding, Register, RegisterKind,
    Results, Space, StaticInst, Unit,
};

use crate::decode::{Inst, Place};
use crate::exec::{BufferAct, BufferShape, ShareAct, share_shape};
use crate::op::{Form, Op};
use crate::program::Program;

/// The scalar condition code's number, behind the scalar registers.
const SCC: u16 = 128;

/// The static instructions of a program, in order.
pub(crate) fn static_instructions(program: &Program) -> Vec<StaticInst> {
    let mut leaders = vec![false; program.code.len() + 1];
    leaders[0] = true;
    for (at, placed) in program.code.iter().enumerate() {
        let Ok(inst) = placed.inst else { continue };
        if let Some(target) = leaders.get_mut(placed.target as usize) {
            *target = true;
        }
        if flow(&inst).is_some() {
            leaders[at + 1] = true;
        }
    }
    let code = program.code.iter().zip(leaders);
    code.enumerate()
        .map(|(at, (placed, leader))| {
            let mut inst = match placed.inst {
                Ok(inst) => static_instruction(&inst),
                Err(_) => nothing(),
            };
            inst.release.leader = leader;
            inst.line = at as u32 + 1;
            inst
        })
        .collect()
}

/// What stands for words that are no instruction.
fn nothing() -> StaticInst {
    StaticInst {
        bytes: 4,
        ..StaticInst::bare(Unit::Control)
    }
}

/// One by itself: it leads nothing and has no line.
pub(crate) fn static_instruction(inst: &Inst) -> StaticInst {
    let (unit, latency) = unit(inst);
    let form = inst.op.row().form;
    let is_scalar = matches!(
        form,
        Form::Sop1 | Form::Sop2 | Form::Sopc | Form::Sopk | Form::Sopp | Form::Smrd
    );
    let mut named = Named::default();
    named.of(inst);
    StaticInst {
        unit,
        latency,
        sources: named.sources.finish(),
        destinations: named.destinations.finish(),
        memory: memory(inst),
        flow: flow(inst),
        results: results(inst, is_scalar),
        uniform: is_scalar,
        asynchronous: waits(inst),
        bytes: inst.bytes() as u8,
        ..nothing()
    }
}

fn results(inst: &Inst, is_scalar: bool) -> Results {
    let is_atomic = memory(inst).is_some_and(|memory| memory.kind == MemoryOpKind::Atomic);
    match inst.op {
        _ if is_scalar => Results::Same,
        Op::VReadfirstlaneB32 | Op::VReadlaneB32 => Results::Same,
        Op::VMbcntLoU32B32 | Op::VMbcntHiU32B32 | Op::DsSwizzleB32 | Op::VWritelaneB32 => {
            Results::PerLane
        }
        _ if is_atomic => Results::PerLane,
        // Without an address of its own a buffer access may be one to scratch memory.
        _ if matches!(inst.op.row().form, Form::Mubuf | Form::Mtbuf) && !inst.access.addr64 => {
            Results::PerLane
        }
        _ => Results::FromSources,
    }
}

/// Which accesses may go on behind a `s_waitcnt`: vmcnt in bits 0 to 3, expcnt in 4 to 6, lgkmcnt in 8 to 11. What stores read is read at once, so that expcnt is
/// always met; a count of all ones does not wait.
fn waits(inst: &Inst) -> Option<Asynchronous> {
    if inst.op != Op::SWaitcnt {
        return None;
    }
    let count = |shift: u32, bits: u32| {
        let all = (1 << bits) - 1;
        match inst.literal >> shift & all {
            count if count == all => Outstanding::ANY,
            count => count as u8,
        }
    };
    Some(Asynchronous::Outstanding(Outstanding {
        vector: count(0, 4),
        near: count(8, 4),
    }))
}

fn flow(inst: &Inst) -> Option<Flow> {
    match inst.op {
        Op::SEndpgm => Some(Flow::Exit),
        Op::SSwappcB64 => Some(Flow::Call),
        Op::SSetpcB64 => Some(Flow::Return),
        op if op.is_branch() => Some(Flow::Branch),
        _ => None,
    }
}

fn memory(inst: &Inst) -> Option<MemoryOp> {
    match inst.op.row().form {
        Form::Smrd if inst.op.row().sources[0] > 0 => Some(MemoryOp::new(
            Space::Const,
            MemoryOpKind::Load,
            4 * inst.op.row().result,
        )),
        Form::Ds => {
            let (act, bytes) = share_shape(inst.op)?;
            let kind = match act {
                ShareAct::Load { .. } => MemoryOpKind::Load,
                ShareAct::Store => MemoryOpKind::Store,
                ShareAct::Atomic(_) => MemoryOpKind::Atomic,
                ShareAct::Swizzle => return None,
            };
            let bytes = bytes as u8 * if inst.op.is_pair() { 2 } else { 1 };
            Some(MemoryOp::new(Space::Shared, kind, bytes))
        }
        Form::Mubuf | Form::Mtbuf => {
            let shape = BufferShape::of(inst)?;
            let kind = match shape.act {
                BufferAct::Load { .. } => MemoryOpKind::Load,
                BufferAct::Store => MemoryOpKind::Store,
                BufferAct::Atomic(_) => MemoryOpKind::Atomic,
            };
            // Scratch is what the compiler reaches without an address of 64 bits.
            let space = if inst.access.addr64 || inst.sources[1] != SCRATCH_RESOURCE {
                Space::Global
            } else {
                Space::Local
            };
            Some(MemoryOp::new(space, kind, shape.bytes))
        }
        _ => None,
    }
}

/// Where the compiler keeps the resource of scratch memory.
pub(crate) const SCRATCH_RESOURCE: Place = Place(0);

fn unit(inst: &Inst) -> (Unit, LatencyClass) {
    use LatencyClass::{Add, Mad, MinMax, Mul, Simple, Special};
    let row = inst.op.row();
    let name = row.name;
    let class = || {
        let has = |part: &str| name.contains(part);
        if has("_mad") || has("_mac_") || has("_fma") || has("_fmas") {
            Mad
        } else if has("_mul") {
            Mul
        } else if has("_add") || has("_sub") || has("_sad") {
            Add
        } else if has("_min") || has("_max") || has("_med3") {
            MinMax
        } else {
            Simple
        }
    };
    match row.form {
        Form::Sopp if inst.op == Op::SBarrier => (Unit::Barrier, Simple),
        Form::Sopp => (Unit::Control, Simple),
        Form::Sop1 | Form::Sop2 | Form::Sopc | Form::Sopk if flow(inst).is_some() => {
            (Unit::Control, Simple)
        }
        Form::Sop1 | Form::Sop2 | Form::Sopc | Form::Sopk => (Unit::Scalar, class()),
        Form::Smrd | Form::Ds | Form::Mubuf | Form::Mtbuf if memory(inst).is_some() => {
            (Unit::Memory, Simple)
        }
        Form::Smrd | Form::Mubuf | Form::Mtbuf => (Unit::Control, Simple),
        Form::Ds => (Unit::Int, LatencyClass::Shuffle),
        _ if is_transcendental(name) => (Unit::Sfu, Special),
        _ if name.ends_with("_f64") || inst.widths[0] == 2 && name.ends_with("_f32") => {
            (Unit::Fp64, class())
        }
        Form::Vopc => (Unit::Int, Simple),
        _ if name.ends_with("_f32") && !name.contains("_cvt_") => (Unit::Fp32, class()),
        _ => (Unit::Int, class()),
    }
}

fn is_transcendental(name: &str) -> bool {
    [
        "v_rcp", "v_rsq", "v_sqrt", "v_exp", "v_log", "v_sin", "v_cos",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Registers of one side of an instruction.
#[derive(Default)]
struct Registers(Vec<Register>);

impl Registers {
    fn run(&mut self, place: Place, count: u8) {
        let kind = match (place.vector(), place.scalar()) {
            (Some(_), _) => RegisterKind::Word,
            (None, Some(_)) => RegisterKind::Predicate,
            _ => return,
        };
        let first = if kind == RegisterKind::Word {
            place.0 - 256
        } else {
            place.0
        };
        self.0
            .extend((first..first + u16::from(count)).map(|number| Register { kind, number }));
    }

    fn scc(&mut self) {
        self.0.push(Register {
            kind: RegisterKind::Predicate,
            number: SCC,
        });
    }

    fn finish(mut self) -> Vec<Register> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

#[derive(Default)]
struct Named {
    sources: Registers,
    destinations: Registers,
}

impl Named {
    fn of(&mut self, inst: &Inst) {
        let row = inst.op.row();
        for (place, width) in inst.sources.into_iter().zip(inst.widths) {
            self.sources.run(place, width);
        }
        match row.form {
            Form::Sopp => self.control(inst),
            Form::Sopk | Form::Sopc | Form::Sop1 | Form::Sop2 => self.scalar(inst),
            Form::Smrd => self.destinations.run(inst.result, row.result),
            Form::Ds => {
                self.sources.run(Place::EXEC, 2);
                self.sources.run(Place::M0, 1);
                self.destinations.run(inst.result, row.result);
            }
            Form::Mubuf | Form::Mtbuf => self.buffer(inst),
            _ => self.vector(inst),
        }
    }

    fn control(&mut self, inst: &Inst) {
        match inst.op {
            Op::SCbranchScc0 | Op::SCbranchScc1 => self.sources.scc(),
            Op::SCbranchVccz | Op::SCbranchVccnz => self.sources.run(Place::VCC, 2),
            Op::SCbranchExecz | Op::SCbranchExecnz => self.sources.run(Place::EXEC, 2),
            _ => {}
        }
    }

    fn scalar(&mut self, inst: &Inst) {
        let row = inst.op.row();
        self.destinations.run(inst.result, row.result);
        if inst.op.saves_exec() {
            self.sources.run(Place::EXEC, 2);
            self.destinations.run(Place::EXEC, 2);
        }
        let reads = ["s_addc", "s_subb", "s_cselect", "s_cmov"];
        if reads.iter().any(|start| row.name.starts_with(start)) {
            self.sources.scc();
        }
        let keeps = [
            "s_mov",
            "s_cmov",
            "s_cselect",
            "s_mul",
            "s_bfm",
            "s_brev",
            "s_ff",
            "s_flbit",
            "s_sext",
            "s_bitset",
            "s_getpc",
            "s_setpc",
            "s_swappc",
            "s_getreg",
            "s_setreg",
        ];
        if !keeps.iter().any(|start| row.name.starts_with(start)) {
            self.destinations.scc();
        }
    }

    fn buffer(&mut self, inst: &Inst) {
        self.sources.run(Place::EXEC, 2);
        let Some(shape) = BufferShape::of(inst) else {
            return;
        };
        let count = inst.op.row().result;
        match shape.act {
            BufferAct::Load { .. } => self.destinations.run(inst.result, count),
            BufferAct::Store => self.sources.run(inst.result, count),
            BufferAct::Atomic(_) => {
                self.sources.run(inst.result, count);
                if inst.access.glc {
                    self.destinations.run(inst.result, shape.bytes / 4);
                }
            }
        }
    }

    fn vector(&mut self, inst: &Inst) {
        self.sources.run(Place::EXEC, 2);
        self.destinations.run(inst.result, inst.op.row().result);
        match inst.op {
            Op::VMacF32 | Op::VMacLegacyF32 | Op::VWritelaneB32 | Op::VCvtPkaccumU8F32 => {
                self.sources.run(inst.result, 1)
            }
            Op::VDivFmasF32 | Op::VDivFmasF64 => self.sources.run(Place::VCC, 2),
            op if op.is_relative() => self.sources.run(Place::M0, 1),
            _ => {}
        }
        if inst.writes_carry() {
            self.destinations.run(inst.carry, 2);
        }
        if inst.compare.is_some_and(|compare| compare.writes_exec) {
            self.destinations.run(Place::EXEC, 2);
        }
    }
}
