//! The laws on the kernels of the suite: nothing is lost, and what is better does not slow a kernel down.

use rayon::prelude::*;
use toml::Table;
use warpwatt_gpu::{GpuSpec, Hooks, MemoryPath, Preset, presets, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::kernels;
use warpwatt_tests::traces_of_width;

use super::conserved;

/// Every kernel in its default case on those presets that `wanted` picks.
fn every_kernel_conserves(wanted: impl Fn(&Preset) -> bool) {
    let specs: Vec<GpuSpec> = presets()
        .iter()
        .filter(|preset| wanted(preset))
        .map(|preset| preset.spec().unwrap())
        .collect();
    let runs: usize = kernels()
        .par_iter()
        .map(|kernel| {
            for spec in &specs {
                let launches = traces_of_width(kernel.name, spec.sm.warp_width);
                let instructions = launches.iter().map(KernelTrace::warp_instructions).sum();
                let run = simulate(spec, &launches, Hooks::default()).unwrap();
                if let Err(error) = conserved(spec, instructions, &run) {
                    panic!("{}: {error}", kernel.name);
                }
            }
            specs.len()
        })
        .sum();
    assert!(runs >= 45 * specs.len() && !specs.is_empty(), "{runs}");
}

#[test]
fn nothing_is_lost_in_any_kernel() {
    every_kernel_conserves(|preset| ["gtx285", "v100"].contains(&preset.name));
}

#[test]
#[ignore = "every preset: half a minute in release"]
fn nothing_is_lost_in_any_kernel_on_any_preset() {
    every_kernel_conserves(|_| true);
}

/// Something better; `None` where a GPU has nothing of the kind.
type Better = fn(&mut GpuSpec) -> Option<()>;

fn doubled(value: &mut u32) -> Option<()> {
    let larger = *value * 2;
    (*value > 0).then(|| *value = larger)
}

fn halved(value: &mut u32, least: u32) -> Option<()> {
    let smaller = *value / 2;
    (smaller >= least).then(|| *value = smaller)
}

/// What is better, and by how much of its cycles a kernel may take longer all the same: another order of things may meet caches, rows and schedulers worse.
const BETTER: &[(&str, f64, Better)] = &[
    ("a larger first level", 0.03, |gpu| doubled(&mut gpu.l1.kb)),
    ("a larger second level", 0.03, |gpu| doubled(&mut gpu.l2.kb)),
    ("more misses of the first level", 0.05, |gpu| {
        gpu.has_l1().then_some(())?;
        doubled(&mut gpu.l1.mshrs)
    }),
    ("a wider network", 0.05, |gpu| {
        doubled(&mut gpu.noc.flit_bytes)
    }),
    ("a nearer network", 0.05, |gpu| {
        halved(&mut gpu.noc.latency, 1)
    }),
    ("a nearer second level", 0.05, |gpu| {
        gpu.has_l2().then_some(())?;
        halved(&mut gpu.l2.latency_cycles, 1)
    }),
    ("faster DRAM", 0.05, |gpu| doubled(&mut gpu.dram.clock_mhz)),
    ("a nearer first level", 0.05, |gpu| {
        gpu.has_l1().then_some(())?;
        halved(&mut gpu.l1.latency, 16)
    }),
    ("nearer shared memory", 0.05, |gpu| {
        halved(&mut gpu.shared.latency, 16)
    }),
    ("more lanes", 0.05, |gpu| {
        (gpu.units.sp.lanes < gpu.sm.warp_width).then_some(())?;
        doubled(&mut gpu.units.sp.lanes)
    }),
    ("more collectors", 0.05, |gpu| {
        doubled(&mut gpu.operands.collectors)
    }),
    ("more SMs", 0.05, |gpu| doubled(&mut gpu.sm.count)),
];

/// Known to be slower beyond the bound, and by how much: in a mesh of more nodes the ways to as many controllers are longer, and the links at the controllers
/// are shared by more.
const KNOWN: &[(&str, &str, &str, f64, f64)] = &[
    ("more SMs", "bfs", "softerror-28sm", 0.05, 0.2),
    ("more SMs", "fft", "softerror-28sm", 0.2, 0.45),
    ("more SMs", "histogram", "softerror-28sm", 0.04, 0.15),
];

/// Scattered and dependent, streaming with exchange, atomics, sparse.
const KERNELS: [&str; 4] = ["bfs", "fft", "histogram", "spmv_csr"];

#[test]
fn better_is_not_slower() {
    let launches = [32, 64].map(|lanes| {
        let of_width = |name| (name, traces_of_width(name, lanes));
        (lanes, KERNELS.map(of_width))
    });
    let of_preset = |preset: &Preset| {
        let lanes = preset.spec().unwrap().sm.warp_width;
        let of_width = launches.iter().find(|(width, _)| *width == lanes);
        of_width.expect("warps of 32 or 64 lanes").1.iter()
    };
    // A memory of fixed delay has nothing to be better.
    let has_system = |preset: &&Preset| {
        let memory = preset.spec().unwrap().ldst.memory;
        memory == MemoryPath::System
    };
    let cases: Vec<_> = presets()
        .iter()
        .filter(has_system)
        .flat_map(|preset| of_preset(preset).map(move |launches| (preset, launches)))
        .collect();
    let slower: Vec<String> = cases
        .par_iter()
        .flat_map_iter(|(preset, (name, traces))| slower(preset, name, traces))
        .collect();
    let (beyond, within): (Vec<_>, Vec<_>) =
        slower.into_iter().partition(|line| line.ends_with('!'));
    println!("anomalies within their bounds:\n{}", within.join("\n"));
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// What slows a kernel down on a preset by more than a thousandth; beyond its bound it is marked.
fn slower(preset: &Preset, name: &str, traces: &[KernelTrace]) -> Vec<String> {
    let mut spec = preset.spec().unwrap();
    // Whether a request meets a refresh is chance, which a few thousand cycles do not even out.
    spec.dram.refresh_interval = 0;
    let cycles = |spec: &GpuSpec| {
        let run = simulate(spec, traces, Hooks::default()).unwrap();
        run.cycles as f64
    };
    let before = cycles(&spec);
    let mut found = Vec::new();
    let mut tried = 0;
    for (what, bound, better) in BETTER {
        let mut changed = spec.clone();
        if better(&mut changed).is_none() {
            continue;
        }
        let valid = GpuSpec::from_table(Table::try_from(&changed).unwrap());
        let Ok(changed) = valid else { continue };
        tried += 1;
        let more = cycles(&changed) / before - 1.0;
        let here = (*what, name, preset.name);
        let known = KNOWN.iter().find(|gap| (gap.0, gap.1, gap.2) == here);
        let (least, most) = known.map_or((f64::MIN, *bound), |gap| (gap.3, gap.4));
        if more > 0.001 || more < least {
            let mark = if (least..=most).contains(&more) {
                ""
            } else {
                "!"
            };
            let percent = 100.0 * more;
            found.push(format!(
                "  {what}: {name} on {} takes {percent:+.1} % time{mark}",
                preset.name
            ));
        }
    }
    assert!(tried >= 5, "{}: {tried}", preset.name);
    found
}
