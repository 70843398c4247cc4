//! Small kernels, and runs of them in which needed bits are followed.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssuePlan, Run, StorageObserver, simulate};
use warpwatt_reliability::{BitCycles, Journals, LaunchAvf, Liveness, Probe, Structure};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};
use warpwatt_techniques::{Stack, Technique, find};

/// Executes `body` once a thread: `%rd1` is the address of a buffer, `%r1` the thread's number and `%rd2` the address of its own eight bytes of the buffer.
/// Instructions 0 to 2 compute these; 3 is the first of the body.
pub fn launch(threads: u32, body: &str) -> KernelTrace {
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 p) {{
        .shared .align 4 .b8 tile[4096];
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mad.wide.u32 %rd2, %r1, 8, %rd1;
        {body}
        ret; }}"
    );
    let module = warpwatt_ptx::load(&source).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 8 * threads as usize]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let options = Options {
        values: true,
        ..Options::default()
    };
    let run = execute(&module, &launch, &mut memory, &options).unwrap();
    run.trace.unwrap()
}

pub fn gpu() -> GpuSpec {
    let mut spec = GpuSpec::preset("softerror-28sm").unwrap();
    spec.sm.count = 1;
    spec
}

fn technique(name: &str, parameters: &str) -> Arc<dyn Technique> {
    let definition = find(name).ok().unwrap();
    let found = definition.parse(&parameters.parse().unwrap());
    found.unwrap().into()
}

pub fn stack(members: &[(&str, &str)]) -> Stack {
    let members = members.iter().map(|(name, of)| technique(name, of));
    Stack::new(members.collect()).unwrap()
}

/// When the instructions of one warp came, issued, read and wrote, and when a launch ended.
#[derive(Default)]
pub struct Log {
    pub buffered: Vec<u64>,
    pub issued: Vec<(u64, u64)>,
    /// Of the same: which instruction it is, and how long its unit takes.
    pub insts: Vec<(u32, u64)>,
    written: Vec<(u32, u64)>,
    pub retired: u64,
}

struct Logger(Rc<RefCell<Log>>);

impl StorageObserver for Logger {
    fn buffered(&mut self, cycle: u64, _: u8, right: u8, _: u8) {
        let log = &mut self.0.borrow_mut().buffered;
        log.extend((0..right).map(|_| cycle));
    }
    fn issued(&mut self, event: &IssueEvent<'_>, _: &IssuePlan, read: u64) {
        let log = &mut self.0.borrow_mut();
        log.issued.push((event.cycle, read));
        log.insts.push((event.step.inst, event.latency));
    }
    fn written(&mut self, cycle: u64, _: u8, inst: u32) {
        self.0.borrow_mut().written.push((inst, cycle));
    }
    fn retired(&mut self, cycle: u64, _: u8) {
        self.0.borrow_mut().retired = cycle;
    }
}

impl Log {
    pub fn written(&self, inst: u32) -> u128 {
        let found = self.written.iter().find(|(it, _)| *it == inst);
        u128::from(found.unwrap().1)
    }

    pub fn read(&self, inst: usize) -> u128 {
        u128::from(self.issued[inst].1)
    }

    pub fn issue(&self, inst: usize) -> u128 {
        u128::from(self.issued[inst].0)
    }
}

pub struct Followed {
    pub run: Run,
    pub launches: Vec<LaunchAvf>,
    pub log: Log,
}

impl Followed {
    pub fn of(&self, structure: Structure) -> BitCycles {
        *self.launches[0].of(structure)
    }
}

pub fn follow(spec: &GpuSpec, trace: &KernelTrace, stack: &Stack) -> Followed {
    let mut spec = spec.clone();
    stack.reshape(&mut spec);
    let journals = Journals::default();
    let probe = Probe::new(&spec, vec![Arc::new(Liveness::of(trace).unwrap())], 16)
        .with_added(&stack.storage(&spec), &journals);
    let mut hooks = Hooks::default();
    let protections = stack.attach_protecting(&spec, &mut hooks, &journals);
    probe.attach(&mut hooks, protections);
    let log = Rc::new(RefCell::new(Log::default()));
    let shown = log.clone();
    let storage = &mut hooks.storage;
    storage.push(Box::new(move |_| Box::new(Logger(shown.clone()))));
    let run = simulate(&spec, std::slice::from_ref(trace), hooks).unwrap();
    Followed {
        run,
        launches: probe.finish(),
        log: log.take(),
    }
}
