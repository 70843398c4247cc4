use std::collections::BTreeMap;

use super::*;
use warpwatt_activity::Activity;
use warpwatt_gpu::{Control, Hooks, Run, simulate, simulate_under};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::{RunOptions, kernel, run_case};

fn traces(name: &str) -> Vec<KernelTrace> {
    let kernel = kernel(name).unwrap();
    let module = warpwatt_ptx::load(kernel.ptx).unwrap();
    let (case, prepared) = kernel.prepare(None).unwrap();
    run_case(&module, &case, &prepared, RunOptions::default())
        .unwrap()
        .into_traces()
}

fn spec(preset: &str, sms: u32) -> GpuSpec {
    let mut spec = GpuSpec::preset(preset).unwrap();
    spec.sm.count = sms;
    spec
}

fn extent(detail: u64) -> Extent {
    Extent {
        sms: "all".parse().unwrap(),
        cycles: Cycles::ALL,
        detail,
        events: 100_000_000,
    }
}

fn record(spec: &GpuSpec, launches: &[KernelTrace], extent: Extent) -> (Run, Vec<u8>, Summary) {
    let mut recorder = Recorder::new(spec, extent, Vec::new());
    let control = Control {
        watcher: Some(&mut recorder),
        ..Control::default()
    };
    let run = simulate_under(spec, launches, Hooks::default(), control).unwrap();
    let (bytes, summary) = recorder.finish();
    (run, bytes, summary)
}

/// A file that was read again: slices by row, in the order of time, with what they are nested in taken apart.
struct Page {
    slices: BTreeMap<(u64, u64), Vec<Slice>>,
    outer: BTreeMap<(u64, u64), Vec<(u64, u64)>>,
    counters: BTreeMap<(u64, String), Vec<(u64, f64)>>,
    about: Value,
    events: usize,
}

struct Slice {
    from: u64,
    to: u64,
    name: String,
    parts: BTreeMap<String, u64>,
}

/// Reads a file and checks what every viewer relies on: known kinds of events, rows without overlaps, slices that are nested in pairs of begin and end.
fn read(bytes: &[u8]) -> Page {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let mut page = Page {
        slices: BTreeMap::new(),
        outer: BTreeMap::new(),
        counters: BTreeMap::new(),
        about: document["otherData"].clone(),
        events: events.len(),
    };
    let mut open: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for event in events {
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{event}"));
        let place = (number("pid"), event["tid"].as_u64().unwrap_or(0));
        let name = event["name"].as_str().unwrap_or("").to_owned();
        match event["ph"].as_str().unwrap() {
            "M" => assert!(!event["args"].as_object().unwrap().is_empty()),
            "X" => {
                let parts = event["args"].as_object().unwrap().iter();
                page.slices.entry(place).or_default().push(Slice {
                    from: number("ts"),
                    to: number("ts") + number("dur"),
                    name,
                    parts: parts
                        .map(|(kind, cycles)| (kind.clone(), cycles.as_u64().unwrap()))
                        .collect(),
                });
            }
            "B" => assert_eq!(open.insert(place, number("ts")), None, "{event}"),
            "E" => {
                let from = open.remove(&place).unwrap();
                let outer = page.outer.entry(place).or_default();
                outer.push((from, number("ts")));
            }
            "C" => {
                let value = event["args"]["value"].as_f64().unwrap();
                let values = page.counters.entry((place.0, name)).or_default();
                values.push((number("ts"), value));
            }
            other => panic!("{other}"),
        }
    }
    assert!(open.is_empty(), "what begins ends");
    for (place, slices) in &page.slices {
        for pair in slices.windows(2) {
            assert!(pair[0].to <= pair[1].from, "{place:?} {}", pair[1].name);
        }
        assert!(slices.iter().all(|slice| slice.from < slice.to));
    }
    for (place, outer) in &page.outer {
        for pair in outer.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{place:?}");
        }
        for slice in page.slices.get(place).into_iter().flatten() {
            let holds = |&&(from, to): &&(u64, u64)| from <= slice.from && slice.to <= to;
            assert!(
                outer.iter().find(holds).is_some(),
                "{place:?} {}",
                slice.from
            );
        }
    }
    for values in page.counters.values() {
        assert!(values.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
    page
}

fn sums(slices: &[Slice]) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (kind, cycles) in slices.iter().flat_map(|slice| &slice.parts) {
        *sums.entry(kind.as_str()).or_default() += cycles;
    }
    sums
}

