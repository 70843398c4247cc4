//! Collectives of a warp under every mask, against a plain model: lanes are in classes, a lane's mask names its class, and some lanes have exited.

use proptest::prelude::*;
use warpwatt_ptx::load;
use warpwatt_simt::{Cause, DeviceMemory, ExecError, Launch, Options, execute};

/// How the lanes come to the collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All together.
    Together,
    /// On both sides of a branch, each with instructions of its own.
    TwoSides,
    /// By guards.
    Guards,
}

/// The collectives; each leaves one word in `%r4`. The value is `%r2`, the mask `%r3`, the value's lowest bit `%p2`.
const COLLECTIVES: [&str; 15] = [
    "vote.sync.ballot.b32 %r4, %p2, %r3;",
    "vote.sync.all.pred %p3, %p2, %r3;",
    "vote.sync.any.pred %p3, %p2, %r3;",
    "vote.sync.uni.pred %p3, !%p2, %r3;",
    "match.any.sync.b32 %r4, %r2, %r3;",
    "match.all.sync.b32 %r4|%p4, %r2, %r3;",
    "redux.sync.add.s32 %r4, %r2, %r3;",
    "redux.sync.min.s32 %r4, %r2, %r3;",
    "redux.sync.max.u32 %r4, %r2, %r3;",
    "redux.sync.and.b32 %r4, %r2, %r3;",
    "redux.sync.or.b32 %r4, %r2, %r3;",
    "redux.sync.xor.b32 %r4, %r2, %r3;",
    "shfl.sync.bfly.b32 %r4, %r2, 0, 31, %r3;",
    "shfl.sync.idx.b32 %r4, %r2, %r6, 31, %r3;",
    "elect.sync %r4|%p4, %r3;",
];

/// What a collective leaves in a lane whose class has the live lanes `class`; `leader` is the lane that the class's lanes read.
fn model(number: usize, lane: usize, class: &[usize], values: &[u32; 32], leader: usize) -> u32 {
    let of = || class.iter().map(|&lane| values[lane]);
    let mask = |holds: &dyn Fn(u32) -> bool| {
        let named = class.iter().filter(|&&lane| holds(values[lane]));
        named.fold(0u32, |mask, lane| mask | 1 << lane)
    };
    let all = mask(&|_| true);
    let odd = |value: u32| value % 2 == 1;
    match number {
        0 => mask(&odd),
        1 => u32::from(of().all(odd)),
        2 => u32::from(of().any(odd)),
        3 => u32::from(of().all(odd) || !of().any(odd)),
        4 => mask(&|value| value == values[lane]),
        5 if of().all(|value| value == values[lane]) => all,
        5 => 0,
        6 => of().fold(0, u32::wrapping_add),
        7 => of().map(|value| value as i32).min().unwrap() as u32,
        8 => of().max().unwrap(),
        9 => of().fold(u32::MAX, |a, b| a & b),
        10 => of().fold(0, |a, b| a | b),
        11 => of().fold(0, |a, b| a ^ b),
        12 => values[lane],
        13 => values[leader],
        _ => class[0] as u32,
    }
}

/// One collective with everything behind it that its sides differ in.
fn side(collective: &str, guard: &str) -> String {
    let predicate = match collective.contains("%p3") {
        true => format!("{guard} selp.u32 %r4, 1, 0, %p3;"),
        false => String::new(),
    };
    format!("{guard} {collective}\n{predicate}\n")
}

fn program(way: Way) -> String {
    let mut body = String::new();
    for (number, collective) in COLLECTIVES.iter().enumerate() {
        let [one, other] = ["@%p1", "@!%p1"].map(|guard| side(collective, guard));
        let plain = side(collective, "");
        body += &match way {
            Way::Together => plain,
            Way::Guards => one + &other,
            Way::TwoSides => format!(
                "@%p1 bra $other{number};\n{plain} bra $join{number};\n$other{number}:\nadd.u32 %r7, %r7, 1;\n{plain}$join{number}:\n"
            ),
        };
        body += &format!("st.global.u32 [%rd2+{}], %r4;\n", 128 * (number + 5));
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{
        .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
        ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd2+128]; ld.global.u32 %r5, [%rd2+256];
        ld.global.u32 %r6, [%rd2+384]; ld.global.u32 %r8, [%rd2+512];
        setp.ne.u32 %p5, %r8, 0; @%p5 exit;
        setp.ne.u32 %p1, %r5, 0; and.b32 %r7, %r2, 1; setp.ne.u32 %p2, %r7, 0;
        {body} ret;\n}}\n"
    )
}

/// Results of all collectives, 32 lanes each, after the five words a lane that are given.
fn run(source: &str, given: [[u32; 32]; 5]) -> Result<Vec<u32>, ExecError> {
    let words = given.iter().flatten().copied();
    let words = words.chain(std::iter::repeat_n(0, 32 * COLLECTIVES.len()));
    let words = run_on(source, words.collect(), &Options::default())?;
    Ok(words[5 * 32..].to_vec())
}

