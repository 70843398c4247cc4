use super::*;
use crate::diag::render;

fn catalogue() -> Catalogue {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    Catalogue {
        presets: names(&["tesla-16sm"]),
        kernels: names(&["matrix_mul", "hotspot", "bfs"]),
        beside: names(&["filter_cache"]),
        papers: vec![
            paper_table(
                "small",
                &[("MM", "matrix_mul", "paper"), ("HS", "hotspot", "paper")],
            ),
            paper_table(
                "other",
                &[
                    ("BFS", "bfs", "paper"),
                    ("MU", "", ""),
                    ("HS", "bfs", "other"),
                ],
            ),
            paper_table("none", &[("MU", "", "")]),
        ],
        techniques: names(&["filter_cache"]),
        counters: Vec::new(),
        metrics: Arc::new(()),
    }
}

fn paper_table(name: &str, rows: &[(&str, &str, &str)]) -> PaperTable {
    let rows = rows.iter().map(|(abbreviation, kernel, case)| PaperRow {
        names: [
            (*abbreviation).to_owned(),
            format!("{abbreviation} in full"),
        ],
        stands: (!kernel.is_empty()).then(|| ((*kernel).to_owned(), (*case).to_owned())),
    });
    PaperTable {
        name: name.to_owned(),
        rows: rows.collect(),
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
    assert_eq!(study.techniques[0].members[0].parameters[0].values.len(), 2);
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

/// The suite has a kernel for every row of the papers that ship; a catalogue need not.
#[test]
fn rows_without_a_kernel_or_with_several_are_told() {
    let text = GOOD.replace(
        r#"["matrix_mul", { name = "hotspot", case = "big" }, { launch = "my.toml", ptx = "my.ptx" }]"#,
        r#"["HS", "paper:none", "paper:other", "paper:other/MU"]"#,
    );
    insta::assert_snapshot!(parsed(&text).1);
}

#[test]
fn an_empty_file_says_what_a_study_needs() {
    insta::assert_snapshot!(parsed("").1);
}

/// Kernels that `kernels = LIST` selects, as `name case`, and what is said about it.
fn selected(list: &str) -> (Vec<String>, String) {
    let from = GOOD.find("kernels = ").unwrap();
    let to = from + GOOD[from..].find('\n').unwrap();
    let (study, said) = parsed(&format!("{}kernels = {list}{}", &GOOD[..from], &GOOD[to..]));
    let workloads = study.unwrap().workloads.unwrap_or_default();
    let names = workloads.iter().map(|workload| match &workload.value {
        Workload::Suite { name, case, .. } => format!("{name} {}", case.as_deref().unwrap_or("-")),
        Workload::Own { .. } | Workload::Counted(_) => "own".to_owned(),
    });
    (names.collect(), said)
}

#[test]
fn a_paper_s_name_selects_its_table() {
    let (kernels, said) = selected("\"paper:small\"");
    assert_eq!(kernels, ["matrix_mul paper", "hotspot paper"]);
    assert_eq!(said.trim(), "");
    let (kernels, _) = selected("[\"paper:small\", \"bfs\"]");
    assert_eq!(kernels, ["matrix_mul paper", "hotspot paper", "bfs -"]);
    let (kernels, said) = selected("[\"paper:other/hs\"]");
    assert_eq!((kernels, said.trim()), (vec!["bfs other".to_owned()], ""));
}

#[test]
fn what_a_paper_has_and_the_suite_has_not_is_said() {
    let (kernels, said) = selected("\"paper:other\"");
    assert_eq!(kernels, ["bfs paper", "bfs other"]);
    assert!(
        said.contains("warning") && said.contains("1 of the 3 benchmarks of the paper `other`: MU"),
        "{said}"
    );
    for list in ["\"paper:none\"", "\"paper:other/MU\""] {
        let (kernels, said) = selected(list);
        assert!(
            kernels.is_empty() && said.contains("the suite has no kernel"),
            "{said}"
        );
    }
}

#[test]
fn a_paper_s_name_for_a_kernel_is_the_kernel() {
    assert_eq!(
        selected("[\"mm\", { name = \"BFS in full\", case = \"x\" }]").0,
        ["matrix_mul -", "bfs x"]
    );
    let (_, said) = selected("[\"HS\"]");
    assert!(
        said.contains("different kernels `HS`") && said.contains("bfs or hotspot"),
        "{said}"
    );
    let (_, said) = selected("[\"paper:smell\"]");
    assert!(
        said.contains("no paper is called `smell`") && said.contains("small"),
        "{said}"
    );
}

const SWEPT: &str = r#"
[study]
title = "Swept"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "45 nm"]
vdd = { from = "0.6 V", to = "0.8 V", step = "0.05 V" }
temperature = { from = "300 K", to = "400 K", count = 3 }
sm.threads = { from = 128, to = 1024, count = 4, scale = "log" }
sm.clock_mhz = { from = 500.5, to = 1000 }
[workloads]
kernels = ["matrix_mul", "bfs"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
[sweep]
sample = "SAMPLE"
count = 50
seed = 3
over = ["gpu.sm.clock_mhz", "technique.filter_cache.entries"]
zip = ["gpu.node", "workloads.kernels"]
"#;

fn swept(sample: &str) -> Draft {
    let (draft, said) = parsed(&SWEPT.replace("SAMPLE", sample));
    assert_eq!(said.trim(), "");
    draft.unwrap()
}

#[test]
fn ranges_are_values_in_their_units() {
    let draft = swept("random");
    let technology = draft.technology.unwrap();
    let volts = technology.vdd.iter().map(|vdd| vdd.value.unwrap().si());
    assert_eq!(volts.collect::<Vec<_>>(), [0.6, 0.65, 0.7, 0.75, 0.8]);
    let kelvins = technology.temperature.iter().map(|at| at.value.si());
    assert_eq!(kelvins.collect::<Vec<_>>(), [300.0, 350.0, 400.0]);
    let gpu = draft.gpu.unwrap();
    let threads = gpu.overrides[0]
        .values
        .iter()
        .map(|value| value.value.as_integer());
    let threads: Option<Vec<i64>> = threads.collect();
    assert_eq!(
        threads.unwrap(),
        [128, 256, 512, 1024],
        "whole numbers stay whole"
    );
}

#[test]
fn what_is_drawn_depends_on_method_and_seed_and_lies_in_the_range() {
    for sample in ["random", "latin_hypercube", "sobol"] {
        let draft = swept(sample);
        let gpu = draft.gpu.clone().unwrap();
        let clocks = gpu.overrides[1]
            .values
            .iter()
            .map(|value| value.value.as_float());
        let clocks: Vec<f64> = clocks.collect::<Option<_>>().unwrap();
        assert_eq!(clocks.len(), 50, "{sample}");
        assert!(
            clocks.iter().all(|clock| (500.5..=1000.0).contains(clock)),
            "{sample}"
        );
        assert!(clocks.is_sorted(), "{sample}");
        assert_eq!(swept(sample), draft, "{sample}");
        let sampling = draft.design.sampling().unwrap();
        assert_eq!(
            (sampling.method.name(), sampling.count, sampling.seed),
            (sample, 50, 3)
        );
    }
}

#[test]
fn one_group_that_walks_together_needs_no_second_brackets() {
    let inside = SWEPT.replace("SAMPLE", "random");
    let outside = inside.replace(
        "zip = [\"gpu.node\", \"workloads.kernels\"]",
        "zip = [[\"gpu.node\", \"workloads.kernels\"]]",
    );
    assert_ne!(inside, outside);
    let designs = [inside, outside].map(|text| parsed(&text).0.unwrap().design);
    assert_eq!(designs[0], designs[1]);
}

/// Many settings that no GPU has: each is told once, the first of them with their places.
#[test]
fn thousands_of_unknown_settings_are_judged_one_by_one() {
    let settings: String = (0..3_000)
        .map(|number| format!("sm.odd_{number} = 1\n"))
        .collect();
    let text = format!("[gpu]\npreset = \"tesla-16sm\"\nnode = \"32nm\"\n{settings}");
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text.as_str());
    let draft = read(&mut sink, source, &catalogue()).unwrap();
    sink.diags.clear();
    let axes = draft.gpu.unwrap();
    assert!(crate::gpus(&axes, None, &draft.design, &mut sink, source).is_empty());
    assert_eq!(sink.diags.len(), 3_000);
    for (number, diag) in sink.diags.iter().enumerate() {
        let label = &diag.labels[0];
        assert!(
            text[label.range.clone()].starts_with("odd_"),
            "fault {number}: {diag:?}"
        );
    }
}

#[test]
fn a_file_among_the_kernels_is_told_how_to_be_named() {
    for (written, launch) in [("../x.toml", "../x.toml"), ("my.ptx", "my.toml")] {
        let text = GOOD.replace("\"matrix_mul\"", &format!("\"{written}\""));
        assert_ne!(text, GOOD);
        let (_, said) = parsed(&text);
        let message = format!("`{written}` is a file, and a text names a kernel of the suite");
        assert!(said.contains(&message), "{said}");
        let help = format!("a launch file is named by `{{ launch = \"{launch}\" }}`");
        assert!(said.contains(&help), "{said}");
    }
}
