//! Managed register files on real kernels: programs run as before, registers are conserved, and what is sold as better is better.

use toml::Table;
use warpwatt_gpu::{GpuSpec, Hooks, Run, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_techniques::register_file::ACCESSES;
use warpwatt_techniques::{RegisterWindow, RegistersOverTime};
use warpwatt_techniques::{Technique, find};
use warpwatt_tests::traces;

/// Divergence, barriers, loops, many launches, loads, long code.
const KERNELS: [&str; 7] = [
    "matrix_mul",
    "reduction",
    "bfs",
    "lu_decomposition",
    "n_queens",
    "scalar_product",
    "hotspot",
];

fn technique(name: &str, parameters: &str) -> Box<dyn Technique> {
    let table: Table = parameters.parse().unwrap();
    find(name).ok().unwrap().parse(&table).unwrap()
}

fn virtualized(parameters: &str) -> Box<dyn Technique> {
    technique("register_virtualization", parameters)
}

fn time(launches: &[KernelTrace], technique: Option<&dyn Technique>) -> Run {
    let mut spec = GpuSpec::preset("fermi-16sm").unwrap();
    let mut hooks = Hooks::default();
    if let Some(technique) = technique {
        technique.reshape(&mut spec);
        technique.attach(&spec, &mut hooks);
    }
    simulate(&spec, launches, hooks).unwrap()
}

fn metric(technique: &dyn Technique, run: &Run, name: &str) -> f64 {
    let name = format!("{}.{name}", technique.name());
    let metrics = technique.metrics(run);
    metrics
        .iter()
        .find(|metric| metric.name == name)
        .unwrap()
        .value
}

/// Figures 2.1 and 3.4 of the work: windows add up to what the whole run counts, and looking on changes nothing.
#[test]
fn windows_of_registers_add_up_to_the_run() {
    let launches = traces("hotspot");
    for name in ["register_virtualization", "register_shrink", "power_gating"] {
        let technique = technique(name, "");
        let plain = time(&launches, Some(technique.as_ref()));
        let mut spec = GpuSpec::preset("fermi-16sm").unwrap();
        let mut hooks = Hooks::default();
        technique.reshape(&mut spec);
        let log = RegistersOverTime::new(100);
        assert!(technique.attach_over_time(&spec, &mut hooks, &log));
        let run = simulate(&spec, &launches, hooks).unwrap();
        assert_eq!(run.activity, plain.activity, "{name}");
        let subarray = u64::from(log.subarray());
        let rows = log.finish().unwrap();
        assert!(rows.len() > 10 && rows.len() as u64 <= run.cycles / 100 + 1);
        let sum = |of: fn(&RegisterWindow) -> u64| rows.iter().map(of).sum::<u64>();
        for (ours, counter) in [
            (sum(|row| row.held), "registers_cycles"),
            (sum(|row| row.reserved), "registers_reserved_cycles"),
            (sum(|row| row.powered), "register_domain_cycles"),
        ] {
            assert_eq!(ours, run.activity.get(counter), "{name}: {counter}");
        }
        assert!(
            rows.iter().all(|row| row.held <= row.powered * subarray),
            "{name}"
        );
        assert!(rows.iter().any(|row| row.held > 0), "{name}");
    }
    let mut hooks = Hooks::default();
    let spec = GpuSpec::preset("fermi-16sm").unwrap();
    let none = technique("filter_cache", "");
    assert!(!none.attach_over_time(&spec, &mut hooks, &RegistersOverTime::new(100)));
}

#[test]
fn programs_run_as_before_and_registers_are_conserved() {
    for name in KERNELS {
        let launches = traces(name);
        let plain = time(&launches, None);
        for parameters in [
            "",
            "allocation = \"wear\"",
            "renaming_table_bytes = \"full\"",
        ] {
            let run = time(&launches, Some(virtualized(parameters).as_ref()));
            let n = |counter: &str| run.activity.get(counter);
            for same in [
                "warp_instructions",
                "thread_instructions",
                "register_file.read",
                "register_file.write",
                "shared_accesses",
                "memory_accesses",
                "ctas",
            ] {
                assert_eq!(n(same), plain.activity.get(same), "{name}: {same}");
            }
            assert_eq!(
                n("fetches"),
                n("warp_instructions") + n("flushed_instructions") + n("metadata_fetches")
            );
            assert!(
                n("metadata_fetches") >= n("metadata_instructions"),
                "{name}"
            );
            assert_eq!(n("instruction_buffer.read"), n("warp_instructions"));
            let taken = n("register_select.read");
            assert!(taken > 0);
            assert_eq!(
                n("register_availability.write"),
                2 * taken,
                "{name}: what is taken is freed"
            );
            assert!(n("registers_most") <= n("wear_registers"), "{name}");
            let accesses = run.activity.list(ACCESSES);
            assert_eq!(accesses.iter().sum::<u64>(), n("wear_accesses"), "{name}");
            assert_eq!(
                16 * accesses.len() as u64,
                n("wear_registers"),
                "{name}: an element a register, summed over SMs"
            );
            assert_eq!(n("registers_waited_for"), 0, "{name}");
        }
    }
}

#[test]
fn gating_alone_changes_no_cycle_and_virtualization_switches_more_off() {
    let mut sums = [0.0; 2];
    for name in KERNELS {
        let launches = traces(name);
        let plain = time(&launches, None);
        let (gating, renaming) = (technique("power_gating", ""), virtualized(""));
        let gated = time(&launches, Some(gating.as_ref()));
        let virtualized = time(&launches, Some(renaming.as_ref()));
        assert_eq!(gated.cycles, plain.cycles, "{name}");
        let shares = [
            metric(gating.as_ref(), &gated, "powered_share"),
            metric(renaming.as_ref(), &virtualized, "powered_share"),
        ];
        assert!(shares[0] > 0.0 && shares[0] <= 1.0, "{name}: {shares:?}");
        // Within one subarray's coming and going: what is packed tightly at launch may not get tighter.
        assert!(shares[1] <= 1.01 * shares[0], "{name}: {shares:?}");
        (sums[0], sums[1]) = (sums[0] + shares[0], sums[1] + shares[1]);
        let held = metric(renaming.as_ref(), &virtualized, "held_of_reserved");
        assert!(held > 0.0 && held < 1.0, "{name}: {held}");
    }
    assert!(sums[1] < sums[0], "{sums:?}");
}

#[test]
fn larger_flag_caches_decode_less_and_larger_tables_exempt_fewer() {
    let launches = traces("lu_decomposition");
    let decoded = |entries: u32| {
        let technique = virtualized(&format!("release_flag_cache = {entries}"));
        let run = time(&launches, Some(technique.as_ref()));
        assert_eq!(run.activity.get("release_flag_cache.read") > 0, entries > 0);
        run.activity.get("metadata_decoded")
    };
    let counts = [0, 1, 10, 1000].map(decoded);
    assert!(counts.is_sorted_by(|more, less| more >= less), "{counts:?}");
    assert!(counts[3] < counts[0] / 2, "{counts:?}");
    let exempt = |bytes: &str| {
        let technique = virtualized(&format!("renaming_table_bytes = {bytes}"));
        let run = time(&launches, Some(technique.as_ref()));
        run.activity.get("registers_exempt")
    };
    let counts = ["16", "256", "1024", "\"full\""].map(exempt);
    assert!(
        counts.is_sorted_by(|more, fewer| more >= fewer),
        "{counts:?}"
    );
    assert!(counts[0] > 0 && counts[3] == 0, "{counts:?}");
}

#[test]
fn round_robin_wears_more_evenly_than_fixed_places() {
    for name in ["matrix_mul", "hotspot"] {
        let launches = traces(name);
        let variation = |parameters: &str| {
            let technique = virtualized(parameters);
            let run = time(&launches, Some(technique.as_ref()));
            metric(technique.as_ref(), &run, "wear_variation")
        };
        let (fixed, spread) = (
            variation("allocation = \"static\""),
            variation("allocation = \"wear\""),
        );
        assert!(spread < fixed, "{name}: {spread} and {fixed}");
    }
}

/// A later write cannot come earlier, but warps may: waiting for power and for the table changes the order in which they run.
#[test]
fn waiting_for_power_costs_little_and_for_the_table_more() {
    let launches = traces("matrix_mul");
    let cycles = |parameters: &str| time(&launches, Some(virtualized(parameters).as_ref())).cycles;
    let [free, table, slow] = [
        "pipeline_cycles = 0\nwake_cycles = 0",
        "pipeline_cycles = 8\nwake_cycles = 0",
        "pipeline_cycles = 8\nwake_cycles = 1000",
    ]
    .map(cycles);
    assert!(free < table && table < slow, "{free} {table} {slow}");
}