/// What a warp makes of some words.
fn run_on(source: &str, words: Vec<u32>, options: &Options) -> Result<Vec<u32>, ExecError> {
    let module = load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let bytes = words.into_iter().flat_map(u32::to_le_bytes);
    let address = memory.alloc("p", bytes.collect());
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(&module, &launch, &mut memory, options)?;
    let words = memory.buffer(address).chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Ok(words.collect())
}

/// A number a lane, from few, so that lanes share them.
fn few(count: u32) -> impl Strategy<Value = [u32; 32]> {
    prop::array::uniform32(0..count)
}

/// Ways, classes and values that are the same in all lanes come about too.
fn classes() -> impl Strategy<Value = [u32; 32]> {
    prop_oneof![
        few(1),
        few(2),
        few(5),
        Just(std::array::from_fn(|lane| lane as u32 / 8))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn collectives_are_of_the_lanes_that_the_mask_names(
        way in prop::sample::select(vec![Way::Together, Way::TwoSides, Way::Guards]),
        class in classes(),
        values in prop_oneof![few(3), prop::array::uniform32(any::<u32>()), few(1)],
        sides in few(2),
        exits in prop_oneof![few(1), few(4).prop_map(|all| all.map(|one| u32::from(one == 0)))],
    ) {
        let of_class = |lane: usize| (0..32).filter(move |&other| class[other] == class[lane]);
        let live = |lane: usize| -> Vec<usize> { of_class(lane).filter(|&other| exits[other] == 0).collect() };
        let masks = std::array::from_fn(|lane| of_class(lane).fold(0, |mask, other| mask | 1 << other));
        let leaders = std::array::from_fn(|lane| live(lane).last().map_or(0, |&last| last as u32));
        let found = run(&program(way), [values, masks, sides, leaders, exits]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for (number, collective) in COLLECTIVES.iter().enumerate() {
            for lane in (0..32).filter(|&lane| exits[lane] == 0) {
                let want = model(number, lane, &live(lane), &values, leaders[lane] as usize);
                prop_assert_eq!(found[32 * number + lane], want, "{} in lane {} on {:?}", collective, lane, way);
            }
        }
    }
}

/// The warp-aggregated atomics of CUDA's samples: lanes that are active elect one that adds for all.
#[test]
fn atomics_that_a_warp_aggregates() {
    let source = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
        ld.global.u32 %r2, [%rd2]; and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra $end;
        activemask.b32 %r4; brev.b32 %r5, %r4; bfind.shiftamt.u32 %r5, %r5;
        mov.u32 %r6, %laneid; mov.u32 %r7, %lanemask_lt; and.b32 %r8, %r4, %r7; popc.b32 %r8, %r8;
        setp.ne.u32 %p2, %r8, 0; @%p2 bra $others;
        popc.b32 %r9, %r4; atom.global.add.u32 %r10, [%rd1+640], %r9;
        $others: shfl.sync.idx.b32 %r11, %r10, %r5, 31, %r4; add.u32 %r11, %r11, %r8;
        st.global.u32 [%rd2+768], %r11;
        $end: ret;\n}\n";
    let values = std::array::from_fn(|lane| lane as u32 / 3);
    let found = run(source, [values, [0; 32], [0; 32], [0; 32], [0; 32]]).unwrap();
    assert_eq!(found[0], 15, "the count of odd values");
    let odd = (0..32).filter(|lane| lane / 3 % 2 == 1);
    for (place, lane) in odd.enumerate() {
        assert_eq!(found[32 + lane], place as u32, "lane {lane}");
    }
}

#[test]
fn a_lane_outside_its_own_mask_is_a_fault() {
    let source = program(Way::Together);
    let mut masks = [u32::MAX; 32];
    masks[5] = 1 << 4;
    let error = run(&source, [[0; 32], masks, [0; 32], [0; 32], [0; 32]]).unwrap_err();
    let ExecError::Fault(fault) = error else {
        panic!("{error}")
    };
    assert_eq!(fault.cause, Cause::NotMember { mask: 1 << 4 });
    assert_eq!(fault.thread, [5, 0, 0]);
}

/// What the PTX ISA leaves undefined a GPU does with the lanes that are there; so does an execution that lets it pass.
#[test]
fn lanes_that_a_mask_does_not_name_take_part_if_they_may() {
    let source = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n
        .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
        ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 20; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
        shfl.sync.up.b32 %r2, %r1, 16, 0, 0xffff; st.global.u32 [%rd3], %r2;
        mov.u32 %r3, %lanemask_lt; vote.sync.ballot.b32 %r3, %p1, %r3; st.global.u32 [%rd3+128], %r3; ret;\n}\n";
    let with = |as_gpu| {
        let options = Options {
            as_gpu,
            ..Options::default()
        };
        run_on(source, vec![0; 64], &options)
    };
    assert!(with(false).is_err());
    // A lane gets the votes of those below it.
    let votes = (0..32).map(|lane| (!0 << 21) & ((1 << lane) - 1));
    let expected: Vec<u32> = (0..16).chain(0..16).chain(votes).collect();
    assert_eq!(with(true).unwrap(), expected);
}
