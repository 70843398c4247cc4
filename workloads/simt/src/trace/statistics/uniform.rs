//! Which operands are the same in all lanes, as far as that follows from where their values come from.

use super::super::{
    Addresses, Flow, LaneMask, MemoryOp, MemoryOpKind, Results, Space, StaticInst, Step,
};
use super::share;

/// Register operands of instructions that execute.
///
/// A trace holds no values. An operand counts as uniform if it must be: its value was computed from uniform operands and literals, loaded from one address, or voted upon,
/// for all lanes that read it. Values that happen to be equal are not among them, so the share is a lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Registers read, each once an instruction.
    pub all: u64,
    /// Those that hold one value in all lanes that read it.
    pub uniform: u64,
}

impl Operands {
    /// The share of uniform operands; zero if there is none at all.
    pub fn uniform_share(&self) -> f64 {
        share(self.uniform, self.all)
    }
}

/// For each register the lanes that are known to hold one value.
pub(super) struct UniformLanes {
    same: Vec<LaneMask>,
}

impl UniformLanes {
    /// All registers are zero when a warp starts.
    pub fn new(registers: usize) -> Self {
        Self {
            same: vec![LaneMask::MAX; registers],
        }
    }

    pub fn step(
        &mut self,
        step: &Step,
        inst: &StaticInst,
        (sources, destinations): (&[u32], &[u32]),
        operands: &mut Operands,
    ) {
        let executed = step.executed;
        if executed == 0 {
            return;
        }
        // A single lane agrees with itself.
        let one = executed & (executed - 1) == 0;
        let uniform = |register: &&u32| one || executed & !self.same[**register as usize] == 0;
        let of_sources = sources.iter().filter(uniform).count();
        operands.all += sources.len() as u64;
        operands.uniform += of_sources as u64;
        let result = one
            || match (inst.results, inst.memory) {
                (Results::Same, _) => true,
                (Results::PerLane, _) => false,
                (Results::FromSources, Some(op)) => is_one_load(op, step),
                (Results::FromSources, None) => of_sources == sources.len(),
            };
        for register in destinations {
            let same = &mut self.same[*register as usize];
            *same = if result { executed } else { *same & !executed };
        }
        if inst.flow == Some(Flow::Return) {
            // A function that was running already gets its registers back.
            self.same.iter_mut().for_each(|same| *same &= !executed);
        }
    }
}

/// Whether all lanes load from one address of a memory that they share.
fn is_one_load(op: MemoryOp, step: &Step) -> bool {
    let Some(Addresses::Affine { base, stride: 0 }) = step.addresses else {
        return false;
    };
    let space = match op.space {
        Space::Generic => Space::of(base),
        space => space,
    };
    matches!(op.kind, MemoryOpKind::Load | MemoryOpKind::Texture) && space != Space::Local
}
