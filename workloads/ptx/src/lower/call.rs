//! Device functions: calls, and the lowering of what is called (PTX ISA 8.x, section 9.7.12.5).
//!
//! A function's results, parameters and local variables form its frame in local memory. A call moves the arguments from the
//! caller's frame to the callee's, and the results back.

use super::arithmetic::unsupported_form;
use super::function::{Body, Lowered, Lowering};
use super::layout::{Region, extent};
use super::modifiers::Modifiers;
use crate::ast::{Function, Instruction, Name, Operand, Prototype, Variable};
use crate::error::PtxError;
use crate::program::{self, Access, Call, Move, Op, Operands, RuntimeCall, Slot, SlotKind, Target};
use crate::types::{Space, Type};

/// A function that was called, and where its results and parameters lie in its frame.
pub(super) struct Callee<'m, 's> {
    function: &'m Function<'s>,
    results: Vec<Place>,
    params: Vec<Place>,
}

/// Places of the results and of the parameters in a function's frame.
pub(super) type Shape = (Vec<Place>, Vec<Place>);

/// Functions that an entry may reach.
const MAX_FUNCTIONS: usize = 2000;

/// Why an entry is not lowered.
pub(super) const TOO_LARGE: &str =
    "the entries up to here, with the functions that they call, take too many instructions";

/// Offset and size in a frame.
type Place = (u64, u64);

