//! Texture reads (PTX ISA 8.x, section 9.7.10.3).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{Op, Operands, Sample};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    /// `tex.2d.v4.f32.f32 {r, g, b, a}, [texture, {x, y}]`, with a sampler between the two or without.
    pub(super) fn texture(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let dimensions = modifiers.find(|text| {
            Some(match text {
                "1d" => 1,
                "2d" => 2,
                "3d" => 3,
                _ => return None,
            })
        });
        let four = modifiers.take("v4");
        let result = modifiers.element()?;
        let coordinate = modifiers.element()?;
        modifiers.finish()?;
        let possible = matches!(result, Type::F32 | Type::U32 | Type::S32)
            && matches!(coordinate, Type::F32 | Type::S32);
        let Some(dimensions) = dimensions.filter(|_| four && possible) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[2])?;
        let (Operand::Vector(channels, _), Operand::List(parts, _)) =
            (&instruction.operands[0], &instruction.operands[1])
        else {
            return Err(unsupported_form(instruction));
        };
        let (handle, coordinates) = match &parts[..] {
            [handle, coordinates] | [handle, _, coordinates] => (handle, coordinates),
            _ => return Err(unsupported_form(instruction)),
        };
        let mut dst = Operands::default();
        if channels.len() != 4 {
            let message = format!("four registers are needed here, found {}", channels.len());
            return Err(PtxError::new(instruction.operands[0].span(), message));
        }
        for channel in channels {
            dst.push(self.destination(channel, result)?);
        }
        let mut src = Operands::default();
        src.push(self.source(handle, Type::B64)?);
        let coordinates = match coordinates {
            Operand::Vector(all, _) => &all[..],
            single => std::slice::from_ref(single),
        };
        // A third coordinate comes with a fourth that means nothing.
        let named = if dimensions == 3 { 4 } else { dimensions };
        if !matches!(coordinates.len(), n if n == dimensions || n == named) {
            let message = format!(
                "{dimensions} coordinates are needed here, found {}",
                coordinates.len()
            );
            return Err(PtxError::new(instruction.operands[1].span(), message));
        }
        for operand in &coordinates[..dimensions] {
            src.push(self.source(operand, coordinate)?);
        }
        let sample = Sample {
            dimensions: dimensions as u8,
            integer: coordinate == Type::S32,
            result,
        };
        self.emit(Op::Texture(sample), dst, src);
        Ok(())
    }
}
