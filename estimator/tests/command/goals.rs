//! Budgets, Pareto fronts and metrics by name, through the command.

use std::fs;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// Two nodes with and without a filter cache of two sizes, on one kernel.
pub const STUDY: &str = r#"
[study]
title = "Goals"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm"]
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#;

fn records(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let owned = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = owned(reader.headers().unwrap());
    let rows = reader.records().map(|record| owned(&record.unwrap()));
    (header, rows.collect())
}

#[test]
fn points_are_marked_against_every_bound() {
    let scratch = Scratch::new();
    let goals = "[budget]\narea_m2 = \"<= 1 m2\"\nfilter_cache.hit_rate = \">= 99.9%\"\nslowdown = \"50%\"\n[pareto]\nmetrics = [\"energy_j\", \"area_m2\"]\n";
    scratch.write("study.toml", &format!("{STUDY}{goals}"));
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--quiet", "--show", "kernels"],
    );
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(
        text.contains("budget: 0 of 4 points with a technique are inside"),
        "{text}"
    );
    assert!(text.contains("below 99.90%"), "{text}");
    assert!(text.contains("Pareto front of vector_add"), "{text}");

    let results = scratch.path("results");
    let read = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let (header, rows) = records(&read("budget.csv"));
    assert_eq!(
        header[11..19],
        [
            "inside",
            "binding",
            "slowdown",
            "slowdown_margin",
            "area_m2",
            "area_m2_margin",
            "filter_cache.hit_rate",
            "filter_cache.hit_rate_margin"
        ]
    );
    assert_eq!(rows.len(), 6);
    // A plain GPU is not compared, so it has no slowdown, but it has an area; it lacks the hit rate that is asked for.
    let plain = rows.iter().find(|row| row[10] == "baseline").unwrap();
    assert_eq!(
        (plain[11].as_str(), plain[12].as_str()),
        ("false", "filter_cache.hit_rate")
    );
    assert!(plain[13].is_empty() && !plain[15].is_empty());

    let (header, rows) = records(&read("pareto.csv"));
    assert_eq!(header[11..14], ["energy_j", "area_m2", "front"]);
    let value = |row: &Vec<String>, place: usize| row[place].parse::<f64>().unwrap();
    for row in &rows {
        let dominated = rows.iter().any(|rival| {
            let (energy, area) = (value(rival, 11), value(rival, 12));
            energy <= value(row, 11)
                && area <= value(row, 12)
                && (energy < value(row, 11) || area < value(row, 12))
        });
        assert_eq!(row[13], (!dominated).to_string());
    }
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(report["budget"]["points"].as_array().unwrap().len(), 6);
    assert_eq!(
        report["pareto"]["fronts"][0]["kernel"]["name"],
        "vector_add"
    );
    let page = read("report.html");
    assert!(page.contains("id=\"budget\"") && page.contains("id=\"pareto-1-1-title\""));
}

#[test]
fn a_report_takes_other_metrics_than_the_study() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    let report = |pareto: &str| {
        let arguments = ["report", "results", "--json", "--pareto", pareto];
        warpwatt(&scratch.path(""), &arguments)
    };
    let output = report("time_s,max:energy_j,leakage_w");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["pareto"]["objectives"][1]["maximise"], true);
    assert!(scratch.path("results/pareto.csv").exists());
    let output = report("enrgy_j,fetches");
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output));
    insta::assert_snapshot!(stderr(&report("energy_j")));
}

#[test]
fn a_metric_stands_once_among_the_goals_whichever_way() {
    let scratch = Scratch::new();
    let goals = "[pareto]\nmetrics = [\"energy_j\", \"max:energy_j\"]\n";
    scratch.write("study.toml", &format!("{STUDY}\n{goals}"));
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("names `energy_j` twice"),
        "{}",
        stderr(&output)
    );
    assert!(!scratch.path("results").exists());
}

#[test]
fn metrics_are_listed() {
    let scratch = Scratch::new();
    let output = warpwatt(&scratch.path(""), &["list", "metrics", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = document.as_array().unwrap();
    let energy = metrics.iter().find(|metric| metric["name"] == "energy_j");
    let energy = energy.unwrap();
    assert_eq!(
        (&energy["unit"], &energy["better"]),
        (&"J".into(), &"lower".into())
    );
    let text = stdout(&warpwatt(&scratch.path(""), &["list", "metrics"]));
    assert!(text.contains("slowdown") && text.contains("activity.COUNTER"));
}

#[cfg(unix)]
#[test]
fn a_page_is_shown_where_it_can_be() {
    use std::os::unix::fs::PermissionsExt;

    use crate::common::command;

    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let browser = scratch.write(
        "browser",
        "#!/bin/sh\necho \"$1\" > shown.part && mv shown.part shown\n",
    );
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |browser: &std::path::Path, arguments: &[&str]| {
        let mut command = command(&scratch.path(""));
        command.env("BROWSER", browser).args(arguments);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    assert_eq!(
        run(&browser, &["run", "study.toml", "--quiet", "--open"]),
        ""
    );
    // The browser goes on by itself.
    let shown = scratch.path("shown");
    for _ in 0..500 {
        if !shown.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    assert_eq!(
        fs::read_to_string(shown).unwrap().trim(),
        "results/report.html"
    );
    let nowhere = std::path::Path::new("no-such-browser");
    let said = run(nowhere, &["report", "results", "--open"]);
    // Before it stands what was written.
    insta::assert_snapshot!(&said[said.find("warning").unwrap()..]);
    scratch.write(
        "csv.toml",
        &format!("{STUDY}[output]\nformats = \"csv\"\ndirectory = \"csv\"\n"),
    );
    insta::assert_snapshot!(run(&browser, &["run", "csv.toml", "--quiet", "--open"]));
}
