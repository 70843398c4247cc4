//! `warpwatt avf` through the command.

use std::fs;

use crate::common::{Scratch, stderr, stdout, warpwatt};
use serde_json::Value;

const GPU: [&str; 2] = ["--preset", "softerror-28sm"];

fn run(scratch: &Scratch, kernel: &str, more: &[&str]) -> Value {
    let arguments = [&["avf", kernel, "--json"], &GPU[..], more].concat();
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-30)
}

#[test]
fn factors_times_bits_times_rate_are_failures() {
    let scratch = Scratch::new();
    let report = run(&scratch, "matrix_mul", &["--node", "40nm", "--node", "7nm"]);
    assert_eq!(report["preset"], "softerror-28sm");
    let rates = report["rates"].as_array().unwrap();
    assert_eq!(rates.len(), 2);
    for rate in rates {
        assert!(number(&rate["uncertainty"]) > 0.0);
        assert!(rate["source"].as_str().unwrap().contains("recalled"));
    }
    let structures = report["structures"].as_object().unwrap();
    let mut sum = 0.0;
    for (name, it) in structures {
        let cycles = &it["bit_cycles"];
        let whole = |key: &str| cycles[key].as_u64().unwrap();
        assert_eq!(whole("ace") + whole("unace"), whole("total"), "{name}");
        assert!(whole("ace") <= whole("occupied"), "{name}");
        assert_eq!(
            u128::from(whole("total")),
            u128::from(it["bits"].as_u64().unwrap())
                * u128::from(report["cycles"].as_u64().unwrap())
        );
        for rate in rates {
            let fit = &it["fit"][rate["node"].as_str().unwrap()];
            let expected = number(&it["avf"]) * number(&it["bits"]) * number(&rate["fit_per_bit"]);
            assert!(near(number(&fit["unprotected"]), expected), "{name}");
            assert!(near(number(&fit["sdc"]), expected), "nothing is protected");
        }
        sum += number(&it["fit"]["40nm"]["sdc"]);
    }
    assert!(near(sum, number(&report["fit"]["40nm"]["sdc"])));
    let avf = |name: &str| number(&structures[name]["avf"]);
    assert!(avf("register_file") > avf("shared_memory"));
    assert!(avf("shared_memory") > 0.0);
}

#[test]
fn codes_make_failures_noticed_or_end_them() {
    let scratch = Scratch::new();
    let plain = run(&scratch, "matrix_mul", &["--node", "40nm"]);
    let protect = ["register_file=correct", "shared_memory=detect"];
    let more = [
        "--node",
        "40nm",
        "--protect",
        protect[0],
        "--protect",
        protect[1],
    ];
    let report = run(&scratch, "matrix_mul", &more);
    let of = |report: &Value, name: &str, key: &str| {
        number(&report["structures"][name]["fit"]["40nm"][key])
    };
    let all = |name: &str| {
        [
            of(&plain, name, "sdc"),
            of(&report, name, "unprotected"),
            of(&report, name, "sdc"),
            of(&report, name, "due"),
        ]
    };
    let [before, without, sdc, due] = all("register_file");
    assert!(before > 0.0 && near(before, without));
    assert_eq!((sdc, due), (0.0, 0.0));
    let [before, without, sdc, due] = all("shared_memory");
    assert!(before > 0.0 && near(before, without) && near(before, due));
    assert_eq!(sdc, 0.0);
    let [before, _, sdc, due] = all("instruction_buffer");
    assert!(near(before, sdc) && due == 0.0);
}

#[test]
fn windows_add_up_to_the_whole() {
    let scratch = Scratch::new();
    let more = ["--over-time", "t.csv", "--structure", "register_file"];
    let report = run(&scratch, "bfs", &more);
    assert_eq!(report["structures"].as_object().unwrap().len(), 1);
    let text = fs::read_to_string(scratch.path("t.csv")).unwrap();
    let mut rows = text.lines();
    assert_eq!(
        rows.next(),
        Some("launch,kernel,from_cycle,to_cycle,register_file_avf")
    );
    let (mut cycles, mut weighted) = (0.0, 0.0);
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let length = cells[3].parse::<f64>().unwrap() - cells[2].parse::<f64>().unwrap();
        let avf: f64 = cells[4].parse().unwrap();
        assert!((0.0..=1.0).contains(&avf), "{row}");
        cycles += length;
        weighted += avf * length;
    }
    assert!(near(cycles, number(&report["cycles"])));
    let avf = number(&report["structures"]["register_file"]["avf"]);
    assert!((weighted / cycles - avf).abs() < 1e-9 * avf.max(1e-6));
}

