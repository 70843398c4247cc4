//! Tensor copies, reductions in bulk and tensor maps (PTX ISA 8.7, sections 9.7.9.27 and 9.7.9.28).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use super::tensor_memory::refused;
use crate::ast::{Address, Instruction, Operand};
use crate::program::{
    AtomicOp, BulkReduce, CopyAsync, CopySize, MAX_RANK, MatrixOp, Op, Operands, ReplaceTensorMap,
    TENSOR_MAP_BYTES, TensorCopy, TensorField, TensorWay,
};
use crate::types::{Space, Type};

impl<'s> Lowering<'_, 's> {
    /// `cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier]` and its kin.
    pub(super) fn copy_tensor(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let prefetches = modifiers.take("prefetch");
        let reduces = modifiers.take("reduce");
        let op = if reduces {
            Some(reduction(&mut modifiers).ok_or_else(|| unsupported_form(instruction))?)
        } else {
            None
        };
        modifiers.take("L2");
        let hinted = hinted(instruction);
        modifiers.skip_hints();
        let rank = modifiers.find(rank_named);
        let (first, second) = (modifiers.space(), modifiers.space());
        modifiers.take("tile");
        let gathers = modifiers.take("im2col") || modifiers.take("im2col_no_offs");
        let tells = modifiers.take("mbarrier::complete_tx::bytes");
        modifiers.take("bulk_group");
        if modifiers.take("cta_group::2") {
            let reason = "where a pair's barrier lies, programs compute from the bits of the hardware's addresses, which PTX leaves open";
            return Err(refused(instruction, reason));
        }
        modifiers.take("cta_group::1");
        let multicast = modifiers.take("multicast::cluster");
        modifiers.finish()?;
        let Some(rank) = rank else {
            return Err(unsupported_form(instruction));
        };
        let loads = match (first, second, prefetches) {
            (Some(Space::Shared), Some(Space::Global), false) if tells && op.is_none() => true,
            (Some(Space::Global), Some(Space::Shared), false) if !tells => false,
            (Some(Space::Global), None, true) => false,
            _ => return Err(unsupported_form(instruction)),
        };
        let mut operands = &instruction.operands[..];
        if hinted {
            operands = operands.split_last().map_or(operands, |(_, rest)| rest);
        }
        let parts = TensorOperands::of(operands, loads, prefetches)
            .ok_or_else(|| unsupported_form(instruction))?;
        let offsets = match (gathers && (loads || prefetches), rank) {
            (true, 3..) => Some(rank - 2),
            (false, _) if gathers => Some(0),
            (false, _) => None,
            (true, _) => return Err(unsupported_form(instruction)),
        };
        self.emit_tensor(
            instruction,
            parts,
            TensorShape {
                rank,
                offsets,
                multicast,
                op,
            },
        )
    }

    fn emit_tensor(
        &mut self,
        instruction: &Instruction<'s>,
        parts: TensorOperands<'_, 's>,
        shape: TensorShape,
    ) -> Lowered<()> {
        let (map, base) = self.placed_at(&parts.map, Space::Generic)?;
        let mut src: Operands<8> = base.into();
        let mut shared = map;
        if let Some(operand) = parts.shared {
            let (place, base) = self.placed_at(operand, Space::Shared)?;
            shared = place;
            src.push(base);
        }
        let way = match (parts.barrier, shape.op) {
            (Some(operand), _) => {
                let (place, base) = self.placed_at(operand, Space::Shared)?;
                src.push(base);
                TensorWay::Load(place)
            }
            (None, Some(op)) => TensorWay::Reduce(op),
            (None, None) if parts.shared.is_none() => TensorWay::Prefetch,
            (None, None) => TensorWay::Store,
        };
        let mut rest = parts.rest.iter();
        let mut numbers: Vec<&Operand<'s>> = vector(parts.coordinates);
        let counted = numbers.len() == usize::from(shape.rank);
        if let Some(count @ 1..) = shape.offsets {
            let offsets = rest.next().map(vector).unwrap_or_default();
            if offsets.len() != usize::from(count) {
                return Err(unsupported_form(instruction));
            }
            numbers.extend(offsets);
        }
        if shape.multicast {
            numbers.extend(rest.next());
        }
        if !counted || rest.next().is_some() {
            return Err(unsupported_form(instruction));
        }
        let mut fragments = Vec::new();
        for (place, operand) in numbers.iter().enumerate() {
            // Coordinates are words, offsets and the mask are 16 bits.
            let element = if place < usize::from(shape.rank) {
                Type::B32
            } else {
                Type::B16
            };
            fragments.push(self.source(operand, element)?);
        }
        let op = MatrixOp::Tensor(TensorCopy {
            rank: shape.rank,
            map,
            shared,
            way,
            offsets: shape.offsets,
            multicast: shape.multicast,
        });
        self.emit_matrix(op, Vec::new(), fragments, src);
        Ok(())
    }

    /// `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [to], [from], bytes`.
    pub(super) fn reduce_bulk(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let hinted = hinted(instruction);
        modifiers.skip_hints();
        let (to, from) = (modifiers.space(), modifiers.space());
        let tells = modifiers.take("mbarrier::complete_tx::bytes");
        modifiers.take("bulk_group");
        modifiers.take("noftz");
        let op = reduction(&mut modifiers);
        let element = modifiers.element()?;
        modifiers.finish()?;
        let (Some(to), Some(from @ Space::Shared), Some(op)) = (to, from, op) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[3 + usize::from(tells) + usize::from(hinted)])?;
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
        let op = Op::BulkReduce(BulkReduce {
            to,
            from,
            op,
            element,
            barrier,
        });
        self.emit(op, Operands::default(), src);
        Ok(())
    }

    /// `tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, value` and `tensormap.cp_fenceproxy`.
    pub(super) fn tensor_map(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        if modifiers.take("cp_fenceproxy") {
            return self.copy_tensor_map(instruction, modifiers);
        }
        let replaces = modifiers.take("replace") && modifiers.take("tile");
        let named = modifiers.find(field_named);
        let space = modifiers.space().unwrap_or(Space::Generic);
        let whole = modifiers.take("b1024");
        let element = modifiers.element()?;
        modifiers.finish()?;
        let Some((field, numbered)) = named.filter(|_| replaces && whole) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[if numbered { 3 } else { 2 }])?;
        let field = match (&instruction.operands[1], numbered) {
            (Operand::Integer(number, _), true) if (*number as usize) < MAX_RANK => {
                field(*number as u8)
            }
            (_, true) => return Err(unsupported_form(instruction)),
            (_, false) => field(0),
        };
        let wide = matches!(
            field,
            TensorField::GlobalAddress | TensorField::GlobalStride(_)
        );
        if wide != (element.bytes() == 8) {
            return Err(unsupported_form(instruction));
        }
        let (place, base) = self.placed_at(&instruction.operands[0], space)?;
        let value = self.source(&instruction.operands[if numbered { 2 } else { 1 }], element)?;
        let op = Op::ReplaceTensorMap(ReplaceTensorMap { place, field });
        self.emit(op, Operands::default(), [base, value].into_iter().collect());
        Ok(())
    }

    /// `tensormap.cp_fenceproxy.global.shared::cta... [to], [from], 128`: a copy, ordered with what uses the map.
    fn copy_tensor_map(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.skip_hints();
        let (to, from) = (modifiers.space(), modifiers.space());
        for name in ["tensormap::generic", "sync", "aligned"] {
            modifiers.take(name);
        }
        modifiers.finish()?;
        let (Some(to), Some(from)) = (to, from) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[3])?;
        let (to, base) = self.placed_at(&instruction.operands[0], to)?;
        let (from, source) = self.placed_at(&instruction.operands[1], from)?;
        let bytes = self.slots.word_literal(TENSOR_MAP_BYTES as u32);
        let op = Op::CopyAsync(CopyAsync {
            to,
            from,
            size: CopySize::Bulk(None),
        });
        let src = [base, source, bytes].into_iter().collect();
        self.emit(op, Operands::default(), src);
        Ok(())
    }
}

