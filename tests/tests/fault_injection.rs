//! Fault injection: a kernel whose vulnerability is known by hand, and laws that hold for every kernel.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use warpwatt::diag::Sink;
use warpwatt::inject::{Draw, Golden, Plan, Strike, What, campaign};
use warpwatt::reliability::{measure, together};
use warpwatt::run::kernel::{From, KernelRequest, LoadedKernel, load};
use warpwatt_gpu::{Control, GpuSpec, Run, presets, simulate_under};
use warpwatt_ptx::Entry;
use warpwatt_ptx::encoding::{Flipped, flip};
use warpwatt_reliability::inject::statistics::clopper_pearson;
use warpwatt_reliability::inject::{Class, Recorder, Sites, Tally, Target, Timeline};
use warpwatt_simt::{Cause, ExecError, Flip, Moment, Replay, Upset};
use warpwatt_suite::Progress;

/// A kernel and its run.
pub struct Case {
    pub kernel: LoadedKernel,
    pub spec: GpuSpec,
}

impl Case {
    fn of(from: From, case: Option<&str>) -> Self {
        let mut sink = Sink::default();
        let request = KernelRequest {
            from,
            build: warpwatt_suite::Build::default(),
            lower: warpwatt_suite::Lower::default(),
            ptx: None,
            case: case.map(str::to_owned),
            registers: None,
        };
        let kernel = load(&mut sink, &request, None).expect("the kernel is fine");
        let spec = presets()[0].spec().expect("presets are valid");
        Self { kernel, spec }
    }

    pub fn suite(name: &str, case: Option<&str>) -> Self {
        let kernel = warpwatt_suite::kernel(name).expect("a kernel of the suite");
        Self::of(From::Suite(kernel), case)
    }

    pub fn golden(&self) -> Golden<'_> {
        Golden::run(&self.kernel, self.spec.sm.warp_width, 8_000_000).expect("it runs")
    }

    fn timed(&self, golden: &Golden<'_>) -> (Run, Timeline) {
        let recorder = Recorder::new(&self.spec);
        let (hooks, control) = (recorder.hooks(), Control::default());
        let run = simulate_under(&self.spec, &golden.traces, hooks, control).expect("it is timed");
        (run, recorder.finish())
    }
}

/// A temporary directory that goes when it is dropped.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("warpwatt-{name}-{process}-{number}"));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const MICRO: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %laneid;
    xor.b32 %r2, %r1, 12345;
    and.b32 %r3, %r2, 6;
    add.u32 %r4, %r1, 1;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %tid.x, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r3;
    ret;
}";

const MICRO_LAUNCH: &str = "
name = \"micro\"
[build]
ptx = \"k.ptx\"
[one]
kernel = \"k\"
grid = [1, 1, 1]
block = [32, 1, 1]
[[one.arg]]
index = 0
name = \"out\"
kind = \"out\"
type = \"u32\"
count = 32
init = \"poison_bytes(0xCD)\"
";

pub fn micro() -> (Case, Directory) {
    let directory = Directory::new("micro");
    (kernel_in(&directory, MICRO), directory)
}

/// A kernel `k` of one warp and 32 words of results.
pub fn kernel_in(directory: &Directory, ptx: &str) -> Case {
    std::fs::write(directory.0.join("k.ptx"), ptx).unwrap();
    let launch = directory.0.join("k.toml");
    std::fs::write(&launch, MICRO_LAUNCH).unwrap();
    Case::of(From::File(launch), None)
}

fn all(case: &Case, target: Target) -> (Tally, Timeline, u128) {
    let golden = case.golden();
    let (run, timeline) = case.timed(&golden);
    let sites = Sites::new(&case.spec, &run, &timeline, target);
    let plan = Draw::new(&golden, &timeline, &sites).all(100_000).unwrap();
    let tally = campaign(&golden, &plan, &[], 2, |_, _| true).unwrap();
    (tally, timeline.clone(), sites.population())
}

#[test]
fn every_bit_in_every_cycle_of_a_kernel_that_is_known_by_hand() {
    let (case, _directory) = micro();
    let (tally, timeline, population) = all(&case, Target::RegisterFile);
    let steps = &timeline.launches[0].warps[0].steps;
    assert_eq!(steps.len(), 9);
    // From when a result is in its register until it is read: cycles in which a flip of it is seen.
    let life = |writer: usize, reader: usize| steps[reader].read - steps[writer].written;
    // Lanes times bits that decide: two of the first two values (bits 1 and 2 are kept by the mask), all of the third and of the addresses. The fourth is never read.
    let laneid = 32 * 2 * life(0, 1);
    let mixed = 32 * 2 * life(1, 2);
    let masked = 32 * 32 * life(2, 7);
    let base = 32 * 64 * life(4, 6);
    let offset = 32 * 64 * life(5, 6);
    let address = 32 * 64 * life(6, 7);
    let vulnerable = laneid + mixed + masked + base + offset + address;
    assert_eq!(tally.vulnerable(), vulnerable);
    assert_eq!(u128::from(tally.total()), population);
    // Values that are wrong are silent; of the addresses those are that stay in the buffer: words 0 to 31, so bits 2 to 6.
    let silent = laneid + mixed + masked;
    assert!(tally.of(Class::Sdc) > silent);
    assert!(tally.of(Class::Due) > 0 && tally.of(Class::Hang) == 0);
    assert_eq!(
        tally.silent() - silent + tally.of(Class::Due),
        base + offset + address
    );
}

