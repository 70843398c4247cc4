//! Operands to slots.

use super::function::{Lowered, Lowering};
use super::slots::slot_kind;
use crate::ast::{Address, Instruction, Name, Operand};
use crate::error::{PtxError, Span};
use crate::program::{Access, GRID_WORKSPACE, MaskKind, Op, Operands, Slot, SlotKind, Special};
use crate::types::{Space, Type};

/// Refuses an instruction with the wrong number of operands.
pub(super) fn expect_operands(instruction: &Instruction<'_>, counts: &[usize]) -> Lowered<()> {
    let found = instruction.operands.len();
    if counts.contains(&found) {
        return Ok(());
    }
    let wanted: Vec<_> = counts.iter().map(usize::to_string).collect();
    Err(PtxError::new(
        instruction.span.clone(),
        format!(
            "`{}` takes {} operands here, found {found}",
            instruction.opcode.text,
            wanted.join(" or ")
        ),
    ))
}

pub(super) fn kind_name(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Word => "32-bit register",
        SlotKind::Double => "64-bit register",
        SlotKind::Predicate => "predicate register",
    }
}

fn wrong_kind(name: &Name<'_>, found: SlotKind, wanted: SlotKind) -> PtxError {
    PtxError::new(
        name.span.clone(),
        format!(
            "`{}` is a {}, a {} is needed here",
            name.text,
            kind_name(found),
            kind_name(wanted)
        ),
    )
}

