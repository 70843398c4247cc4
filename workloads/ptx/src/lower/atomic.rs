//! Atomics (PTX ISA 8.x, section 9.7.13).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::Instruction;
use crate::program::{Access, Atomic, AtomicOp, Op, Operands};
use crate::types::{Space, Type};

impl<'s> Lowering<'_, 's> {
    /// `atom.global.add.u32 d, [a], b`, `red.shared.min.s32 [a], b`, `atom.global.add.noftz.v2.f16x2 {d, e}, [a], {b, c}`.
    pub(super) fn atomic(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let (op, access) = atomic_form(instruction, &mut modifiers)?;
        let reduces = instruction.opcode.text == "red";
        let values = if op == AtomicOp::Cas { 2 } else { 1 };
        let first = usize::from(!reduces);
        let wanted = first + 1 + values;
        // The last one may be a cache policy.
        expect_operands(instruction, &[wanted, wanted + 1])?;
        let mut dst = Operands::default();
        if !reduces {
            for element in self.elements(&instruction.operands[0], access.count)? {
                dst.push(self.destination(element, access.element)?);
            }
        }
        let mut access = access;
        let base = self.address(&instruction.operands[first], &mut access)?;
        let mut src = Operands::default();
        src.push(base);
        for operand in &instruction.operands[first + 1..wanted] {
            for element in self.elements(operand, access.count)? {
                src.push(self.source(element, access.element)?);
            }
        }
        self.emit(Op::Atomic(Atomic { op, access }), dst, src);
        Ok(())
    }
}

fn atomic_form(
    instruction: &Instruction<'_>,
    modifiers: &mut Modifiers<'_, '_>,
) -> Lowered<(AtomicOp, Access)> {
    modifiers.skip_hints();
    // Halves keep their subnormals with or without it.
    modifiers.take("noftz");
    let space = modifiers.space().unwrap_or(Space::Generic);
    let op = modifiers.find(atomic_named);
    let vector = modifiers.find(|text| match text {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    });
    let element = modifiers.element()?;
    modifiers.finish()?;
    let count = vector.unwrap_or(1);
    let exists = |op| match vector {
        None => atomic_exists(op, element),
        Some(count) => vector_exists(op, element, count),
    };
    let op = op
        .filter(|&op| exists(op))
        .filter(|_| matches!(space, Space::Global | Space::Shared | Space::Generic))
        .ok_or_else(|| unsupported_form(instruction))?;
    let access = Access {
        count,
        ..Access::of(space, element)
    };
    Ok((op, access))
}

fn atomic_named(text: &str) -> Option<AtomicOp> {
    Some(match text {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "exch" => AtomicOp::Exch,
        "cas" => AtomicOp::Cas,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        _ => return None,
    })
}

fn atomic_exists(op: AtomicOp, element: Type) -> bool {
    let integer = matches!(element.bytes(), 4 | 8) && !element.is_float();
    match op {
        AtomicOp::Add => {
            element.is_float() || integer && element != Type::B32 && element != Type::B64
        }
        AtomicOp::Inc | AtomicOp::Dec => element == Type::U32,
        AtomicOp::Cas => integer || element == Type::B16,
        _ => integer,
    }
}

/// Of vectors, each element is an atomic of its own; they take 16 bytes at the most.
fn vector_exists(op: AtomicOp, element: Type, count: u8) -> bool {
    let fits = u32::from(count) * element.bytes() <= 16;
    fits && match op {
        AtomicOp::Add => element.is_half() || element == Type::F32,
        AtomicOp::Min | AtomicOp::Max => element.is_half(),
        _ => false,
    }
}
