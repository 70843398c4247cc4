//! Integer and floating-point arithmetic (PTX ISA 8.x, sections 9.7.1, 9.7.3).

use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::video::pair_operation;
use crate::ast::Instruction;
use crate::error::PtxError;
use crate::program::{Float, Long1, Long2, Long3, Op, ShortOp, Word1, Word2, Word3};
use crate::types::Type;

/// A typed operation of one to three sources, for each width that has it.
pub(super) struct Widths {
    pub word: Option<ShortOp>,
    pub double: Option<Op>,
    pub short: Option<ShortOp>,
}

impl Widths {
    pub fn one(word: Word1, double: Long1) -> Self {
        Self {
            word: Some(ShortOp::One(word)),
            double: Some(Op::Long1(double)),
            short: Some(ShortOp::One(word)),
        }
    }

    pub fn two(word: Word2, double: Long2) -> Self {
        Self {
            word: Some(ShortOp::Two(word)),
            double: Some(Op::Long2(double)),
            short: Some(ShortOp::Two(word)),
        }
    }

    pub fn three(word: Word3, double: Long3) -> Self {
        Self {
            word: Some(ShortOp::Three(word)),
            double: Some(Op::Long3(double)),
            short: Some(ShortOp::Three(word)),
        }
    }

    pub fn without_short(mut self) -> Self {
        self.short = None;
        self
    }

    pub fn word_only(word: ShortOp) -> Self {
        Self {
            word: Some(word),
            double: None,
            short: None,
        }
    }

    /// The operation for a type, if that width has it.
    pub fn of(self, element: Type) -> Option<Op> {
        match element.bytes() {
            _ if element.is_half() => None,
            8 => self.double,
            4 => self.word.and_then(|word| match word {
                ShortOp::One(word) => Some(Op::Word1(word)),
                ShortOp::Two(word) => Some(Op::Word2(word)),
                ShortOp::Three(word) => Some(Op::Word3(word)),
                ShortOp::MulHi => None,
            }),
            2 => self.short.map(|op| Op::Short {
                signed: element.is_signed(),
                op,
            }),
            _ => None,
        }
    }
}

impl<'s> Lowering<'_, 's> {
    pub(super) fn arithmetic(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let opcode = instruction.opcode.text;
        match opcode {
            "mul24" | "mad24" => return self.arithmetic24(instruction, modifiers),
            "dp4a" | "dp2a" => return self.dot_product(instruction, modifiers),
            "add" | "sub" | "mad" if modifiers.take("cc") => return self.with_carry(instruction),
            _ => {}
        }
        if let Some(pair) = pair_operation(instruction) {
            return self.pair(instruction, pair);
        }
        let wide = modifiers.take("wide");
        let high = modifiers.take("hi");
        let low = modifiers.take("lo");
        let relu = matches!(opcode, "min" | "max") && modifiers.take("relu");
        let element = modifiers.element()?;
        if opcode == "mad" && high && !element.is_float() {
            let saturate = element == Type::S32 && modifiers.take("sat");
            if saturate || element.bytes() != 4 {
                modifiers.finish()?;
                return self.multiply_high_add(instruction, element, saturate);
            }
        }
        if relu && element == Type::S32 {
            modifiers.finish()?;
            return self.extreme_relu(instruction);
        }
        if wide && !element.is_float() {
            modifiers.finish()?;
            return self.widening(instruction, element);
        }
        let widths = if element.is_float() {
            float_widths(opcode, element, &mut modifiers)
        } else {
            integer_widths(opcode, element, high, &mut modifiers)
        };
        modifiers.finish()?;
        let misplaced =
            relu || (high || low) && (element.is_float() || !matches!(opcode, "mul" | "mad"));
        let op = widths
            .filter(|_| !misplaced)
            .and_then(|widths| widths.of(element));
        let sources = match opcode {
            "abs" | "neg" => 1,
            "mad" | "fma" | "sad" => 3,
            _ => 2,
        };
        match op {
            Some(op) => self.emit_typed(instruction, op, element, &vec![element; sources]),
            None => Err(unsupported_form(instruction)),
        }
    }

    fn arithmetic24(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let high = modifiers.take("hi");
        modifiers.take("lo");
        let element = modifiers.element()?;
        if high && element == Type::S32 && modifiers.take("sat") {
            modifiers.finish()?;
            return self.multiply_high_add(instruction, element, true);
        }
        modifiers.finish()?;
        let signed = element.is_signed();
        if !matches!(element, Type::U32 | Type::S32) {
            return Err(unsupported_form(instruction));
        }
        if instruction.opcode.text == "mul24" {
            let op = Op::Word2(Word2::Mul24 { signed, high });
            self.emit_typed(instruction, op, element, &[element; 2])
        } else {
            let op = Op::Word3(Word3::Mad24 { signed, high });
            self.emit_typed(instruction, op, element, &[element; 3])
        }
    }

    /// `dp4a.atype.btype`, `dp2a.lo.atype.btype`.
    fn dot_product(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let high = modifiers.take("hi");
        modifiers.take("lo");
        let a = modifiers.element()?;
        let b = modifiers.element()?;
        modifiers.finish()?;
        let signed = [a.is_signed(), b.is_signed()];
        let op = match instruction.opcode.text {
            "dp4a" => Word3::Dp4a { signed },
            _ => Word3::Dp2a { signed, high },
        };
        self.emit_typed(instruction, Op::Word3(op), Type::B32, &[Type::B32; 3])
    }

    fn widening(&mut self, instruction: &Instruction<'s>, element: Type) -> Lowered<()> {
        let signed = element.is_signed();
        let is_mul = instruction.opcode.text == "mul";
        let (op, wide) = match (element.bytes(), is_mul) {
            (4, true) => (Op::MulWide { signed }, Type::B64),
            (4, false) => (Op::MadWide { signed }, Type::B64),
            (2, true) => (Op::ShortMulWide { signed }, Type::B32),
            (2, false) => (Op::ShortMadWide { signed }, Type::B32),
            _ => return Err(unsupported_form(instruction)),
        };
        if is_mul {
            self.emit_typed(instruction, op, wide, &[element; 2])
        } else {
            self.emit_typed(instruction, op, wide, &[element, element, wide])
        }
    }
}

