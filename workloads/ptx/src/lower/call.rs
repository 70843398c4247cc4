//! Device functions: calls, and the lowering of what is called (PTX ISA 8.x, section 9.7.12.5).
//!
//! A function's results, parameters and local variables form its frame in local memory. A call moves the arguments from the
//! caller's frame to the callee's, and the results back.

use super::arithmetic::unsupported_form;
use super::function::{Body, Lowered, Lowering};
use super::layout::{Region, extent};
use super::modifiers::Modifiers;
use crate::ast::{Function, Instruction, Name, Operand, Variable};
use crate::error::PtxError;
use crate::program::{self, Call, Move, Op, Operands};
use crate::types::Space;

/// A function that was called, and where its results and parameters lie in its frame.
pub(super) struct Callee<'m, 's> {
    function: &'m Function<'s>,
    results: Vec<Place>,
    params: Vec<Place>,
}

/// Offset and size in a frame.
type Place = (u64, u64);

impl<'s> Lowering<'_, 's> {
    /// `call[.uni] [(results),] function[, (arguments)];`.
    pub(super) fn call(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.take("uni");
        modifiers.finish()?;
        let none = &[][..];
        let (results, name, arguments) = match &instruction.operands[..] {
            [
                Operand::List(results, _),
                Operand::Name(name, None),
                Operand::List(arguments, _),
            ] => (&results[..], name, &arguments[..]),
            [Operand::List(results, _), Operand::Name(name, None)] => (&results[..], name, none),
            [Operand::Name(name, None), Operand::List(arguments, _)] => {
                (none, name, &arguments[..])
            }
            [Operand::Name(name, None)] => (none, name, none),
            _ => return Err(unsupported_form(instruction)),
        };
        let function = self.callee(name)?;
        let callee = &self.callees[function];
        let (to, from) = (callee.params.clone(), callee.results.clone());
        let arguments = self.moves_of(instruction, arguments, &to)?;
        let results = self.moves_of(instruction, results, &from)?;
        let back = |passed: Move| Move {
            from: passed.to,
            to: passed.from,
            bytes: passed.bytes,
        };
        let call = Call {
            function: function as u32,
            arguments,
            results: results.into_iter().map(back).collect(),
        };
        self.emit(
            Op::Call(Box::new(call)),
            Operands::default(),
            Operands::default(),
        );
        Ok(())
    }

    /// Index of a function among those called.
    pub(super) fn callee(&mut self, name: &Name<'s>) -> Lowered<usize> {
        let known = |callee: &Callee<'_, 's>| callee.function.name.text == name.text;
        if let Some(at) = self.callees.iter().position(known) {
            return Ok(at);
        }
        let functions = self.module.functions.iter();
        let function = functions
            .filter(|function| !function.is_entry && function.body.is_some())
            .find(|function| function.name.text == name.text);
        let Some(function) = function else {
            let message = format!("`{}` has no body in this module", name.text);
            return Err(PtxError::new(name.span.clone(), message)
                .with_help("indirect calls and external functions are not supported"));
        };
        let mut frame = Region::default();
        let results = place(&function.returns, &mut frame)?;
        let params = place(&function.params, &mut frame)?;
        self.callees.push(Callee {
            function,
            results,
            params,
        });
        Ok(self.callees.len() - 1)
    }

    /// Pairs variables of this frame with places in the callee's.
    fn moves_of(
        &self,
        instruction: &Instruction<'s>,
        operands: &[Operand<'s>],
        places: &[Place],
    ) -> Lowered<Vec<Move>> {
        if operands.len() != places.len() {
            let message = format!(
                "the function takes {} values here, found {}",
                places.len(),
                operands.len()
            );
            return Err(PtxError::new(instruction.span.clone(), message));
        }
        let pairs = operands.iter().zip(places);
        let moves = pairs.map(|(operand, &(to, bytes))| {
            let symbol = match operand {
                Operand::Name(name, None) => self.symbol(name.text),
                _ => None,
            };
            let symbol = symbol.filter(|symbol| symbol.framed && symbol.space == Space::Param);
            match symbol {
                Some(symbol) => Ok(Move {
                    from: symbol.address,
                    to,
                    bytes,
                }),
                None => Err(PtxError::new(
                    operand.span(),
                    "arguments and results of a call are `.param` variables of the caller",
                )),
            }
        });
        moves.collect()
    }

    /// Lowers every function that was called, and those that they call, behind the entry's code.
    pub(super) fn called(&mut self) -> Vec<program::Function> {
        let mut functions = Vec::new();
        while let Some(callee) = self.callees.get(functions.len()) {
            let function = callee.function;
            functions.push(self.function_body(function));
        }
        functions
    }

    fn function_body(&mut self, function: &Function<'s>) -> program::Function {
        self.body = Body {
            is_function: true,
            ..Body::default()
        };
        let before = self.slots.counts();
        let start = self.code.len() as u32;
        let hidden = self.slots.hide();
        for param in function.returns.iter().chain(&function.params) {
            if let Err(error) = self.place(param, Space::Param) {
                self.errors.push(error);
            }
        }
        self.body(function.body.as_deref().unwrap_or_default(), Op::Return);
        self.slots.reveal(hidden);
        let after = self.slots.counts();
        program::Function {
            name: function.name.text.to_owned(),
            start,
            frame_bytes: self.body.frame.bytes,
            words: before[0]..after[0],
            doubles: before[1]..after[1],
            predicates: before[2]..after[2],
        }
    }
}

fn place(variables: &[Variable<'_>], frame: &mut Region) -> Lowered<Vec<Place>> {
    let places = variables.iter().map(|variable| {
        if variable.space.text != "param" {
            return Err(PtxError::new(
                variable.space.span.clone(),
                "parameters of functions in registers are not supported",
            )
            .with_help("compile for sm_20 or newer"));
        }
        let (bytes, align) = extent(variable)?;
        Ok((frame.place(bytes, align), bytes))
    });
    places.collect()
}
