//! `warpwatt calibrate` and `warpwatt predict` through the command.

use std::fs;

use crate::common::{Scratch, errors, stderr, stdout, warpwatt};
use serde_json::Value;

const LOOPS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/board/measured/titan_v_micro.csv"
);
const KERNELS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/board/measured/qv100_kernels.csv"
);

#[test]
fn a_board_is_learned_and_then_predicts() {
    let scratch = Scratch::new();
    let board = scratch.path("board.toml");
    let board = board.to_str().unwrap();
    let learned = warpwatt(
        &scratch.path(""),
        &[
            "calibrate",
            KERNELS,
            "--board",
            "qv100",
            "--out",
            board,
            "--json",
        ],
    );
    assert_eq!(learned.status.code(), Some(0), "{}", stderr(&learned));
    let learned: Value = serde_json::from_slice(&learned.stdout).unwrap();
    assert!(learned["left_out_error"].as_f64().unwrap() < 0.085);
    let picture = fs::read_to_string(scratch.path("board.svg")).unwrap();
    assert_eq!(picture.matches("<circle").count(), 18);

    let watts = scratch.path("watts.csv");
    let watts = watts.to_str().unwrap();
    let predicted = warpwatt(
        &scratch.path(""),
        &["predict", KERNELS, "--board", board, "--out", watts],
    );
    assert_eq!(predicted.status.code(), Some(0), "{}", stderr(&predicted));
    assert!(
        stdout(&predicted).contains("mean absolute error"),
        "{}",
        stdout(&predicted)
    );
    let table = fs::read_to_string(watts).unwrap();
    assert!(table.starts_with("name,power_w,low_w,high_w,"), "{table}");
    assert_eq!(table.lines().count(), 19);
    for row in csv::Reader::from_reader(table.as_bytes()).deserialize() {
        let row: std::collections::BTreeMap<String, String> = row.unwrap();
        let watts = |key: &str| row[key].parse::<f64>().unwrap();
        assert!(watts("low_w") < watts("power_w") && watts("power_w") <= watts("high_w"));
        let parts = row.iter().filter(|(key, _)| {
            key.ends_with("_w")
                && !["power_w", "low_w", "high_w", "measured_w"].contains(&key.as_str())
        });
        let sum: f64 = parts.map(|(_, value)| value.parse::<f64>().unwrap()).sum();
        approx::assert_relative_eq!(sum, watts("power_w"), max_relative = 1e-9);
    }
}

