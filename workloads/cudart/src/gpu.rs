//! The GPU of a process: everything that entry points work on.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::blas_handle::Blas;
use crate::channel::{Channel, say};
use crate::error::{Code, Outcome};
use crate::foreign::{Callback, print};
use crate::graph::{Capture, Graph};
use crate::memory::Memory;
use crate::protocol::{Setup, VARIABLE};
use crate::registry::Registry;
use crate::resource::Resource;

/// An event: the place in simulated time at which it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    /// None before it was.
    pub place: Option<u64>,
    /// It measures no time.
    pub untimed: bool,
}

/// A stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    /// As it was made.
    pub flags: u32,
    /// As it was made.
    pub priority: i32,
}

/// The GPU.
#[derive(Debug)]
pub struct Gpu {
    /// How kernels are executed.
    pub setup: Setup,
    /// Memory.
    pub memory: Memory,
    /// Fat binaries, kernels, variables.
    pub registry: Registry,
    /// To whom it is told.
    pub channel: Channel,
    /// Streams that the program made.
    pub streams: BTreeMap<u64, Stream>,
    /// Events.
    pub events: BTreeMap<u64, Event>,
    /// Textures and surfaces.
    pub textures: BTreeMap<u64, Resource>,
    /// Graphs, those that can be launched among them.
    pub graphs: BTreeMap<u64, Graph>,
    /// Streams that write down what they are asked.
    pub captures: Vec<Capture>,
    /// Whom to call when the entry point has done its work.
    pub calls: Vec<Callback>,
    /// Texts of PTX that the program has linked by the driver's functions and not yet completed.
    pub links: BTreeMap<u64, Vec<String>>,
    /// What stands in for cuBLAS.
    pub blas: Blas,
    /// Limits that the program has set (`cudaLimit`).
    pub limits: BTreeMap<i32, u64>,
    /// Launches that are kept as launch files: kernels with their shapes.
    pub saved: BTreeSet<(u64, String, [u32; 3], [u32; 3])>,
    /// Kernels that reached behind the ends of buffers and were told of.
    pub behind: BTreeSet<String>,
    /// What a kernel did wrong: from then on everything is answered with it.
    broken: Option<Code>,
    /// The major version of the runtime that the program was linked with.
    version: Option<u32>,
}

/// Handles that always name streams: the default one, and those by which programs name it explicitly.
const DEFAULT_STREAMS: std::ops::RangeInclusive<u64> = 0..=2;

impl Gpu {
    /// A GPU as a setup says.
    pub fn new(setup: Setup) -> Self {
        Self {
            memory: Memory::new(setup.device.memory_bytes, setup.sanitize),
            channel: Channel::open(&setup),
            setup,
            registry: Registry::default(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            textures: BTreeMap::new(),
            graphs: BTreeMap::new(),
            captures: Vec::new(),
            calls: Vec::new(),
            links: BTreeMap::new(),
            blas: Blas::default(),
            limits: BTreeMap::new(),
            saved: BTreeSet::new(),
            behind: BTreeSet::new(),
            broken: None,
            version: None,
        }
    }

    /// A GPU as the environment says.
    fn of_environment() -> Self {
        let setup = match std::env::var(VARIABLE) {
            Err(_) => Setup::default(),
            Ok(text) => serde_json::from_str(&text).unwrap_or_else(|error| {
                say(&format!("{VARIABLE} cannot be read: {error}"));
                Setup::default()
            }),
        };
        Self::new(setup)
    }

    /// Reads a unit's PTX, if that was not done.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load(&mut self, unit: u64) -> Outcome {
        self.registry.load(unit, &mut self.memory, &self.setup)
    }

    /// A kernel did something wrong.
    ///
    /// # Errors
    /// What could not even begin is answered at once, and only once.
    pub fn fail(&mut self, code: Code) -> Outcome {
        /// The first code of what a kernel does; those below are of what cannot begin.
        const OF_KERNELS: i32 = 700;
        if code.0 < OF_KERNELS || code == Code::NOT_SUPPORTED {
            return Err(code);
        }
        self.flush();
        self.broken = Some(code);
        Ok(())
    }

    /// Everything as at the beginning, but for what the program registered.
    pub fn reset(&mut self) {
        self.flush();
        self.broken = None;
    }