#[test]
fn the_same_bytes_come_out_each_time_and_text_has_every_structure() {
    let scratch = Scratch::new();
    let arguments = [&["avf", "reduction"], &GPU[..]].concat();
    let [first, second] = [(), ()].map(|()| warpwatt(&scratch.path(""), &arguments));
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert_eq!(first.stdout, second.stdout);
    let text = stdout(&first);
    for part in [
        "register_file",
        "simt_stack",
        "SDC FIT 28nm",
        "raw rate at 16nm",
        "recalled",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn all_faults_are_named_at_once_and_nothing_is_written() {
    let scratch = Scratch::new();
    let output = warpwatt(
        &scratch.path(""),
        &[
            "avf",
            "matrix_mull",
            "--structure",
            "registerfile",
            "--protect",
            "shared_memory=heal",
            "--node",
            "1nm",
            "--preset",
            "softerror",
            "--over-time",
            "t.csv",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    for part in [
        "matrix_mul",
        "register_file",
        "shared_memory=heal",
        "register_file=correct",
        "no node 1.000 nm",
        "softerror-28sm",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!scratch.path("t.csv").exists());
    let output = warpwatt(
        &scratch.path(""),
        &["avf", "bfs", "--structure", "renaming_table"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("register_file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn techniques_are_compared_with_the_plain_gpu() {
    let scratch = Scratch::new();
    let plain = run(&scratch, "vector_add", &["--node", "40nm"]);
    let more = [
        "--node",
        "40nm",
        "-t",
        "sawp + sharp",
        "--technique",
        "uniform_vector",
        "--set",
        "entries=2",
        "--set",
        "reliability=true",
    ];
    let report = run(&scratch, "vector_add", &more);
    for key in ["cycles", "structures", "fit"] {
        assert_eq!(report[key], plain[key], "the plain GPU is what it was");
    }
    let techniques = report["techniques"].as_array().unwrap();
    let labels: Vec<&str> = techniques
        .iter()
        .map(|it| it["technique"].as_str().unwrap())
        .collect();
    assert_eq!(labels[0], "sawp(entries=2) + sharp");
    assert!(labels[1].contains("reliability=true"), "{labels:?}");
    for with in techniques {
        let time = number(&with["cycles"]) / number(&report["cycles"]);
        assert!(near(number(&with["time"]), time));
        let against = &with["against_plain"]["40nm"];
        let sdc = number(&with["fit"]["40nm"]["sdc"]) / number(&plain["fit"]["40nm"]["sdc"]);
        assert!(near(number(&against["sdc"]), sdc));
        assert!(near(number(&against["sdc_a_run"]), sdc * time));
        assert!(sdc < 1.0, "{sdc}");
    }
    let part =
        |name: &str, key: &str| number(&techniques[0]["structures"][name]["bit_cycles"][key]);
    assert!(part("register_file", "corrected") > 0.0);
    let buffer = |key| part("instruction_buffer", key);
    assert_eq!(buffer("detected") + buffer("corrected"), buffer("ace"));
    let arguments = [
        "avf",
        "vector_add",
        "--preset",
        "softerror-28sm",
        "-t",
        "sawp",
        "--node",
        "28nm",
    ];
    let text = stdout(&warpwatt(&scratch.path(""), &arguments));
    for part in [
        "sawp: ",
        "of the plain GPU's time",
        "corrected   detected",
        "at 28nm: SDC ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn storage_that_techniques_add_has_figures_of_its_own() {
    let scratch = Scratch::new();
    let more = [
        "-t",
        "uniform_vector",
        "--set",
        "design=srf",
        "-t",
        "register_virtualization",
        "--over-time",
        "t.csv",
    ];
    let report = run(&scratch, "matrix_mul", &more);
    let bits = |it: &Value, name: &str| it["structures"][name]["bits"].as_u64();
    let techniques = &report["techniques"];
    let sms = 28;
    for (name, uniform, virtualized) in [
        ("instruction_reuse_buffer", Some(8 * 149), None),
        ("scalar_register_file", Some(128 * 32), None),
        ("renaming_table", Some(512 * 7), Some(912 * 9)),
    ] {
        assert_eq!(bits(&report, name), None, "the plain GPU has no {name}");
        for (with, expected) in [(&techniques[0], uniform), (&techniques[1], virtualized)] {
            assert_eq!(bits(with, name), expected.map(|bits| bits * sms), "{name}");
            let it = &with["structures"][name];
            if expected.is_some() {
                assert!(number(&it["avf"]) > 0.0, "{name}: {it}");
                assert!(number(&it["fit"]["40nm"]["sdc"]) > 0.0, "{name}");
            }
        }
    }
    for name in ["instruction_cache", "register_file"] {
        assert!(number(&report["structures"][name]["avf"]) > 0.0, "{name}");
    }
    let text = fs::read_to_string(scratch.path("t.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let columns = rows.headers().unwrap().len();
    let (mut filled, mut empty) = (0, 0);
    for row in rows.records() {
        let row = row.unwrap();
        assert_eq!(row.len(), columns);
        let cells = row.iter().skip(1).filter(|cell| cell.is_empty()).count();
        if cells > 0 { empty += 1 } else { filled += 1 }
    }
    assert!(filled > 0 && empty > 0);
}

#[test]
fn points_of_a_study_carry_the_storage_that_their_run_has() {
    const STUDY: &str = r#"
[study]
title = "storage of all kinds"
[gpu]
preset = "gtx480"
node = "32nm"
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "uniform_vector"
[[technique]]
name = "register_virtualization"
[reliability]
structures = ["instruction_cache", "l2", "instruction_reuse_buffer", "renaming_table"]
"#;
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = fs::read_to_string(scratch.path("results/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let points = report["points"].as_array().unwrap();
    let added = [
        None,
        Some("instruction_reuse_buffer"),
        Some("renaming_table"),
    ];
    assert_eq!(points.len(), added.len());
    for (point, added) in points.iter().zip(added) {
        let metrics = point["metrics"].as_array().unwrap();
        let followed = metrics.iter().filter_map(|metric| {
            let name = metric["name"].as_str()?.strip_prefix("avf.")?;
            assert!(number(&metric["value"]) > 0.0, "{metric}");
            Some(name)
        });
        let expected = ["instruction_cache", "l2"].into_iter().chain(added);
        assert_eq!(followed.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn techniques_that_cannot_be_are_named_with_what_to_do() {
    let scratch = Scratch::new();
    let arguments = [
        "avf",
        "vector_add",
        "-t",
        "swap",
        "-t",
        "sharp + ecc",
        "--set",
        "entires=4",
        "--set",
        "sm.cuont=2",
    ];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    for part in [
        "did you mean `sawp`",
        "both want to give registers their check bits",
        "sm.cuont",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}
