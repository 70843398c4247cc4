//! The host's side of a case: memory, and which launch comes next.

mod addresses;
mod plan;

use std::borrow::Cow;
use std::ops::Range;

use warpwatt_ptx::Module;
use warpwatt_ptx::program::GLOBALS_BASE;
use warpwatt_simt::{DeviceMemory, ExecError, Launch, Texture};

use warpwatt_input::expression::Undefined;

use crate::launch::{
    Access, Case, Comparison, Condition, Copying, Form, Home, KernelLaunch, Mismatch, Prepared,
    Repeat, Role, Scalar, Set, TextureBinding, Variables, compare, extents,
};
use addresses::write_fields;
use plan::{Act, Plan};

/// Why a case could not be executed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A launch stopped.
    #[error("launch {launch}: {source}")]
    Launch {
        /// Which launch, counted from zero.
        launch: usize,
        /// Why.
        source: ExecError,
    },
    /// A launch of machine code stopped.
    #[error("launch {launch}: {source}")]
    MachineCode {
        /// Which launch, counted from zero.
        launch: usize,
        /// Why.
        source: warpwatt_gcn::ExecError,
    },
    /// A loop did not come to its end.
    #[error("{why} after {rounds} rounds")]
    Endless {
        /// What keeps the loop running.
        why: String,
        /// Rounds that were run.
        rounds: u32,
    },
    /// The condition of a loop has no value.
    #[error("the condition `{text}` of a loop has no value: {why}")]
    Condition {
        /// The condition.
        text: String,
        /// What of it is not there.
        why: Undefined,
    },
}

/// A case on its way: what it launches, and where its arguments lie. The memory is not in it, so that one session serves any number of runs.
#[derive(Debug)]
pub struct Session<'c> {
    module: Cow<'c, Module>,
    case: &'c Case,
    prepared: &'c Prepared,
    /// One entry an argument.
    places: Vec<Place>,
    plan: Plan<'c>,
    /// What buffers hold with their fields; one entry an argument, empty where there are none.
    addressed: Vec<Vec<u8>>,
}

/// How far a host has come in its case: what it does next, and the rounds of the loops around that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    next: usize,
    rounds: [u32; plan::DEEPEST],
    values: [i64; plan::DEEPEST],
}

/// Copies as many bytes as both have.
fn copy_start(to: &mut [u8], from: &[u8]) {
    let bytes = to.len().min(from.len());
    to[..bytes].copy_from_slice(&from[..bytes]);
}

/// Where an argument's bytes are.
#[derive(Clone, Debug)]
enum Place {
    /// In every launch's parameters.
    Parameter,
    /// In the buffer that begins there.
    Memory(u64),
    /// At these bytes of the `.global` variables.
    Global(Range<usize>),
    /// At these bytes of the `.const` variables.
    Constant(Range<usize>),
}

impl Place {
    /// Where a buffer of so many bytes lies, unless it has memory of its own.
    fn of(home: &Home, bytes: usize, module: &Module) -> Option<Self> {
        let Home::Variable(name) = home else {
            return matches!(home, Home::Parameter).then_some(Place::Parameter);
        };
        // An unknown variable was refused when the case was checked.
        let variable = module.variable(name.get_ref())?;
        let start = variable.offset as usize;
        let range = start..start + bytes.min(variable.bytes as usize);
        Some(match variable.constant {
            true => Place::Constant(range),
            false => Place::Global(range),
        })
    }

    fn address(&self) -> Option<u64> {
        match self {
            Place::Memory(address) => Some(*address),
            Place::Global(range) => Some(GLOBALS_BASE + range.start as u64),
            Place::Parameter | Place::Constant(_) => None,
        }
    }
}

