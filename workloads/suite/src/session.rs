//! The host's side of a case: memory, and which launch comes next.

use std::borrow::Cow;
use std::ops::Range;

use warpwatt_ptx::Module;
use warpwatt_ptx::program::GLOBALS_BASE;
use warpwatt_simt::{DeviceMemory, ExecError, Launch, Texture};

use crate::launch::{
    Access, Case, Home, KernelLaunch, Linear, Mismatch, Prepared, Repeat, Role, Scalar,
    TextureBinding, compare,
};

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
    /// A loop did not come to its end.
    #[error("`{buffer}` is still not zero after {rounds} rounds")]
    Endless {
        /// The buffer that keeps the loop running.
        buffer: String,
        /// Rounds that were run.
        rounds: u32,
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
}

/// How far a host has come in its case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    step: usize,
    round: u32,
    launch: usize,
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
        let session = Self {
            module,
            case,
            prepared,
            places,
        };
        (session, memory)
    }

    /// The program, with what the host puts in its variables.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The launch that comes next, and how far the host is with it; none if the case is over.
    ///
    /// # Errors
    /// A loop does not come to its end.
    pub fn next(
        &self,
        from: Progress,
        memory: &mut DeviceMemory,
    ) -> Result<Option<(Launch<'c>, Progress)>, RunError> {
        let mut at = from;
        while let Some(step) = self.case.steps.get(at.step) {
            if at.launch == step.launches.len() {
                at.launch = 0;
                at.round += 1;
                if let Repeat::WhileNonzero { buffer, .. } = step.repeat
                    && self.contents(memory, buffer).iter().all(|byte| *byte == 0)
                {
                    at = at.over();
                    continue;
                }
            }
            let Some(variable) = step.repeat.value(at.round) else {
                self.ended(&step.repeat)?;
                at = at.over();
                continue;
            };
            if let (0, &Repeat::WhileNonzero { buffer, reset, .. }) = (at.launch, &step.repeat)
                && reset
            {
                self.contents_mut(memory, buffer).fill(0);
            }
            let launch = &step.launches[at.launch];
            at.launch += 1;
            return Ok(Some((self.launch(launch, variable, memory), at)));
        }
        Ok(None)
    }

    /// A loop has no further round: that is its end only if it counts them.
    fn ended(&self, repeat: &Repeat) -> Result<(), RunError> {
        match repeat {
            Repeat::WhileNonzero { buffer, max, .. } => Err(RunError::Endless {
                buffer: self.case.arguments[*buffer].name.get_ref().clone(),
                rounds: *max,
            }),
            _ => Ok(()),
        }
    }

    fn launch(&self, launch: &'c KernelLaunch, variable: i64, memory: &DeviceMemory) -> Launch<'c> {
        let extents = |shape: &[Linear; 3]| shape.each_ref().map(|it| it.at(variable) as u32);
        Launch {
            entry: launch.kernel.get_ref(),
            grid: extents(&launch.grid),
            block: extents(&launch.block),
            dynamic_shared: launch.dynamic_shared,
            params: self.params(launch, variable, memory),
        }
    }

    /// The parameter block: every argument's bytes at its parameter's offset.
    fn params(&self, launch: &KernelLaunch, variable: i64, memory: &DeviceMemory) -> Vec<u8> {
        let Some(entry) = self.module.entry(launch.kernel.get_ref()) else {
            return Vec::new(); // `execute` says so
        };
        let mut block = vec![0; entry.param_bytes() as usize];
        for (index, param) in launch.arguments.iter().zip(&entry.params) {
            let place = &mut block[param.offset as usize..][..param.bytes as usize];
            let argument = &self.case.arguments[*index];
            let bits = match &argument.role {
                Role::Scalar(Scalar::Constant(value)) => value.bits,
                Role::Scalar(Scalar::Linear(form)) => {
                    let value = i128::from(form.at(variable));
                    argument.element.bits_of_integer(value)
                }
                Role::Buffer(_) => match self.places[*index].address() {
                    Some(address) => address,
                    None => {
                        copy_start(place, self.contents(memory, *index));
                        continue;
                    }
                },
            };
            copy_start(place, &bits.to_le_bytes());
        }
        block
    }

    pub(crate) fn contents<'m>(&'m self, memory: &'m DeviceMemory, argument: usize) -> &'m [u8] {
        match &self.places[argument] {
            Place::Memory(address) => memory.buffer(*address),
            Place::Global(range) => &memory.buffer(GLOBALS_BASE)[range.clone()],
            Place::Constant(range) => &self.module.constants[range.clone()],
            Place::Parameter => {
                let buffer = self.prepared.buffers[argument].as_ref();
                buffer.map_or(&[], |buffer| &buffer.before)
            }
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
            Role::Buffer(role) if role.access == Access::In => Some(&buffer.before),
            _ => buffer.expected.as_ref(),
        }?;
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

impl Progress {
    /// At the next step.
    fn over(self) -> Self {
        Self {
            step: self.step + 1,
            ..Self::default()
        }
    }
}