impl<'s> Lowering<'_, 's> {
    /// A source operand of type `element`.
    pub fn source(&mut self, operand: &Operand<'s>, element: Type) -> Lowered<Slot> {
        match slot_kind(element) {
            SlotKind::Word => self.word(operand, element),
            SlotKind::Double => self.double(operand, element),
            SlotKind::Predicate => {
                let (slot, negated) = self.predicate(operand)?;
                if negated {
                    let message = "a negated predicate is not possible here";
                    return Err(PtxError::new(operand.span(), message));
                }
                Ok(slot)
            }
        }
    }

    fn word(&mut self, operand: &Operand<'s>, element: Type) -> Lowered<Slot> {
        let bits = match operand {
            Operand::Name(name, component) => {
                return self.named(name, component.as_ref(), SlotKind::Word);
            }
            Operand::Offset(name, offset, span) => self.behind(name, *offset, span)? as u32,
            Operand::Integer(value, _) if element == Type::F32 => (*value as i64 as f32).to_bits(),
            Operand::Integer(value, _) => *value as u32,
            Operand::Single(bits, _) => *bits,
            Operand::Double(value, _) => (*value as f32).to_bits(),
            other => return Err(not_a_value(other)),
        };
        Ok(self.slots.word_literal(bits))
    }

    fn double(&mut self, operand: &Operand<'s>, element: Type) -> Lowered<Slot> {
        let bits = match operand {
            Operand::Name(name, component) => {
                return self.named(name, component.as_ref(), SlotKind::Double);
            }
            Operand::Offset(name, offset, span) => self.behind(name, *offset, span)?,
            Operand::Integer(value, _) if element == Type::F64 => (*value as i64 as f64).to_bits(),
            Operand::Integer(value, _) => *value,
            Operand::Single(bits, _) => f64::from(f32::from_bits(*bits)).to_bits(),
            Operand::Double(value, _) => value.to_bits(),
            other => return Err(not_a_value(other)),
        };
        Ok(self.slots.double_literal(bits))
    }

    /// A register, a special register or the address of a variable.
    fn named(
        &mut self,
        name: &Name<'s>,
        component: Option<&Name<'s>>,
        kind: SlotKind,
    ) -> Lowered<Slot> {
        if component.is_none()
            && let Some(slot) = self.slots.register(name.text)
        {
            return if slot.kind == kind {
                Ok(slot)
            } else {
                Err(wrong_kind(name, slot.kind, kind))
            };
        }
        if let Some(special) = special(name.text, component.map(|name| name.text)) {
            return Ok(match kind {
                SlotKind::Double => self.slots.special_double(special),
                _ => self.slots.special_word(special),
            });
        }
        let address = self.behind(name, 0, &name.span)?;
        Ok(match kind {
            SlotKind::Double => self.slots.double_literal(address),
            _ => self.slots.word_literal(address as u32),
        })
    }

    /// The address that lies so far behind a variable.
    fn behind(&self, name: &Name<'s>, offset: i64, span: &Span) -> Lowered<u64> {
        match self.symbol(name.text) {
            Some(symbol) if symbol.framed && self.body.is_function => Err(PtxError::new(
                span.clone(),
                "inside a function, the address of a local variable can only be moved to a register",
            )),
            Some(symbol) => Ok(symbol.address.wrapping_add_signed(offset)),
            None => Err(unknown(name)),
        }
    }

    /// A predicate source, which may be negated.
    pub fn predicate(&mut self, operand: &Operand<'s>) -> Lowered<(Slot, bool)> {
        let (name, negated) = match operand {
            Operand::Name(name, None) => (name, false),
            Operand::Not(name) => (name, true),
            other => {
                let message = "a predicate register is needed here";
                return Err(PtxError::new(other.span(), message));
            }
        };
        let slot = self.register(name, SlotKind::Predicate)?;
        Ok((slot, negated))
    }

    fn register(&mut self, name: &Name<'s>, kind: SlotKind) -> Lowered<Slot> {
        match self.slots.register(name.text) {
            Some(slot) if slot.kind == kind => Ok(slot),
            Some(slot) => Err(wrong_kind(name, slot.kind, kind)),
            None => Err(unknown(name)),
        }
    }

    /// A destination of type `element`; `_` is a slot that nobody reads.
    pub fn destination(&mut self, operand: &Operand<'s>, element: Type) -> Lowered<Slot> {
        self.destination_slot(operand, slot_kind(element))
    }

    /// A destination in a given bank.
    pub fn destination_slot(&mut self, operand: &Operand<'s>, kind: SlotKind) -> Lowered<Slot> {
        match operand {
            Operand::Name(name, None) if name.text == "_" => Ok(self.slots.fresh(kind)),
            Operand::Name(name, None) => self.register(name, kind),
            other => Err(PtxError::new(
                other.span(),
                "a register is needed as destination",
            )),
        }
    }

    /// The register or literal that holds a loaded, stored or converted element: registers may be wider than it.
    pub fn data_slot(
        &mut self,
        operand: &Operand<'s>,
        element: Type,
        source: bool,
    ) -> Lowered<Slot> {
        let register = match operand {
            Operand::Name(name, None) => self.slots.register(name.text),
            _ => None,
        };
        match register {
            Some(slot) if slot.kind == SlotKind::Double => Ok(slot),
            _ if source => self.source(operand, element),
            _ => self.destination(operand, element),
        }
    }

    /// Gives `access` its address, `[base+offset]`, and returns the base's slot.
    pub fn address(&mut self, operand: &Operand<'s>, access: &mut Access) -> Lowered<Slot> {
        let Operand::Address(address) = operand else {
            return Err(PtxError::new(
                operand.span(),
                "an address in brackets is needed here",
            ));
        };
        access.offset = address.offset;
        match &address.base {
            None => Ok(self.slots.double_literal(0)),
            Some(name) => self.base(name, address, access),
        }
    }

    fn base(
        &mut self,
        name: &Name<'s>,
        address: &Address<'s>,
        access: &mut Access,
    ) -> Lowered<Slot> {
        if let Some(slot) = self.slots.register(name.text) {
            if slot.kind == SlotKind::Predicate {
                return Err(wrong_kind(name, slot.kind, SlotKind::Double));
            }
            // A pointer to a function's parameter was made by `mov` and is an address in local memory.
            if access.space == Space::Param && self.body.is_function {
                access.space = Space::Local;
            }
            return Ok(slot);
        }
        let symbol = self.symbol(name.text).ok_or_else(|| unknown(name))?;
        let movable = symbol.framed && self.body.is_function;
        if access.space == Space::Generic && !movable {
            return Ok(self.slots.double_literal(symbol.generic()));
        }
        if access.space != symbol.space {
            return Err(PtxError::new(
                address.span.clone(),
                format!(
                    "`{}` lies in {:?} memory, not in {:?} memory",
                    name.text, symbol.space, access.space
                ),
            ));
        }
        access.framed = symbol.framed;
        Ok(self.slots.double_literal(symbol.address))
    }

    /// Emits `op` with one destination and sources of the given types; the operand count is checked.
    pub fn emit_typed(
        &mut self,
        instruction: &Instruction<'s>,
        op: Op,
        destination: Type,
        sources: &[Type],
    ) -> Lowered<()> {
        expect_operands(instruction, &[1 + sources.len()])?;
        let dst = self.destination(&instruction.operands[0], destination)?;
        let mut src = Operands::default();
        for (operand, &element) in instruction.operands[1..].iter().zip(sources) {
            src.push(self.source(operand, element)?);
        }
        self.emit(op, dst.into(), src);
        Ok(())
    }
}