/// The module with the contents that a host gives its variables before the first launch.
fn with_variables<'m>(module: &'m Module, case: &Case, prepared: &Prepared) -> Cow<'m, Module> {
    let mut module = Cow::Borrowed(module);
    for (argument, buffer) in case.arguments.iter().zip(&prepared.buffers) {
        let (Role::Buffer(role), Some(buffer)) = (&argument.role, buffer) else {
            continue;
        };
        match Place::of(&role.home, buffer.before.len(), &module) {
            Some(Place::Global(range)) => {
                let bytes = &buffer.before[..range.len()];
                module.to_mut().globals[range].copy_from_slice(bytes);
            }
            Some(Place::Constant(range)) => {
                let bytes = &buffer.before[..range.len()];
                module.to_mut().constants[range].copy_from_slice(bytes);
            }
            _ => {}
        }
    }
    module
}

/// Makes a buffer readable as a texture, under the handle of its reference or under its own address.
fn bind(
    texture: &TextureBinding,
    case: &Case,
    module: &Module,
    places: &[Place],
    memory: &mut DeviceMemory,
) {
    let Some(address) = places[texture.argument].address() else {
        return; // a scalar was refused when the file was read
    };
    let handle = match &texture.reference {
        None => Some(address),
        Some(name) => {
            let mut textures = module.textures.iter();
            let found = textures.find(|(known, _)| known == name.get_ref());
            found.map(|(_, handle)| *handle)
        }
    };
    let element = case.arguments[texture.argument].element;
    let texel = u64::from(texture.channels) * element.bytes() as u64;
    let bound = Texture {
        address,
        extent: texture.extent,
        pitch: u64::from(texture.extent[0]) * texel,
        element: element.in_ptx(),
        channels: texture.channels,
        border: texture.border,
        filter: texture.filter,
        normalized: texture.normalized,
        fractions: texture.fractions,
    };
    if let Some(handle) = handle {
        memory.bind_texture(handle, bound);
    }
}

impl<'c> Session<'c> {
    /// A case before its first launch, and the memory with which it begins.
    pub fn new(module: &'c Module, case: &'c Case, prepared: &'c Prepared) -> (Self, DeviceMemory) {
        let module = with_variables(module, case, prepared);
        let mut memory = DeviceMemory::new(&module);
        let arguments = case.arguments.iter().zip(&prepared.buffers);
        let places = arguments.map(|(argument, buffer)| {
            let (Role::Buffer(role), Some(buffer)) = (&argument.role, buffer) else {
                return Place::Parameter;
            };
            let place = Place::of(&role.home, buffer.before.len(), &module);
            place
                .unwrap_or_else(|| Place::Memory(memory.alloc(&buffer.name, buffer.before.clone())))
        });
        let places: Vec<Place> = places.collect();
        for texture in &case.textures {
            bind(texture, case, &module, &places, &mut memory);
        }
        let mut session = Self {
            module,
            case,
            prepared,
            places,
            plan: Plan::of(case),
            addressed: Vec::new(),
        };
        session.write_fields(&mut memory);
        (session, memory)
    }

    /// What an argument holds if its fields are written over `bytes`; none if it has no fields.
    fn with_fields(&self, argument: usize, bytes: &[u8]) -> Option<Vec<u8>> {
        let fields = match &self.case.arguments[argument].role {
            Role::Buffer(role) if !role.fields.is_empty() => &role.fields,
            _ => return None,
        };
        let width = u64::from(self.module.address_bytes());
        let address = |argument: usize, plus: u64| {
            let bytes = self.case.arguments[argument].element.bytes() as u64;
            self.places[argument].address().unwrap_or(0) + plus * bytes
        };
        let mut bytes = bytes.to_vec();
        write_fields(&mut bytes, fields, width, &address);
        Some(bytes)
    }

    /// Puts addresses and numbers where the case wants them.
    fn write_fields(&mut self, memory: &mut DeviceMemory) {
        let arguments = self.prepared.buffers.iter().enumerate();
        let addressed = arguments.map(|(argument, buffer)| {
            let before = buffer.as_ref().map(|buffer| &buffer.before);
            before.and_then(|before| self.with_fields(argument, before))
        });
        let addressed = addressed.map(Option::unwrap_or_default);
        self.addressed = addressed.collect();
        for argument in 0..self.places.len() {
            let bytes = std::mem::take(&mut self.addressed[argument]);
            match &self.places[argument] {
                _ if bytes.is_empty() => {}
                Place::Constant(range) => {
                    let range = range.clone();
                    self.module.to_mut().constants[range.clone()]
                        .copy_from_slice(&bytes[..range.len()]);
                }
                _ => copy_start(self.contents_mut(memory, argument), &bytes),
            }
            self.addressed[argument] = bytes;
        }
    }

