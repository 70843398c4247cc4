//! The mechanism on small programs: who goes with whom, and that every thread does what it did.

use std::sync::Arc;

use proptest::prelude::*;
use warpwatt_gpu::trace::{KernelTrace, lanes};
use warpwatt_gpu::{GpuSpec, Hooks, simulate};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

use super::DEFINITION;
use super::regroup::regrouped;

const WIDTH: u32 = 32;

/// Executes a kernel with one buffer of as many words as there are threads.
fn traced(ptx: &str, block: u32, words: &[u32]) -> KernelTrace {
    let module = warpwatt_ptx::load(ptx).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let address = memory.alloc("words", bytes);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [block, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let options = Options {
        warp_width: WIDTH,
        record: true,
        ..Options::default()
    };
    execute(&module, &launch, &mut memory, &options)
        .unwrap()
        .trace
        .unwrap()
}

/// `if (words[t] & 1) { four } else { three }`, in a loop of `words[t] >> 1` rounds.
const LOOP: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    and.b32 %r3, %r2, 1;
    shr.u32 %r4, %r2, 1;
    mov.u32 %r5, 0;
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra DONE;
AGAIN:
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra EVEN;
    add.u32 %r5, %r5, 7;
    xor.b32 %r5, %r5, 3;
    add.u32 %r5, %r5, 5;
    xor.b32 %r5, %r5, 9;
    bra.uni NEXT;
EVEN:
    add.u32 %r5, %r5, 1;
    xor.b32 %r5, %r5, 2;
    add.u32 %r5, %r5, 3;
NEXT:
    sub.u32 %r4, %r4, 1;
    setp.ne.u32 %p3, %r4, 0;
    @%p3 bra AGAIN;
DONE:
    st.global.u32 [%rd3], %r5;
    ret;
}
";

/// What each thread of a launch executes: instruction, whether it executes, address. The instruction behind the program's is left out.
fn of_threads(trace: &KernelTrace, program: usize) -> Vec<Vec<(u32, bool, u64)>> {
    // A thread is known by the addresses that it loads from and stores to alone, so that those of a lane are told apart by their whole history.
    let mut all = Vec::new();
    for warp in 0..trace.launch.warps_per_cta() {
        let mut mine = vec![Vec::new(); WIDTH as usize];
        for step in trace
            .warp(0, warp)
            .unwrap()
            .filter(|step| (step.inst as usize) < program)
        {
            let mut addresses = [0; 64];
            if let Some(at) = &step.addresses {
                at.for_each(step.executed, |lane, address| {
                    addresses[lane as usize] = address
                });
            }
            for lane in lanes(step.active) {
                let executed = step.executed >> lane & 1 != 0;
                mine[lane as usize].push((step.inst, executed, addresses[lane as usize]));
            }
        }
        all.extend(mine);
    }
    all
}

fn instructions(trace: &KernelTrace, program: usize) -> usize {
    let warps = 0..trace.launch.warps_per_cta();
    let of = |warp| {
        let steps = trace.warp(0, warp).unwrap();
        steps.filter(|step| (step.inst as usize) < program).count()
    };
    warps.map(of).sum()
}

/// Sorted, so that the order in which lanes' pieces come does not matter.
fn multiset(trace: &KernelTrace, program: usize) -> Vec<(u32, bool, u64)> {
    let mut all: Vec<_> = of_threads(trace, program).into_iter().flatten().collect();
    all.sort_unstable();
    all
}

/// Every second warp goes one way in its even lanes, the others in their odd ones: two warps of 16 threads each become one of 32 on either side.
#[test]
fn two_half_empty_warps_become_a_full_one() {
    let words: Vec<u32> = (0..64).map(|t| 2 * 10 + (t + t / 32) % 2).collect();
    let plain = traced(LOOP, 64, &words);
    let program = plain.code.len();
    let compacted = regrouped(&plain).unwrap();
    let (before, after) = (
        instructions(&plain, program),
        instructions(&compacted, program),
    );
    // Both warps ran both sides; now each side is run once.
    let both = 10 * (5 + 3);
    assert_eq!(before - after, both, "{before} {after}");
    assert_eq!(multiset(&plain, program), multiset(&compacted, program));
}