#[test]
fn a_dozen_cases_without_a_fitted_board_are_enough() {
    let scratch = Scratch::new();
    let facts = concat!(env!("CARGO_MANIFEST_DIR"), "/board/facts/titan-v.toml");
    let text = fs::read_to_string(LOOPS).unwrap();
    let is_chosen = |line: &&str| {
        line.split(',')
            .next()
            .is_some_and(|name| name.ends_with('5') || name == "name" || name == "case_110")
    };
    let some: Vec<&str> = text.lines().filter(is_chosen).collect();
    let table = scratch.write("some.csv", &some.join("\n"));
    let out = scratch.path("b.toml");
    let learned = warpwatt(
        &scratch.path(""),
        &[
            "calibrate",
            table.to_str().unwrap(),
            "--board",
            facts,
            "--out",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(learned.status.code(), Some(0), "{}", stderr(&learned));
    let all = warpwatt(
        &scratch.path(""),
        &[
            "predict",
            LOOPS,
            "--board",
            out.to_str().unwrap(),
            "--operands",
            "still",
            "--json",
        ],
    );
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    let error = all["errors"]["mean_absolute_percentage_error"]
        .as_f64()
        .unwrap();
    assert!(error < 10.0, "{error}");
}

#[test]
fn another_clock_is_another_power() {
    let at = |clock: &str| {
        let output = warpwatt(
            &errors(),
            &[
                "predict", KERNELS, "--board", "qv100", "--json", "--set", clock,
            ],
        );
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["rows"][0]["power_w"].as_f64().unwrap()
    };
    assert!(at("clock_mhz=1200") < at("clock_mhz=1450"));
}

#[test]
fn a_kernel_on_a_board_draws_watts_within_its_limit() {
    let output = warpwatt(
        &errors(),
        &["kernel", "vector_add", "--board", "titan-v", "--json"],
    );
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let watts = |key: &str| value["board"][key].as_f64().unwrap();
    assert_eq!(value["preset"], "titan-v");
    assert!(watts("low_w") < watts("power_w") && watts("power_w") < 250.0);
    assert!(watts("power_w") > 40.0, "a board at rest draws as much");
}

#[test]
fn faults_are_told_together_and_nothing_is_written() {
    let scratch = Scratch::new();
    let table = scratch.write(
        "odd.csv",
        "name,power_w,util_dram\na,x,0.1\nb,100,7\nc,,0.2\nd,90,0.3\n",
    );
    let table = table.to_str().unwrap();
    let out = scratch.path("b.toml");
    let path = out.to_str().unwrap();
    let cases: [&[&str]; 6] = [
        &["calibrate", table, "--board", "titan-v", "--out", path],
        &["calibrate", table, "--board", "titan", "--out", path],
        &["calibrate", "--board", "titan-v", "--out", path],
        &["predict", table, "--board", "nothing.toml"],
        &[
            "predict",
            table,
            "--board",
            "titan-v",
            "--set",
            "clock=3",
            "--set",
            "supply=-1",
        ],
        &[
            "kernel",
            "vector_add",
            "--board",
            "titan-v",
            "--preset",
            "v100",
        ],
    ];
    let texts = cases.map(|arguments| {
        let output = warpwatt(&scratch.path(""), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        stderr(&output)
    });
    assert!(texts[0].contains("at least 5 are needed"), "{}", texts[0]);
    assert!(texts[1].contains("did you mean `titan-v`"), "{}", texts[1]);
    assert!(texts[4].contains("2 errors"), "{}", texts[4]);
    assert!(!out.exists());
}

#[test]
fn rows_that_cannot_be_predicted_are_named() {
    let scratch = Scratch::new();
    let table = scratch.write(
        "odd.csv",
        "name,power_w,util_dram\nfine,100,0.5\nwrong,100,7\n",
    );
    let output = warpwatt(
        &scratch.path(""),
        &["predict", table.to_str().unwrap(), "--board", "titan-v"],
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("`wrong` is left out"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stdout(&output).lines().count(), 2);
}

#[test]
fn a_study_with_a_board_reports_its_watts() {
    let scratch = Scratch::new();
    let study = |board: &str| {
        format!(
            "[study]\ntitle = \"t\"\n[gpu]\npreset = \"titan-v\"\nboard = \"{board}\"\nnode = \"12nm\"\n[workloads]\nkernels = [\"vector_add\"]\n[[technique]]\nname = \"filter_cache\"\n"
        )
    };
    scratch.write("s.toml", &study("titan-v"));
    let output = warpwatt(
        &scratch.path(""),
        &["run", "s.toml", "--quiet", "--show", "structures"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("The board draws "),
        "{}",
        stdout(&output)
    );
    let kernel = warpwatt(
        &errors(),
        &["kernel", "vector_add", "--board", "titan-v", "--json"],
    );
    let kernel: Value = serde_json::from_slice(&kernel.stdout).unwrap();
    let report: Value =
        serde_json::from_slice(&fs::read(scratch.path("results/report.json")).unwrap()).unwrap();
    let points = report["points"].as_array().unwrap();
    let plain = points
        .iter()
        .find(|point| point["point"]["technique"] == "baseline")
        .unwrap();
    let metrics = plain["metrics"].as_array().unwrap();
    let metric = |name: &str| {
        let found = metrics.iter().find(|metric| metric["name"] == name);
        &found.unwrap_or_else(|| panic!("no {name}"))["value"]
    };
    let drawn = &kernel["board"];
    for (name, watts) in drawn.as_object().unwrap() {
        if watts.is_number() {
            assert_eq!(metric(&format!("board.{name}")), watts);
        }
    }
    let dynamic = drawn["dynamic_w"].as_object().unwrap();
    for (kind, watts) in dynamic {
        assert_eq!(metric(&format!("board.{kind}_w")), watts);
    }
    let shown = stdout(&output);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("· watts of the board"), "{shown}");
    assert!(shown.contains(" W of active SMs, "), "{shown}");
    let page = fs::read_to_string(scratch.path("results/report.html")).unwrap();
    assert!(page.contains("Watts of the board"));
    let table = fs::read_to_string(scratch.path("results/board.csv")).unwrap();
    let mut lines = csv::Reader::from_reader(table.as_bytes());
    let first: std::collections::BTreeMap<String, String> =
        lines.deserialize().next().unwrap().unwrap();
    let watts = |key: &str| first[key].parse::<f64>().unwrap();
    let total = drawn["power_w"].as_f64().unwrap();
    approx::assert_relative_eq!(watts("board.power_w"), total);
    let parts = first.keys().filter(|key| {
        let whole = ["board.power_w", "board.low_w", "board.high_w"];
        key.starts_with("board.") && !whole.contains(&key.as_str())
    });
    let sum: f64 = parts.map(|key| watts(key)).sum();
    approx::assert_relative_eq!(sum, total, max_relative = 1e-9);

    for (board, message) in [
        ("v100", "has the GPU `v100`"),
        ("titan", "no board is called"),
        ("none.toml", "cannot read"),
    ] {
        scratch.write("w.toml", &study(board));
        let output = warpwatt(&scratch.path(""), &["run", "w.toml", "--out", "w"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn boards_are_listed_with_a_line_each() {
    let all = warpwatt(&errors(), &["list", "boards", "--json"]);
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 10);
    let one = stdout(&warpwatt(&errors(), &["list", "boards", "qv100"]));
    assert!(one.contains("key = \"fp32\""), "{one}");
}

/// Watts of a made-up board: 80 W, and so many picojoules an instruction, an operation, a sector of DRAM.
fn made_up(instructions: f64, operations: f64, sectors: f64) -> f64 {
    let works = instructions + sectors > 0.0;
    80.0 + 30.0 * f64::from(u8::from(works))
        + 1e-12 * (40.0 * instructions + 9.0 * operations + 1500.0 * sectors)
}

/// What `workloads/your_gpu/run.py` leaves: watts and counts of one launch, in two tables.
#[test]
fn the_folder_of_the_suite_for_a_gpu_of_ones_own_is_read() {
    let scratch = Scratch::new();
    let mut watts =
        "name,role,power_w,core_mhz,memory_mhz,temperature_c,limited_by,seconds,launches\n"
            .to_owned();
    let mut counts = "name,smsp__inst_executed.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes_read.sum,lts__t_sectors_op_read.sum\n".to_owned();
    for case in 0..16_u32 {
        let (busy, fma, dram) = (
            f64::from(case % 4) / 4.0,
            f64::from(case % 3) / 2.0,
            f64::from(case % 5) / 5.0,
        );
        let (instructions, operations, sectors) = (2e11 * busy, 5e12 * fma * busy, 1.5e10 * dram);
        let power = made_up(instructions, operations, sectors);
        let limited = if case == 7 { "power_cap" } else { "" };
        watts += &format!("k{case},fit,{power},1200,850,65,{limited},2,100\n");
        let launch = |rate: f64| rate * 2.0 / 100.0;
        counts += &format!(
            "k{case},{},{},{},{}\n",
            launch(instructions),
            launch(operations),
            launch(32.0 * sectors),
            launch(sectors)
        );
    }
    fs::create_dir(scratch.path("mine")).unwrap();
    fs::write(scratch.path("mine/watts.csv"), watts).unwrap();
    fs::write(scratch.path("mine/counts.csv"), counts).unwrap();
    let facts = concat!(env!("CARGO_MANIFEST_DIR"), "/board/facts/titan-v.toml");
    let output = warpwatt(
        &scratch.path(""),
        &[
            "calibrate",
            "mine",
            "--board",
            facts,
            "--out",
            "b.toml",
            "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["rows"], 15);
    assert!(
        value["refused"][0]["why"]
            .as_str()
            .unwrap()
            .contains("power_cap")
    );
    assert!(
        value["left_out_error"].as_f64().unwrap() < 0.06,
        "{}",
        value["left_out_error"]
    );
}

/// What is wrong with boards, maps, tables and settings, as a user reads it.
#[test]
fn faults_of_boards_are_told_with_their_remedies() {
    let scratch = Scratch::new();
    scratch.write(
        "odd.csv",
        "name,power_w,util_dram,colour\na,x,0.1,red\nb,100,7,red\nc,,0.2,red\nd,90,0.3,red\n",
    );
    scratch.write("uneven.csv", "name,power_w\na,1,2\nb\n");
    scratch.write("unknown.csv", "a,b\n1,2\n");
    scratch.write("none.csv", "name,util_dram\n");
    scratch.write("bare.csv", "core_mhz,util_dram\n1200,0.5\n");
    scratch.write("wrong.toml", "[board]\nname = 3\n");
    let facts = include_str!("../../board/facts/titan-v.toml");
    scratch.write(
        "preset.toml",
        &facts.replace("preset = \"titan-v\"", "preset = \"titan\""),
    );
    scratch.write("map.toml", "title = \"t\"\nbasis = \"rates\"\noperands = \"random\"\nrecognised_by = []\n[columns]\n[[term]]\nchannel = \"fp\"\ncolumns = [\"a\"]\n");
    scratch.write("study.toml", "[study]\ntitle = \"t\"\n[gpu]\npreset = \"titan-v\"\nboard = \"v100\"\nnode = \"12nm\"\n[workloads]\nkernels = [\"vector_add\"]\n");
    let kernels = include_str!("../../board/measured/qv100_kernels.csv");
    scratch.write("kernels.csv", kernels);
    let lines = [
        "predict odd.csv --board titan",
        "predict odd.csv --board wrong.toml",
        "predict odd.csv --board preset.toml",
        "predict uneven.csv --board titan-v",
        "predict unknown.csv --board titan-v",
        "predict odd.csv --board titan-v --map map.toml",
        "predict odd.csv --board titan-v --map none",
        "predict odd.csv --board titan-v --out w.csv",
        "predict none.csv --board titan-v",
        "predict odd.csv --board titan-v --set clock=3 --set supply=-1",
        "calibrate odd.csv --board titan-v --out b.toml",
        "calibrate kernels.csv --board qv100 --out b.toml",
        "calibrate bare.csv --board titan-v --out b.toml",
        "kernel vector_add --board titan-v --preset v100",
        "run study.toml",
    ];
    let told = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = warpwatt(&scratch.path(""), &words);
        format!("$ warpwatt {line}\n{}", stderr(&output))
    });
    insta::assert_snapshot!(told.join("\n"));
}