    /// The program, with what the host puts in its variables.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The launch that comes next, and how far the host is with it; none if the case is over. What the host does before it is done.
    ///
    /// # Errors
    /// A loop does not come to its end, or its condition has no value.
    pub fn next(
        &self,
        from: Progress,
        memory: &mut DeviceMemory,
    ) -> Result<Option<(Launch<'c>, Progress)>, RunError> {
        let mut at = from;
        while let Some(act) = self.plan.acts.get(at.next) {
            let names = self.plan.names(act);
            let variables = Variables::new(names, &at.values[..names.len()]);
            match act.what {
                Act::Enter { repeat, behind } => {
                    let depth = names.len();
                    let round = at.rounds[depth];
                    match self.round(repeat, round, variables, memory)? {
                        Some(value) => {
                            at.values[depth] = value;
                            at.next += 1;
                        }
                        None => {
                            at.rounds[depth] = 0;
                            at.next = behind;
                        }
                    }
                }
                Act::Again { begin } => {
                    at.rounds[names.len()] += 1;
                    at.next = begin;
                }
                Act::Launch(launch) => {
                    at.next += 1;
                    return Ok(Some((self.launch(launch, variables, memory), at)));
                }
                Act::Set(set) => {
                    self.set(set, variables, memory);
                    at.next += 1;
                }
                Act::Copy(copy) => {
                    self.copy(copy, variables, memory);
                    at.next += 1;
                }
            }
        }
        Ok(None)
    }

    /// The loop's variable in a round, or nothing if the loop is over.
    fn round(
        &self,
        repeat: &Repeat,
        round: u32,
        around: Variables<'_>,
        memory: &mut DeviceMemory,
    ) -> Result<Option<i64>, RunError> {
        // Bounds without a value were refused when the file was read.
        let value = repeat.value(round, around).unwrap_or(None);
        let Repeat::While {
            condition,
            reset,
            max,
            ..
        } = repeat
        else {
            return Ok(value);
        };
        if self.is_over(condition, repeat, round, around, memory)? {
            return Ok(None);
        }
        let Some(value) = value else {
            let why = match condition {
                Condition::Nonzero(buffer) => {
                    let name = self.case.arguments[*buffer].name.get_ref();
                    format!("`{name}` is still not zero")
                }
                Condition::Holds(comparison) => format!("`{}` still holds", comparison.text()),
                Condition::Until(comparison) => {
                    format!("`{}` still does not hold", comparison.text())
                }
            };
            return Err(RunError::Endless { why, rounds: *max });
        };
        if let Some(buffer) = reset {
            self.contents_mut(memory, *buffer).fill(0);
        }
        Ok(Some(value))
    }

    /// Whether a loop that runs on a condition has no further round.
    fn is_over(
        &self,
        condition: &Condition,
        repeat: &Repeat,
        round: u32,
        around: Variables<'_>,
        memory: &DeviceMemory,
    ) -> Result<bool, RunError> {
        let holds = |comparison: &Comparison, round: u32| {
            let (mut names, mut values) = (around.names().to_vec(), around.values().to_vec());
            if let Some(variable) = repeat.variable() {
                names.push(variable);
                values.push(i64::from(round));
            }
            let variables = Variables::new(&names, &values);
            let elements = |name: &str, index: u64| self.element(memory, name, index);
            let holds = comparison.holds(variables, &elements);
            holds.map_err(|why| RunError::Condition {
                text: comparison.text().to_owned(),
                why,
            })
        };
        match condition {
            Condition::Holds(comparison) => holds(comparison, round).map(|holds| !holds),
            Condition::Until(comparison) if round > 0 => holds(comparison, round - 1),
            Condition::Nonzero(buffer) if round > 0 => {
                let contents = self.contents(memory, *buffer);
                Ok(contents.iter().all(|byte| *byte == 0))
            }
            Condition::Until(_) | Condition::Nonzero(_) => Ok(false),
        }
    }

