//! `tcgen05` (PTX ISA 8.7, section 9.7.16).

use super::arithmetic::{form, unsupported_form};
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    Adds, MatrixElement, MatrixOp, Op, Operands, Scales, Slot, TensorAccess, TensorCopyLanes,
    TensorCopyShape, TensorKind, TensorMemoryOp, TensorMultiplyAdd, TensorShape,
};
use crate::types::{Space, Type};

/// Most registers of a copy between registers and tensor memory.
const MAX_REGISTERS: u32 = 128;

impl<'s> Lowering<'_, 's> {
    pub(super) fn tensor_memory(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let step = instruction.modifiers.first().map_or("", |name| name.text);
        modifiers.take(step);
        modifiers.take("sync");
        modifiers.take("aligned");
        // Allocation and commitment are each CTA's own, in a pair too.
        let pair = modifiers.take("cta_group::2");
        modifiers.take("cta_group::1");
        match step {
            "alloc" => self.allocate_columns(instruction, modifiers),
            "dealloc" => self.free_columns(instruction, modifiers),
            "relinquish_alloc_permit" => {
                modifiers.finish()?;
                expect_operands(instruction, &[0])?;
                self.emit_tensor_memory(TensorMemoryOp::Relinquish, Operands::default())
            }
            "ld" | "st" => self.tensor_access(instruction, modifiers),
            // A warp's accesses happen in the order of the program.
            "wait::ld" | "wait::st" | "fence::before_thread_sync" | "fence::after_thread_sync" => {
                modifiers.finish()?;
                expect_operands(instruction, &[0])?;
                self.nothing()
            }
            "cp" => self.copy_to_tensor_memory(instruction, modifiers, pair),
            "shift" => {
                let down = modifiers.take("down");
                modifiers.finish()?;
                expect_operands(instruction, &[1])?;
                if !down {
                    return Err(unsupported_form(instruction));
                }
                let (offset, address) = self.tensor_address(&instruction.operands[0])?;
                self.emit_tensor_memory(TensorMemoryOp::Shift { offset, pair }, address.into())
            }
            "commit" => self.commit(instruction, modifiers),
            "mma" => self.tensor_multiply_add(instruction, modifiers, pair),
            _ => {
                let message = format!("there is no instruction `tcgen05.{step}`");
                Err(PtxError::new(instruction.span.clone(), message))
            }
        }
    }

    fn emit_tensor_memory(&mut self, op: TensorMemoryOp, src: Operands<8>) -> Lowered<()> {
        self.emit(Op::TensorMemory(op), Operands::default(), src);
        Ok(())
    }

    /// An address of tensor memory in brackets: what is added to it, and its slot.
    fn tensor_address(&mut self, operand: &Operand<'s>) -> Lowered<(i32, Slot)> {
        let Operand::Address(address) = operand else {
            let message = "an address of tensor memory in brackets is needed here";
            return Err(PtxError::new(operand.span(), message));
        };
        let offset = address.offset as i32;
        let base = match &address.base {
            Some(name) => self.source(&Operand::Name(name.clone(), None), Type::B32)?,
            None => self.slots.word_literal(0),
        };
        Ok((offset, base))
    }

    /// `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [to], columns`.
    fn allocate_columns(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let space = modifiers.space().unwrap_or(Space::Generic);
        modifiers.take("b32");
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        let (to, base) = self.placed_at(&instruction.operands[0], space)?;
        let columns = self.source(&instruction.operands[1], Type::B32)?;
        let src = [base, columns].into_iter().collect();
        self.emit_tensor_memory(TensorMemoryOp::Allocate(to), src)
    }

    /// `tcgen05.dealloc.cta_group::1.sync.aligned.b32 address, columns`.
    fn free_columns(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.take("b32");
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        let address = self.source(&instruction.operands[0], Type::B32)?;
        let columns = self.source(&instruction.operands[1], Type::B32)?;
        let src = [address, columns].into_iter().collect();
        self.emit_tensor_memory(TensorMemoryOp::Free, src)
    }

    /// `tcgen05.ld.sync.aligned.16x64b.x4{.pack::16b}.b32 {...}, [address]`, `tcgen05.st.sync.aligned.16x32bx2.x8.b32 [address], 8, {...}`.
    fn tensor_access(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let loads = instruction.modifiers[0].text == "ld";
        if modifiers.take("red") {
            let reason = "the reduction of what is loaded is of sm_103, which is not modelled";
            return Err(refused(instruction, reason));
        }
        let shape = modifiers.find(shape_named);
        let pieces = modifiers.find(|text| text.strip_prefix('x')?.parse::<u32>().ok());
        let packed = modifiers.take(if loads { "pack::16b" } else { "unpack::16b" });
        modifiers.take("b32");
        modifiers.finish()?;
        let (Some(mut shape), Some(pieces)) = (shape, pieces) else {
            return Err(unsupported_form(instruction));
        };
        let registers = pieces.saturating_mul(shape.registers());
        if !pieces.is_power_of_two() || registers > MAX_REGISTERS {
            return Err(unsupported_form(instruction));
        }
        let twice = matches!(shape, TensorShape::Twice { .. });
        expect_operands(instruction, &[if twice { 3 } else { 2 }])?;
        let operands = &instruction.operands;
        let (address, values) = match (loads, twice) {
            (true, _) => (&operands[1], &operands[0]),
            (false, true) => (&operands[0], &operands[2]),
            (false, false) => (&operands[0], &operands[1]),
        };
        if twice {
            let apart = &operands[if loads { 2 } else { 1 }];
            shape = match apart {
                Operand::Integer(apart, _) if *apart < 512 => TensorShape::Twice {
                    apart: *apart as u16,
                },
                other => {
                    let message = "a number of columns is needed here";
                    return Err(PtxError::new(other.span(), message));
                }
            };
        }
        let (offset, base) = self.tensor_address(address)?;
        let count = (registers as usize, MatrixElement::S32);
        let slots = self.fragment(values, count, !loads)?;
        let how = TensorAccess {
            shape,
            registers: registers as u8,
            packed,
            offset,
        };
        match loads {
            true => self.emit_matrix(MatrixOp::TensorLoad(how), slots, Vec::new(), base.into()),
            false => self.emit_matrix(MatrixOp::TensorStore(how), Vec::new(), slots, base.into()),
        }
        Ok(())
    }

    /// `tcgen05.cp.cta_group::1.32x128b.warpx4 [address], descriptor`.
    fn copy_to_tensor_memory(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
        pair: bool,
    ) -> Lowered<()> {
        use TensorCopyLanes::{Halves, OneEach, Repeated};
        let shape = modifiers.find(|text| {
            let (rows, rest) = text.split_once('x')?;
            let bits: u32 = rest.strip_suffix('b')?.parse().ok()?;
            Some((rows.parse::<u8>().ok()?, bits))
        });
        let sent = modifiers.find(|text| text.strip_prefix("warpx").map(str::to_owned));
        if modifiers.take("b8x16") {
            let reason = "where elements of four and six bits come to lie in their bytes, PTX shows in figures only";
            return Err(refused(instruction, reason));
        }
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        let (rows, bits, to) = match (shape, sent.as_deref()) {
            (Some((128, bits @ (128 | 256))), None) => (128, bits, Repeated),
            (Some((4, 256)), None) => (4, 256, OneEach),
            (Some((64, 128)), Some("2::02_13")) => (64, 128, Repeated),
            (Some((64, 128)), Some("2::01_23")) => (64, 128, Halves),
            (Some((32, 128)), Some("4")) => (32, 128, Repeated),
            _ => return Err(unsupported_form(instruction)),
        };
        let (offset, address) = self.tensor_address(&instruction.operands[0])?;
        let descriptor = self.source(&instruction.operands[1], Type::B64)?;
        let shape = TensorCopyShape {
            rows,
            bytes: (bits / 8) as u8,
            to,
        };
        let op = TensorMemoryOp::Copy {
            offset,
            shape,
            pair,
        };
        self.emit_tensor_memory(op, [address, descriptor].into_iter().collect())
    }

    /// `tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster{.multicast::cluster}.b64 [barrier]{, mask}`.
    fn commit(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let arrives = modifiers.take("mbarrier::arrive::one");
        let space = modifiers.space().unwrap_or(Space::Generic);
        let multicast = modifiers.take("multicast::cluster");
        modifiers.take("b64");
        modifiers.finish()?;
        expect_operands(instruction, &[if multicast { 2 } else { 1 }])?;
        if !arrives {
            return Err(unsupported_form(instruction));
        }
        let (barrier, base) = self.placed_at(&instruction.operands[0], space)?;
        let mut src: Operands<8> = base.into();
        if multicast {
            src.push(self.source(&instruction.operands[1], Type::B16)?);
        }
        let op = TensorMemoryOp::Commit { barrier, multicast };
        self.emit_tensor_memory(op, src)
    }

    /// `tcgen05.mma{.ws}.cta_group::1.kind::f16 [d], a, b, descriptor{, {m0, m1, m2, m3}}{, [scales of a], [of b]}, p{, halvings}`.
    fn tensor_multiply_add(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
        pair: bool,
    ) -> Lowered<()> {
        if modifiers.take("sp") {
            let reason = "where the metadata of a sparse A lie, PTX shows in figures only";
            return Err(refused(instruction, reason));
        }
        let stationary = modifiers.take("ws");
        if stationary && pair {
            return Err(unsupported_form(instruction));
        }
        let kind = modifiers.find(kind_named);
        let scaled = modifiers.take("block_scale");
        let count = modifiers.find(scales_named);
        let shifted = modifiers.take("ashift");
        // What a unit keeps is its own affair.
        modifiers.find(|text| text.strip_prefix("collector::").map(|_| ()));
        modifiers.finish()?;
        let operands = &instruction.operands;
        let Some(kind) = kind.filter(|kind| kind.is_scaled() == scaled && operands.len() >= 5)
        else {
            return Err(unsupported_form(instruction));
        };
        let mut how = TensorMultiplyAdd {
            kind,
            offset: 0,
            left: None,
            stationary,
            shifted,
            pair,
            adds: Adds::Always(true),
            halved: 0,
            scales: None,
        };
        let (offset, d) = self.tensor_address(&operands[0])?;
        how.offset = offset;
        let a = match &operands[1] {
            address @ Operand::Address(_) => {
                let (offset, a) = self.tensor_address(address)?;
                how.left = Some(offset);
                a
            }
            descriptor => self.source(descriptor, Type::B64)?,
        };
        let b = self.source(&operands[2], Type::B64)?;
        let words = self.source(&operands[3], Type::B32)?;
        let mut src: Operands<8> = [d, a, b, words].into_iter().collect();
        let mut rest = &operands[4..];
        let mut mask = Vec::new();
        if let ([scales @ .., _], true) = (rest, scaled) {
            let [of_a, of_b] = scales else {
                return Err(unsupported_form(instruction));
            };
            how.scales = Some(self.scales(instruction, (kind, count), [of_a, of_b], &mut src)?);
            rest = &rest[2..];
        } else if let [lanes @ Operand::Vector(..), others @ ..] = rest {
            let words = if pair { 8 } else { 4 };
            mask = self.fragment(lanes, (words, MatrixElement::S32), true)?;
            rest = others;
        }
        let [adds, last @ ..] = rest else {
            return Err(unsupported_form(instruction));
        };
        how.halved = halvings(instruction, &how, last)?;
        how.adds = match adds {
            Operand::Integer(number, _) => Adds::Always(*number != 0),
            predicate => {
                let (predicate, negated) = self.predicate(predicate)?;
                src.push(predicate);
                Adds::If { negated }
            }
        };
        if shifted && how.left.is_none() || stationary && (shifted || scaled || !mask.is_empty()) {
            return Err(unsupported_form(instruction));
        }
        self.emit_matrix(MatrixOp::TensorMultiplyAdd(how), Vec::new(), mask, src);
        Ok(())
    }

    fn scales(
        &mut self,
        instruction: &Instruction<'s>,
        (kind, count): (TensorKind, Option<ScaleCount>),
        addresses: [&Operand<'s>; 2],
        src: &mut Operands<8>,
    ) -> Lowered<Scales> {
        use ScaleCount::{Block16, Block32, Vector};
        let count = match (kind, count) {
            (TensorKind::Mxf8f6f4, None | Some(Vector(1) | Block32)) => 1,
            (TensorKind::Mxf4, None | Some(Vector(2) | Block32)) => 2,
            (TensorKind::Mxf4nvf4, Some(Vector(2) | Block32)) => 2,
            (TensorKind::Mxf4nvf4, Some(Vector(4) | Block16)) => 4,
            _ => return Err(unsupported_form(instruction)),
        };
        let mut offsets = [0; 2];
        for (place, address) in offsets.iter_mut().zip(addresses) {
            let (offset, slot) = self.tensor_address(address)?;
            *place = offset;
            src.push(slot);
        }
        Ok(Scales { count, offsets })
    }
}

