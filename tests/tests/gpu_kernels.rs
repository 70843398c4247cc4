//! Real kernels on the paper's GPU with the filter cache: nothing gets stuck, nothing is lost, and fetches show the locality that the paper is about.

use toml::Table;
use warpwatt_gpu::{GpuSpec, Hooks, Run, caused, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::kernels;
use warpwatt_techniques::{Technique, find};
use warpwatt_tests::traces;

fn technique(name: &str) -> Box<dyn Technique> {
    find(name).ok().unwrap().parse(&Table::new()).unwrap()
}

fn time(launches: &[KernelTrace], techniques: &[Box<dyn Technique>]) -> Run {
    let spec = GpuSpec::preset("tesla-16sm").unwrap();
    let mut hooks = Hooks::default();
    for technique in techniques {
        technique.attach(&spec, &mut hooks);
    }
    simulate(&spec, launches, hooks).unwrap()
}

#[test]
fn every_kernel_of_the_suite_runs_on_the_paper_s_gpu() {
    let techniques = [technique("filter_cache"), technique("fetch_redundancy")];
    let mut timed = 0;
    for kernel in kernels() {
        let launches = traces(kernel.name);
        let instructions: u64 = launches.iter().map(KernelTrace::warp_instructions).sum();
        let baseline = time(&launches, &[]);
        let filtered = time(&launches, &techniques);
        for run in [&baseline, &filtered] {
            assert_eq!(
                run.activity.get("warp_instructions"),
                instructions,
                "{}",
                kernel.name
            );
            assert_eq!(run.activity.get("fetches"), instructions, "{}", kernel.name);
        }
        assert_eq!(
            baseline.activity.get("thread_instructions"),
            filtered.activity.get("thread_instructions")
        );
        let hit_rate = techniques[0].metrics(&filtered)[0].value;
        let windows: Vec<String> = techniques[1]
            .metrics(&filtered)
            .iter()
            .map(|metric| format!("{:.2}", metric.value))
            .collect();
        println!(
            "{:18} {:9} insts {:9} cycles, hit rate {:.3}, redundancy {}",
            kernel.name,
            instructions,
            baseline.cycles,
            hit_rate,
            windows.join(" ")
        );
        assert!(
            hit_rate > 0.2 && hit_rate < 1.0,
            "{}: {hit_rate}",
            kernel.name
        );
        timed += 1;
    }
    assert!(timed >= 10, "the suite was seen: {timed}");
}

/// What instructions are said to have caused is what the run counted, wherever a counter is exact.
#[test]
fn instructions_cause_what_a_run_counts() {
    for (preset, names) in [
        ("v100", ["matmul_tiled", "histogram", "bfs", "heart_wall"]),
        ("tesla-16sm", ["matrix_mul", "scan", "n_queens", "srad"]),
    ] {
        let spec = GpuSpec::preset(preset).unwrap();
        for name in names {
            let launches = traces(name);
            let run = simulate(&spec, &launches, Hooks::default()).unwrap();
            let all = launches
                .iter()
                .flat_map(|trace| caused(&spec, trace).unwrap());
            let mut sums = warpwatt_activity::Activity::new();
            for caused in all {
                sums += &caused.counts;
            }
            let counters = sums.iter().map(|(counter, _)| counter);
            assert!(counters.count() > 15, "{name}: {sums:?}");
            for (counter, count) in sums.iter() {
                assert_eq!(
                    run.activity.get(counter),
                    count,
                    "{preset} {name} {counter}"
                );
            }
        }
    }
}
