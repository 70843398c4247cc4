use std::collections::BTreeMap;

use proptest::prelude::*;

use super::number::{factor, number};
use super::*;
use crate::diag::{Sink, render};
use crate::study::Catalogue;
use std::sync::Arc;

fn launches(text: &str, format: &Format) -> Vec<Launch> {
    read(text, format).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn problems(text: &str, format: &Format) -> Vec<(String, String)> {
    let problems = read(text, format).unwrap_err().into_iter();
    problems
        .map(|problem| (text[problem.range].to_owned(), problem.message))
        .collect()
}

fn map(name: &str) -> Map {
    let (_, text) = shipped().find(|(known, _)| *known == name).unwrap();
    let mut sink = Sink::default();
    let source = sink.sources.add(name, text);
    let catalogue = Catalogue::shipped(Arc::new(()));
    let counters = catalogue.counters.iter();
    let map = Map::read(
        &mut sink,
        source,
        counters.map(|counter| counter.name.as_str()),
    );
    map.unwrap_or_else(|| panic!("{}", render(&sink, false)))
}

const DETAILS: &str = r#"==PROF== Connected to process 4711 (/home/user/vectorAdd)
[Vector addition of 50000 elements]
==PROF== Profiling "vectorAdd" - 0: 0%....50%....100% - 2 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","4711","vectorAdd","127.0.0.1","vectorAdd(const float *, const float *, float *, int)","1","7","(256, 1, 1)","(196, 1, 1)","0","7.0","Command line profiler metrics","sm__cycles_elapsed.max","cycle","5,812"
"0","4711","vectorAdd","127.0.0.1","vectorAdd(const float *, const float *, float *, int)","1","7","(256, 1, 1)","(196, 1, 1)","0","7.0","Command line profiler metrics","sm__cycles_elapsed.avg.per_second","cycle/nsecond","1.25"
"0","4711","vectorAdd","127.0.0.1","vectorAdd(const float *, const float *, float *, int)","1","7","(256, 1, 1)","(196, 1, 1)","0","7.0","Command line profiler metrics","smsp__inst_executed.sum","inst","21,940"
"0","4711","vectorAdd","127.0.0.1","vectorAdd(const float *, const float *, float *, int)","1","7","(256, 1, 1)","(196, 1, 1)","0","7.0","Command line profiler metrics","dram__bytes_read.sum","Kbyte","401.92"
"0","4711","vectorAdd","127.0.0.1","vectorAdd(const float *, const float *, float *, int)","1","7","(256, 1, 1)","(196, 1, 1)","0","7.0","Command line profiler metrics","lts__t_sector_hit_rate.pct","%","n/a"
==PROF== Disconnected from process 4711
"#;

const RAW: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","sm__cycles_elapsed.max","smsp__inst_executed.sum"
"","","","","","","","","","","","Mbyte","usecond","cycle","inst"
"0","1","app","host","reduce0(int *, int *)","1","7","(256, 1, 1)","(64, 1, 1)","0","8.6","1.05","12.42","18,204","1,024,512"
"1","1","app","host","reduce0(int *, int *)","1","7","(256, 1, 1)","(1, 1, 1)","0","8.6","0.01","3.10","4,204","512"
"2","1","app","host","scale","1","7","(256, 1, 1)","(1, 1, 1)","0","8.6","0.00","1.00","1,500","96"
"#;

const SIMULATED: &str = "
Processing kernel ./kernel-1.traceg
kernel_name = _Z9vectorAddPKfS0_Pfi
kernel_launch_uid = 1
gpu_sim_cycle = 7967
gpu_sim_insn = 5505024
gpu_ipc =     690.9783
gpu_tot_sim_cycle = 7967
gpu_occupancy = 83.2386%
gpu_tot_ipc = -nan
L1I_total_cache_accesses = 90112
gpgpu_n_tot_w_icount = 180224
	Total_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 12
Core cache stats: L1D_cache_core[0]: Access = 608, Miss = 608
total dram reads = 65536
kernel_name = _Z9vectorAddPKfS0_Pfi
gpu_sim_cycle = 7000
gpu_sim_insn = 5505024
gpu_tot_sim_cycle = 14967
L1I_total_cache_accesses = 180112
gpgpu_n_tot_w_icount = 360448
total dram reads = 65600
";

#[test]
fn numbers_have_commas_between_thousands() {
    assert_eq!(number("1,234,567.5"), Ok(Some(1_234_567.5)));
    assert_eq!(number("-12"), Ok(Some(-12.0)));
    assert_eq!(number("1e3"), Ok(Some(1000.0)));
    for nothing in ["", "n/a", "(256, 1, 1)", "nan", "inf", "abc"] {
        assert_eq!(number(nothing), Ok(None), "{nothing}");
    }
    for foreign in ["27.595.520", "65,77", "1,23,456", "1.234,5"] {
        assert_eq!(number(foreign), Err(()), "{foreign}");
    }
}

#[test]
fn units_lose_their_prefixes() {
    for (unit, expected) in [
        ("Kbyte", 1e3),
        ("Mbyte", 1e6),
        ("Ghz", 1e9),
        ("GHz", 1e9),
        ("usecond", 1e-6),
        ("ms", 1e-3),
        ("cycle/nsecond", 1e9),
        ("Gbyte/second", 1e9),
        ("inst", 1.0),
        ("sector", 1.0),
        ("", 1.0),
        ("%", 0.01),
    ] {
        let got = factor(unit);
        assert!((got / expected - 1.0).abs() < 1e-12, "{unit}: {got}");
    }
}

#[test]
fn nsight_compute_writes_a_row_a_metric_or_a_row_a_launch() {
    let [launch] = &launches(DETAILS, &Format::Ncu)[..] else {
        panic!("one launch");
    };
    assert_eq!(
        launch.kernel,
        "vectorAdd(const float *, const float *, float *, int)"
    );
    assert_eq!(launch.values["smsp__inst_executed.sum"], 21_940.0);
    assert_eq!(launch.values["dram__bytes_read.sum"], 401_920.0);
    assert_eq!(launch.values.len(), 4, "what has no value is not there");
    let raw = launches(RAW, &Format::Ncu);
    assert_eq!(raw.len(), 3);
    assert_eq!(raw[0].values["sm__cycles_elapsed.max"], 18_204.0);
    assert_eq!(raw[0].values["dram__bytes_read.sum"], 1_050_000.0);
    assert!(!raw[0].values.contains_key("Context"));
}

#[test]
fn launches_of_a_kernel_come_together() {
    let kernels = counts(&launches(RAW, &Format::Ncu), &map("ncu")).unwrap();
    let [reduce, scale] = &kernels[..] else {
        panic!("{kernels:?}");
    };
    assert_eq!((reduce.launches, reduce.cycles), (2, 22_408));
    assert_eq!(reduce.activity.get("warp_instructions"), 1_025_024);
    assert_eq!(reduce.clock, None, "no metric of the clock");
    assert_eq!(scale.activity.get("instruction_buffer.read"), 96);
    assert!(scale.estimates.contains_key("instruction_buffer.write"));
    let unmapped: Vec<&str> = scale.unmapped.iter().map(String::as_str).collect();
    assert_eq!(unmapped, ["gpu__time_duration.sum"]);
    let [add] = &counts(&launches(DETAILS, &Format::Ncu), &map("ncu")).unwrap()[..] else {
        panic!("one kernel");
    };
    assert_eq!(add.clock.map(|clock| clock.as_mhz().round()), Some(1250.0));
    assert_eq!(add.activity.get("dram_reads"), 12_560);
}

#[test]
fn sums_since_the_start_are_taken_apart() {
    let map = map("gpgpusim");
    let read = launches(SIMULATED, &map.format);
    assert_eq!(read[1].values["gpgpu_n_tot_w_icount"], 180_224.0);
    assert_eq!(read[1].values["gpu_sim_cycle"], 7000.0);
    assert!(!read[0].values.contains_key("gpu_tot_ipc"), "no number");
    let [add] = &counts(&read, &map).unwrap()[..] else {
        panic!("one kernel");
    };
    assert_eq!((add.launches, add.cycles), (2, 14_967));
    assert_eq!(add.activity.get("icache.tag.read"), 180_112);
    assert_eq!(add.activity.get("dram_reads"), 65_600);
}

#[test]
fn tables_have_a_row_a_kernel() {
    let text = "Benchmark,Kernel,L1_RH,L1_RM,L1_WH,L1_WM,CC_ACC,SHRD_ACC,DRAM_Rd,DRAM_Wr,L2_RH,L2_RM,L2_WH,L2_WM,NOC,Pipeline_Duty,Num_Idle_SMs,Elapsed_Cycles,Chip Voltage\n\
                b+tree-rodinia-3.1,findK,1318908.0,525035.0,42619.0,7404.0,0.0,0.0,255317.0,2582.0,366918.0,255364.0,50000.0,0.0,1250108.0,0.274,3.19,80883.0,1.0\n";
    let map = map("accelwattch");
    let [kernel] = &counts(&launches(text, &map.format), &map).unwrap()[..] else {
        panic!("one kernel");
    };
    assert_eq!(kernel.name, "b+tree-rodinia-3.1 findK");
    assert_eq!(kernel.cycles, 80_883);
    assert_eq!(kernel.activity.get("l1_reads"), 1_318_908 + 525_035);
    assert_eq!(kernel.unmapped.len(), 4, "{:?}", kernel.unmapped);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let neutral = "kernel,counter,value\na,cycles,10\na,cycles,11\na,fp64.read,-1\na,b\n";
    let said = problems(neutral, &Format::Neutral);
    let places: Vec<&str> = said.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["a,cycles,11", "a,fp64.read,-1", "a,b"]);
    assert!(said[0].1.contains("twice") && said[1].1.contains("no count"));
    assert!(
        problems("a,b\n", &Format::Neutral)[0]
            .1
            .contains("first line")
    );
    assert!(problems("", &Format::Neutral)[0].1.contains("first line"));
    let german = RAW.replace("18,204", "18.204,5");
    let said = problems(&german, &Format::Ncu);
    assert!(
        said[0].0.starts_with("\"0\",") && said[0].1.contains("18.204,5"),
        "{said:?}"
    );
    assert!(problems("nothing\n", &Format::Ncu)[0].1.contains("`ID`"));
    let table = Format::Table {
        kernel: vec!["Kernel".to_owned()],
    };
    assert_eq!(problems("a,Kernel\n1\n", &table)[0].0, "1");
    assert!(
        problems("a,b\n", &table)[0]
            .1
            .contains("no column `Kernel`")
    );
    let simulated = Format::GpgpuSim {
        per_kernel: Vec::new(),
    };
    assert!(
        problems("gpu_sim_cycle = 4\n", &simulated)[0]
            .1
            .contains("no counts")
    );
}