/// What the modifiers of a tensor copy say of its operands.
#[derive(Clone, Copy)]
struct TensorShape {
    rank: u8,
    offsets: Option<u8>,
    multicast: bool,
    op: Option<AtomicOp>,
}

/// The operands of a tensor copy by what they are.
struct TensorOperands<'a, 's> {
    map: Operand<'s>,
    coordinates: &'a Operand<'s>,
    shared: Option<&'a Operand<'s>>,
    barrier: Option<&'a Operand<'s>>,
    rest: &'a [Operand<'s>],
}

impl<'a, 's> TensorOperands<'a, 's> {
    fn of(operands: &'a [Operand<'s>], loads: bool, prefetches: bool) -> Option<Self> {
        let (tensor, shared, barrier, rest) = match operands {
            [shared, tensor, barrier, rest @ ..] if loads => {
                (tensor, Some(shared), Some(barrier), rest)
            }
            [tensor, rest @ ..] if prefetches => (tensor, None, None, rest),
            [tensor, shared, rest @ ..] if !loads => (tensor, Some(shared), None, rest),
            _ => return None,
        };
        let Operand::List(parts, span) = tensor else {
            return None;
        };
        let [Operand::Name(name, None), coordinates] = &parts[..] else {
            return None;
        };
        let map = Operand::Address(Address {
            base: Some(name.clone()),
            offset: 0,
            span: span.clone(),
        });
        Some(Self {
            map,
            coordinates,
            shared,
            barrier,
            rest,
        })
    }
}

