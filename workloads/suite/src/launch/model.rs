//! A launch file as it was read: free of contradictions within itself.

use std::ops::Range;

use toml::Spanned;
use warpwatt_ptx::program::TENSOR_MAP_BYTES;
use warpwatt_simt::{Border, Filter, TensorMap};

use super::{ElementType, Form, Repeat, Rule, Tolerance, Value};

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

impl Case {
    /// A case in which a host does nothing: what was recorded elsewhere needs no arguments.
    pub fn recorded(name: &str) -> Self {
        Self {
            name: Spanned::new(0..0, name.to_owned()),
            arguments: Vec::new(),
            textures: Vec::new(),
            registers: None,
            steps: Vec::new(),
        }
    }
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
    /// An address is passed.
    Pointer(Pointer),
    /// Bytes with contents of their own.
    Buffer(Buffer),
}

/// A scalar's value.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// The same in every launch.
    Constant(Value),
    /// Follows the variables of the loops around the launch that uses it.
    Varying(Form),
}

/// An address.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// The buffer it points into, as index of the case's arguments; zero is passed if there is none.
    pub buffer: Option<usize>,
    /// Elements of that buffer behind its first one.
    pub plus: Form,
}

/// What the host writes into a buffer or a structure before the first launch.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its first byte in the buffer that holds it.
    pub offset: u64,
    /// What it is.
    pub content: FieldContent,
}

/// What a field holds.
#[derive(Clone, Debug)]
pub enum FieldContent {
    /// The address of an element.
    Address {
        /// The buffer it points into, as index of the case's arguments.
        buffer: usize,
        /// Elements of that buffer behind its first one.
        plus: u64,
    },
    /// A number.
    Value(Value),
    /// A tensor map.
    TensorMap {
        /// The buffer that holds the tensor, as index of the case's arguments.
        buffer: usize,
        /// Elements of that buffer before the tensor's first one.
        plus: u64,
        /// What it says but for the address.
        map: Box<TensorMap>,
    },
}

impl Field {
    /// Bytes that it takes where addresses have so many.
    pub(crate) fn bytes(&self, address: u64) -> u64 {
        match &self.content {
            FieldContent::Address { .. } => address,
            FieldContent::Value(value) => value.element.bytes() as u64,
            FieldContent::TensorMap { .. } => TENSOR_MAP_BYTES,
        }
    }
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
    /// Addresses and numbers in it.
    pub fields: Vec<Field>,
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

/// What is done together, once or several times.
#[derive(Clone, Debug)]
pub struct Step {
    /// How often.
    pub repeat: Repeat,
    /// What is done in a round, in order.
    pub body: Vec<Action>,
}

/// One thing that a host does.
#[derive(Clone, Debug)]
pub enum Action {
    /// It launches a kernel.
    Launch(KernelLaunch),
    /// It sets elements of a buffer.
    Set(Set),
    /// It copies from one buffer to another.
    Copy(Copying),
    /// It goes through a loop of its own.
    Step(Step),
}

/// Elements of a buffer that are set.
#[derive(Clone, Debug)]
pub struct Set {
    /// The buffer, as index of the case's arguments.
    pub buffer: usize,
    /// What every element becomes.
    pub value: Form,
    /// The first element.
    pub at: Form,
    /// How many; all that follow if left out.
    pub count: Option<Form>,
    /// Where it stands in the file.
    pub span: Range<usize>,
}

/// Elements that are copied.
#[derive(Clone, Debug)]
pub struct Copying {
    /// The buffer that is read and its first element.
    pub from: (usize, Form),
    /// The buffer that is written and its first element.
    pub to: (usize, Form),
    /// How many; as many as both have if left out.
    pub count: Option<Form>,
    /// Where it stands in the file.
    pub span: Range<usize>,
}

/// One launch of a round.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// The entry in the PTX.
    pub kernel: Spanned<String>,
    /// CTAs in x, y, z.
    pub grid: [Form; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [Form; 3],
    /// CTAs of a cluster in x, y, z; if left out, as the PTX says.
    pub cluster: Option<[Form; 3]>,
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: Form,
    /// The entry's parameters, as indices of the case's arguments.
    pub arguments: Vec<usize>,
}

impl Case {
    /// All launches that stand in the case, each once.
    pub fn launches(&self) -> Vec<&KernelLaunch> {
        fn collect<'c>(body: &'c [Action], found: &mut Vec<&'c KernelLaunch>) {
            for action in body {
                match action {
                    Action::Launch(launch) => found.push(launch),
                    Action::Step(step) => collect(&step.body, found),
                    Action::Set(_) | Action::Copy(_) => {}
                }
            }
        }
        let mut found = Vec::new();
        for step in &self.steps {
            collect(&step.body, &mut found);
        }
        found
    }

    /// Whether the host reads or writes memory between launches.
    pub fn host_acts(&self) -> bool {
        fn acts(step: &Step) -> bool {
            let of_body = step.body.iter().any(|action| match action {
                Action::Launch(_) => false,
                Action::Set(_) | Action::Copy(_) => true,
                Action::Step(step) => acts(step),
            });
            of_body || step.repeat.reads()
        }
        self.steps.iter().any(acts)
    }
}