#[test]
fn a_kernel_without_time_is_refused() {
    let map = map("ncu");
    let text = RAW.replace("sm__cycles_elapsed.max", "sm__cycles_active.max");
    let said = counts(&launches(&text, &map.format), &map).unwrap_err();
    assert_eq!(said.len(), 2, "each kernel");
    assert!(said[0].contains("there are no cycles") && said[0].contains("gpc__cycles_elapsed.max"));
    let neutral = Map::neutral(["cycles", "fp64.read"].into_iter());
    let read = launches("kernel,counter,value\na,cycles,1e14\n", &Format::Neutral);
    assert!(counts(&read, &neutral).unwrap_err()[0].contains("more than any kernel"));
    let read = launches(
        "kernel,counter,value\na,cycles,5\na,clock_hz,0.5\n",
        &Format::Neutral,
    );
    assert!(counts(&read, &neutral).unwrap_err()[0].contains("a clock of 0.5 Hz"));
}

#[test]
fn launches_with_different_clocks_take_their_time_together() {
    let neutral = Map::neutral(["cycles"].into_iter());
    let launch = |cycles: f64, clock: f64| Launch {
        kernel: "k".to_owned(),
        values: BTreeMap::from([("cycles".to_owned(), cycles), (CLOCK.to_owned(), clock)]),
    };
    let kernels = counts(&[launch(3e6, 1e9), launch(3e6, 3e9)], &neutral).unwrap();
    let seconds = kernels[0].cycles as f64 / kernels[0].clock.unwrap().as_hz();
    assert!((seconds - 4e-3).abs() < 1e-12, "{seconds}");
}

