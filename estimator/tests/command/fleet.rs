//! Studies shared by several workers: queues that are planned, worked at, looked at and put together.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Scratch, command, stderr, stdout, warpwatt};

const STUDY: &str = r#"
[study]
title = "Shared"
[gpu]
preset = "tesla-16sm"
sm.count = 2
node = ["32nm", "40nm"]
[workloads]
kernels = ["vector_add", "hotspot", "matrix_mul"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#;

/// What a report consists of, and the store.
const FILES: [&str; 7] = [
    "results.redb",
    "points.csv",
    "comparisons.csv",
    "answer.csv",
    "report.json",
    "report.html",
    "manifest.json",
];

fn ended(scratch: &Scratch, arguments: &[&str], code: i32) -> (String, String) {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    (stdout(&output), stderr(&output))
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    serde_json::from_str(&ended(scratch, arguments, 0).0).unwrap()
}

fn planned() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    ended(
        &scratch,
        &["plan", "study.toml", "--out", "queue", "--lease", "1"],
        0,
    );
    scratch
}

fn worker(scratch: &Scratch) -> Child {
    command(&scratch.path(""))
        .args(["work", "queue", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The merged queue is what one machine makes of the study.
fn assert_same_as_run(scratch: &Scratch) {
    let (merged, _) = ended(scratch, &["merge", "queue", "--json"], 0);
    let run = ["run", "study.toml", "--out", "alone", "--json", "--quiet"];
    let (alone, _) = ended(scratch, &run, 0);
    assert_eq!(merged, alone);
    for file in FILES {
        let read = |folder: &str| fs::read(scratch.path(folder).join(file)).unwrap();
        assert!(read("queue") == read("alone"), "{file}");
    }
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_plan_names_every_unit_with_its_cost() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let plan = json(&scratch, &["plan", "study.toml", "--json"]);
    assert_eq!(
        (&plan["executions"], &plan["timing_runs"]),
        (&3.into(), &9.into())
    );
    assert_eq!(plan["points"], 18);
    let units = plan["units"].as_array().unwrap();
    let names: Vec<&str> = units
        .iter()
        .map(|unit| unit["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted());
    for (place, unit) in units.iter().enumerate() {
        assert!(unit["seconds"].as_f64().unwrap() > 0.0);
        assert!(unit["warp_instructions"].as_u64().unwrap() > 0);
        if let Some(needed) = unit["needs"].as_str() {
            assert!(names[..place].contains(&needed), "{unit}");
        }
    }
    let total: f64 = units
        .iter()
        .map(|unit| unit["seconds"].as_f64().unwrap())
        .sum();
    let schedules = plan["schedules"].as_array().unwrap();
    assert!((schedules[0]["seconds"].as_f64().unwrap() / total - 1.0).abs() < 1e-6);
    assert_eq!(schedules.len(), 4, "up to 8 workers of 12 units");
    assert_eq!(files(&scratch.path("")), 1, "nothing is written");
    let (text, _) = ended(&scratch, &["plan", "study.toml"], 0);
    assert!(text.starts_with("3 executions and 9 timing runs"), "{text}");
}

#[test]
fn two_workers_make_what_one_machine_makes() {
    let scratch = planned();
    let (text, _) = ended(&scratch, &["merge", "queue"], 1);
    assert_eq!(text, "", "nothing to report yet");
    let workers = [worker(&scratch), worker(&scratch)];
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let state = json(&scratch, &["status", "queue", "--json"]);
    assert_eq!((&state["units"], &state["done"]), (&12.into(), &12.into()));
    assert_eq!(state["complete"], true);
    assert_eq!(state["workers"], Value::Array(Vec::new()));
    assert_same_as_run(&scratch);
    // In a place of its own, and again.
    ended(&scratch, &["merge", "results", "queue", "--quiet"], 0);
    let (_, said) = ended(&scratch, &["merge", "results", "queue"], 0);
    assert!(
        said.contains("all 18 points are in the result store already"),
        "{said}"
    );
    let threads = ["work", "queue", "--jobs", "4"];
    let (text, _) = ended(&scratch, &threads, 0);
    assert!(
        text.contains("0 units done here, 12 of 12 in all"),
        "{text}"
    );
    let told = json(&scratch, &["work", "queue", "--json", "--quiet"]);
    assert_eq!(
        (&told["done"], &told["units_done"]),
        (&0.into(), &12.into())
    );
}

#[test]
fn threads_of_a_worker_have_units_of_their_own() {
    let scratch = planned();
    let (text, said) = ended(&scratch, &["work", "queue", "--jobs", "4"], 0);
    assert!(
        text.contains("12 units done here, 12 of 12 in all"),
        "{text}"
    );
    let done = said
        .lines()
        .filter(|line| line.starts_with("timed") || line.starts_with("executed"));
    assert_eq!(done.count(), 12, "nothing twice: {said}");
    assert_same_as_run(&scratch);
}

/// Killed again and again, wherever they are: the last one finds all that is left.
#[test]
fn what_killed_workers_leave_others_do() {
    let scratch = planned();
    for pause in [40, 80, 120, 160] {
        let mut killed = worker(&scratch);
        thread::sleep(Duration::from_millis(pause));
        killed.kill().unwrap();
        killed.wait().unwrap();
    }
    ended(&scratch, &["work", "queue", "--quiet"], 0);
    assert_eq!(files(&scratch.path("queue/taken")), 0);
    assert_eq!(files(&scratch.path("queue/todo")), 0);
    assert_same_as_run(&scratch);
}

/// A unit that a worker had when its machine was lost is taken again when the lease is over, and not before.
#[test]
fn a_unit_of_a_worker_that_is_gone_is_taken_again() {
    let scratch = planned();
    let unit = fs::read_dir(scratch.path("queue/todo"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let name = unit.file_name().into_string().unwrap();
    let taken = scratch.path("queue/taken").join(format!("{name}@lost-7+0"));
    fs::rename(unit.path(), taken).unwrap();
    scratch.write(
        "queue/workers/lost-7",
        r#"{"host":"lost","process":7,"jobs":1,"done":0,"beat":3}"#,
    );
    let state = json(&scratch, &["status", "queue", "--json"]);
    assert_eq!((&state["taken"], &state["todo"]), (&1.into(), &11.into()));
    assert_eq!(state["workers"][0]["worker"], "lost-7");
    assert_eq!(state["workers"][0]["sign"]["beat"], 3);
    let (text, _) = ended(&scratch, &["status", "queue"], 0);
    assert!(
        text.contains("0 of 12 units done, 1 taken, 11 left, 0 failed"),
        "{text}"
    );
    ended(&scratch, &["work", "queue", "--quiet"], 0);
    assert_same_as_run(&scratch);
}

#[test]
fn a_unit_that_fails_is_told_and_can_be_mended() {
    let scratch = Scratch::new();
    let study = format!("{STUDY}[limits]\nwarp_instructions = 20\n");
    scratch.write("study.toml", &study);
    ended(&scratch, &["plan", "study.toml", "--out", "queue"], 0);
    let (_, said) = ended(&scratch, &["work", "queue"], 1);
    assert!(said.contains("error[kernel::"), "{said}");
    let status = warpwatt(&scratch.path(""), &["status", "queue", "--json"]);
    assert_eq!(status.status.code(), Some(1));
    let state: Value = serde_json::from_str(&stdout(&status)).unwrap();
    assert_eq!((&state["failed"], &state["todo"]), (&3.into(), &9.into()));
    let (_, said) = ended(&scratch, &["merge", "queue"], 2);
    insta::assert_snapshot!("failed", said);
    let (_, said) = ended(&scratch, &["plan", "study.toml", "--out", "queue"], 0);
    assert!(said.contains("3 units of the queue"), "{said}");
}

#[test]
fn what_is_damaged_is_noticed_and_done_again() {
    let scratch = planned();
    ended(&scratch, &["work", "queue", "--quiet"], 0);
    let done = fs::read_dir(scratch.path("queue/done")).unwrap();
    let timing = done.map(|entry| entry.unwrap().path());
    let timing = timing
        .filter(|path| path.to_string_lossy().contains("timing"))
        .min()
        .unwrap();
    let bytes = fs::read(&timing).unwrap();
    fs::write(&timing, &bytes[..bytes.len() / 2]).unwrap();
    let (_, said) = ended(&scratch, &["merge", "queue"], 2);
    insta::assert_snapshot!("damaged", said);
    ended(&scratch, &["plan", "study.toml", "--out", "queue"], 0);
    ended(&scratch, &["work", "queue", "--quiet"], 0);
    assert_same_as_run(&scratch);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let scratch = planned();
    let mut said = String::new();
    let mut refused = |arguments: &[&str]| {
        said += &format!(
            "$ warpwatt {}\n{}",
            arguments.join(" "),
            ended(&scratch, arguments, 2).1
        );
    };
    for command in ["work", "status", "merge"] {
        refused(&[command, "nowhere"]);
    }
    refused(&["plan", "nothing.toml", "--out", "other"]);
    refused(&["slurm", "study.toml", "--nodes", "2", "--time", "4h"]);
    refused(&["plan", "study.toml", "--out", "study.toml"]);
    scratch.write("study.toml", &STUDY.replace("32nm", "28nm"));
    refused(&["plan", "study.toml", "--out", "queue"]);
    refused(&["work", "queue"]);
    refused(&["merge", "queue"]);
    scratch.write("queue/queue.json", "{}");
    refused(&["status", "queue"]);
    insta::assert_snapshot!("refused", said);
    assert!(!scratch.path("other").exists());
}

#[test]
fn slurm_gets_an_array_and_what_comes_behind_it() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let arguments = [
        "slurm",
        "study.toml",
        "--nodes",
        "8",
        "--time",
        "04:00:00",
        "--out",
        "a queue",
    ];
    let (text, _) = ended(&scratch, &arguments, 0);
    assert!(text.contains("submit.sh"), "{text}");
    let read = |name: &str| fs::read_to_string(scratch.path("a queue").join(name)).unwrap();
    let array = read("array.sh");
    for line in [
        "#SBATCH --array=1-8\n",
        "#SBATCH --time=04:00:00\n",
        "a queue' --jobs 1\n",
    ] {
        assert!(array.contains(line), "{line} in {array}");
    }
    assert!(read("merge.sh").contains(" merge '"));
    assert!(read("submit.sh").contains("--dependency=afterany:\"$job\""));
    assert_eq!(files(&scratch.path("a queue/todo")), 12);
    let told = json(&scratch, &[&arguments[..], &["--json"]].concat());
    assert_eq!(told["array"], "a queue/array.sh");
}
