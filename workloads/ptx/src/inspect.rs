//! What is in a module, without running it: entries, instruction mix, registers, and what is not supported.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Instruction, Module, Statement};
use crate::error::{Lines, PtxError};
use crate::lower::{check_functions, lower};
use crate::machine::Lower;
use crate::parse::parse;
use crate::program::{self, Param, Spills};

/// What is in a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// `.version`, as written.
    pub version: Option<String>,
    /// `.target`'s first name.
    pub target: Option<String>,
    /// Its entries, in file order.
    pub entries: Vec<EntryFacts>,
    /// Device functions with a body, in file order.
    pub functions: Vec<FunctionFacts>,
    /// Instructions in the file.
    pub instructions: u64,
    /// Everything that is not supported, in file order.
    pub unsupported: Vec<Unsupported>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryFacts {
    /// Name and mix.
    pub body: FunctionFacts,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Registers, of the entry and of the functions that it calls.
    pub registers: Registers,
    /// Static shared memory, in bytes.
    pub shared_bytes: u32,
    /// Local memory a thread, in bytes: the entry's own frame.
    pub local_bytes: u32,
    /// Device functions that it may call.
    pub calls: Vec<String>,
    /// Whether all of it is supported.
    pub runs: bool,
}

/// The instructions of an entry or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionFacts {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub instructions: u64,
    /// How many of each opcode.
    pub mix: BTreeMap<String, u64>,
}

/// Registers of an entry, in words of 32 bits; a 64-bit register counts as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Virtual registers that the PTX uses.
    pub before: u32,
    /// Registers a thread after allocation; `None` if the entry cannot run.
    pub after: Option<u32>,
    /// Words that are live at once at the most: no allocation without spills has fewer.
    pub live: u32,
    /// Predicate registers that the PTX uses.
    pub predicates: u32,
    /// What does not fit into registers.
    pub spills: Spills,
}

/// Something that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The instruction's opcode with its modifiers, such as `cvt.rn.f16x2.f32`; for anything else the text at the place.
    pub form: String,
    /// The entry or function in which it stands, if it stands in one.
    pub function: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes.
    pub column: u32,
    /// The problem, with its place in bytes and its remedy.
    pub error: PtxError,
    /// Whether it is an instruction; else it is a declaration.
    pub is_instruction: bool,
}

impl Inspection {
    /// Share of the instructions that are supported; 1 of an empty module. Of an entry or function in which something else than an instruction is not
    /// supported none is.
    pub fn coverage(&self) -> f64 {
        let others = self.unsupported.iter().filter(|item| !item.is_instruction);
        let lost: BTreeSet<&str> = others.filter_map(|item| item.function.as_deref()).collect();
        let is_lost = |name: &str| lost.contains(name);
        let entries = self.entries.iter().map(|entry| &entry.body);
        let bodies = entries.chain(&self.functions);
        let all_of = bodies.filter(|body| is_lost(&body.name));
        let refused = self.unsupported.iter().filter(|item| {
            let function = item.function.as_deref();
            item.is_instruction && !function.is_some_and(is_lost)
        });
        let refused = refused.count() as u64 + all_of.map(|body| body.instructions).sum::<u64>();
        match self.instructions {
            0 => 1.0,
            all => 1.0 - refused as f64 / all as f64,
        }
    }
}

/// Reads a module and says what is in it, with at most `registers` registers a thread.
///
/// # Errors
/// Those of [`load`](crate::load): the text is no PTX, or variables cannot be placed; and entries that need more registers.
pub fn inspect(source: &str, registers: Option<u32>) -> Result<Inspection, Vec<PtxError>> {
    let tree = parse(source)?;
    let lines = Lines::new(source);
    let mut module = lower(&tree, &lines, (Lower::Ptx, 0))?;
    if let Some(limit) = registers {
        limit_registers(&tree, &mut module, limit)?;
    }
    let bodies: Vec<Body<'_, '_>> = tree.functions.iter().filter_map(Body::of).collect();
    let text = |name: &crate::ast::Name<'_>| name.text.to_owned();
    let functions = bodies.iter().filter(|body| !body.is_entry);
    Ok(Inspection {
        version: tree.version.as_ref().map(text),
        target: tree.target.as_ref().map(text),
        entries: entries(&module, &bodies),
        functions: functions.map(Body::facts).collect(),
        instructions: bodies.iter().map(|body| body.all.len() as u64).sum(),
        unsupported: unsupported(source, &tree, &lines, &module, &bodies),
    })
}