    /// An element of the buffer of that name, as a number.
    fn element(&self, memory: &DeviceMemory, name: &str, index: u64) -> Option<f64> {
        let mut arguments = self.case.arguments.iter();
        let argument = arguments.position(|argument| argument.name.get_ref() == name)?;
        let element = self.case.arguments[argument].element;
        let contents = self.contents(memory, argument);
        let count = (contents.len() / element.bytes()) as u64;
        (index < count).then(|| element.read(contents, index as usize).to_f64())
    }

    fn set(&self, set: &Set, variables: Variables<'_>, memory: &mut DeviceMemory) {
        let element = self.case.arguments[set.buffer].element;
        let value = set.value.number(variables).unwrap_or(0.0);
        let bits = element.bits_of_float(value).to_le_bytes();
        let range = self.range(set.buffer, &set.at, &set.count, variables, memory);
        for place in self.contents_mut(memory, set.buffer)[range].chunks_exact_mut(element.bytes())
        {
            place.copy_from_slice(&bits[..element.bytes()]);
        }
    }

    fn copy(&self, copy: &Copying, variables: Variables<'_>, memory: &mut DeviceMemory) {
        let (from, to) = (&copy.from, &copy.to);
        let source = self.range(from.0, &from.1, &copy.count, variables, memory);
        let target = self.range(to.0, &to.1, &copy.count, variables, memory);
        let bytes = self.contents(memory, from.0)[source].to_vec();
        copy_start(&mut self.contents_mut(memory, to.0)[target], &bytes);
    }

    /// Bytes of elements; all numbers were checked when the file was read.
    fn range(
        &self,
        buffer: usize,
        at: &Form,
        count: &Option<Form>,
        variables: Variables<'_>,
        memory: &DeviceMemory,
    ) -> Range<usize> {
        let element = self.case.arguments[buffer].element.bytes();
        let all = self.contents(memory, buffer).len();
        let bytes = |form: &Form| form.integer(variables).unwrap_or(0) as usize * element;
        let start = bytes(at).min(all);
        let end = count.as_ref().map_or(all, |count| start + bytes(count));
        start..end.min(all)
    }

