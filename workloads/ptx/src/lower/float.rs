//! Roots, reciprocals, transcendental functions, float inspection (PTX ISA 8.x, section 9.7.3).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use crate::ast::Instruction;
use crate::program::{Float, FloatTest, Long1, Long2, Op, Word1, Word2};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn function(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "testp" => return self.float_test(instruction, modifiers),
            "copysign" => return self.copysign(instruction, modifiers),
            _ => {}
        }
        let approx = modifiers.take("approx");
        let rounding = modifiers.rounding();
        let flush = modifiers.take("ftz");
        let element = modifiers.element()?;
        modifiers.finish()?;
        let exact = rounding.map(|rounding| Float {
            rounding,
            flush,
            saturate: false,
        });
        let op = match element {
            Type::F32 => {
                word_function(instruction.opcode.text, exact, approx, flush).map(Op::Word1)
            }
            Type::F64 => {
                long_function(instruction.opcode.text, exact, approx, flush).map(Op::Long1)
            }
            _ => None,
        };
        let op = op.ok_or_else(|| unsupported_form(instruction))?;
        self.emit_typed(instruction, op, element, &[element])
    }

    fn copysign(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let element = modifiers.element()?;
        modifiers.finish()?;
        let op = match element {
            Type::F32 => Op::Word2(Word2::CopySign),
            Type::F64 => Op::Long2(Long2::CopySign),
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit_typed(instruction, op, element, &[element; 2])
    }

    fn float_test(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let test = modifiers.find(|text| {
            Some(match text {
                "finite" => FloatTest::Finite,
                "infinite" => FloatTest::Infinite,
                "number" => FloatTest::Number,
                "notanumber" => FloatTest::NotANumber,
                "normal" => FloatTest::Normal,
                "subnormal" => FloatTest::Subnormal,
                _ => return None,
            })
        });
        let element = modifiers.element()?;
        modifiers.finish()?;
        match (test, element) {
            (Some(test), Type::F32 | Type::F64) => {
                self.emit_typed(instruction, Op::TestFloat(test), Type::Pred, &[element])
            }
            _ => Err(unsupported_form(instruction)),
        }
    }
}

fn word_function(opcode: &str, exact: Option<Float>, approx: bool, flush: bool) -> Option<Word1> {
    Some(match (opcode, exact, approx) {
        ("sqrt", Some(float), false) => Word1::FSqrt(float),
        ("rcp", Some(float), false) => Word1::FRcp(float),
        ("sqrt", None, true) => Word1::SqrtApprox { flush },
        ("rcp", None, true) => Word1::RcpApprox { flush },
        ("rsqrt", None, true) => Word1::RsqrtApprox { flush },
        ("ex2", None, true) => Word1::Ex2Approx { flush },
        ("lg2", None, true) => Word1::Lg2Approx { flush },
        ("sin", None, true) => Word1::SinApprox { flush },
        ("cos", None, true) => Word1::CosApprox { flush },
        ("tanh", None, true) => Word1::TanhApprox,
        _ => return None,
    })
}

/// Approximations with `.ftz` are the gross ones (PTX ISA, "rcp.approx.ftz.f64").
fn long_function(opcode: &str, exact: Option<Float>, approx: bool, flush: bool) -> Option<Long1> {
    Some(match (opcode, exact, approx, flush) {
        ("sqrt", Some(float), false, false) => Long1::FSqrt(float.rounding),
        ("rcp", Some(float), false, false) => Long1::FRcp(float.rounding),
        ("rcp", None, true, true) => Long1::RcpGross,
        ("rsqrt", None, true, false) => Long1::RsqrtApprox,
        ("rsqrt", None, true, true) => Long1::RsqrtGross,
        _ => return None,
    })
}