fn unknown(name: &Name<'_>) -> PtxError {
    PtxError::new(
        name.span.clone(),
        format!("`{}` is not declared", name.text),
    )
    .with_help("declare registers with `.reg`; special registers are listed in docs/ptx.md")
}

fn not_a_value(operand: &Operand<'_>) -> PtxError {
    PtxError::new(operand.span(), "a register or a number is needed here")
}

fn special(name: &str, component: Option<&str>) -> Option<Special> {
    let axis = match component {
        None => None,
        Some("x") => Some(0),
        Some("y") => Some(1),
        Some("z") => Some(2),
        Some(_) => return None,
    };
    if let Some(axis) = axis {
        return match name {
            "%tid" => Some(Special::Tid(axis)),
            "%ntid" => Some(Special::Ntid(axis)),
            "%ctaid" => Some(Special::Ctaid(axis)),
            "%nctaid" => Some(Special::Nctaid(axis)),
            "%clusterid" => Some(Special::ClusterId(axis)),
            "%nclusterid" => Some(Special::NclusterId(axis)),
            "%cluster_ctaid" => Some(Special::ClusterCtaid(axis)),
            "%cluster_nctaid" => Some(Special::ClusterNctaid(axis)),
            _ => None,
        };
    }
    Some(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NwarpId,
        "%smid" => Special::SmId,
        "%nsmid" => Special::NsmId,
        "%gridid" => Special::GridId,
        "%lanemask_eq" => Special::LaneMask(MaskKind::Eq),
        "%lanemask_le" => Special::LaneMask(MaskKind::Le),
        "%lanemask_lt" => Special::LaneMask(MaskKind::Lt),
        "%lanemask_ge" => Special::LaneMask(MaskKind::Ge),
        "%lanemask_gt" => Special::LaneMask(MaskKind::Gt),
        "%cluster_ctarank" => Special::ClusterRank,
        "%cluster_nctarank" => Special::ClusterSize,
        "%current_graph_exec" => Special::Number(0),
        "%envreg1" => Special::Number((GRID_WORKSPACE >> 32) as u32),
        "%envreg2" => Special::Number(GRID_WORKSPACE as u32),
        name if is_numbered(name, "%envreg", 32)
            || is_numbered(name, "%pm", 8)
            || is_numbered(name.trim_end_matches("_64"), "%pm", 8) =>
        {
            Special::Number(0)
        }
        "%aggr_smem_size" => Special::TotalShared,
        "%dynamic_smem_size" => Special::DynamicShared,
        "%total_smem_size" => Special::TotalShared,
        "WARP_SZ" => Special::WarpSize,
        _ => return None,
    })
}

/// Whether a name is a prefix and a number below a limit.
fn is_numbered(name: &str, prefix: &str, limit: u32) -> bool {
    let number = name.strip_prefix(prefix).map(str::parse::<u32>);
    matches!(number, Some(Ok(number)) if number < limit)
}
