//! Textures and surfaces (PTX ISA 8.x, sections 9.7.10 and 9.7.11).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    AtomicOp, Geometry, ImageFact, Op, Operands, Outside, Sample, Surface, SurfaceOp,
};
use crate::types::Type;

fn geometry_named(text: &str) -> Option<Geometry> {
    Some(match text {
        "1d" => Geometry::D1,
        "2d" => Geometry::D2,
        "3d" => Geometry::D3,
        "a1d" => Geometry::Layers1,
        "a2d" => Geometry::Layers2,
        "cube" => Geometry::Cube,
        "acube" => Geometry::Cubes,
        _ => return None,
    })
}

impl<'s> Lowering<'_, 's> {
    /// `tex.2d.v4.f32.f32 {r, g, b, a}, [texture, {x, y}]`, with a sampler between the two or without; `tld4.r.2d`.
    /// Textures have one level, so that levels and gradients, which follow, choose nothing.
    pub(super) fn texture(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let gathers = instruction.opcode.text == "tld4";
        let gather = modifiers.find(|text| match text {
            "r" => Some(0),
            "g" => Some(1),
            "b" => Some(2),
            "a" => Some(3),
            _ => None,
        });
        let levels = ["base", "level", "grad"].map(|name| modifiers.take(name));
        let geometry = modifiers.find(geometry_named);
        let four = modifiers.take("v4");
        let result = modifiers.element()?;
        let coordinate = modifiers.element()?;
        modifiers.finish()?;
        let possible = matches!(result, Type::F32 | Type::U32 | Type::S32)
            && matches!(coordinate, Type::F32 | Type::S32)
            && gathers == gather.is_some()
            && !(gathers && (levels.contains(&true) || coordinate != Type::F32));
        let Some(geometry) = geometry.filter(|_| four && possible) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[2, 3, 4])?;
        let (Operand::Vector(channels, _), Operand::List(parts, _)) =
            (&instruction.operands[0], &instruction.operands[1])
        else {
            return Err(unsupported_form(instruction));
        };
        let mut dst = Operands::default();
        if channels.len() != 4 {
            let message = format!("four registers are needed here, found {}", channels.len());
            return Err(PtxError::new(instruction.operands[0].span(), message));
        }
        for channel in channels {
            dst.push(self.destination(channel, result)?);
        }
        let src = self.image_coordinates(instruction, parts, geometry, coordinate)?;
        let sample = Sample {
            geometry,
            integer: coordinate == Type::S32,
            result,
            gather,
        };
        self.emit(Op::Texture(sample), dst, src);
        Ok(())
    }

    /// The handle, then the layer if there are layers, then the coordinates. A vector of coordinates has one, two or four elements; what is too
    /// many means nothing.
    fn image_coordinates(
        &mut self,
        instruction: &Instruction<'s>,
        parts: &[Operand<'s>],
        geometry: Geometry,
        coordinate: Type,
    ) -> Lowered<Operands<8>> {
        let (handle, coordinates) = match parts {
            [handle, coordinates] | [handle, _, coordinates] => (handle, coordinates),
            _ => return Err(unsupported_form(instruction)),
        };
        let mut src = Operands::default();
        src.push(self.source(handle, Type::B64)?);
        let coordinates = match coordinates {
            Operand::Vector(all, _) => &all[..],
            single => std::slice::from_ref(single),
        };
        let needed = geometry.has_layers() as usize + geometry.coordinates();
        if coordinates.len() < needed || coordinates.len() > needed.next_power_of_two() {
            let message = format!(
                "{needed} coordinates are needed here, found {}",
                coordinates.len()
            );
            return Err(PtxError::new(instruction.operands[0].span(), message));
        }
        for (at, operand) in coordinates[..needed].iter().enumerate() {
            let is_layer = geometry.has_layers() && at == 0;
            let element = if is_layer { Type::U32 } else { coordinate };
            src.push(self.source(operand, element)?);
        }
        Ok(src)
    }

    /// `suld.b.2d.v2.b32.trap {a, b}, [surface, {x, y}]`, `sust.b.1d.b8.clamp [surface, {x}], a`, `sured.b.add.1d.u32.zero [surface, {x}], a`.
    pub(super) fn surface(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.skip_hints();
        let bytes = modifiers.take("b");
        let pixels = modifiers.take("p");
        let reduction = modifiers.find(|text| {
            Some(match text {
                "add" => AtomicOp::Add,
                "min" => AtomicOp::Min,
                "max" => AtomicOp::Max,
                "and" => AtomicOp::And,
                "or" => AtomicOp::Or,
                _ => return None,
            })
        });
        let geometry = modifiers.find(geometry_named);
        let count = modifiers.find(|text| match text {
            "v2" => Some(2u8),
            "v4" => Some(4),
            _ => None,
        });
        let element = modifiers.element()?;
        let outside = modifiers.find(|text| {
            Some(match text {
                "trap" => Outside::Trap,
                "clamp" => Outside::Clamp,
                "zero" => Outside::Zero,
                _ => return None,
            })
        });
        modifiers.finish()?;
        let op = match (instruction.opcode.text, reduction) {
            ("suld", None) if bytes => SurfaceOp::Load,
            ("sust", None) => SurfaceOp::Store,
            ("sured", Some(op)) => SurfaceOp::Reduce(op),
            _ => return Err(unsupported_form(instruction)),
        };
        let flat = !matches!(geometry, Some(Geometry::Cube | Geometry::Cubes) | None);
        let sized = match op {
            SurfaceOp::Reduce(_) => matches!(element.bytes(), 4 | 8) && count.is_none(),
            SurfaceOp::Store if pixels => element == Type::B32,
            _ => !element.is_float() && element != Type::Pred,
        };
        let count = count.unwrap_or(1);
        let fits = u32::from(count) * element.bytes() <= 16;
        let (Some(geometry), true) = (geometry, flat && sized && fits && bytes != pixels) else {
            return Err(unsupported_form(instruction));
        };
        let how = Surface {
            op,
            geometry,
            element,
            count,
            pixels,
            outside: outside.unwrap_or(Outside::Trap),
        };
        self.surface_operands(instruction, how)
    }

    fn surface_operands(&mut self, instruction: &Instruction<'s>, how: Surface) -> Lowered<()> {
        expect_operands(instruction, &[2])?;
        let loads = how.op == SurfaceOp::Load;
        let (place, values) = (usize::from(loads), usize::from(!loads));
        let Operand::List(parts, _) = &instruction.operands[place] else {
            return Err(unsupported_form(instruction));
        };
        let mut src = self.image_coordinates(instruction, parts, how.geometry, Type::S32)?;
        let mut dst = Operands::default();
        for value in self.elements(&instruction.operands[values], how.count)? {
            if loads {
                dst.push(self.data_slot(value, how.element, false)?);
            } else {
                src.push(self.data_slot(value, how.element, true)?);
            }
        }
        self.emit(Op::Surface(how), dst, src);
        Ok(())
    }

    /// `txq.width.b32 d, [texture]`, `suq.height.b32 d, [surface]`.
    pub(super) fn image_query(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let fact = modifiers.find(|text| {
            Some(match text {
                "width" => ImageFact::Width,
                "height" => ImageFact::Height,
                "depth" => ImageFact::Depth,
                "array_size" => ImageFact::Layers,
                "num_mipmap_levels" | "num_samples" => ImageFact::One,
                "normalized_coords" => ImageFact::Normalized,
                _ => return None,
            })
        });
        let element = modifiers.element()?;
        modifiers.finish()?;
        let fact = fact.filter(|_| element.bytes() == 4);
        let fact = fact.ok_or_else(|| unsupported_form(instruction))?;
        expect_operands(instruction, &[2])?;
        let Operand::Address(address) = &instruction.operands[1] else {
            return Err(unsupported_form(instruction));
        };
        let Some(name) = address.base.clone().filter(|_| address.offset == 0) else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.destination(&instruction.operands[0], element)?;
        let handle = self.source(&Operand::Name(name, None), Type::B64)?;
        self.emit(Op::ImageQuery(fact), dst.into(), handle.into());
        Ok(())
    }
}