    /// Passes what kernels have printed to the program's own output, as a GPU does when the host waits for it.
    pub fn flush(&mut self) {
        print(&self.memory.device.take_printed());
    }

    /// Whether a stream is one.
    ///
    /// # Errors
    /// It is none.
    pub fn check_stream(&self, stream: u64) -> Outcome {
        let known = DEFAULT_STREAMS.contains(&stream) || self.streams.contains_key(&stream);
        known.then_some(()).ok_or(Code::INVALID_HANDLE)
    }

    /// Whether a stream writes down what it is asked.
    pub fn is_captured(&self, stream: u64) -> bool {
        let captured = |capture: &Capture| capture.streams.contains(&stream);
        self.captures.iter().any(captured)
    }

    /// An event happens now.
    ///
    /// # Errors
    /// There is no such event.
    pub fn record(&mut self, event: u64) -> Outcome {
        let now = self.channel.now();
        let event = self.events.get_mut(&event).ok_or(Code::INVALID_HANDLE)?;
        event.place = Some(now);
        Ok(())
    }

    /// The major version of the runtime that the program was linked with: structures differ.
    pub fn version(&mut self) -> u32 {
        /// Those whose structures are known, with the names of their libraries.
        const VERSIONS: [(u32, &str); 2] = [(11, "libcudart.so.11"), (12, "libcudart.so.12")];
        if let Some(version) = self.version {
            return version;
        }
        let mapped = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let found = VERSIONS.iter().find(|(_, name)| mapped.contains(name));
        let version = found.map_or(13, |(version, _)| *version);
        self.version = Some(version);
        version
    }
}

static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
    static PUSHED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u64,
    /// The stream.
    pub stream: u64,
}

/// Keeps a configuration for the launch that this thread makes next.
pub fn push(configuration: Configuration) {
    PUSHED.with_borrow_mut(|pushed| pushed.push(configuration));
}

/// The configuration that this thread pushed last.
pub fn pop() -> Option<Configuration> {
    PUSHED.with_borrow_mut(Vec::pop)
}

/// The last error of this thread; `clear` forgets it.
pub fn last_error(clear: bool) -> Code {
    match clear {
        true => LAST.replace(Code::SUCCESS),
        false => LAST.get(),
    }
}

/// What an entry point answers: the code of its work.
pub fn answer(work: impl FnOnce(&mut Gpu) -> Outcome) -> i32 {
    remembered(worked(|gpu| unless_broken(gpu, work)))
}

/// The same for what a kernel's fault does not keep from working.
pub fn answer_even_if_broken(work: impl FnOnce(&mut Gpu) -> Outcome) -> i32 {
    remembered(worked(work))
}

/// The same for other libraries' functions, which have codes of their own and leave the runtime's last error alone.
pub fn answer_other(work: impl FnOnce(&mut Gpu) -> Outcome) -> Code {
    worked(|gpu| unless_broken(gpu, work))
}

fn unless_broken(gpu: &mut Gpu, work: impl FnOnce(&mut Gpu) -> Outcome) -> Outcome {
    match gpu.broken {
        Some(code) => Err(code),
        None => work(gpu),
    }
}

/// Keeps a code as this thread's last error, if it is one.
fn remembered(code: Code) -> i32 {
    if code != Code::SUCCESS && code != Code::NOT_READY {
        LAST.set(code);
    }
    code.0
}

/// What work comes to. No panic leaves it, and what it calls back runs when others may enter again.
fn worked(work: impl FnOnce(&mut Gpu) -> Outcome) -> Code {
    let (answered, calls) = {
        let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = gpu.get_or_insert_with(Gpu::of_environment);
        let answered = catch_unwind(AssertUnwindSafe(|| work(gpu)));
        let answered = answered.unwrap_or_else(|_| {
            say("a defect of warpwatt: please report the message above");
            gpu.memory.hide();
            Err(Code::UNKNOWN)
        });
        (answered, std::mem::take(&mut gpu.calls))
    };
    calls.into_iter().for_each(Callback::call);
    answered.err().unwrap_or(Code::SUCCESS)
}

/// What a kernel did wrong, if one did.
pub fn broken() -> Option<Code> {
    let gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    gpu.as_ref().and_then(|gpu| gpu.broken)
}