fn limit_registers(
    tree: &Module<'_>,
    module: &mut program::Module,
    limit: u32,
) -> Result<(), Vec<PtxError>> {
    let mut refused = Vec::new();
    let entries = module.entries.iter_mut();
    for entry in entries.filter(|entry| entry.unsupported.is_empty() && entry.registers > limit) {
        match entry.with_registers(limit) {
            Ok(limited) => *entry = limited,
            Err(error) => {
                let mut functions = tree.functions.iter();
                let function = functions.find(|function| function.name.text == error.entry);
                let span = function.map_or(0..0, |function| function.name.span.clone());
                let help = format!("{} registers or more are possible", error.minimum);
                refused.push(PtxError::new(span, error.to_string()).with_help(help));
            }
        }
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(refused),
    }
}

/// An entry or function and all its instructions, those of inner scopes too.
struct Body<'m, 's> {
    name: &'s str,
    /// Where its name stands.
    start: usize,
    is_entry: bool,
    all: Vec<&'m Instruction<'s>>,
}

impl<'m, 's> Body<'m, 's> {
    fn of(function: &'m crate::ast::Function<'s>) -> Option<Self> {
        let mut all = Vec::new();
        collect(function.body.as_deref()?, &mut all);
        Some(Self {
            name: function.name.text,
            start: function.name.span.start,
            is_entry: function.is_entry,
            all,
        })
    }

    fn facts(&self) -> FunctionFacts {
        let mut mix = BTreeMap::new();
        for instruction in &self.all {
            *mix.entry(instruction.opcode.text.to_owned()).or_default() += 1;
        }
        FunctionFacts {
            name: self.name.to_owned(),
            instructions: self.all.len() as u64,
            mix,
        }
    }
}

fn collect<'m, 's>(statements: &'m [Statement<'s>], all: &mut Vec<&'m Instruction<'s>>) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => all.push(instruction),
            Statement::Block(inner) => collect(inner, all),
            _ => {}
        }
    }
}

fn entries(module: &program::Module, bodies: &[Body<'_, '_>]) -> Vec<EntryFacts> {
    let own = bodies.iter().filter(|body| body.is_entry);
    let pairs = module.entries.iter().zip(own);
    pairs
        .map(|(entry, body)| EntryFacts {
            body: body.facts(),
            params: entry.params.clone(),
            registers: registers(entry),
            shared_bytes: entry.shared_bytes,
            local_bytes: entry.local_bytes,
            calls: entry.functions.iter().map(|f| f.name.clone()).collect(),
            runs: entry.unsupported.is_empty(),
        })
        .collect()
}

fn registers(entry: &program::Entry) -> Registers {
    Registers {
        before: entry.virtual_registers,
        after: entry.unsupported.is_empty().then_some(entry.registers),
        live: entry.allocation.live,
        predicates: u32::from(entry.virtual_predicates),
        spills: entry.allocation.spills,
    }
}

/// What entries, and functions that no entry reaches, cannot do; once each, though several entries may reach it.
fn unsupported(
    source: &str,
    tree: &Module<'_>,
    lines: &Lines,
    module: &program::Module,
    bodies: &[Body<'_, '_>],
) -> Vec<Unsupported> {
    let reached: BTreeSet<&str> = module
        .entries
        .iter()
        .flat_map(|entry| entry.functions.iter().map(|f| f.name.as_str()))
        .collect();
    let alone = check_functions(tree, lines, |name| !reached.contains(name));
    let found = module.entries.iter().flat_map(|entry| &entry.unsupported);
    let mut places: BTreeMap<usize, PtxError> = BTreeMap::new();
    for error in found.chain(&alone) {
        let at = instruction_at(bodies, error.span.start).map(|(_, instruction)| instruction);
        let key = at.map_or(error.span.start, |instruction| instruction.span.start);
        places.entry(key).or_insert_with(|| error.clone());
    }
    places
        .into_values()
        .map(|error| describe(source, lines, bodies, error))
        .collect()
}