/// The row of an SM's cycles holds every cycle once and agrees with the counters; the rows of its slots hold its warps.
fn agrees(page: &Page, sm: u64, counters: &Activity, cycles: u64) {
    let pid = sm + 1;
    let row = &page.slices[&(pid, 1)];
    assert_eq!((row[0].from, row.last().unwrap().to), (0, cycles));
    assert!(row.windows(2).all(|pair| pair[0].to == pair[1].from));
    let spent = counters.iter().filter(|&(name, count)| {
        let kept = name.starts_with("stall_") || ["issue_cycles", "idle_cycles"].contains(&name);
        kept && count > 0
    });
    assert_eq!(sums(row), spent.collect::<BTreeMap<_, _>>(), "SM {sm}");
    let slots = || page.outer.iter().filter(|((of, _), _)| *of == pid);
    let warps: usize = slots().map(|(_, warps)| warps.len()).sum();
    assert_eq!(warps as u64, counters.get("warps"));
    let resident = slots().flat_map(|(_, warps)| warps);
    let resident: u64 = resident.map(|(from, to)| to - from).sum();
    assert_eq!(resident, counters.get("resident_warp_cycles"));
    let states = slots().filter_map(|(place, _)| page.slices.get(place));
    let states: u64 = states.flat_map(|row| sums(row).into_values()).sum();
    assert_eq!(states, resident, "every warp does something in every cycle");
    for row in page.slices.iter().filter(|((of, _), _)| *of == pid) {
        for slice in row.1.iter().filter(|slice| !slice.parts.is_empty()) {
            let parts: u64 = slice.parts.values().sum();
            assert_eq!(parts, slice.to - slice.from);
            let most = slice.parts.values().max();
            assert_eq!(
                slice.parts.get(&slice.name),
                most,
                "the name is what most of it is"
            );
        }
    }
}

#[test]
fn a_timeline_agrees_with_the_counters_and_changes_nothing() {
    for (preset, name, detail) in [
        ("tesla-16sm", "reduction_tree", 16),
        ("tesla-16sm", "bfs", 1),
        ("v100", "histogram", 1),
        ("h200", "lu_decomposition", 100),
    ] {
        let (spec, launches) = (spec(preset, 3), traces(name));
        let (run, bytes, summary) = record(&spec, &launches, extent(detail));
        let unwatched = simulate(&spec, &launches, Hooks::default()).unwrap();
        assert_eq!(run, unwatched, "{preset} {name}: watching changes nothing");
        let page = read(&bytes);
        assert_eq!((page.events as u64, None), (summary.events, summary.cut));
        for (sm, counters) in (0..).zip(&run.per_sm) {
            agrees(&page, sm, counters, run.cycles);
        }
        let launched = &page.slices[&(100_000, 1)];
        assert_eq!(launched.len(), run.launches.len());
        for (slice, launch) in launched.iter().zip(&run.launches) {
            assert_eq!(
                (&slice.name, slice.to - slice.from),
                (&launch.kernel, launch.cycles)
            );
        }
        let (_, again, _) = record(&spec, &launches, extent(detail));
        assert!(bytes == again, "the same bytes");
    }
}

