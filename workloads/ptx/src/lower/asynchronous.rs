//! Asynchronous copies and barriers in shared memory (PTX ISA 8.x, sections 9.7.9.25 and 9.7.13.15). Copies are done at once.

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use super::warpgroup::count;
use crate::ast::{Instruction, Operand};
use crate::program::{
    Access, CopyAsync, CopySize, GroupStep, Mbarrier, MbarrierOp, MemoryOperand, Op, Operands,
    Pending, Slot,
};
use crate::types::{Space, Type};

impl<'s> Lowering<'_, 's> {
    /// `cp.async` and its kin.
    pub(super) fn copy_async(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let is_async = modifiers.take("async");
        let bulk = modifiers.take("bulk");
        if !is_async {
            return Err(unsupported_form(instruction));
        }
        if bulk && modifiers.take("tensor") {
            return self.copy_tensor(instruction, modifiers);
        }
        if bulk && modifiers.take("reduce") {
            return self.reduce_bulk(instruction, modifiers);
        }
        if let Some(step) = group_step(instruction, &mut modifiers)? {
            modifiers.take("read");
            modifiers.finish()?;
            let of = if bulk {
                Pending::BulkCopies
            } else {
                Pending::Copies
            };
            return self.groups(of, step);
        }
        if modifiers.take("prefetch") {
            modifiers.skip_hints();
            while modifiers.take("L2") || modifiers.take("global") {}
            modifiers.finish()?;
            return self.nothing();
        }
        if modifiers.take("mbarrier") {
            return self.copies_arrive(instruction, modifiers);
        }
        if bulk {
            self.copy_bulk(instruction, modifiers)
        } else {
            self.copy_few(instruction, modifiers)
        }
    }

    /// An instruction that has nothing to do.
    pub(super) fn nothing(&mut self) -> Lowered<()> {
        let op = Op::Nothing { fence: false };
        self.emit(op, Operands::default(), Operands::default());
        Ok(())
    }

    /// An address and the slot of its base.
    pub(super) fn placed_at(
        &mut self,
        operand: &Operand<'s>,
        space: Space,
    ) -> Lowered<(MemoryOperand, Slot)> {
        let mut access = Access::of(space, Type::B64);
        let base = self.address(operand, &mut access)?;
        let offset = access.offset;
        Ok((MemoryOperand { space, offset }, base))
    }

    /// `cp.async.ca.shared.global [to], [from], 16{, read}{, policy}`.
    fn copy_few(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let hinted = instruction
            .modifiers
            .iter()
            .any(|name| name.text == "L2::cache_hint");
        let past_l1 = modifiers.take("cg");
        modifiers.skip_hints();
        let (to, from) = (modifiers.space(), modifiers.space());
        modifiers.finish()?;
        let (Some(to @ Space::Shared), Some(from @ Space::Global)) = (to, from) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[3, 4, 5])?;
        let bytes = match instruction.operands[2] {
            Operand::Integer(bytes @ (4 | 8 | 16), _) => bytes as u8,
            _ => {
                return Err(
                    unsupported_form(instruction).with_help("`cp.async` copies 4, 8 or 16 bytes")
                );
            }
        };
        let (to, base) = self.placed_at(&instruction.operands[0], to)?;
        let (from, source) = self.placed_at(&instruction.operands[1], from)?;
        let mut src = Operands::default();
        src.push(base);
        src.push(source);
        let more = &instruction.operands[3..];
        let read = if hinted {
            more.split_last().and_then(|(_, before)| before.first())
        } else {
            more.first()
        };
        if let Some(read) = read {
            src.push(self.source(read, Type::B32)?);
        }
        let size = CopySize::Bytes {
            count: bytes,
            past_l1,
        };
        self.emit(
            Op::CopyAsync(CopyAsync { to, from, size }),
            Operands::default(),
            src,
        );
        Ok(())
    }

    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier]`,
    /// `cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes`; with `.multicast::cluster` a mask of CTAs stands behind the barrier.
    fn copy_bulk(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.skip_hints();
        let (to, from) = (modifiers.space(), modifiers.space());
        let tells = modifiers.take("mbarrier::complete_tx::bytes");
        modifiers.take("bulk_group");
        let multicast = modifiers.take("multicast::cluster");
        modifiers.finish()?;
        let (Some(to), Some(from)) = (to, from) else {
            return Err(unsupported_form(instruction));
        };
        if multicast && !(tells && to == Space::Shared && from == Space::Global) {
            return Err(unsupported_form(instruction));
        }
        let count = 3 + usize::from(tells) + usize::from(multicast);
        expect_operands(instruction, &[count, count + 1])?;
        let (to, base) = self.placed_at(&instruction.operands[0], to)?;
        let (from, source) = self.placed_at(&instruction.operands[1], from)?;
        let bytes = self.source(&instruction.operands[2], Type::B32)?;
        let mut src: Operands<8> = [base, source, bytes].into_iter().collect();
        let mut barrier = None;
        if tells {
            let (place, base) = self.placed_at(&instruction.operands[3], Space::Shared)?;
            src.push(base);
            barrier = Some(place);
        }
        let size = match barrier {
            Some(barrier) if multicast => {
                src.push(self.source(&instruction.operands[4], Type::U16)?);
                CopySize::Multicast(barrier)
            }
            barrier => CopySize::Bulk(barrier),
        };
        self.emit(
            Op::CopyAsync(CopyAsync { to, from, size }),
            Operands::default(),
            src,
        );
        Ok(())
    }

    /// `cp.async.mbarrier.arrive{.noinc}`: copies are over, so that without `.noinc` what is expected and what arrives cancel.
    fn copies_arrive(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.take("arrive");
        let counts = modifiers.take("noinc");
        let space = modifiers.space().unwrap_or(Space::Generic);
        modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[1])?;
        let (place, base) = self.placed_at(&instruction.operands[0], space)?;
        if !counts {
            return self.nothing();
        }
        let one = self.slots.word_literal(1);
        let op = MbarrierOp::Arrive {
            drop: false,
            expect: false,
        };
        let src = [base, one].into_iter().collect();
        self.emit(
            Op::Mbarrier(Mbarrier { op, place }),
            Operands::default(),
            src,
        );
        Ok(())
    }

    /// `mbarrier.init`, `.inval`, `.arrive`, `.test_wait` and their kin.
    pub(super) fn memory_barrier(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.skip_hints();
        if modifiers.take("pending_count") {
            return self.pending_count(instruction);
        }
        let named = modifiers.find(mbarrier_named);
        let parity = modifiers.take("parity");
        let expect = modifiers.take("expect_tx");
        modifiers.take("noComplete");
        let space = modifiers.space().unwrap_or(Space::Generic);
        let element = modifiers.find(|text| (text == "b64").then_some(()));
        modifiers.finish()?;
        let op = match named {
            Some(MbarrierOp::Arrive { drop, .. }) => MbarrierOp::Arrive { drop, expect },
            Some(MbarrierOp::Test { .. }) => MbarrierOp::Test { parity },
            Some(op) => op,
            None if expect => MbarrierOp::Expect,
            None => return Err(unsupported_form(instruction)),
        };
        let counts_bytes = matches!(op, MbarrierOp::Expect | MbarrierOp::Complete);
        if element.is_none() && !counts_bytes {
            return Err(unsupported_form(instruction));
        }
        self.mbarrier_operands(instruction, op, space)
    }

    fn mbarrier_operands(
        &mut self,
        instruction: &Instruction<'s>,
        op: MbarrierOp,
        space: Space,
    ) -> Lowered<()> {
        let counts: &[usize] = match op {
            MbarrierOp::Init | MbarrierOp::Expect | MbarrierOp::Complete => &[2],
            MbarrierOp::Invalidate => &[1],
            MbarrierOp::Arrive { .. } => &[1, 2, 3],
            MbarrierOp::Test { .. } => &[3, 4],
        };
        expect_operands(instruction, counts)?;
        let is_place = |operand: &&Operand<'s>| matches!(operand, Operand::Address(_));
        let at = instruction
            .operands
            .iter()
            .position(|operand| is_place(&operand))
            .filter(|&at| at < 2)
            .ok_or_else(|| unsupported_form(instruction))?;
        let (place, base) = self.placed_at(&instruction.operands[at], space)?;
        let mut src: Operands<8> = base.into();
        let mut dst = Operands::default();
        if at == 1 {
            let element = match op {
                MbarrierOp::Test { .. } => Type::Pred,
                _ => Type::B64,
            };
            dst.push(self.destination(&instruction.operands[0], element)?);
        }
        match (instruction.operands.get(at + 1), op) {
            (Some(state), MbarrierOp::Test { parity: false }) => {
                src.push(self.source(state, Type::B64)?);
            }
            (Some(count), _) => src.push(self.source(count, Type::B32)?),
            (None, MbarrierOp::Arrive { .. }) => src.push(self.slots.word_literal(1)),
            (None, _) => {}
        }
        self.emit(Op::Mbarrier(Mbarrier { op, place }), dst, src);
        Ok(())
    }
}

/// What an instruction does with groups, if that is what it is for.
fn group_step(
    instruction: &Instruction<'_>,
    modifiers: &mut Modifiers<'_, '_>,
) -> Lowered<Option<GroupStep>> {
    Ok(if modifiers.take("commit_group") {
        Some(GroupStep::Commit)
    } else if modifiers.take("wait_all") {
        Some(GroupStep::Wait(0))
    } else if modifiers.take("wait_group") {
        Some(GroupStep::Wait(count(instruction)?))
    } else {
        None
    })
}

fn mbarrier_named(text: &str) -> Option<MbarrierOp> {
    Some(match text {
        "init" => MbarrierOp::Init,
        "inval" => MbarrierOp::Invalidate,
        "arrive" => MbarrierOp::Arrive {
            drop: false,
            expect: false,
        },
        "arrive_drop" => MbarrierOp::Arrive {
            drop: true,
            expect: false,
        },
        "complete_tx" => MbarrierOp::Complete,
        "test_wait" | "try_wait" => MbarrierOp::Test { parity: false },
        _ => return None,
    })
}