fn describe(source: &str, lines: &Lines, bodies: &[Body<'_, '_>], error: PtxError) -> Unsupported {
    let at = error.span.start;
    let found = instruction_at(bodies, at);
    let text = source.get(error.span.clone()).unwrap_or_default();
    let (form, place) = match found {
        Some((_, instruction)) => (form(instruction), instruction.opcode.span.start),
        None => (text.to_owned(), at),
    };
    Unsupported {
        form,
        function: body_at(bodies, at).map(|body| body.name.to_owned()),
        line: lines.line(place),
        column: lines.column(place),
        is_instruction: found.is_some(),
        error,
    }
}

/// The entry or function that an offset lies in.
fn body_at<'b, 'm, 's>(bodies: &'b [Body<'m, 's>], offset: usize) -> Option<&'b Body<'m, 's>> {
    let after = bodies.partition_point(|body| body.start <= offset);
    bodies.get(after.checked_sub(1)?)
}

/// The instruction that stands at an offset, and its function's name; functions and instructions are in the order of the text.
fn instruction_at<'m, 's>(
    bodies: &[Body<'m, 's>],
    offset: usize,
) -> Option<(&'s str, &'m Instruction<'s>)> {
    let body = body_at(bodies, offset)?;
    let after = body.all.partition_point(|i| i.span.start <= offset);
    let instruction = *body.all.get(after.checked_sub(1)?)?;
    (offset < instruction.span.end).then_some((body.name, instruction))
}

/// Opcode and modifiers as written.
pub fn form(instruction: &Instruction<'_>) -> String {
    let mut form = instruction.opcode.text.to_owned();
    for modifier in &instruction.modifiers {
        form.push('.');
        form.push_str(modifier.text);
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.func unused () { .reg .b32 %a; alpha.sync.add.s32 %a, %a, -1; ret; }
.visible .entry fine(.param .u64 out) { .reg .b64 %p; .reg .b32 %r<3>; ld.param.u64 %p, [out]; mov.u32 %r1, 7; { add.u32 %r1, %r1, 1; } st.global.u32 [%p], %r1; ret; }
.visible .entry not(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %d;
  beta.sync %r1|%p, -1;
  @%q tanh.approx.f17x2 %r1, %r2;
  nonsense;
  ret;
}
";

    #[test]
    fn a_module_is_described_and_what_it_lacks_is_listed_once_with_its_place() {
        let found = inspect(MODULE, None).expect("it parses");
        assert_eq!(found.version.as_deref(), Some("8.0"));
        assert_eq!(found.target.as_deref(), Some("sm_80"));
        assert_eq!(found.instructions, 11);
        let fine = &found.entries[0];
        assert!(fine.runs);
        assert_eq!(fine.body.instructions, 5);
        assert_eq!(fine.body.mix["add"], 1);
        assert_eq!(fine.registers.before, 2 + 1);
        assert_eq!((fine.registers.after, fine.registers.live), (Some(3), 3));
        assert!(inspect(MODULE, Some(3)).is_ok());
        let refused =
            inspect(MODULE, Some(2)).expect_err("two do not hold the address and the value");
        assert_eq!(&MODULE[refused[0].span.clone()], "fine");
        let forms: Vec<(&str, u32, u32)> = found
            .unsupported
            .iter()
            .map(|u| (u.form.as_str(), u.line, u.column))
            .collect();
        assert_eq!(
            forms,
            [
                ("alpha.sync.add.s32", 5, 33),
                ("beta.sync", 10, 3),
                ("tanh.approx.f17x2", 11, 7),
                ("nonsense", 12, 3),
            ]
        );
        assert_eq!(found.unsupported[0].function.as_deref(), Some("unused"));
        assert!(!found.entries[1].runs);
        assert_eq!(found.entries[1].registers.after, None);
        approx::assert_relative_eq!(found.coverage(), 7.0 / 11.0);
    }

    /// What cannot be loaded is not said to be supported, whatever its instructions are.
    #[test]
    fn a_label_that_stands_in_two_places_is_counted() {
        let text = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry fine() { ret; }
.visible .entry not() { L: membar.gl; L: membar.gl; ret; }
";
        let found = inspect(text, None).expect("it parses");
        assert_eq!(found.unsupported.len(), 1);
        assert_eq!(found.unsupported[0].function.as_deref(), Some("not"));
        approx::assert_relative_eq!(found.coverage(), 1.0 / 4.0);
    }
}
