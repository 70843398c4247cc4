//! Supply and temperature through the command.

use std::fs;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

fn study(gpu: &str, thermal: &str) -> String {
    format!(
        "[study]\ntitle = \"supply\"\n[gpu]\npreset = \"v100\"\nsm.count = 4\n{gpu}node = \"16nm\"\nvdd = [\"0.6 V\", \"0.8 V\"]\nclock = \"follows_vdd\"\n\
         [workloads]\nkernels = [\"vector_add\"]\n[[technique]]\nname = \"power_gating\"\n{thermal}"
    )
}

fn run(scratch: &Scratch, gpu: &str, thermal: &str) -> Value {
    fs::write(scratch.path("study.toml"), study(gpu, thermal)).unwrap();
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--quiet", "--json", "--no-cache"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// At a lower supply the clock is slower and energy less; DRAM does not slow down, so cycles do not grow, but for what another order of requests comes to.
#[test]
fn the_clock_follows_the_supply() {
    let scratch = Scratch::new();
    // Whether a request meets a refresh is chance.
    let report = run(&scratch, "dram.refresh_interval = 0\n", "");
    let points = report["points"].as_array().unwrap();
    let at = |vdd: f64| {
        points
            .iter()
            .find(|p| {
                p["point"]["technology"]["vdd_v"] == vdd && p["point"]["technique"] == "baseline"
            })
            .unwrap()
    };
    let (low, high) = (at(0.6), at(0.8));
    assert_eq!(
        high["clock_hz"], 1.132e9,
        "the nominal supply is the preset's clock"
    );
    assert!(low["clock_hz"].as_f64().unwrap() < 1e9);
    assert!(low["totals"]["dynamic_j"].as_f64() < high["totals"]["dynamic_j"].as_f64());
    let cycles = |point: &Value| point["cycles"].as_f64().unwrap();
    assert!(cycles(low) <= 1.001 * cycles(high));
    assert!(low.get("heat").is_none());
    run(&scratch, "", "");
    let table = fs::read_to_string(scratch.path("results/operating.csv")).unwrap();
    assert_eq!(table.lines().count(), 5, "{table}");
    let text = stdout(&warpwatt(
        &scratch.path(""),
        &["report", "results", "--show", "kernels"],
    ));
    assert!(
        text.contains("baseline · 16nm hp · v100 · sm.count = 4 · supply and temperature"),
        "{text}"
    );
}

/// What leaks less is cooler, and so leaks less still; without a heat sink worth the name there is no rest.
#[test]
fn points_are_priced_at_the_temperature_of_their_own_heat() {
    let scratch = Scratch::new();
    let report = run(&scratch, "", "[thermal]\nsink = \"4 K/W\"\n");
    let heat = |technique: &str| {
        let points = report["points"].as_array().unwrap();
        let point = points.iter().find(|p| {
            p["point"]["technology"]["vdd_v"] == 0.6 && p["point"]["technique"] == technique
        });
        let heat = &point.unwrap()["heat"];
        assert_eq!(heat["state"], "settled");
        (
            heat["junction_k"].as_f64().unwrap(),
            heat["study_leakage_w"].as_f64().unwrap(),
        )
    };
    let (plain, gated) = (heat("baseline"), heat("power_gating"));
    assert!(
        gated.0 < plain.0 && gated.1 < plain.1,
        "{gated:?} {plain:?}"
    );
    let report = run(&Scratch::new(), "", "[thermal]\nsink = \"100 K/W\"\n");
    let states: Vec<&str> = report["points"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| p["heat"]["state"].as_str())
        .collect();
    assert!(states.contains(&"out_of_range"), "{states:?}");
}