/// Lanes that all warps have in common fill no other's place.
#[test]
fn threads_of_one_lane_stay_apart() {
    let words: Vec<u32> = (0..64).map(|t| 2 * 10 + t % 2).collect();
    let plain = traced(LOOP, 64, &words);
    let program = plain.code.len();
    let compacted = regrouped(&plain).unwrap();
    assert_eq!(
        instructions(&plain, program),
        instructions(&compacted, program)
    );
}

#[test]
fn straight_code_stays_as_it_is() {
    let words = vec![0; 64];
    let mut plain = traced(LOOP, 64, &words);
    // The one branch goes one way for all: both warps meet behind it, and nothing else changes.
    let program = plain.code.len();
    let compacted = regrouped(&plain).unwrap();
    assert_eq!(multiset(&plain, program), multiset(&compacted, program));
    assert_eq!(compacted.warp_instructions(), plain.warp_instructions() + 2);
    // No branch, no change.
    plain.code = plain
        .code
        .iter()
        .map(|inst| {
            let mut inst = inst.clone();
            (inst.split, inst.flow) = (None, None);
            inst
        })
        .collect::<Arc<[_]>>();
    assert_eq!(
        regrouped(&plain).unwrap().warp_instructions(),
        plain.warp_instructions()
    );
}

#[test]
fn a_launch_whose_branches_do_not_meet_is_refused() {
    let mut plain = traced(LOOP, 64, &[3; 64]);
    plain.code = plain
        .code
        .iter()
        .map(|inst| {
            let mut inst = inst.clone();
            inst.split = None;
            inst
        })
        .collect::<Arc<[_]>>();
    let refused = regrouped(&plain).unwrap_err();
    assert!(refused.contains("masks"), "{refused}");
}

/// The paper's program: a loop with a divergent region, padded with arithmetic on both sides.
fn padded(instructions: usize) -> String {
    let side = |with: &str| {
        format!("    add.u32 %r5, %r5, {with};\n    xor.b32 %r5, %r5, 3;\n")
            .repeat(instructions / 2)
    };
    let (odd, even) = (side("7"), side("1"));
    let begin = LOOP.find("    add.u32 %r5, %r5, 7;").unwrap();
    let end = LOOP.find("NEXT:").unwrap();
    format!(
        "{}{odd}    bra.uni NEXT;\nEVEN:\n{even}{}",
        &LOOP[..begin],
        &LOOP[end..]
    )
}

fn cycles(ptx: &str, words: &[u32], compacts: bool) -> u64 {
    let trace = traced(ptx, words.len() as u32, words);
    let mut spec = GpuSpec::preset("fermi-16sm").unwrap();
    spec.sm.count = 1;
    let mut hooks = Hooks::default();
    if compacts {
        let technique = DEFINITION.parse(&toml::Table::new()).unwrap();
        technique.attach(&spec, &mut hooks);
    }
    simulate(&spec, &[trace], hooks).unwrap().cycles
}

/// As section 5 of the paper has it: faster where the sides of a branch are in different lanes of different warps, much the same where nothing diverges.
#[test]
fn divergent_arithmetic_is_faster_and_the_rest_as_fast() {
    let ptx = padded(40);
    let divergent: Vec<u32> = (0..256).map(|t| 2 * 20 + (t + t / 32) % 2).collect();
    let (plain, compacted) = (
        cycles(&ptx, &divergent, false),
        cycles(&ptx, &divergent, true),
    );
    assert!(5 * compacted < 4 * plain, "{plain} {compacted}");
    let together = vec![2 * 20; 256];
    let (plain, compacted) = (
        cycles(&ptx, &together, false),
        cycles(&ptx, &together, true),
    );
    assert!(10 * compacted < 12 * plain, "{plain} {compacted}");
}

proptest! {
    /// Whatever threads do, each does the same as before, in no more instructions of warps.
    #[test]
    fn threads_do_what_they_did(
        words in prop::collection::vec(0_u32..24, 1..200),
    ) {
        let plain = traced(LOOP, words.len() as u32, &words);
        let program = plain.code.len();
        let compacted = regrouped(&plain).unwrap();
        prop_assert_eq!(multiset(&plain, program), multiset(&compacted, program));
        prop_assert!(instructions(&compacted, program) <= instructions(&plain, program));
    }
}
