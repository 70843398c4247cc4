//! Flips in the flip-flops of a compute unit, and in the structures of a run of machine code: what is classed one way may not be another.

use warpwatt::diag::Sink;
use warpwatt::inject::flops::{Campaign, Outcome, Struck};
use warpwatt::inject::{Draw, Golden, campaign, timed};
use warpwatt::run::kernel::{From, KernelRequest, LoadedKernel, load};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::inject::{Class, Sites, Target};
use warpwatt_suite::{Build, Lower};

fn kernel(name: &str, case: &str) -> LoadedKernel {
    let request = KernelRequest {
        from: From::Suite(warpwatt_suite::kernel(name).expect("a kernel of the suite")),
        build: Build::Gfx600,
        lower: Lower::Ptx,
        ptx: None,
        case: Some(case.to_owned()),
        registers: None,
    };
    load(&mut Sink::default(), &request, None).expect("it is fine")
}

fn miaow() -> GpuSpec {
    GpuSpec::preset("miaow").expect("presets are valid")
}

const KERNELS: [(&str, &str); 3] = [
    ("scan", "miaow"),
    ("binary_search", "paper"),
    ("reduction_tree", "paper"),
];

fn names(blocks: &[&str]) -> Vec<String> {
    blocks.iter().map(|it| (*it).to_owned()).collect()
}

fn struck(kernel: &LoadedKernel, without: &[&str], samples: u64) -> Campaign {
    let spec = miaow();
    let golden = Golden::run(kernel, 64, 8_000_000).expect("it runs");
    let (run, timeline) = timed(&spec, &golden).expect("it is timed");
    let struck = Struck::new(&golden, &spec, (&run, &timeline), &names(without));
    struck.campaign((samples, 1), || {}).expect("it runs again")
}

/// All but the vector registers.
const BESIDE: [&str; 10] = [
    "fetch",
    "wavepool",
    "decode",
    "issue",
    "exec",
    "salu",
    "simd",
    "simf",
    "lsu",
    "scalar_registers",
];

/// The same bits of the vector registers, struck both ways: what spoils memory or stops the run changes what a wavefront does within the window, which is longer than
/// these runs; what nobody reads changes nothing.
#[test]
fn a_flip_that_spoils_memory_is_seen_on_its_way_there() {
    for (name, case) in KERNELS {
        let kernel = kernel(name, case);
        let spec = miaow();
        let golden = Golden::run(&kernel, 64, 8_000_000).unwrap();
        let (run, timeline) = timed(&spec, &golden).unwrap();
        assert!(run.cycles < 5_000, "{name}");
        let sites = Sites::new(&spec, &run, &timeline, Target::RegisterFile);
        let plan = Draw::new(&golden, &timeline, &sites).samples(4_000, 1);
        let whole = campaign(&golden, &plan, &[], 2, |_, _| true).unwrap();
        let struck = Struck::new(&golden, &spec, (&run, &timeline), &names(&BESIDE));
        assert_eq!(struck.population(), sites.population());
        let flips = struck.campaign((4_000, 1), || {}).unwrap().all;
        let harmful = whole.vulnerable();
        let shown = flips.of(Outcome::Sdc) + flips.of(Outcome::Terminated);
        assert!(harmful > 0, "{name}: {whole:?}");
        assert!(shown >= harmful, "{name}: {whole:?}, {flips:?}");
        // Executed without harm: as many at the most have shown, and no more.
        let most = harmful + whole.of(Class::Masked);
        assert!(shown <= most, "{name}: {whole:?}, {flips:?}");
    }
}

/// EXEC and the scalar registers decide what a wavefront does: a kernel that keeps its unit busy shows more than one that does not.
#[test]
fn what_is_used_shows() {
    let kernel = kernel("scan", "miaow");
    let of = |without: &[&str]| struck(&kernel, without, 600);
    let all = of(&[]);
    let rest = of(&["register_file", "scalar_registers"]);
    let share = |campaign: &Campaign, outcome| {
        campaign.all.of(outcome) as f64 / campaign.all.total() as f64
    };
    assert_eq!(all.all.total(), 600);
    assert!(all.executed > 0);
    assert!(share(&all, Outcome::Gray) > 0.8);
    assert!(share(&rest, Outcome::Gray) < share(&all, Outcome::Gray));
    assert!(!rest.blocks.contains_key("register_file"));
    // By hand: 2,113,536 of registers, 14,318 of the issue stage, 2,345 of fetch.
    assert_eq!(
        all.blocks["register_file"].0 + all.blocks["scalar_registers"].0,
        2_113_536
    );
    assert_eq!(
        (all.blocks["issue"].0, all.blocks["fetch"].0),
        (14_318, 2_345)
    );
    let masks: Vec<&str> = BESIDE.into_iter().filter(|it| *it != "exec").collect();
    let masks = of(&[&masks[..], &["register_file"]].concat());
    assert!(masks.all.of(Outcome::Sdc) > 0 && masks.executed > 0);
}

/// Structures of a run of machine code: every class has its flips, and the whole of them is what was drawn.
#[test]
fn structures_of_machine_code_are_struck_too() {
    let kernel = kernel("scan", "miaow");
    let spec = miaow();
    let golden = Golden::run(&kernel, 64, 8_000_000).unwrap();
    let (run, timeline) = timed(&spec, &golden).unwrap();
    for target in Target::ALL {
        let sites = Sites::new(&spec, &run, &timeline, target);
        let plan = Draw::new(&golden, &timeline, &sites).samples(3_000, 2);
        let one = campaign(&golden, &plan, &[], 1, |_, _| true).unwrap();
        let two = campaign(&golden, &plan, &[], 2, |_, _| true).unwrap();
        assert_eq!(one, two, "{target:?}");
        assert_eq!(one.total(), 3_000, "{target:?}");
        assert!(one.vulnerable() > 0, "{target:?}: {one:?}");
    }
}