    fn launch(
        &self,
        launch: &'c KernelLaunch,
        variables: Variables<'_>,
        memory: &DeviceMemory,
    ) -> Launch<'c> {
        Launch {
            entry: launch.kernel.get_ref(),
            grid: extents(&launch.grid, variables),
            block: extents(&launch.block, variables),
            cluster: (launch.cluster.as_ref()).map(|shape| extents(shape, variables)),
            dynamic_shared: launch.dynamic_shared.integer(variables).unwrap_or(0) as u32,
            params: self.params(launch, variables, memory),
        }
    }

    /// The parameter block: every argument's bytes at its parameter's offset.
    fn params(
        &self,
        launch: &KernelLaunch,
        variables: Variables<'_>,
        memory: &DeviceMemory,
    ) -> Vec<u8> {
        let Some(entry) = self.module.entry(launch.kernel.get_ref()) else {
            return Vec::new(); // `execute` says so
        };
        let mut block = vec![0; entry.param_bytes() as usize];
        for (index, param) in launch.arguments.iter().zip(&entry.params) {
            let place = &mut block[param.offset as usize..][..param.bytes as usize];
            match self.passed(*index, variables) {
                Some(bits) => copy_start(place, &bits.to_le_bytes()),
                None => copy_start(place, self.contents(memory, *index)),
            }
        }
        block
    }

    /// The bits that are passed for an argument; none if its bytes themselves are.
    fn passed(&self, argument: usize, variables: Variables<'_>) -> Option<u64> {
        let element = self.case.arguments[argument].element;
        match &self.case.arguments[argument].role {
            Role::Scalar(Scalar::Constant(value)) => Some(value.bits),
            Role::Scalar(Scalar::Varying(form)) => Some(match element.is_float() {
                true => element.bits_of_float(form.number(variables).unwrap_or(0.0)),
                false => element.bits_of_integer(i128::from(form.integer(variables).unwrap_or(0))),
            }),
            Role::Pointer(pointer) => {
                let Some(buffer) = pointer.buffer else {
                    return Some(0);
                };
                let bytes = self.case.arguments[buffer].element.bytes() as u64;
                let plus = pointer.plus.integer(variables).unwrap_or(0) as u64;
                Some(self.places[buffer].address().unwrap_or(0) + plus * bytes)
            }
            Role::Buffer(_) => self.places[argument].address(),
        }
    }

    pub(crate) fn contents<'m>(&'m self, memory: &'m DeviceMemory, argument: usize) -> &'m [u8] {
        match &self.places[argument] {
            Place::Memory(address) => memory.buffer(*address),
            Place::Global(range) => &memory.buffer(GLOBALS_BASE)[range.clone()],
            Place::Constant(range) => &self.module.constants[range.clone()],
            Place::Parameter => self.before(argument),
        }
    }

    /// What an argument holds before the first launch, with its fields.
    fn before(&self, argument: usize) -> &[u8] {
        let addressed = &self.addressed[argument];
        let buffer = self.prepared.buffers[argument].as_ref();
        match addressed.is_empty() {
            true => buffer.map_or(&[], |buffer| &buffer.before),
            false => addressed,
        }
    }

    /// What an argument holds in the end. A buffer with memory of its own is taken out of it: buffers may be as large as all memory.
    pub(crate) fn take(&self, memory: &mut DeviceMemory, argument: usize) -> Vec<u8> {
        match &self.places[argument] {
            Place::Memory(address) => std::mem::take(memory.buffer_mut(*address)),
            _ => self.contents(memory, argument).to_vec(),
        }
    }

    /// What launches may have changed of an argument.
    fn contents_mut<'m>(&self, memory: &'m mut DeviceMemory, argument: usize) -> &'m mut [u8] {
        match &self.places[argument] {
            Place::Memory(address) => memory.buffer_mut(*address),
            Place::Global(range) => &mut memory.buffer_mut(GLOBALS_BASE)[range.clone()],
            Place::Constant(_) | Place::Parameter => &mut [],
        }
    }

    /// Compares what a run left in a buffer with what it must hold, where that is known: the first mismatches, at most `list`, and how many there are.
    pub(crate) fn judge(
        &self,
        memory: &DeviceMemory,
        argument: usize,
        list: usize,
    ) -> Option<(Vec<Mismatch>, u64)> {
        let buffer = self.prepared.buffers[argument].as_ref()?;
        let want = match &self.case.arguments[argument].role {
            Role::Buffer(role) if role.access == Access::In => self.before(argument),
            _ => buffer.expected.as_deref()?,
        };
        // What fields hold no file can know: they are expected to stay.
        let held = self.with_fields(argument, want);
        let want = held.as_deref().unwrap_or(want);
        let got = self.contents(memory, argument);
        let named = (buffer.name.as_str(), buffer.element);
        Some(compare(named, got, want, buffer.tolerance, list))
    }

    /// Whether the launch file lets some buffer come near to what it must hold instead of holding it.
    pub fn has_tolerance(&self) -> bool {
        let mut buffers = self.prepared.buffers.iter().flatten();
        buffers.any(|buffer| buffer.expected.is_some() && !buffer.tolerance.is_exact())
    }

    /// Whether what a run left is good enough for the launch file: every buffer whose contents are known is near enough to them, and every other one is
    /// what it is in `golden`.
    pub fn tolerates(&self, memory: &DeviceMemory, golden: &DeviceMemory) -> bool {
        (0..self.places.len()).all(|argument| match self.judge(memory, argument, 0) {
            Some((_, mismatches)) => mismatches == 0,
            None => self.contents(memory, argument) == self.contents(golden, argument),
        })
    }
}
