//! Execution of a case: its launches in order, its loops, and the comparison of its buffers.

use std::borrow::Cow;
use std::ops::Range;

use warpwatt_ptx::Module;
use warpwatt_ptx::program::GLOBALS_BASE;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{DeviceMemory, ExecError, Execution, Launch, Options, Texture, execute};

use crate::launch::{
    Access, Case, ElementType, Home, KernelLaunch, Mismatch, Prepared, Repeat, Role, Scalar,
    TextureBinding, compare,
};

/// How a case is executed.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// Warp instructions that all launches may execute together.
    pub limit: u64,
    /// Whether traces are kept.
    pub record: bool,
    /// Whether traces show where all lanes of a computation have the same operands.
    pub values: bool,
    /// Whether data races are looked for.
    pub races: bool,
    /// Mismatches that are listed; all are counted.
    pub listed: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            warp_width: 32,
            limit: 100_000_000,
            record: true,
            values: false,
            races: false,
            listed: 10,
        }
    }
}

/// What a case's execution left.
#[derive(Debug)]
pub struct CaseRun {
    /// One entry a launch, in order.
    pub executions: Vec<Executed>,
    /// Every buffer after the last launch, in the order of the case's arguments.
    pub buffers: Vec<FinalBuffer>,
    /// The first elements that are not what they must be.
    pub mismatches: Vec<Mismatch>,
    /// How many such elements there are.
    pub mismatch_count: u64,
    /// Buffers with known contents that were compared; inputs, which must not change, are not among them.
    pub outputs_compared: usize,
}

impl CaseRun {
    /// Whether every element that was compared is what it must be.
    pub fn passed(&self) -> bool {
        self.mismatch_count == 0
    }

    /// The recorded traces of its launches, in order.
    pub fn into_traces(self) -> Vec<KernelTrace> {
        self.executions
            .into_iter()
            .filter_map(|executed| executed.execution.trace)
            .collect()
    }

    /// A run that passed before, from what was kept of it: launches with their counts and traces, but no contents of buffers.
    pub fn kept(executions: Vec<Execution>, prepared: &Prepared) -> Self {
        let executions = executions.into_iter().map(|execution| Executed {
            kernel: execution
                .trace
                .as_ref()
                .map_or_else(String::new, |trace| trace.kernel.clone()),
            execution,
        });
        let buffers = prepared.buffers.iter().flatten();
        Self {
            executions: executions.collect(),
            buffers: Vec::new(),
            mismatches: Vec::new(),
            mismatch_count: 0,
            outputs_compared: buffers.filter(|buffer| buffer.expected.is_some()).count(),
        }
    }

    /// Dynamic warp instructions of all launches.
    pub fn warp_instructions(&self) -> u64 {
        let counts = self.executions.iter();
        counts
            .map(|executed| executed.execution.warp_instructions)
            .sum()
    }

    /// Dynamic thread instructions of all launches, those whose guard was false included.
    pub fn thread_instructions(&self) -> u64 {
        let counts = self.executions.iter();
        counts
            .map(|executed| executed.execution.thread_instructions)
            .sum()
    }
}

/// One launch after its execution.
#[derive(Debug)]
pub struct Executed {
    /// The entry.
    pub kernel: String,
    /// What it left.
    pub execution: Execution,
}

/// A buffer after the last launch.
#[derive(Clone, Debug)]
pub struct FinalBuffer {
    /// The argument's name.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Its contents.
    pub bytes: Vec<u8>,
}

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

/// Executes the launches of a case on the contents of its buffers and compares what must be known.
///
/// # Errors
/// If a launch stops (an illegal access, the limit of instructions) or a loop does not end.
pub fn run_case(
    module: &Module,
    case: &Case,
    prepared: &Prepared,
    options: RunOptions,
) -> Result<CaseRun, RunError> {
    let mut runner = Runner::new(module, case, prepared, options);
    for step in &case.steps {
        runner.repeat(&step.repeat, &step.launches)?;
    }
    Ok(runner.finish())
}

/// Copies as many bytes as both have.
fn copy_start(to: &mut [u8], from: &[u8]) {
    let bytes = to.len().min(from.len());
    to[..bytes].copy_from_slice(&from[..bytes]);
}

struct Runner<'c> {
    module: Cow<'c, Module>,
    case: &'c Case,
    prepared: &'c Prepared,
    options: RunOptions,
    memory: DeviceMemory,
    /// One entry an argument.
    places: Vec<Place>,
    executions: Vec<Executed>,
    left: u64,
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