#[test]
fn every_latch_of_it() {
    let (case, _directory) = micro();
    let (tally, ..) = all(&case, Target::PipelineLatch);
    // One cycle a result: lane number and mixture two bits, the mask's result 32, offset and address 64; the base comes from memory.
    assert_eq!(tally.vulnerable(), 32 * (2 + 2 + 32 + 64 + 64));
}

#[test]
fn every_bit_of_an_instruction_that_is_known_by_hand() {
    let (case, _directory) = micro();
    let (tally, timeline, population) = all(&case, Target::InstructionBuffer);
    assert_eq!(u128::from(tally.total()), population);
    let steps = &timeline.launches[0].warps[0].steps;
    let occupied: u64 = steps.iter().map(|it| 64 * (it.issued - it.delivered)).sum();
    assert_eq!(tally.total() - tally.of(Class::Unoccupied), occupied);
    // What the sum that nobody reads does cannot be seen, unless it is no instruction any more or lands in a register that is in use.
    assert!(tally.of(Class::Masked) > 0 && tally.of(Class::Sdc) > 0 && tally.of(Class::Due) > 0);
}

/// A flip as the execution takes it; none for an instruction without the program that it becomes.
fn upset<'p>(what: &'p What, program: Option<&'p Entry>) -> Option<Upset<'p>> {
    let moment = |warp, executed, what| {
        Upset::Warp(Moment {
            warp,
            executed,
            what,
        })
    };
    Some(match what {
        &What::Register {
            warp,
            step,
            register,
            lane,
            bit,
        } => moment(
            warp,
            step,
            Flip::Register {
                register,
                lane,
                bit,
            },
        ),
        &What::Instruction { warp, step, .. } => moment(warp, step, Flip::Instruction(program?)),
        What::Shared { bit, cut } => Upset::Shared { cut, bit: *bit },
    })
}

/// What a flip does if everything is executed from the beginning to the end.
fn plainly(case: &Case, golden: &Golden<'_>, strike: &Strike) -> Class {
    let session = &golden.session;
    let mut memory = golden.first.clone();
    let mut at = Progress::default();
    for number in 0.. {
        let Ok(next) = session.next(at, &mut memory) else {
            return Class::Hang;
        };
        let Some((launch, after)) = next else { break };
        at = after;
        let mut replay = Replay::new(session.module(), &launch, case.spec.sm.warp_width).unwrap();
        for cta in 0..replay.shape().ctas() {
            let hit = (number, cta) == (strike.launch, strike.cta);
            let limit = golden
                .launches
                .get(number)
                .map_or(1_000_000, |it| it.limit(cta));
            let program = match &strike.what {
                What::Instruction { warp, step, bit } if hit => {
                    let trace = &golden.traces[number];
                    let mut steps = trace.warp(cta, *warp as usize).unwrap();
                    let inst = steps.nth(*step as usize).unwrap().inst;
                    match flip(session.module().entry(launch.entry).unwrap(), inst, *bit) {
                        Flipped::Unused => return Class::Masked,
                        Flipped::Illegal => return Class::Due,
                        Flipped::Changed(program) => Some(program),
                    }
                }
                _ => None,
            };
            let upset = upset(&strike.what, program.as_deref()).filter(|_| hit);
            match replay.run(cta, &mut memory, upset.as_ref(), limit) {
                Ok(_) => {}
                Err(ExecError::Fault(fault))
                    if matches!(fault.cause, Cause::Limit(_) | Cause::Hang { .. }) =>
                {
                    return Class::Hang;
                }
                Err(_) => return Class::Due,
            }
        }
    }
    if memory.differences(&golden.last).is_empty() {
        Class::Masked
    } else if golden.has_tolerance && session.tolerates(&memory, &golden.last) {
        Class::Tolerated
    } else {
        Class::Sdc
    }
}

const KERNELS: [(&str, Option<&str>); 4] = [
    ("scan", Some("miaow")),
    ("bfs", None),
    ("back_propagation", None),
    ("histogram", None),
];

fn drawn(case: &Case, golden: &Golden<'_>, target: Target, samples: u64, seed: u64) -> Plan {
    let (run, timeline) = case.timed(golden);
    let sites = Sites::new(&case.spec, &run, &timeline, target);
    Draw::new(golden, &timeline, &sites).samples(samples, seed)
}