#[test]
fn faults_of_a_map_come_together() {
    let text = "titel = \"x\"\nformat = \"nvprof\"\n[[counter]]\nname = \"warp_instrs\"\nis = \"a +\"\n[[counter]]\nname = \"cycles\"\nis = \"c\"\nsource = 4\nestimate = \"x\"\nhow = 1\n";
    let mut sink = Sink::default();
    let source = sink.sources.add("my.toml", text);
    assert_eq!(
        Map::read(
            &mut sink,
            source,
            ["warp_instructions", "cycles"].into_iter()
        ),
        None
    );
    insta::assert_snapshot!(render(&sink, false));
}

#[test]
fn a_map_without_counters_is_none() {
    let mut sink = Sink::default();
    let source = sink
        .sources
        .add("my.toml", "title = \"x\"\nformat = \"ncu\"\n");
    assert_eq!(Map::read(&mut sink, source, ["cycles"].into_iter()), None);
    insta::assert_snapshot!(render(&sink, false));
}

proptest! {
    #[test]
    fn no_file_is_too_odd(text in "[a-z0-9\",.=\\n %ID-]{0,200}|\\PC{0,80}", headed in any::<bool>()) {
        let text = if headed {
            format!("\"ID\",\"Kernel Name\",\"a__b.sum\"\n{text}")
        } else {
            format!("kernel,counter,value\n{text}")
        };
        let table = Format::Table { kernel: vec!["kernel".to_owned()] };
        let simulated = Format::GpgpuSim { per_kernel: Vec::new() };
        let neutral = Map::neutral(["cycles"].into_iter());
        for format in [Format::Neutral, Format::Ncu, table, simulated] {
            match read(&text, &format) {
                Ok(launches) => drop(counts(&launches, &neutral)),
                // Places lie in the text.
                Err(problems) => problems.iter().for_each(|problem| {
                    text.get(problem.range.clone()).expect("a part of the text");
                }),
            }
        }
    }
}

#[test]
fn every_map_that_ships_is_right_and_has_cycles() {
    for (name, _) in shipped() {
        let map = map(name);
        assert!(
            map.entries.iter().any(|entry| entry.counter == "cycles"),
            "{name}"
        );
        assert!(
            map.entries.iter().all(|entry| entry.source.len() > 10),
            "{name}"
        );
    }
}

#[test]
fn an_empty_file_is_refused_with_a_reason() {
    let table = Format::Table {
        kernel: vec!["kernel".to_owned()],
    };
    for format in [Format::Neutral, Format::Ncu, table] {
        for text in ["", "\n", "\r\n\n"] {
            let problems = read(text, &format).unwrap_err();
            assert!(!problems.is_empty(), "{format:?} {text:?}");
        }
    }
}
