//! Clusters: addresses in other CTAs' shared memory, ranks, barriers (PTX ISA 8.7, sections 9.7.9.23, 9.7.9.24 and 9.7.13.4).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{
    Atomic, Barrier, CLUSTER_BARRIER, Compare, Comparison, Convert, Mbarrier, MbarrierOp, Op,
    Operands, Rounding, Slot, SlotKind, Special, WordFunction,
};
use crate::types::{Space, Type};

/// The modifier of what tells a barrier how many bytes it has moved.
const TELLS: &str = "mbarrier::complete_tx::bytes";

impl<'s> Lowering<'_, 's> {
    /// `mapa`, `getctarank`.
    pub(super) fn in_cluster(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let generic = modifiers.space().is_none();
        let element = modifiers.element()?;
        modifiers.finish()?;
        if !matches!(element.bytes(), 4 | 8) {
            return Err(unsupported_form(instruction));
        }
        match instruction.opcode.text {
            "mapa" => self.map_address(instruction, element, generic),
            _ => self.cta_rank(instruction, element),
        }
    }

    /// `mapa.shared::cluster.u32 d, a, rank`, `mapa.u64 d, a, rank`.
    fn map_address(
        &mut self,
        instruction: &Instruction<'s>,
        element: Type,
        generic: bool,
    ) -> Lowered<()> {
        expect_operands(instruction, &[3])?;
        let [destination, address, rank] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let address = self.low_word(address, element)?;
        let rank = self.source(rank, Type::U32)?;
        let own = self.slots.special_word(Special::ClusterRank);
        let src = [address, rank, own].into_iter().collect();
        let dst = self.destination(destination, element)?;
        let op = Op::WordFunction(WordFunction::MapShared { generic });
        if dst.kind == SlotKind::Word {
            self.emit(op, dst.into(), src);
            return Ok(());
        }
        let word = self.slots.fresh(SlotKind::Word);
        self.emit(op, word.into(), src);
        let widen = conversion(Type::U32, Type::U64);
        self.emit(widen, dst.into(), word.into());
        Ok(())
    }

    /// `getctarank.shared::cluster.u32 d, a`, `getctarank.u64 d, a`.
    fn cta_rank(&mut self, instruction: &Instruction<'s>, element: Type) -> Lowered<()> {
        expect_operands(instruction, &[2])?;
        let address = self.low_word(&instruction.operands[1], element)?;
        let own = self.slots.special_word(Special::ClusterRank);
        let dst = self.destination(&instruction.operands[0], Type::U32)?;
        let src = [address, own].into_iter().collect();
        self.emit(Op::WordFunction(WordFunction::SharedRank), dst.into(), src);
        Ok(())
    }

    /// `st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], b, [barrier]` and `red.async`: the plain instruction, whose bytes the barrier is told.
    pub(super) fn told_to_barrier(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut plain = instruction.clone();
        let mut names = plain.modifiers.iter();
        let tells = names.any(|name| name.text == TELLS);
        let in_cluster = instruction
            .modifiers
            .iter()
            .any(|name| name.text == "shared::cluster");
        plain
            .modifiers
            .retain(|name| !["async", TELLS].contains(&name.text));
        expect_operands(instruction, &[3])?;
        let Some(barrier) = plain.operands.pop().filter(|_| tells && in_cluster) else {
            return Err(unsupported_form(instruction));
        };
        let told = match instruction.opcode.text {
            "st" => self.memory(&plain),
            _ => self.atomic(&plain, Modifiers::new(&plain)),
        };
        told.map_err(|_| unsupported_form(instruction))?;
        let bytes = match self.code.last().map(|inst| &inst.op) {
            Some(Op::Store(access) | Op::Atomic(Atomic { access, .. })) => access.bytes(),
            _ => return Err(unsupported_form(instruction)),
        };
        let (place, base) = self.placed_at(&barrier, Space::Shared)?;
        let bytes = self.slots.word_literal(bytes);
        let op = MbarrierOp::Complete;
        let src = [base, bytes].into_iter().collect();
        self.emit(
            Op::Mbarrier(Mbarrier { op, place }),
            Operands::default(),
            src,
        );
        Ok(())
    }

    /// The lower half of an address, which for one in shared memory is all of it.
    fn low_word(&mut self, operand: &Operand<'s>, element: Type) -> Lowered<Slot> {
        let slot = self.source(operand, element)?;
        if slot.kind == SlotKind::Word {
            return Ok(slot);
        }
        let word = self.slots.fresh(SlotKind::Word);
        let narrow = conversion(Type::U64, Type::U32);
        self.emit(narrow, word.into(), slot.into());
        Ok(word)
    }

    /// `barrier.cluster.arrive` and `.wait`.
    pub(super) fn cluster_barrier(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.skip_hints();
        let (arrive, wait) = (modifiers.take("arrive"), modifiers.take("wait"));
        modifiers.take("aligned");
        modifiers.finish()?;
        expect_operands(instruction, &[0])?;
        let barrier = match (arrive, wait) {
            (true, false) => Barrier::ClusterArrive,
            (false, true) => Barrier::ClusterWait,
            _ => return Err(unsupported_form(instruction)),
        };
        let number = self.slots.word_literal(CLUSTER_BARRIER);
        self.emit(Op::Barrier(barrier), Operands::default(), number.into());
        Ok(())
    }

    /// `mov.pred p, %is_explicit_cluster`.
    pub(super) fn explicit_cluster(&mut self, predicate: &Operand<'s>) -> Lowered<()> {
        let dst = self.destination(predicate, Type::Pred)?;
        let explicit = self.slots.special_word(Special::ExplicitCluster);
        let zero = self.slots.word_literal(0);
        let compare = Compare {
            how: Comparison::Ne,
            element: Type::U32,
            flush: false,
            combine: None,
        };
        let src = [explicit, zero].into_iter().collect();
        self.emit(Op::SetPredicate(compare), dst.into(), src);
        Ok(())
    }
}

fn conversion(from: Type, to: Type) -> Op {
    Op::Convert(Convert {
        from,
        to,
        rounding: Rounding::Nearest,
        integral: false,
        flush: false,
        saturate: false,
    })
}
