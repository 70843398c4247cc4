//! A launch file as it was read: free of contradictions within itself.

use toml::Spanned;
use warpwatt_simt::{Border, Filter};

use super::{ElementType, Linear, Rule, Tolerance, Value};

/// A launch file.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// The file's `name`, for people.
    pub name: String,
    /// `[build] ptx`: the PTX file, relative to the launch file.
    pub ptx: Option<Spanned<String>>,
    /// The cases in the order of the file; at least one.
    pub cases: Vec<Case>,
}

/// There is no case of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the launch file has no case `{name}`; it has {}", .known.join(", "))]
pub struct UnknownCase {
    /// The name asked for.
    pub name: String,
    /// The cases that there are.
    pub known: Vec<String>,
}

impl LaunchFile {
    /// The case called `name`, or the first one of the file.
    ///
    /// # Errors
    /// If there is no such case.
    pub fn case(&self, name: Option<&str>) -> Result<&Case, UnknownCase> {
        let found = match name {
            None => self.cases.first(),
            Some(name) => self.cases.iter().find(|case| case.name.get_ref() == name),
        };
        found.ok_or_else(|| UnknownCase {
            name: name.unwrap_or_default().to_owned(),
            known: self
                .cases
                .iter()
                .map(|case| case.name.get_ref().clone())
                .collect(),
        })
    }
}

/// One way of running the kernels of a file.
#[derive(Clone, Debug)]
pub struct Case {
    /// The table's name.
    pub name: Spanned<String>,
    /// Buffers and scalars, in parameter order where a launch does not name its own.
    pub arguments: Vec<Argument>,
    /// Buffers that kernels read as textures.
    pub textures: Vec<TextureBinding>,
    /// The most registers a thread may have; kernels that need more keep values in local memory.
    pub registers: Option<Spanned<u32>>,
    /// What is launched, in order; a plain case is one step of one launch.
    pub steps: Vec<Step>,
}

/// A buffer that kernels read as a texture.
#[derive(Clone, Debug)]
pub struct TextureBinding {
    /// The texture reference in the PTX; if there is none, the buffer's address stands for the texture object.
    pub reference: Option<Spanned<String>>,
    /// Index of the buffer among the case's arguments; its elements are the channels, row by row without gaps.
    pub argument: usize,
    /// Texels in x, y, z.
    pub extent: [u32; 3],
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// What is at coordinates outside.
    pub border: Border,
    /// How coordinates between texels are read.
    pub filter: Filter,
    /// Coordinates run from 0 to 1.
    pub normalized: bool,
    /// Integers are read as fractions of their largest value.
    pub fractions: bool,
}

/// A buffer or a scalar.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name; unique in the case.
    pub name: Spanned<String>,
    /// Type of the scalar or of the buffer's elements.
    pub element: ElementType,
    /// What it is.
    pub role: Role,
}

impl Argument {
    /// Whether it is a variable of the PTX, which no launch passes.
    pub fn is_variable(&self) -> bool {
        matches!(&self.role, Role::Buffer(buffer) if matches!(buffer.home, Home::Variable(_)))
    }
}

/// What an argument is.
#[derive(Clone, Debug)]
pub enum Role {
    /// Passed by value.
    Scalar(Scalar),
    /// Bytes with contents of their own.
    Buffer(Buffer),
}

/// A scalar's value.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// The same in every launch.
    Constant(Value),
    /// Follows the loop variable of the step that uses it.
    Linear(Linear),
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Where it lies.
    pub home: Home,
    /// Number of elements; never zero.
    pub count: u64,
    /// What kernels do with it.
    pub access: Access,
    /// What it holds before the first launch.
    pub before: Contents,
    /// A file with what it must hold after the last launch.
    pub expected: Option<Spanned<String>>,
    /// How near it must come to that.
    pub tolerance: Tolerance,
}

/// Where a buffer lies.
#[derive(Clone, Debug)]
pub enum Home {
    /// In global memory; its address is passed.
    Memory,
    /// In a `.global` or `.const` variable of the PTX, from its first byte on; kernels find it by themselves.
    Variable(Spanned<String>),
    /// In the parameter itself: a structure that is passed by value.
    Parameter,
}

/// What kernels do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only; a case fails if such a buffer has changed.
    In,
    /// Written.
    Out,
    /// Read and written.
    InOut,
}

/// Contents of a buffer.
#[derive(Clone, Debug)]
pub enum Contents {
    /// The bytes of a file, relative to the launch file.
    File(Spanned<String>),
    /// Made by a rule.
    Rule(Rule),
    /// A text that says how the contents are made, but is no rule: the case can be read, not prepared.
    Note(Spanned<String>),
}

/// Launches that are repeated together.
#[derive(Clone, Debug)]
pub struct Step {
    /// How often.
    pub repeat: Repeat,
    /// The launches of a round, in order.
    pub launches: Vec<KernelLaunch>,
}

/// How often a step's launches run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// One round.
    Once,
    /// A round for each value of a variable.
    Count {
        /// The variable's name.
        variable: String,
        /// Its first value.
        from: i64,
        /// Its last value, if `step` lands on it.
        to: i64,
        /// Added after every round; never zero.
        step: i64,
    },
    /// Rounds until a buffer is zero after one.
    WhileNonzero {
        /// Index of the buffer among the case's arguments.
        buffer: usize,
        /// Whether the buffer is set to zero before every round.
        reset: bool,
        /// More rounds than this are an error.
        max: u32,
    },
}

/// One launch of a round.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// The entry in the PTX.
    pub kernel: Spanned<String>,
    /// CTAs in x, y, z.
    pub grid: [Linear; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [Linear; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// The entry's parameters, as indices of the case's arguments.
    pub arguments: Vec<usize>,
}

impl Repeat {
    /// Whether the host reads memory to know when it is over.
    pub fn reads(&self) -> bool {
        matches!(self, Repeat::WhileNonzero { .. })
    }

    /// The loop variable in a round, counted from zero, or a zero where there is none; nothing if there is no such round.
    pub fn value(&self, round: u32) -> Option<i64> {
        match *self {
            Repeat::Once => (round == 0).then_some(0),
            Repeat::WhileNonzero { max, .. } => (round < max).then_some(0),
            Repeat::Count { from, to, step, .. } => {
                let value = from.checked_add(step.checked_mul(i64::from(round))?)?;
                let inside = if step > 0 { value <= to } else { value >= to };
                inside.then_some(value)
            }
        }
    }

    /// The values of the loop variable, or a single zero where there is none.
    pub fn values(&self) -> impl Iterator<Item = i64> {
        (0..=u32::MAX).map_while(|round| self.value(round))
    }

    /// The loop variable, if there is one.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Repeat::Count { variable, .. } => Some(variable),
            _ => None,
        }
    }
}
