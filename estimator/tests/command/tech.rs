//! `warpwatt tech`: data sheets, comparison, checks of node files.

use serde_json::Value;

use crate::common::{Scratch, errors, stderr, stdout, warpwatt};

const OWN: &str = "extends = \"silicon:7nm\"\n\n[[value]]\nname = \"hp.i_on_n\"\nvalue = \"0.75e-3 A/um\"\nsource = \"ring oscillators of our test chip\"\nhow = \"measured\"\nuncertainty = 0.05\n";

fn json(arguments: &[&str]) -> Value {
    let output = warpwatt(&errors(), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_node_shows_every_value_with_source_and_uncertainty() {
    for (node, library) in [("7nm", "silicon"), ("28nm", "silicon"), ("45nm", "itrs")] {
        let sheet = json(&["tech", "show", node, "--library", library, "--json"]);
        assert_eq!(sheet["library"], library);
        let values = sheet["values"].as_array().unwrap();
        assert!(values.len() > 80, "{} values", values.len());
        for value in values {
            assert!(value["uncertainty"].as_f64().unwrap() > 0.0, "{value}");
            assert!(!value["source"].as_str().unwrap().is_empty(), "{value}");
            assert!(
                value["cause"].is_string() && value["how"].is_string(),
                "{value}"
            );
        }
        let fo4 = sheet["figures"]["fo4_s"]["value"].as_f64().unwrap();
        assert!((5e-12..30e-12).contains(&fo4), "{node}: {fo4}");
        let text = stdout(&warpwatt(
            &errors(),
            &["tech", "show", node, "--library", library],
        ));
        assert!(text.contains("fan-out-of-4 delay") && text.contains("device.i_on_n"));
    }
    let sketch = stdout(&warpwatt(&errors(), &["tech", "show", "2nm"]));
    assert!(sketch.contains("sketch"), "{sketch}");
}

#[test]
fn the_operating_point_and_the_flavour_take_effect() {
    let figure = |arguments: &[&str], key: &str| {
        let all = [&["tech", "show", "7nm", "--json"], arguments].concat();
        json(&all)["figures"][key]["value"].as_f64().unwrap()
    };
    assert!(figure(&["--vdd", "0.6V"], "fo4_s") > figure(&[], "fo4_s"));
    assert!(
        figure(&["--temperature", "360 K"], "i_off_a_per_m") > 3.0 * figure(&[], "i_off_a_per_m")
    );
    assert!(figure(&["--flavour", "lstp"], "i_off_a_per_m") < 0.1 * figure(&[], "i_off_a_per_m"));
}

#[test]
fn two_nodes_stand_side_by_side() {
    let both = json(&["tech", "compare", "45nm", "7nm", "--json"]);
    let of = |side: &str| {
        both[side]["figures"]["cell_area_m2"]["value"]
            .as_f64()
            .unwrap()
    };
    let ratio = both["second_over_first"]["cell_area_m2"].as_f64().unwrap();
    assert!((ratio - of("second") / of("first")).abs() < 1e-12);
    let text = stdout(&warpwatt(&errors(), &["tech", "compare", "45nm", "7nm"]));
    assert!(
        text.contains("45 nm hp (silicon)") && text.contains("ratio"),
        "{text}"
    );
}

#[test]
fn what_is_not_there_is_refused_with_a_remedy() {
    for (arguments, remedy) in [
        (vec!["tech", "show", "1nm"], "2nm"),
        (
            vec!["tech", "show", "16nm", "--library", "itrs"],
            "16nm` of the library silicon",
        ),
        (vec!["tech", "show", "18nm"], "choose one of the two"),
        (vec!["tech", "show", "seven"], "node file"),
        (
            vec!["tech", "show", "7nm", "--library", "tsmc"],
            "silicon, itrs",
        ),
        (
            vec!["tech", "show", "7nm", "--vdd", "0.2V"],
            "nearest that works",
        ),
        (
            vec!["tech", "show", "7nm", "--temperature", "500 K"],
            "nearest that works: 400.0 K",
        ),
        (
            vec!["tech", "show", "180nm", "--flavour", "lop"],
            "it has hp, sram",
        ),
        (vec!["tech", "check", "no_such.toml"], "no_such.toml"),
    ] {
        let output = warpwatt(&errors(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(remedy), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn an_own_node_is_checked_shown_and_compared() {
    let scratch = Scratch::new();
    let own = scratch.write("my.toml", OWN);
    let own = own.to_str().unwrap();
    let output = warpwatt(&errors(), &["tech", "check", own]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("extends silicon:7nm and changes 1 of its values. Flavours:"),
        "{text}"
    );
    let changed = text
        .lines()
        .find(|line| line.trim_start().starts_with("hp.i_on_n"));
    let changed = changed.expect("the change has its row");
    assert!(
        changed.contains("0.75e-3 A/um") && changed.contains("0.000695891 A/um"),
        "{changed}"
    );
    assert!(stdout(&warpwatt(&errors(), &["tech", "show", own])).contains(changed));
    let document = json(&["tech", "show", own, "--json"]);
    assert_eq!(document["own"]["overrides"][0]["name"], "hp.i_on_n");
    let logic = json(&["logic", "adder", "--node", own, "--json"]);
    let base = json(&["logic", "adder", "--node", "7nm", "--json"]);
    let delay = |document: &Value| document["delay_s"].as_f64().unwrap();
    assert!(delay(&logic) < delay(&base), "more current, less delay");
    let both = json(&["tech", "compare", "7nm", own, "--json"]);
    let ratio = both["second_over_first"]["r_n_ohm_m"].as_f64().unwrap();
    assert!((ratio - 0.695_891 / 0.75).abs() < 1e-6, "{ratio}");
    assert_eq!(both["second_over_first"]["cell_area_m2"], 1.0);
}

#[test]
fn files_may_extend_files_beside_them_but_not_themselves() {
    let scratch = Scratch::new();
    scratch.write("base.toml", OWN);
    let child = scratch.write("child.toml", "extends = \"./base.toml\"\n");
    assert_eq!(
        warpwatt(&errors(), &["tech", "check", child.to_str().unwrap()])
            .status
            .code(),
        Some(0)
    );
    scratch.write("base.toml", "extends = \"../base/../child.toml\"\n");
    let round = scratch.write("child.toml", "extends = \"base.toml\"\n");
    let output = warpwatt(&errors(), &["tech", "check", round.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_fault_of_a_node_file_is_told_with_its_place() {
    let output = warpwatt(&errors(), &["tech", "check", "node_faults.toml"]);
    assert_eq!(output.status.code(), Some(2));
    insta::with_settings!({ snapshot_path => "../errors", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("node_faults", stderr(&output));
    });
    let json = warpwatt(&errors(), &["tech", "check", "node_faults.toml", "--json"]);
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["diagnostics"].as_array().unwrap().len(), 9);
}

#[test]
fn a_study_may_price_at_a_node_of_silicon() {
    let scratch = Scratch::new();
    let study = scratch.write(
        "study.toml",
        "[study]\ntitle = \"silicon\"\n[gpu]\npreset = \"tesla-16sm\"\nlibrary = \"silicon\"\nnode = [\"45nm\", \"7nm\"]\n[workloads]\nkernels = [\"vector_add\"]\n[[technique]]\nname = \"filter_cache\"\n",
    );
    let out = scratch.path("out");
    let arguments = [
        "run",
        study.to_str().unwrap(),
        "--json",
        "--quiet",
        "--jobs",
        "1",
        "--out",
        out.to_str().unwrap(),
    ];
    let output = warpwatt(&errors(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("\"silicon\"") && text.contains("\"7nm\""),
        "{text}"
    );
}

const STUDY: &str = "[study]\ntitle = \"own\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = NODE\n[workloads]\nkernels = [\"vector_add\"]\n";

/// The report of a study in a directory.
fn report(scratch: &Scratch, node: &str) -> Value {
    scratch.write("study.toml", &STUDY.replace("NODE", node));
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--json", "--quiet"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_study_has_nodes_of_one_s_own_and_says_what_they_change() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("nodes")).unwrap();
    scratch.write("nodes/mine.toml", OWN);
    scratch.write("nodes/same.toml", "extends = \"silicon:7nm\"\n");
    let document = report(
        &scratch,
        "[\"7nm\", \"nodes/same.toml\", \"nodes/mine.toml\"]",
    );
    let [base, same, mine] = [0, 1, 2].map(|place| &document["points"][place]);
    for key in ["structures", "totals", "time_s", "activity"] {
        assert_eq!(base[key], same[key], "an empty extension changes nothing");
    }
    assert_ne!(base["totals"], mine["totals"]);
    let library = &mine["point"]["technology"]["library"];
    assert_eq!(library, "nodes/mine.toml (silicon:7nm)");
    let notes = mine["notes"].to_string();
    assert!(
        notes.contains("own_technology") && notes.contains("hp.i_on_n is 0.75e-3 A/um instead of"),
        "{notes}"
    );
    let key = |document: &Value| document["manifest"]["points"][0].clone();
    let before = key(&report(&scratch, "\"nodes/mine.toml\""));
    scratch.write("nodes/mine.toml", &OWN.replace("0.75e-3", "0.76e-3"));
    assert_ne!(before, key(&report(&scratch, "\"nodes/mine.toml\"")));
}

#[test]
fn what_is_wrong_with_a_study_s_node_file_is_told_with_its_place() {
    let scratch = Scratch::new();
    scratch.write("mine.toml", &OWN.replace("hp.i_on_n", "hp.i_on"));
    scratch.write(
        "study.toml",
        &STUDY.replace("NODE", "[\"mine.toml\", \"yours.toml\", \"7n\"]"),
    );
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output));
}
