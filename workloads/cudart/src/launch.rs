//! A launch: whether it fits, its execution with what its kernels launch, and what is told of it.

use warpwatt_ptx::Module;
use warpwatt_simt::trace::{KernelTrace, Store, StoreError, file};
use warpwatt_simt::{Behind, DeviceMemory, ExecError, Execution, Launch, Nested, Options, execute};

use crate::channel::{Channel, say};
use crate::error::{Code, Outcome};
use crate::gpu::Gpu;
use crate::protocol::{Counted, Launched, Message, Setup};
use crate::request::Request;

/// What a GPU refuses before anything runs.
fn fits(request: &Request, setup: &Setup) -> Outcome {
    let threads: u64 = request
        .block
        .iter()
        .map(|&extent| u64::from(extent))
        .product();
    let empty = request.grid.contains(&0) || request.block.contains(&0);
    let [_, rows, planes] = request.grid;
    if empty || threads > 1024 || request.block[2] > 64 || rows > 65535 || planes > 65535 {
        return Err(Code::INVALID_CONFIGURATION);
    }
    if request.shared > setup.device.block_shared_optin() {
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

/// Why a launch stopped, and in which kernel.
struct Stopped {
    kernel: String,
    why: ExecError,
}

impl Gpu {
    /// Executes a launch and tells of it.
    ///
    /// # Errors
    /// It does not fit. What goes wrong in the kernel itself is answered by the calls that follow, as a GPU does.
    pub fn launch(&mut self, request: Request) -> Outcome {
        self.flush();
        fits(&request, &self.setup)?;
        let kernel = self.registry.kernel(request.kernel)?;
        self.load(kernel.unit)?;
        let saving = self.save(&request);
        let module = self.registry.read(kernel.unit)?;
        let entry = module.entry(&kernel.name).ok_or(Code::INVALID_FUNCTION)?;
        if request.cooperative && !self.setup.device.holds(entry, &request) {
            return Err(Code::COOPERATIVE_TOO_LARGE);
        }
        let launch = Launch {
            entry: &entry.name,
            grid: request.grid,
            block: request.block,
            cluster: request.cluster,
            dynamic_shared: request.shared as u32,
            params: request.params.clone(),
        };
        self.memory.show();
        let executed = execute_all(module, launch, &mut self.memory.device, &self.setup);
        let behind = self.memory.hide();
        self.tell_behind(&kernel.name, &behind);
        match executed {
            Ok(executions) => {
                tell(&mut self.channel, &self.setup, &request, &executions);
                if let Some(saving) = saving {
                    self.save_after(&saving);
                }
            }
            Err(Stopped { kernel, why }) => {
                let code = Code::of(&why);
                say(&format!("{why}: {}", code.name().to_string_lossy()));
                let why = why.to_string();
                self.channel.tell(&Message::Fault { kernel, why }, &[]);
                self.fail(code)?;
            }
        }
        Ok(())
    }

    /// Tells of a buffer behind whose end a kernel reached: a defect of the program that a GPU does not notice. Of each kernel once.
    fn tell_behind(&mut self, kernel: &str, behind: &[Behind]) {
        let Some(first) = behind.first() else {
            return;
        };
        if !self.behind.insert(kernel.to_owned()) {
            return;
        }
        let place = match self.memory.in_front(first) {
            Some(bytes) => format!("memory {bytes} bytes in front of the first buffer"),
            None => format!(
                "byte {} of device memory at {:#x}, which has {}",
                first.at, first.base, first.bytes
            ),
        };
        let why = format!("reached {place}; a GPU does not notice that, --sanitize stops there");
        say(&format!("kernel `{kernel}` {why}"));
        let kernel = kernel.to_owned();
        self.channel.tell(&Message::Behind { kernel, why }, &[]);
    }
}

/// Executes a launch, and those that its kernels ask for behind it.
fn execute_all(
    module: &Module,
    launch: Launch<'_>,
    memory: &mut DeviceMemory,
    setup: &Setup,
) -> Result<Vec<(String, Execution)>, Stopped> {
    let mut executions = Vec::new();
    let mut left = setup.limit;
    let mut nested = Nested::default();
    let mut now = Some(launch);
    while let Some(launch) = now {
        let stopped = |why| Stopped {
            kernel: launch.entry.to_owned(),
            why,
        };
        let options = Options {
            warp_width: setup.warp_width,
            limit: left,
            record: setup.record,
            trace_bytes: setup.trace_bytes,
            store: Store::default(),
            values: setup.values,
            threads: setup.threads,
            races: false,
            as_gpu: !setup.sanitize,
            interrupt: None,
        };
        let execution = execute(module, &launch, memory, &options);
        let execution = execution.inspect_err(|_| drop(memory.take_launches()));
        let execution = execution.map_err(stopped)?;
        left = left.saturating_sub(execution.warp_instructions);
        now = nested.next(memory, module).map_err(stopped)?;
        executions.push((launch.entry.to_owned(), execution));
    }
    Ok(executions)
}

fn counted(request: &Request, executions: &[(String, Execution)]) -> Counted {
    let product = |counts: [u32; 3]| counts.into_iter().map(u64::from).product();
    let kernel = executions.first().map(|(name, _)| name.clone());
    let sum = |count: fn(&Execution) -> u64| executions.iter().map(|(_, it)| count(it)).sum();
    Counted {
        kernel: kernel.unwrap_or_default(),
        ctas: product(request.grid),
        cta_threads: product(request.block),
        warp_instructions: sum(|it| it.warp_instructions),
        thread_instructions: sum(|it| it.thread_instructions),
    }
}

/// Sends the traces of a launch, unless they are known; by which number they are.
fn send(
    channel: &mut Channel,
    request: &Request,
    executions: &[(String, Execution)],
    traces: &[&KernelTrace],
) -> Result<u64, StoreError> {
    let id = file::fingerprint(traces)?;
    if !channel.is_known(id) {
        let label = executions.first().map_or("", |(kernel, _)| kernel);
        let bytes = file::encode(&file::Key::default(), label, traces)?;
        let counted = counted(request, executions);
        channel.tell(&Message::Trace { id, counted }, &bytes);
    }
    Ok(id)
}

/// Tells of a launch; its traces are sent once.
fn tell(
    channel: &mut Channel,
    setup: &Setup,
    request: &Request,
    executions: &[(String, Execution)],
) {
    let traces = executions.iter();
    let traces: Vec<&KernelTrace> = traces.filter_map(|(_, it)| it.trace.as_ref()).collect();
    let complete = traces.len() == executions.len();
    let too_long = || format!("its trace takes more than {} MiB", setup.trace_bytes >> 20);
    let sent = setup.record.then(|| match complete {
        true => send(channel, request, executions, &traces).map_err(String::from),
        false => Err(too_long()),
    });
    let (trace, untraced) = match sent {
        None => (None, None),
        Some(Ok(id)) => (Some(id), None),
        Some(Err(why)) => (None, Some(why)),
    };
    let Counted {
        kernel,
        warp_instructions,
        ..
    } = counted(request, executions);
    let launched = Launched {
        kernel,
        grid: request.grid,
        block: request.block,
        trace,
        untraced,
        warp_instructions,
        launches_by_kernels: executions.len() as u64 - 1,
    };
    channel.tell(&Message::Launch(launched), &[]);
}