impl<'c> Runner<'c> {
    fn new(
        module: &'c Module,
        case: &'c Case,
        prepared: &'c Prepared,
        options: RunOptions,
    ) -> Self {
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
        Self {
            module,
            case,
            prepared,
            places,
            options,
            memory,
            executions: Vec::new(),
            left: options.limit,
        }
    }

    fn repeat(&mut self, repeat: &Repeat, launches: &[KernelLaunch]) -> Result<(), RunError> {
        for variable in repeat.values() {
            if let Repeat::WhileNonzero {
                buffer,
                reset: true,
                ..
            } = repeat
            {
                self.contents_mut(*buffer).fill(0);
            }
            for launch in launches {
                self.launch(launch, variable)?;
            }
            if let Repeat::WhileNonzero { buffer, .. } = repeat
                && self.contents(*buffer).iter().all(|byte| *byte == 0)
            {
                return Ok(());
            }
        }
        match repeat {
            Repeat::WhileNonzero { buffer, max, .. } => Err(RunError::Endless {
                buffer: self.case.arguments[*buffer].name.get_ref().clone(),
                rounds: *max,
            }),
            _ => Ok(()),
        }
    }

    fn launch(&mut self, launch: &KernelLaunch, variable: i64) -> Result<(), RunError> {
        let extents = |shape: &[crate::launch::Linear; 3]| {
            shape.each_ref().map(|extent| extent.at(variable) as u32)
        };
        let params = self.params(launch, variable);
        let options = Options {
            warp_width: self.options.warp_width,
            limit: self.left,
            record: self.options.record,
            values: self.options.values,
            races: self.options.races,
        };
        let launched = Launch {
            entry: launch.kernel.get_ref(),
            grid: extents(&launch.grid),
            block: extents(&launch.block),
            dynamic_shared: launch.dynamic_shared,
            params,
        };
        let execution = execute(&self.module, &launched, &mut self.memory, &options);
        let execution = execution.map_err(|source| RunError::Launch {
            launch: self.executions.len(),
            source,
        })?;
        self.left = self.left.saturating_sub(execution.warp_instructions);
        self.executions.push(Executed {
            kernel: launch.kernel.get_ref().clone(),
            execution,
        });
        Ok(())
    }

    /// The parameter block: every argument's bytes at its parameter's offset.
    fn params(&self, launch: &KernelLaunch, variable: i64) -> Vec<u8> {
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
                        copy_start(place, self.contents(*index));
                        continue;
                    }
                },
            };
            copy_start(place, &bits.to_le_bytes());
        }
        block
    }

    fn contents(&self, argument: usize) -> &[u8] {
        match &self.places[argument] {
            Place::Memory(address) => self.memory.buffer(*address),
            Place::Global(range) => &self.memory.buffer(GLOBALS_BASE)[range.clone()],
            Place::Constant(range) => &self.module.constants[range.clone()],
            Place::Parameter => {
                let buffer = self.prepared.buffers[argument].as_ref();
                buffer.map_or(&[], |buffer| &buffer.before)
            }
        }
    }

    /// What launches may have changed of an argument.
    fn contents_mut(&mut self, argument: usize) -> &mut [u8] {
        match &self.places[argument] {
            Place::Memory(address) => self.memory.buffer_mut(*address),
            Place::Global(range) => &mut self.memory.buffer_mut(GLOBALS_BASE)[range.clone()],
            Place::Constant(_) | Place::Parameter => &mut [],
        }
    }

    fn finish(self) -> CaseRun {
        let mut run = CaseRun {
            executions: Vec::new(),
            buffers: Vec::new(),
            mismatches: Vec::new(),
            mismatch_count: 0,
            outputs_compared: 0,
        };
        for (argument, buffer) in self.prepared.buffers.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            let bytes = self.contents(argument);
            let expected = match &self.case.arguments[argument].role {
                Role::Buffer(role) if role.access == Access::In => Some(&buffer.before),
                _ => buffer.expected.as_ref(),
            };
            if let Some(want) = expected {
                let left = self.options.listed.saturating_sub(run.mismatches.len());
                let (list, total) = compare(
                    (&buffer.name, buffer.element),
                    bytes,
                    want,
                    buffer.tolerance,
                    left,
                );
                run.mismatches.extend(list);
                run.mismatch_count += total;
                run.outputs_compared += usize::from(buffer.expected.is_some());
            }
            run.buffers.push(FinalBuffer {
                name: buffer.name.clone(),
                element: buffer.element,
                bytes: bytes.to_vec(),
            });
        }
        run.executions = self.executions;
        run
    }
}
