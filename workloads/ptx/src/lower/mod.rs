//! Lower: syntax tree to typed program.

mod arithmetic;
mod asynchronous;
mod atomic;
mod call;
mod carry;
mod cluster;
mod combined;
mod compare;
mod control;
mod convert;
mod device_runtime;
mod extensions;
mod float;
mod function;
mod half;
mod lane;
mod layout;
mod logic;
mod matrix;
mod memory;
mod modifiers;
mod moves;
mod operands;
mod slots;
mod tensor;
mod tensor_memory;
#[cfg(test)]
mod tests;
mod texture;
mod video;
mod warpgroup;

use crate::ast;
use crate::error::{Lines, PtxError};
use crate::machine::Lower;
use crate::parse::parse;
use crate::program::{Entry, GLOBALS_BASE, Module};
use function::{Known, Names};

/// Instructions that all entries of a module may have together, each with the functions that it calls.
const MAX_INSTRUCTIONS: usize = 1 << 21;

/// Reads and lowers a module.
///
/// # Errors
/// Syntax errors and variables that cannot be placed, all of them. An instruction that is not supported is not an error of the
/// module but is kept in its entry's [`unsupported`](crate::program::Entry::unsupported), so that the module's other entries
/// can run.
pub fn load(source: &str) -> Result<Module, Vec<PtxError>> {
    load_lowered(source, Lower::Ptx)
}

/// Reads a module and brings it as near to a machine as `lowering` says.
///
/// # Errors
/// As [`load`].
pub fn load_lowered(source: &str, lowering: Lower) -> Result<Module, Vec<PtxError>> {
    load_behind(source, lowering, 0)
}

/// As [`load_lowered`], for memory that other modules share: its `.global` variables lie so many bytes behind where they would lie alone.
///
/// # Errors
/// As [`load`].
pub fn load_behind(source: &str, lowering: Lower, shift: u64) -> Result<Module, Vec<PtxError>> {
    let tree = parse(source)?;
    let lines = Lines::new(source);
    lower(&tree, &lines, (lowering, shift))
}

/// What in a module's device functions that no entry reaches is not supported.
pub(crate) fn check_functions(
    tree: &ast::Module<'_>,
    lines: &Lines,
    unreached: impl Fn(&str) -> bool,
) -> Vec<PtxError> {
    let images = layout::Images::of(tree, GLOBALS_BASE, &mut Vec::new());
    let functions = tree.functions.iter();
    let known = Known {
        module: tree,
        names: &Names::of(tree),
        images: &images,
        lines,
    };
    functions
        .filter(|function| !function.is_entry && function.body.is_some())
        .filter(|function| unreached(function.name.text))
        .flat_map(|function| function::check(function, &known))
        .collect()
}

pub(crate) fn lower(
    tree: &ast::Module<'_>,
    lines: &Lines,
    (lowering, shift): (Lower, u64),
) -> Result<Module, Vec<PtxError>> {
    let mut errors = Vec::new();
    let images = layout::Images::of(tree, GLOBALS_BASE + shift, &mut errors);
    let known = Known {
        module: tree,
        names: &Names::of(tree),
        images: &images,
        lines,
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut left = MAX_INSTRUCTIONS;
    for function in tree.functions.iter().filter(|function| function.is_entry) {
        let Some(body) = &function.body else { continue };
        if left == 0 {
            entries.push(Entry {
                name: function.name.text.to_owned(),
                unsupported: vec![call::too_large(&function.name)],
                ..Entry::default()
            });
            continue;
        }
        match function::lower(function, body, &known, (left, lowering)) {
            Ok(entry) => {
                let mut problems = entry.unsupported.iter();
                left = match problems.any(|problem| problem.message == call::TOO_LARGE) {
                    true => 0,
                    false => left.saturating_sub(entry.code.len()),
                };
                entries.push(entry);
            }
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() {
        Ok(Module {
            entries,
            globals: images.globals,
            shift,
            constants: images.constants,
            textures: images.textures,
            variables: images.variables,
            narrow: tree.address_size == Some(32),
        })
    } else {
        errors.sort_by_key(|error| error.span.start);
        Err(errors)
    }
}
