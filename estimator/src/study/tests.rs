use super::*;
use crate::diag::render;

fn catalogue() -> Catalogue {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    Catalogue {
        presets: names(&["tesla-16sm"]),
        kernels: names(&["matrix_mul", "hotspot", "bfs"]),
        techniques: names(&["filter_cache"]),
    }
}

fn parsed(text: &str) -> (Option<Draft>, String) {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    let study = read(&mut sink, source, &catalogue());
    (study, render(&sink, false))
}

const GOOD: &str = r#"
[study]
title = "Filter cache across nodes"

[gpu]
preset = "tesla-16sm"
node = ["32nm", "45 nm"]
temperature = "350 K"
sm.threads = [1024, 512]
scheduler = { policy = ["round_robin", "two_level"] }

[workloads]
kernels = ["matrix_mul", { name = "hotspot", case = "big" }, { launch = "my.toml", ptx = "my.ptx" }]

[[technique]]
name = "filter_cache"
entries = [16, 32]

[budget]
area_overhead = "5%"

[output]
directory = "out"
formats = ["csv"]
"#;

#[test]
fn a_good_study_is_read_whole() {
    let (study, text) = parsed(GOOD);
    let study = study.and_then(Draft::finish).expect(&text);
    assert_eq!(study.technology.node.len(), 2);
    let paths: Vec<&str> = study
        .gpu
        .overrides
        .iter()
        .map(|setting| setting.path.as_str())
        .collect();
    assert_eq!(paths, ["sm.threads", "scheduler.policy"]);
    assert_eq!(study.workloads.len(), 3);
    assert_eq!(study.techniques[0].parameters[0].values.len(), 2);
    assert_eq!(
        study.budget.and_then(|budget| budget.area_overhead),
        Some(0.05)
    );
    assert_eq!(study.output.formats, [Format::Csv]);
}

#[test]
fn all_faults_of_a_study_are_reported_at_once() {
    let (_, text) = parsed(
        r#"
[study]
titel = "x"
[gpu]
preset = "tesla-16"
node = ["32 pm2", 45]
flavour = "hpc"
temperature = "80 C"
vdd = 0.9
[workloads]
kernels = ["hotspt", "bfs", "bfs", {}]
[[technique]]
name = "filter-cache"
entries = []
[budget]
slowdown = "1"
[output]
formats = ["xml"]
[limits]
warp_instructions = 0
[ouput]
"#,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn an_empty_file_says_what_a_study_needs() {
    insta::assert_snapshot!(parsed("").1);
}
