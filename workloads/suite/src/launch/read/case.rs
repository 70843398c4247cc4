//! Reading of a case table.

use toml::Spanned;
use toml::de::{DeString, DeTable};
use warpwatt_ptx::MAX_REGISTERS;

use super::argument::{self, Placed};
use super::fields::{Fields, Unknown};
use super::{constants, pointer, step, texture};
use crate::launch::form::Constants;
use crate::launch::problem::nearest;
use crate::launch::{Argument, Case, Problem};

const KEYS: [&str; 15] = [
    "kernel",
    "grid",
    "block",
    "cluster",
    "dynamic_shared",
    "registers",
    "arg",
    "args",
    "constants",
    "texture",
    "step",
    "threads",
    "note",
    "behaviour",
    "split",
];

/// Reads the case called `key`.
pub(super) fn read(
    key: &Spanned<DeString<'_>>,
    table: &DeTable<'_>,
    (of_file, problems): (&Constants, &mut Vec<Problem>),
) -> Case {
    let name = Spanned::new(key.span(), key.get_ref().to_string());
    let mut fields = Fields::new(
        format!("case `{}`", name.get_ref()),
        key.span(),
        table,
        problems,
    );
    fields.check_keys(&KEYS, Unknown::Information);
    let mut constants = of_file.clone();
    constants::read(&mut fields, &mut constants);
    let mut arguments = arguments(&mut fields, constants);
    let textures = texture::read_all(&mut fields, &arguments);
    arguments.passed.retain(|argument| {
        let mut bound = textures
            .iter()
            .filter(|texture| texture.reference.is_some());
        !bound.any(|texture| texture.argument == *argument)
    });
    let registers = registers(&mut fields);
    let steps = step::read_all(&mut fields, &arguments);
    Case {
        name,
        registers,
        arguments: arguments.list,
        textures,
        steps,
    }
}

/// The limit of registers, with its place.
fn registers(fields: &mut Fields<'_, '_>) -> Option<Spanned<u32>> {
    let limit = fields.integer("registers", 1, i64::from(MAX_REGISTERS))?;
    let entry = fields.entry("registers")?;
    Some(Spanned::new(entry.span(), limit as u32))
}

/// The arguments that could be read, and whether these are all.
pub(super) struct Arguments {
    pub(super) list: Vec<Argument>,
    complete: bool,
    /// What a launch passes unless it says otherwise: all but variables of the PTX, the buffers that texture references read, and those that
    /// pointers and fields name.
    pub(super) passed: Vec<usize>,
    /// What expressions may name.
    pub(super) constants: Constants,
}

fn arguments(fields: &mut Fields<'_, '_>, constants: Constants) -> Arguments {
    let tables = fields.tables("arg");
    let wanted = tables.len();
    let mut placed = Vec::new();
    for (position, (span, table)) in tables.into_iter().enumerate() {
        let noted = (&constants, &mut *fields.problems());
        placed.extend(argument::read(span, table, position, noted));
    }
    check_positions(&mut placed, wanted, fields.problems());
    check_names(&placed, fields.problems());
    let (mut list, mut pending) = (Vec::new(), Vec::new());
    for placed in placed {
        list.push(placed.argument);
        pending.push((placed.pending, placed.passed));
    }
    let mut arguments = Arguments {
        complete: list.len() == wanted,
        passed: Vec::new(),
        list,
        constants,
    };
    let mut named = Vec::new();
    // Fields may be tensor maps, so that these come first.
    for (argument, (pending, _)) in pending.iter().enumerate() {
        let problems = fields.problems();
        let holder = pointer::resolve_map(&mut arguments, argument, pending, problems);
        named.extend(holder);
    }
    for (argument, (pending, _)) in pending.iter().enumerate() {
        named.extend(pointer::resolve(
            &mut arguments,
            argument,
            pending,
            fields.problems(),
        ));
    }
    let is_passed = |index: &usize| match pending[*index].1 {
        Some(passed) => passed,
        None => !arguments.list[*index].is_variable() && !named.contains(index),
    };
    arguments.passed = (0..arguments.list.len()).filter(is_passed).collect();
    arguments
}

/// Sorts arguments by index; indices must be 0, 1, 2 ...
fn check_positions(placed: &mut [Placed], wanted: usize, problems: &mut Vec<Problem>) {
    placed.sort_by_key(|placed| *placed.index.get_ref());
    for pair in placed.windows(2) {
        if pair[0].index == pair[1].index {
            let index = pair[1].index.get_ref();
            problems.push(Problem::new(
                pair[1].index.span(),
                format!("two arguments have index {index}"),
            ));
        }
    }
    let beyond = placed
        .iter()
        .filter(|placed| *placed.index.get_ref() >= wanted as i64);
    problems.extend(beyond.map(|placed| {
        let (index, last) = (placed.index.get_ref(), wanted - 1);
        let message = format!("index {index} leaves a gap: the case has {wanted} argument(s)");
        Problem::new(placed.index.span(), message).help(format!("indices run from 0 to {last}"))
    }));
}

fn check_names(placed: &[Placed], problems: &mut Vec<Problem>) {
    for (position, one) in placed.iter().enumerate() {
        let name = &one.argument.name;
        let earlier = placed[..position].iter();
        if earlier
            .clone()
            .any(|other| other.argument.name.get_ref() == name.get_ref())
        {
            let message = format!("two arguments are called `{}`", name.get_ref());
            problems.push(Problem::new(name.span(), message));
        }
    }
}

impl Arguments {
    /// The index of the argument called `name`. That there is none is a problem only if all arguments could be read.
    pub(super) fn position(
        &self,
        name: &Spanned<String>,
        problems: &mut Vec<Problem>,
    ) -> Option<usize> {
        let names: Vec<_> = self
            .list
            .iter()
            .map(|argument| argument.name.get_ref().as_str())
            .collect();
        let found = names.iter().position(|known| known == name.get_ref());
        if found.is_none() && self.complete {
            let message = format!("the case has no argument `{}`", name.get_ref());
            let problem = Problem::new(name.span(), message);
            problems.push(problem.help(nearest(name.get_ref(), &names)));
        }
        found
    }
}
