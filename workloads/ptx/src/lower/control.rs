//! Branches, exits, barriers (PTX ISA 8.x, sections 9.7.12 and 9.7.13).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering, MAX_TARGETS};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Name, Operand};
use crate::cfg::NO_RECONVERGENCE;
use crate::error::PtxError;
use crate::program::{Barrier, Op, Operands, Reduction};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn control(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "bra" => {
                modifiers.take("uni");
                modifiers.finish()?;
                expect_operands(instruction, &[1])?;
                let label = label(&instruction.operands[0])?;
                self.jump(vec![label]);
                self.emit_plain(Op::Branch {
                    target: 0,
                    reconverge: NO_RECONVERGENCE,
                })
            }
            "brx" => self.indexed_branch(instruction, modifiers),
            opcode @ ("ret" | "exit") => {
                modifiers.take("uni");
                modifiers.finish()?;
                expect_operands(instruction, &[0])?;
                let returns = opcode == "ret" && self.body.is_function;
                self.emit_plain(if returns { Op::Return } else { Op::Exit })
            }
            "trap" => self.emit_plain(Op::Trap),
            "bar" | "barrier" => self.barrier(instruction, modifiers),
            _ => self.emit_plain(Op::Nothing { fence: true }),
        }
    }

    fn emit_plain(&mut self, op: Op) -> Lowered<()> {
        self.emit(op, Operands::default(), Operands::default());
        Ok(())
    }

    /// `brx.idx index, targets;`.
    fn indexed_branch(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let indexed = modifiers.take("idx");
        modifiers.take("uni");
        modifiers.finish()?;
        if !indexed {
            return Err(unsupported_form(instruction));
        }
        expect_operands(instruction, &[2])?;
        let index = self.source(&instruction.operands[0], Type::U32)?;
        let list = label(&instruction.operands[1])?;
        let targets = self.body.targets.get(list.text).ok_or_else(|| {
            let message = format!("there is no list of branch targets `{}` above", list.text);
            PtxError::new(list.span.clone(), message)
        })?;
        self.targets_left = self
            .targets_left
            .checked_sub(targets.len())
            .ok_or_else(|| {
                let message = format!("more than {MAX_TARGETS} targets of indirect branches");
                PtxError::new(list.span.clone(), message)
            })?;
        let targets = targets.clone();
        self.jump(targets);
        let op = Op::BranchIndexed {
            targets: Box::default(),
            reconverge: NO_RECONVERGENCE,
        };
        self.emit(op, Operands::default(), index.into());
        Ok(())
    }

    /// `bar.sync a[, b]`, `barrier.sync[.aligned] a[, b]`, `bar.arrive a, b`, `bar.warp.sync`.
    fn barrier(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        if modifiers.take("warp") {
            modifiers.take("sync");
            modifiers.finish()?;
            expect_operands(instruction, &[1])?;
            let mask = self.source(&instruction.operands[0], Type::B32)?;
            self.emit(Op::WarpBarrier, Operands::default(), mask.into());
            return Ok(());
        }
        if modifiers.take("cluster") {
            return self.cluster_barrier(instruction, modifiers);
        }
        modifiers.take("cta");
        let aligned = modifiers.take("aligned") || instruction.opcode.text == "bar";
        let sync = modifiers.take("sync");
        let arrive = modifiers.take("arrive");
        if modifiers.take("red") {
            return self.reducing_barrier(instruction, modifiers);
        }
        modifiers.finish()?;
        let kind = match (sync, arrive) {
            (true, false) if aligned => Barrier::Sync,
            (true, false) => Barrier::Unaligned,
            (false, true) => Barrier::Arrive,
            _ => return Err(unsupported_form(instruction)),
        };
        let counts: &[usize] = if sync { &[1, 2] } else { &[2] };
        expect_operands(instruction, counts)?;
        let mut src = Operands::default();
        for operand in &instruction.operands {
            src.push(self.source(operand, Type::U32)?);
        }
        self.emit(Op::Barrier(kind), Operands::default(), src);
        Ok(())
    }
}

impl<'s> Lowering<'_, 's> {
    /// `bar.red.popc.u32 d, a[, b], p`, `bar.red.and.pred`, `bar.red.or.pred`.
    fn reducing_barrier(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let reduction = modifiers.find(|text| {
            Some(match text {
                "popc" => Reduction::Popc,
                "and" => Reduction::And,
                "or" => Reduction::Or,
                _ => return None,
            })
        });
        let reduction = reduction.ok_or_else(|| unsupported_form(instruction))?;
        let element = modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[3, 4])?;
        let [destination, barrier @ .., predicate] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.destination(destination, element)?;
        let (predicate, negated) = self.predicate(predicate)?;
        let mut src = Operands::default();
        src.push(predicate);
        for operand in barrier {
            src.push(self.source(operand, Type::U32)?);
        }
        let barrier = Barrier::Reduce { reduction, negated };
        self.emit(Op::Barrier(barrier), dst.into(), src);
        Ok(())
    }
}

fn label<'s>(operand: &Operand<'s>) -> Lowered<Name<'s>> {
    match operand {
        Operand::Name(name, None) => Ok(name.clone()),
        other => Err(PtxError::new(other.span(), "a label is needed here")),
    }
}