/// Values by interval, times the interval, are the totals; shares are between none and all.
#[test]
fn counters_by_interval_add_up() {
    let (spec, launches) = (spec("v100", 2), traces("spmv_csr"));
    let (run, bytes, _) = record(&spec, &launches, extent(16));
    let page = read(&bytes);
    for (sm, counters) in (0..).zip(&run.per_sm) {
        let (mut at, mut rate, mut instructions) = (0, 0.0, 0.0);
        let values = &page.counters[&(sm + 1, "IPC".to_owned())];
        for &(from, value) in values.iter().chain([&(run.cycles, 0.0)]) {
            instructions += rate * (from - at) as f64;
            (at, rate) = (from, value);
        }
        let counted = counters.get("warp_instructions") as f64;
        assert!(
            (instructions / counted - 1.0).abs() < 0.01,
            "{instructions} {counted}"
        );
    }
    for name in ["DRAM bus utilisation", "L2 hit rate"] {
        let values = &page.counters[&(100_000, name.to_owned())];
        assert!(values.len() > 3, "{name}");
        assert!(values.iter().all(|(_, value)| (0.0..=1.0).contains(value)));
        assert!(values.iter().any(|&(_, value)| value > 0.0));
    }
}

#[test]
fn a_timeline_without_room_says_where_it_was_cut() {
    let (spec, launches) = (spec("v100", 4), traces("bfs"));
    let short = Extent {
        events: 2000,
        ..extent(1)
    };
    let (run, bytes, summary) = record(&spec, &launches, short);
    let page = read(&bytes);
    let cut = summary.cut.unwrap();
    assert!(0 < cut && cut < run.cycles);
    assert_eq!(page.about["cut_at_cycle"], cut);
    assert_eq!(page.about["run_cycles"], run.cycles);
    let most = 2000 + 4 * (64 * 4 + 8) + 10;
    assert!(
        (2000..most).contains(&page.events),
        "rows are ended: {}",
        page.events
    );
    assert!(page.slices.values().flatten().all(|slice| slice.to <= cut));
}

#[test]
fn a_window_holds_what_is_in_it() {
    let (spec, launches) = (spec("tesla-16sm", 4), traces("fft"));
    let some = Extent {
        sms: "1,3".parse().unwrap(),
        ..extent(1)
    };
    let whole = read(&record(&spec, &launches, some.clone()).1);
    let window = Extent {
        cycles: "3000..7000".parse().unwrap(),
        ..some
    };
    let (_, bytes, summary) = record(&spec, &launches, window);
    assert_eq!(summary.cut, None);
    let page = read(&bytes);
    let shown: Vec<u64> = page.slices.keys().map(|(pid, _)| *pid).collect();
    assert!(
        shown.iter().all(|pid| [2, 4, 100_000].contains(pid)),
        "{shown:?}"
    );
    for slice in page.slices.values().flatten() {
        assert!(3000 <= slice.from && slice.to <= 7000);
    }
    for pid in [2, 4] {
        let row = &page.slices[&(pid, 1)];
        assert_eq!((row[0].from, row.last().unwrap().to), (3000, 7000));
        let issued = |slice: &&Slice| slice.name == "issue_cycles";
        let inside: u64 = whole.slices[&(pid, 1)]
            .iter()
            .filter(issued)
            .map(|slice| slice.to.min(7000).saturating_sub(slice.from.max(3000)))
            .sum();
        assert!(inside > 0);
        assert_eq!(sums(row)["issue_cycles"], inside);
    }
}

#[test]
fn sms_and_cycles_are_read() {
    let set: SmSet = "0-3,7".parse().unwrap();
    let held: Vec<u16> = (0..10).filter(|&sm| set.contains(sm)).collect();
    assert_eq!(held, [0, 1, 2, 3, 7]);
    assert!(set.meets(1) && !"4-9".parse::<SmSet>().unwrap().meets(4));
    for wrong in ["", "a", "3-1", "1,", "-1", "70000", "1-2-3"] {
        assert!(wrong.parse::<SmSet>().is_err(), "{wrong}");
    }
    let window: Cycles = "5..".parse().unwrap();
    assert_eq!((window.from, window.to), (5, u64::MAX));
    assert_eq!("..9".parse::<Cycles>().unwrap().to_string(), "0..9");
    for wrong in ["", "5", "9..5", "5..5", "a..b", "-1..3"] {
        assert!(wrong.parse::<Cycles>().is_err(), "{wrong}");
    }
}
