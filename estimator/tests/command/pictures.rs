//! Pictures as files: of a run, of a report, and those of the documentation, which are what the commands draw today.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

fn run(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = warpwatt(&scratch.path(""), arguments);
    let code = output.status.code();
    assert_eq!(code, Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

const RUN: [&str; 6] = ["kernel", "hotspot", "--preset", "v100", "--node", "12nm"];

/// What the page and its pictures say adds up to what the document says.
#[test]
fn a_run_is_drawn_as_it_is_told() {
    let scratch = Scratch::new();
    let drawn = [
        &RUN[..],
        &["--page", "run.html", "--pictures", "drawn", "--json"],
    ]
    .concat();
    let told: Value = serde_json::from_str(&run(&scratch, &drawn)).unwrap();
    assert_eq!(
        (&told["page"], &told["pictures"]),
        (&"run.html".into(), &"drawn".into())
    );
    let plain: Value =
        serde_json::from_str(&run(&scratch, &[&RUN[..], &["--json"]].concat())).unwrap();
    assert_eq!(
        plain["counters"], told["counters"],
        "looking on changes nothing"
    );
    let names = [
        "from-instructions-to-structures",
        "power-of-each-sm",
        "power-over-time",
        "priced-area-to-scale",
        "what-sms-spend-their-cycles-on",
    ];
    let mut files: Vec<String> = fs::read_dir(scratch.path("drawn"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, names.map(|name| format!("picture-{name}.svg")));
    let page = fs::read_to_string(scratch.path("run.html")).unwrap();
    let power = told["power_w"].as_f64().unwrap();
    let mean = page.split("Power over time: mean ").nth(1).unwrap();
    let mean: f64 = mean.split(' ').next().unwrap().parse().unwrap();
    approx::assert_relative_eq!(mean, power, max_relative = 1e-3);
    let area: f64 = told["structures"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["group"] != "dram")
        .map(|it| it["area_m2"].as_f64().unwrap())
        .sum();
    assert!(page.contains(&format!("{:.0} mm²", 1e6 * area)));
    let again = [&RUN[..], &["--page", "again.html"]].concat();
    run(&scratch, &again);
    assert_eq!(
        page,
        fs::read_to_string(scratch.path("again.html")).unwrap()
    );
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let scratch = Scratch::new();
    scratch.write("file", "mine");
    for (more, expected) in [
        (&["--page", "p.html"][..], "--node"),
        (
            &["--node", "12nm", "--page", "missing/p.html"],
            "cannot write",
        ),
        (&["--node", "12nm", "--pictures", "file"], "cannot write"),
        (
            &["--node", "12nm", "--page", "p.html", "--sample", "error=2%"],
            "--sample",
        ),
        (
            &["--node", "12nm", "--page", "p.html", "--power-window", "1"],
            "--power-window",
        ),
    ] {
        let arguments = [&["kernel", "bfs", "--preset", "v100"], more].concat();
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!scratch.path("p.html").exists(), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(scratch.path("file")).unwrap(), "mine");
}

/// Foundries' memories: every row is independent, and each is a mark.
#[test]
fn a_suite_is_drawn_into_a_directory() {
    let scratch = Scratch::new();
    let drawn = ["validate", "macros", "--json", "--pictures", "drawn"];
    let told: Value = serde_json::from_str(&stdout(&warpwatt(&scratch.path(""), &drawn))).unwrap();
    let rows = told["checks"].as_array().unwrap();
    let picture = fs::read_to_string(scratch.path("drawn/macros.svg")).unwrap();
    assert_eq!(picture.matches("<rect").count(), rows.len());
    for row in rows {
        assert_eq!(row["kind"], "independent");
        let what = row["what"].as_str().unwrap();
        assert!(picture.contains(what), "{what}");
    }
}

/// Told at once, not after the comparison.
#[test]
fn a_picture_of_a_suite_that_cannot_be_written_is_refused() {
    let scratch = Scratch::new();
    scratch.write("file", "mine");
    for option in [["--picture", "missing/all.svg"], ["--pictures", "file"]] {
        let arguments = [&["validate", "macros"][..], &option].concat();
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        assert!(stderr(&output).contains("cannot write"), "{option:?}");
        assert!(stdout(&output).is_empty(), "{option:?}");
    }
}

/// The study whose pictures pages show, without its nodes.
const STUDY: &str = r#"
[study]
title = "Four techniques"
[workloads]
kernels = ["hotspot", "bfs", "matrix_mul", "reduction"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "hierarchical_register_file"
[[technique]]
name = "power_gating"
[[technique]]
name = "uniform_vector"
[pareto]
metrics = ["energy_j", "area_m2"]
[output]
formats = ["svg"]
[gpu]
preset = "tesla-16sm"
node = "#;

/// The file in the documentation, and the picture that it is.
const OF_NODES: [(&str, &str); 1] = [("nodes", "change-of-energy-over-nodes")];
const OF_THE_STUDY: [(&str, &str); 4] = [
    ("registers", "registers-over-time"),
    ("changes", "change-of-energy"),
    ("kernels", "kernel-by-kernel"),
    ("front", "hotspot-area-m2-against-energy-j"),
];
const OF_THE_RUN: [(&str, &str); 5] = [
    ("flow", "from-instructions-to-structures"),
    ("sms", "power-of-each-sm"),
    ("power", "power-over-time"),
    ("area", "priced-area-to-scale"),
    ("cycles", "what-sms-spend-their-cycles-on"),
];

/// Registers over time, which a run draws beside its report.
const REGISTERS: &str = r#"
[study]
title = "Registers"
[gpu]
preset = "fermi-16sm"
node = "40nm"
[workloads]
build = "papers"
kernels = ["matrix_mul", "hotspot"]
[[technique]]
name = "register_virtualization"
[[technique]]
name = "register_shrink"
"#;

/// `WARPWATT_BLESS=1` draws them anew.
#[test]
fn pictures_of_the_pages_are_what_is_drawn_today() {
    let scratch = Scratch::new();
    for (name, nodes) in [
        ("study", r#""16nm""#),
        ("nodes", r#"["40nm", "28nm", "16nm", "7nm"]"#),
    ] {
        let study = format!("{name}.toml");
        scratch.write(&study, &format!("{STUDY}{nodes}\n"));
        run(&scratch, &["run", &study, "--out", name, "--quiet"]);
    }
    run(&scratch, &[&RUN[..], &["--pictures", "run"]].concat());
    scratch.write("registers.toml", REGISTERS);
    let live = scratch.path("study/picture-registers-over-time.svg");
    let live = live.to_str().unwrap();
    run(
        &scratch,
        &["run", "registers.toml", "--live", live, "--quiet"],
    );
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    let sets = [
        ("study", &OF_THE_STUDY[..]),
        ("nodes", &OF_NODES),
        ("run", &OF_THE_RUN),
    ];
    for (directory, pictures) in sets {
        for (name, picture) in pictures {
            let drawn = scratch
                .path(directory)
                .join(format!("picture-{picture}.svg"));
            let drawn =
                fs::read_to_string(&drawn).unwrap_or_else(|error| panic!("{drawn:?}: {error}"));
            let shown = docs.join(format!("{name}.svg"));
            if std::env::var_os("WARPWATT_BLESS").is_some() {
                fs::write(&shown, &drawn).unwrap();
            } else {
                assert!(
                    fs::read_to_string(&shown).unwrap() == drawn,
                    "{name} is drawn otherwise today"
                );
            }
        }
    }
}