/// What follows the predicate: how often D is halved; of `.ws`, columns of B that are taken for zero, which are refused.
fn halvings(
    instruction: &Instruction<'_>,
    how: &TensorMultiplyAdd,
    last: &[Operand<'_>],
) -> Lowered<u8> {
    match last {
        [] => Ok(0),
        [_] if how.stationary => {
            let reason = "masks of columns of B are not executed";
            Err(refused(instruction, reason))
        }
        [Operand::Integer(times @ 0..=15, _)]
            if matches!(how.kind, TensorKind::F16 | TensorKind::Tf32) =>
        {
            Ok(*times as u8)
        }
        _ => Err(unsupported_form(instruction)),
    }
}

pub(super) fn refused(instruction: &Instruction<'_>, reason: &str) -> PtxError {
    let message = format!("`{}` is not supported: {reason}", form(instruction));
    PtxError::new(instruction.span.clone(), message)
}

fn shape_named(text: &str) -> Option<TensorShape> {
    Some(match text {
        "32x32b" => TensorShape::Lanes32,
        "16x64b" => TensorShape::Bits64,
        "16x128b" => TensorShape::Bits128,
        "16x256b" => TensorShape::Bits256,
        "16x32bx2" => TensorShape::Twice { apart: 0 },
        _ => return None,
    })
}

fn kind_named(text: &str) -> Option<TensorKind> {
    Some(match text.strip_prefix("kind::")? {
        "f16" => TensorKind::F16,
        "tf32" => TensorKind::Tf32,
        "f8f6f4" => TensorKind::F8f6f4,
        "i8" => TensorKind::I8,
        "mxf8f6f4" => TensorKind::Mxf8f6f4,
        "mxf4" => TensorKind::Mxf4,
        "mxf4nvf4" => TensorKind::Mxf4nvf4,
        _ => return None,
    })
}

/// How many scales a row or column has along the inner dimension.
#[derive(Clone, Copy)]
enum ScaleCount {
    Vector(u8),
    Block16,
    Block32,
}

fn scales_named(text: &str) -> Option<ScaleCount> {
    Some(match text {
        "scale_vec::1X" => ScaleCount::Vector(1),
        "scale_vec::2X" => ScaleCount::Vector(2),
        "scale_vec::4X" => ScaleCount::Vector(4),
        "block16" => ScaleCount::Block16,
        "block32" => ScaleCount::Block32,
        _ => return None,
    })
}