impl<'s> Lowering<'_, 's> {
    /// `call[.uni] [(results),] function[, (arguments)];`.
    pub(super) fn call(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.take("uni");
        modifiers.finish()?;
        let none = &[][..];
        let (results, name, rest) = match &instruction.operands[..] {
            [
                Operand::List(results, _),
                Operand::Name(name, None),
                rest @ ..,
            ] => (&results[..], name, rest),
            [Operand::Name(name, None), rest @ ..] => (none, name, rest),
            _ => return Err(unsupported_form(instruction)),
        };
        let (arguments, candidates) = match rest {
            [] => (none, None),
            [Operand::List(arguments, _)] => (&arguments[..], None),
            [Operand::List(arguments, _), Operand::Name(candidates, None)] => {
                (&arguments[..], Some(candidates))
            }
            [Operand::Name(candidates, None)] => (none, Some(candidates)),
            _ => return Err(unsupported_form(instruction)),
        };
        if self.stands_in(name, results, arguments)? {
            return Ok(());
        }
        let (target, shape, address) = match candidates {
            Some(candidates) if self.slots.register(name.text).is_some() => {
                let (targets, shape) = self.candidates(candidates)?;
                let address = self.source(
                    &instruction.operands[usize::from(!results.is_empty())],
                    Type::B64,
                )?;
                (Target::Address(targets), shape, Operands::from(address))
            }
            _ => {
                let function = self.callee(name)?;
                let callee = &self.callees[function];
                let shape = (callee.results.clone(), callee.params.clone());
                (
                    Target::Function(function as u32),
                    shape,
                    Operands::default(),
                )
            }
        };
        let arguments = self.moves_of(instruction, arguments, &shape.1)?;
        let results = self.moves_of(instruction, results, &shape.0)?;
        let back = |passed: Move| Move {
            from: passed.to,
            to: passed.from,
            bytes: passed.bytes,
        };
        let call = Call {
            target,
            arguments,
            results: results.into_iter().map(back).collect(),
        };
        self.emit(Op::Call(Box::new(call)), Operands::default(), address);
        Ok(())
    }

    /// What the system's functions do here: memory comes from the heap, what is printed is kept for the host, a failed `assert` stops the kernel, kernels that are
    /// launched are noted.
    fn stands_in(
        &mut self,
        name: &Name<'s>,
        results: &[Operand<'s>],
        arguments: &[Operand<'s>],
    ) -> Lowered<bool> {
        if self.names.defined(name.text).is_some() {
            return Ok(false);
        }
        match name.text {
            "vprintf" => return self.print(results, arguments).map(|()| true),
            "malloc" | "_Znwm" | "_Znam" => {
                return self.allocate(results, arguments).map(|()| true);
            }
            "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" => {
                return self.release(arguments).map(|()| true);
            }
            "__assertfail" | "__assert_fail" => {
                if let [asserted, file, line, function, ..] = arguments {
                    let mut src = Operands::default();
                    for argument in [asserted, file, function] {
                        src.push(self.argument(argument, Type::B64, 0)?);
                    }
                    src.push(self.argument(line, Type::B32, 0)?);
                    let assert = Op::Runtime(RuntimeCall::Assert);
                    self.emit(assert, Operands::default(), src);
                }
                self.emit(Op::Trap, Operands::default(), Operands::default());
            }
            "abort" => self.emit(Op::Trap, Operands::default(), Operands::default()),
            other => return self.device_runtime(other, results, arguments),
        }
        Ok(true)
    }

    /// Where an argument or a result of a call lies.
    pub(super) fn passed(
        &mut self,
        operand: &Operand<'s>,
        element: Type,
    ) -> Lowered<(Slot, Access)> {
        let symbol = match operand {
            Operand::Name(name, None) => self.symbol(name.text),
            _ => None,
        };
        let symbol = symbol.filter(|symbol| symbol.framed);
        let symbol = symbol.ok_or_else(|| not_a_parameter(operand))?;
        let access = Access {
            framed: true,
            ..Access::of(Space::Param, element)
        };
        Ok((self.slots.double_literal(symbol.address), access))
    }

    /// The only argument of a call, in a register.
    fn only_argument(&mut self, arguments: &[Operand<'s>]) -> Lowered<Slot> {
        let value = self.slots.fresh(SlotKind::Double);
        if let Some(argument) = arguments.first() {
            let (place, access) = self.passed(argument, Type::B64)?;
            self.emit(Op::Load(access), value.into(), place.into());
        }
        Ok(value)
    }

    /// `vprintf`.
    fn print(&mut self, results: &[Operand<'s>], arguments: &[Operand<'s>]) -> Lowered<()> {
        let [format, values] = arguments else {
            let span = arguments.first().map_or(0..0, Operand::span);
            return Err(PtxError::new(
                span,
                "`vprintf` takes a format and its arguments",
            ));
        };
        let src = [format, values].map(|argument| self.argument(argument, Type::B64, 0));
        let [format, values] = src;
        let src = [format?, values?].into_iter().collect();
        let count = self.slots.fresh(SlotKind::Word);
        self.emit(Op::Runtime(RuntimeCall::Print), count.into(), src);
        self.returned(results, count, Type::B32)
    }

    /// `malloc` and operator `new`.
    fn allocate(&mut self, results: &[Operand<'s>], arguments: &[Operand<'s>]) -> Lowered<()> {
        let bytes = self.only_argument(arguments)?;
        let address = self.slots.fresh(SlotKind::Double);
        self.emit(
            Op::Runtime(RuntimeCall::Allocate),
            address.into(),
            bytes.into(),
        );
        for result in results {
            let (place, access) = self.passed(result, Type::B64)?;
            let src = [place, address].into_iter().collect();
            self.emit(Op::Store(access), Operands::default(), src);
        }
        Ok(())
    }

    /// `free` and operator `delete`.
    fn release(&mut self, arguments: &[Operand<'s>]) -> Lowered<()> {
        let address = self.only_argument(arguments)?;
        self.emit(
            Op::Runtime(RuntimeCall::Free),
            Operands::default(),
            address.into(),
        );
        Ok(())
    }

    /// Keeps the shape of a prototype.
    pub(super) fn prototype(&mut self, prototype: &Prototype<'s>) -> Lowered<()> {
        let mut frame = Region::default();
        let results = place(&prototype.returns, &mut frame)?;
        let params = place(&prototype.params, &mut frame)?;
        self.body
            .prototypes
            .insert(prototype.name.text, (results, params));
        Ok(())
    }

    /// The functions that an indirect call may reach, by address, and their common shape: those that it lists, or all of its prototype's shape
    /// whose address is taken somewhere.
    fn candidates(&mut self, name: &Name<'s>) -> Lowered<(Vec<(u64, u32)>, Shape)> {
        let looked_at = self.module.functions.len();
        self.targets_left = self.targets_left.checked_sub(looked_at).ok_or_else(|| {
            let message = "too many indirect calls among too many functions";
            PtxError::new(name.span.clone(), message)
        })?;
        let listed: Option<Vec<&'s str>> = self
            .body
            .targets
            .get(name.text)
            .map(|names| names.iter().map(|name| name.text).collect());
        let wanted = self.body.prototypes.get(name.text).cloned();
        let mut found = Vec::new();
        let mut shape = wanted.clone();
        for function in self
            .module
            .functions
            .iter()
            .filter(|function| !function.is_entry && function.body.is_some())
        {
            if listed
                .as_ref()
                .is_some_and(|names| !names.contains(&function.name.text))
            {
                continue;
            }
            let mut frame = Region::default();
            let (Ok(results), Ok(params)) = (
                place(&function.returns, &mut frame),
                place(&function.params, &mut frame),
            ) else {
                continue;
            };
            let own = (results, params);
            if shape.as_ref().is_some_and(|shape| *shape != own) {
                continue;
            }
            shape = Some(own);
            let Some(symbol) = self.symbol(function.name.text) else {
                continue;
            };
            let index = self.callee(&function.name)?;
            found.push((symbol.address, index as u32));
        }
        match shape {
            Some(shape) if listed.is_some() || wanted.is_some() => Ok((found, shape)),
            _ => Err(PtxError::new(
                name.span.clone(),
                format!("`{}` is no prototype and no list of functions", name.text),
            )),
        }
    }

    /// Index of a function among those called.
    pub(super) fn callee(&mut self, name: &Name<'s>) -> Lowered<usize> {
        if let Some(&at) = self.numbers.get(name.text) {
            return Ok(at);
        }
        let function = self.names.defined(name.text);
        let Some(function) = function else {
            let message = format!("`{}` has no body in this module", name.text);
            return Err(PtxError::new(name.span.clone(), message).with_help(
                "of the functions of the CUDA runtime, `malloc`, `free`, `vprintf`, `__assertfail` and launches of kernels are known",
            ));
        };
        if self.callees.len() >= MAX_FUNCTIONS {
            let message = format!("an entry may reach {MAX_FUNCTIONS} functions, this is one more");
            return Err(PtxError::new(name.span.clone(), message));
        }
        let mut frame = Region::default();
        let results = place(&function.returns, &mut frame)?;
        let params = place(&function.params, &mut frame)?;
        self.callees.push(Callee {
            function,
            results,
            params,
        });
        let number = self.callees.len() - 1;
        self.numbers.insert(function.name.text, number);
        Ok(number)
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
                None => Err(not_a_parameter(operand)),
            }
        });
        moves.collect()
    }

    /// Lowers every function that was called, and those that they call, behind the entry's code; at most so many.
    pub(super) fn called(&mut self, most: usize) -> Vec<program::Function> {
        let mut functions = Vec::new();
        while functions.len() < most
            && let Some(callee) = self.callees.get(functions.len())
        {
            let function = callee.function;
            let more = function.body.as_ref().map_or(0, Vec::len);
            if self.code.len() + more > self.room {
                self.errors.push(too_large(&function.name));
                break;
            }
            functions.push(self.function_body(function));
        }
        functions
    }

    fn function_body(&mut self, function: &Function<'s>) -> program::Function {
        self.body = Body {
            is_function: true,
            ..Body::default()
        };
        let start = self.code.len() as u32;
        let hidden = self.slots.hide();
        for param in function.returns.iter().chain(&function.params) {
            if let Err(error) = self.place(param, Space::Param) {
                self.errors.push(error);
            }
        }
        self.body(function.body.as_deref().unwrap_or_default(), Op::Return);
        self.slots.reveal(hidden);
        program::Function {
            name: function.name.text.to_owned(),
            start,
            frame_bytes: self.body.frame.bytes,
        }
    }
}

/// Why an entry is not lowered: with it, or with the functions that it calls, the module is too large.
pub(super) fn too_large(name: &Name<'_>) -> PtxError {
    PtxError::new(name.span.clone(), TOO_LARGE).with_help("split the module")
}

fn not_a_parameter(operand: &Operand<'_>) -> PtxError {
    PtxError::new(
        operand.span(),
        "arguments and results of a call are `.param` variables of the caller",
    )
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
