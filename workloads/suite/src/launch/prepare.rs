//! Contents of a case's buffers: rules are run, files are read.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use super::{
    Argument, Buffer, Case, Contents, ElementType, MEMORY_LIMIT, Problem, Role, Tolerance, file,
};

/// Where the files that a launch file names are found.
#[derive(Clone, Copy, Debug)]
pub enum Files<'p> {
    /// In this directory: that of the launch file.
    Directory(&'p Path),
    /// In memory, under the names by which the launch file knows them.
    Memory(&'p BTreeMap<String, Vec<u8>>),
    /// Nowhere: the launch file is embedded and must do with rules.
    None,
}

/// A case whose buffers are filled.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// One entry an argument, in the case's order; `None` for scalars.
    pub buffers: Vec<Option<PreparedBuffer>>,
}

/// A buffer before a run.
#[derive(Clone, Debug)]
pub struct PreparedBuffer {
    /// The argument's name.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// What it holds before the first launch.
    pub before: Vec<u8>,
    /// What it must hold after the last launch, where that is known.
    pub expected: Option<Vec<u8>>,
    /// How near it must come to that.
    pub tolerance: Tolerance,
}

impl Prepared {
    /// The buffer called `name`.
    pub fn buffer(&self, name: &str) -> Option<&PreparedBuffer> {
        self.buffers
            .iter()
            .flatten()
            .find(|buffer| buffer.name == name)
    }

    /// The buffer called `name`.
    pub fn buffer_mut(&mut self, name: &str) -> Option<&mut PreparedBuffer> {
        self.buffers
            .iter_mut()
            .flatten()
            .find(|buffer| buffer.name == name)
    }
}

impl Case {
    /// Fills the buffers.
    ///
    /// # Errors
    /// Buffers that take too much memory; or else every file that is missing, cannot be read or has the wrong size.
    pub fn fill(&self, files: Files<'_>) -> Result<Prepared, Vec<Problem>> {
        let mut problems = Vec::new();
        let bytes = self.buffer_bytes();
        if bytes > MEMORY_LIMIT {
            let name = self.name.get_ref();
            let message = format!("the buffers of case `{name}` take {} MiB", bytes >> 20);
            let help = format!("at most {} MiB can be simulated", MEMORY_LIMIT >> 20);
            return Err(vec![Problem::new(self.name.span(), message).help(help)]);
        }
        let buffers = self.arguments.iter().map(|argument| match &argument.role {
            Role::Scalar(_) | Role::Pointer(_) => None,
            Role::Buffer(buffer) => fill(argument, buffer, files, &mut problems),
        });
        let buffers = buffers.collect();
        if problems.is_empty() {
            Ok(Prepared { buffers })
        } else {
            Err(problems)
        }
    }

    /// Memory that all buffers take together.
    pub fn buffer_bytes(&self) -> u64 {
        let bytes = self.arguments.iter().map(|argument| match &argument.role {
            Role::Buffer(buffer) => buffer.count * argument.element.bytes() as u64,
            Role::Scalar(_) | Role::Pointer(_) => 0,
        });
        bytes.sum()
    }
}

fn fill(
    argument: &Argument,
    buffer: &Buffer,
    files: Files<'_>,
    problems: &mut Vec<Problem>,
) -> Option<PreparedBuffer> {
    let element = argument.element;
    let before = match &buffer.before {
        Contents::Rule(rule) => Some(rule.fill(element, buffer.count)),
        Contents::File(name) => open(name, element, buffer.count, files, problems),
        Contents::Note(text) => {
            problems.push(no_rule(text));
            None
        }
    };
    let expected = buffer.expected.as_ref();
    let expected = expected.map(|name| open(name, element, buffer.count, files, problems));
    Some(PreparedBuffer {
        name: argument.name.get_ref().clone(),
        element,
        before: before?,
        expected: match expected {
            Some(contents) => Some(contents?),
            None => None,
        },
        tolerance: buffer.tolerance,
    })
}

fn open(
    name: &Spanned<String>,
    element: ElementType,
    count: u64,
    files: Files<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<u8>> {
    file::read(name, element, count, files)
        .map_err(|problem| problems.push(problem))
        .ok()
}

fn no_rule(text: &Spanned<String>) -> Problem {
    let message = format!("`{}` is not a rule that can fill a buffer", text.get_ref());
    let help =
        "give a `file`, or a rule such as \"zeros()\" or \"mod_i32(seed=1, modulus=7, offset=0)\"";
    Problem::new(text.span(), message).help(help)
}