#[test]
fn what_is_left_out_changes_nothing() {
    for (name, of) in KERNELS {
        let case = Case::suite(name, of);
        let golden = case.golden();
        for target in Target::ALL {
            let mut plan = drawn(&case, &golden, target, 4000, 3);
            let every = (plan.strikes.len() / 12).max(1);
            plan.strikes = plan.strikes.into_iter().step_by(every).collect();
            let mut found = vec![None; plan.strikes.len()];
            let tally = campaign(&golden, &plan, &[], 2, |at, class| {
                found[at] = Some(class);
                true
            });
            tally.unwrap();
            for ((strike, _), class) in plan.strikes.iter().zip(found) {
                let whole = plainly(&case, &golden, strike);
                assert_eq!(class, Some(whole), "{name}, {strike:?}");
            }
        }
    }
}

#[test]
fn counts_do_not_depend_on_threads_or_on_being_stopped() {
    let case = Case::suite("scan", Some("miaow"));
    let golden = case.golden();
    let plan = drawn(&case, &golden, Target::RegisterFile, 6000, 9);
    assert!(plan.strikes.len() > 50);
    let mut found = vec![None; plan.strikes.len()];
    let whole = campaign(&golden, &plan, &[], 1, |at, class| {
        found[at] = Some(class);
        true
    });
    let whole = whole.unwrap();
    assert_eq!(whole.total(), 6000);
    for jobs in [2, 5] {
        assert_eq!(
            campaign(&golden, &plan, &[], jobs, |_, _| true).unwrap(),
            whole
        );
    }
    let mut left = 20;
    let mut known = vec![None; plan.strikes.len()];
    let stopped = campaign(&golden, &plan, &[], 2, |at, class| {
        known[at] = Some(class);
        left -= 1;
        left > 0
    });
    assert!(stopped.is_err());
    let mut executed = 0;
    let resumed = campaign(&golden, &plan, &known, 2, |_, _| {
        executed += 1;
        true
    });
    assert_eq!(resumed.unwrap(), whole);
    assert_eq!(executed, plan.strikes.len() - 20);
    // Another seed, another sample.
    let other = drawn(&case, &golden, Target::RegisterFile, 6000, 10);
    assert_ne!(other.strikes, plan.strikes);
}

#[test]
fn ctas_one_by_one_are_the_launch() {
    for name in ["bfs", "scan", "hotspot", "reduction_tree"] {
        let case = Case::suite(name, None);
        let golden = case.golden();
        let session = &golden.session;
        let (mut memory, mut at) = (golden.first.clone(), Progress::default());
        while let Some((launch, after)) = session.next(at, &mut memory).unwrap() {
            let mut replay = Replay::new(session.module(), &launch, 32).unwrap();
            for cta in 0..replay.shape().ctas() {
                replay.run(cta, &mut memory, None, 10_000_000).unwrap();
            }
            at = after;
        }
        assert!(memory.differences(&golden.last).is_empty(), "{name}");
    }
}

#[test]
fn ace_analysis_bounds_what_is_injected() {
    for (name, of) in KERNELS {
        let case = Case::suite(name, of);
        let golden = case.golden();
        let limit = Control::CYCLE_LIMIT;
        let launches = measure(&case.spec, &golden.traces, &[], limit).expect("it is timed");
        let (_, structures) = together(&launches);
        for target in Target::ALL {
            let Some(structure) = target.structure() else {
                continue;
            };
            let ace = &structures[structure as usize];
            let (run, timeline) = case.timed(&golden);
            let sites = Sites::new(&case.spec, &run, &timeline, target);
            assert_eq!(ace.total, sites.population(), "{name}, {structure}");
            let plan = drawn(&case, &golden, target, 5000, 1);
            let tally = campaign(&golden, &plan, &[], 2, |_, _| true).unwrap();
            let injected = clopper_pearson(tally.vulnerable(), tally.total(), 0.999);
            assert!(
                ace.avf() >= injected.low,
                "{name}, {structure}: ACE {}, injected {injected:?}",
                ace.avf()
            );
        }
    }
}

/// A sample agrees with the search of all of which it is one.
#[test]
fn a_sample_comes_near_to_all() {
    let (case, _directory) = micro();
    let (whole, ..) = all(&case, Target::InstructionBuffer);
    let golden = case.golden();
    // The kernel holds few of the bits of a GPU: enough flips to hit some.
    let plan = drawn(&case, &golden, Target::InstructionBuffer, 2_000_000, 5);
    let tally = campaign(&golden, &plan, &[], 2, |_, _| true).unwrap();
    let exact = whole.vulnerable() as f64 / whole.total() as f64;
    let interval = clopper_pearson(tally.vulnerable(), tally.total(), 0.9999);
    assert!(
        (interval.low..=interval.high).contains(&exact),
        "{exact} outside {interval:?}"
    );
    assert!(tally.vulnerable() > 100, "{tally:?}");
}