/// The members of a vector; anything else alone.
fn vector<'a, 's>(operand: &'a Operand<'s>) -> Vec<&'a Operand<'s>> {
    match operand {
        Operand::Vector(all, _) => all.iter().collect(),
        single => vec![single],
    }
}

fn hinted(instruction: &Instruction<'_>) -> bool {
    let mut names = instruction.modifiers.iter();
    names.any(|name| name.text == "L2::cache_hint")
}

fn rank_named(text: &str) -> Option<u8> {
    let rank = text.strip_suffix('d')?.parse().ok()?;
    (1..=MAX_RANK as u8).contains(&rank).then_some(rank)
}

fn reduction(modifiers: &mut Modifiers<'_, '_>) -> Option<AtomicOp> {
    modifiers.find(|text| {
        Some(match text {
            "add" => AtomicOp::Add,
            "min" => AtomicOp::Min,
            "max" => AtomicOp::Max,
            "inc" => AtomicOp::Inc,
            "dec" => AtomicOp::Dec,
            "and" => AtomicOp::And,
            "or" => AtomicOp::Or,
            "xor" => AtomicOp::Xor,
            _ => return None,
        })
    })
}

/// A field by the number of a dimension, and whether that stands before its value.
type NamedField = (fn(u8) -> TensorField, bool);

fn field_named(text: &str) -> Option<NamedField> {
    Some(match text {
        "global_address" => (|_| TensorField::GlobalAddress, false),
        "rank" => (|_| TensorField::Rank, false),
        "box_dim" => (TensorField::BoxDim, true),
        "global_dim" => (TensorField::GlobalDim, true),
        "global_stride" => (TensorField::GlobalStride, true),
        "element_stride" => (TensorField::ElementStride, true),
        "elemtype" => (|_| TensorField::ElementType, false),
        "interleave_layout" => (|_| TensorField::Interleave, false),
        "swizzle_mode" => (|_| TensorField::Swizzle, false),
        "swizzle_atomicity" => (|_| TensorField::SwizzleAtomicity, false),
        "fill_mode" => (|_| TensorField::Fill, false),
        _ => return None,
    })
}
