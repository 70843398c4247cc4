//! `[sampling]` and `--sample`: a part of long launches is timed.

use crate::common::{Scratch, command, stderr, warpwatt};

/// Many waves on one SM.
const STUDY: &str = "[study]\ntitle = \"x\"\n[gpu]\npreset = \"gtx480\"\nnode = \"32nm\"\nsm.count = 1\n[workloads]\nkernels = [\"hotspot\", \"transpose_naive\"]\n";
const TECHNIQUE: &str = "[[technique]]\nname = \"filter_cache\"\n";

/// What the command prints as one document.
fn printed(scratch: &Scratch, arguments: &[&str]) -> serde_json::Value {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn report(scratch: &Scratch, study: &str, options: &[&str]) -> serde_json::Value {
    let study = scratch.write("study.toml", study);
    let study = study.to_string_lossy();
    let arguments = [&["run", &study, "--fresh", "--json", "--quiet"], options].concat();
    printed(scratch, &arguments)
}

/// Every point that is priced.
fn points(report: &serde_json::Value) -> Vec<&serde_json::Value> {
    let mut found = Vec::new();
    let mut todo = vec![report];
    while let Some(value) = todo.pop() {
        if value.get("structures").is_some() && value.get("time_s").is_some() {
            found.push(value);
        }
        match value {
            serde_json::Value::Array(values) => todo.extend(values),
            serde_json::Value::Object(values) => todo.extend(values.values()),
            _ => {}
        }
    }
    found
}

#[test]
fn a_sampled_study_is_near_the_whole_one_and_says_how_near() {
    let scratch = Scratch::new();
    let study = format!("{STUDY}{TECHNIQUE}");
    let whole = report(&scratch, &study, &[]);
    let sampled = report(&scratch, &study, &["--sample", "error=10%"]);
    let said = report(
        &scratch,
        &format!("{study}[sampling]\nerror = \"10%\"\n"),
        &[],
    );
    for key in ["points", "answer"] {
        assert_eq!(sampled[key], said[key], "the option is the section");
    }
    let off = report(&scratch, &study, &["--sample", "off"]);
    assert_eq!(whole, off);
    let (whole, sampled) = (points(&whole), points(&sampled));
    assert_eq!((whole.len(), sampled.len()), (4, 4));
    for (whole, sampled) in whole.into_iter().zip(sampled) {
        assert_eq!(whole["point"], sampled["point"]);
        assert!(whole.get("sampled").is_none_or(serde_json::Value::is_null));
        assert!(sampled["sampled"]["timed"].as_f64().unwrap() < 0.5);
        let [a, b] = [whole, sampled].map(|it| it["time_s"].as_f64().unwrap());
        assert!((b / a - 1.0).abs() < 0.1, "{a} {b}");
        let notes = sampled["notes"].to_string();
        assert!(
            notes.contains("of the warp instructions; by what was left out time is known to"),
            "{notes}"
        );
    }
}

#[test]
fn a_technique_whose_counts_do_not_add_up_is_timed_whole_and_that_is_said() {
    let scratch = Scratch::new();
    let study = scratch.write(
        "study.toml",
        &format!("{STUDY}[[technique]]\nname = \"sawp\"\n[sampling]\nerror = \"10%\"\n"),
    );
    let output = command(&scratch.path(""))
        .arg("run")
        .arg(study)
        .arg("--json")
        .output()
        .unwrap();
    let told = stderr(&output);
    assert!(
        told.contains("what `sawp` counts does not add up"),
        "{told}"
    );
    let report = serde_json::from_slice(&output.stdout).unwrap();
    for point in points(&report) {
        assert!(point.get("sampled").is_none_or(serde_json::Value::is_null));
    }
}

#[test]
fn what_cannot_be_met_is_refused() {
    let scratch = Scratch::new();
    for (more, said) in [
        ("[sampling]\n", "needs the key `error`"),
        ("[sampling]\nerror = \"0%\"\n", "from 0.1% to 50%"),
        ("[sampling]\nerror = \"2\"\n", "in percent"),
        ("[sampling]\nerror = 2\n", "`error` is written like"),
        (
            "[sampling]\nerror = \"2%\"\n[peak_power]\n",
            "`[peak_power]` needs runs that are timed whole",
        ),
        (
            "[sampling]\nerror = \"2%\"\n[uncertainty]\n",
            "`[uncertainty]` needs runs that are timed whole",
        ),
    ] {
        let study = scratch.write("study.toml", &format!("{STUDY}{more}"));
        let output = command(&scratch.path(""))
            .arg("run")
            .arg(study)
            .output()
            .unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{more}: {told}");
        assert!(told.contains(said), "{more}: {told}");
    }
    let study = scratch.write(
        "study.toml",
        &format!("{STUDY}[sampling]\nerror = \"2%\"\n"),
    );
    let study = study.to_string_lossy();
    for (options, said) in [
        (["--sample", "error=2%"], "has a `[sampling]` of its own"),
        (["--sample", "2%"], "error=2%"),
        (["--sample", "error=90%"], "from 0.1% to 50%"),
    ] {
        let output = warpwatt(
            &scratch.path(""),
            &[&["run", &*study], &options[..]].concat(),
        );
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_kernel_that_is_too_short_is_timed_whole() {
    let scratch = Scratch::new();
    let timed = |options: &[&str]| {
        let arguments = [&["kernel", "mersenne_twister", "--json"], options].concat();
        printed(&scratch, &arguments)
    };
    assert_eq!(timed(&["--sample", "error=2%"]), timed(&[]));
}