/// Opcode and modifiers.
pub(super) fn form(instruction: &Instruction<'_>) -> String {
    let modifiers = instruction.modifiers.iter();
    let modifiers: String = modifiers.map(|name| format!(".{}", name.text)).collect();
    format!("{}{modifiers}", instruction.opcode.text)
}

pub(super) fn unsupported_form(instruction: &Instruction<'_>) -> PtxError {
    let message = format!("`{}` is not supported", form(instruction));
    PtxError::new(instruction.span.clone(), message)
}

fn integer_widths(
    opcode: &str,
    element: Type,
    high: bool,
    modifiers: &mut Modifiers<'_, '_>,
) -> Option<Widths> {
    let signed = element.is_signed();
    let saturate = matches!(opcode, "add" | "sub") && element == Type::S32 && modifiers.take("sat");
    Some(match opcode {
        "add" if saturate => Widths::word_only(ShortOp::Two(Word2::AddSaturate)),
        "sub" if saturate => Widths::word_only(ShortOp::Two(Word2::SubSaturate)),
        "add" => Widths::two(Word2::Add, Long2::Add),
        "sub" => Widths::two(Word2::Sub, Long2::Sub),
        "mul" if high => Widths {
            short: Some(ShortOp::MulHi),
            ..Widths::two(Word2::MulHi { signed }, Long2::MulHi { signed })
        },
        "mul" => Widths::two(Word2::Mul, Long2::Mul),
        "mad" if high => Widths::word_only(ShortOp::Three(Word3::MadHi { signed })),
        "mad" => Widths::three(Word3::Mad, Long3::Mad),
        "sad" => Widths::three(Word3::Sad { signed }, Long3::Sad { signed }),
        "div" => Widths::two(Word2::Div { signed }, Long2::Div { signed }),
        "rem" => Widths::two(Word2::Rem { signed }, Long2::Rem { signed }),
        "min" => Widths::two(Word2::Min { signed }, Long2::Min { signed }),
        "max" => Widths::two(Word2::Max { signed }, Long2::Max { signed }),
        "abs" => Widths::one(Word1::Abs, Long1::Abs),
        "neg" => Widths::one(Word1::Neg, Long1::Neg),
        _ => return None,
    })
}

fn float_widths(opcode: &str, element: Type, modifiers: &mut Modifiers<'_, '_>) -> Option<Widths> {
    if element.is_half() {
        return None;
    }
    if opcode == "div" {
        return Some(division(modifiers));
    }
    let float = modifiers.float();
    let flush = float.flush;
    let nan = modifiers.take("NaN");
    let widths = match opcode {
        "add" => Widths::two(Word2::FAdd(float), Long2::FAdd(float.rounding)),
        "sub" => Widths::two(Word2::FSub(float), Long2::FSub(float.rounding)),
        "mul" => Widths::two(Word2::FMul(float), Long2::FMul(float.rounding)),
        "mad" | "fma" => Widths::three(Word3::Fma(float), Long3::Fma(float.rounding)),
        "min" => Widths::two(Word2::FMin { flush, nan }, Long2::FMin),
        "max" => Widths::two(Word2::FMax { flush, nan }, Long2::FMax),
        "abs" => Widths::one(Word1::FAbs { flush }, Long1::FAbs),
        "neg" => Widths::one(Word1::FNeg { flush }, Long1::FNeg),
        _ => return None,
    };
    Some(widths.without_short())
}

fn division(modifiers: &mut Modifiers<'_, '_>) -> Widths {
    let full = modifiers.take("full");
    let approx = modifiers.take("approx");
    let float: Float = modifiers.float();
    let word = if full || approx {
        let flush = float.flush;
        Word2::FDivApprox { flush, full }
    } else {
        Word2::FDiv(float)
    };
    Widths::two(word, Long2::FDiv(float.rounding)).without_short()
}
