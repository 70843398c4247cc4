//! Studies, questions and technologies.

use warpwatt::diag::{Diag, Sink, render};
use warpwatt::run::catalogue;
use warpwatt::study::{Draft, Question, read};
use warpwatt_techlib::{Flavour, OwnNode};

use super::super::seeds;
use super::{Check, judge, of_text};

/// A study as it is read, without what it names.
pub fn study() -> (Vec<Vec<u8>>, Check) {
    (seeds::below("workloads/studies", ".toml"), studies())
}

/// Sections that no study that ships has.
pub fn structures() -> (Vec<Vec<u8>>, Check) {
    let texts = [STRUCTURE, SWEEP, GOALS];
    (seeds::texts(&texts), studies())
}

fn studies() -> Check {
    let catalogue = catalogue();
    of_text(move |text| {
        let mut sink = Sink::default();
        let source = sink.sources.add("study.toml", text);
        let draft = read(&mut sink, source, &catalogue);
        let accepted = draft.and_then(Draft::finish).is_some();
        judge(&sink, accepted);
        let mut diags = sink.diags.iter();
        assert!(
            accepted || diags.all(|diag| !diag.labels.is_empty()),
            "refused without a place: {}",
            render(&sink, false)
        );
    })
}

const STRUCTURE: &str = r#"
[study]
title = "own"
[gpu]
preset = "v100"
node = ["7nm", "own.toml"]
temperature = "350 K"
vdd = ["0.7 V", "0.8 V"]
"sm.threads" = [512, 1024]
[workloads]
kernels = ["vector_add", { launch = "my.toml", case = "small" }, { counts = "c.csv", map = "ncu" }]
[[technique]]
name = "filter_cache"
entries = [16, 32]
[[structure]]
name = "predictor"
per = "sm"
group = "control"
array = { capacity = "1 KiB", word = "32b", ports = "1r1w" }
[structure.actions]
read = "warp_instructions * (1 + 0.5)"
write = "warp_instructions / 4"
[[structure]]
name = "table"
count = 2
logic = { block = "adder", width = 32 }
[structure.actions]
operate = "alu_operations"
"#;

const SWEEP: &str = r#"
[study]
title = "sampled"
[gpu]
preset = "tesla-16sm"
node = "32nm"
vdd = { from = "0.6 V", to = "0.9 V", steps = 4 }
[workloads]
kernels = ["hotspot"]
[sweep]
method = "latin_hypercube"
points = 20
seed = 3
zip = [["gpu.vdd", "gpu.temperature"]]
[[technique]]
name = "filter_cache"
entries = { from = 8, to = 64, scale = "log2" }
[[technique]]
stack = [{ name = "filter_cache" }, { name = "warped_dmr" }]
[thermal]
ambient = "300 K"
resistance = "0.2 K/W"
[peak_power]
window = 1000
"#;

const GOALS: &str = r#"
[study]
title = "goals"
paper = "filter_cache"
[gpu]
preset = "h200"
node = "7nm"
[workloads]
kernels = ["bfs"]
[budget]
area_overhead = "5%"
slowdown = "2%"
energy_j = "<= 1 mJ"
[pareto]
metrics = ["energy_j", "area_overhead"]
[reliability]
structures = ["register_file"]
[uncertainty]
method = "monte_carlo"
samples = 1000
seed = 1
[output]
directory = "results"
formats = ["csv", "json"]
[limits]
warp_instructions = 100000
"#;

/// What is asked at the prompt: a word for each line.
pub fn question() -> (Vec<Vec<u8>>, Check) {
    let texts = [
        "hotspot\nfilter_cache(entries=16)\nsm.threads=512,1024\n7nm",
        "bfs\nfilter_cache+warped_dmr(mode=inter, rate=0.5)\nentries=8\n22nm,32nm",
        "my.toml\nuniform_vector\nline=32B\nsilicon.toml",
    ];
    let catalogue = catalogue();
    let check = of_text(move |text| {
        let words: Vec<String> = text.lines().map(str::to_owned).collect();
        let word = |at: usize| words.get(at).cloned().unwrap_or_default();
        let question = Question {
            kernels: vec![word(0)],
            case: words.get(4).cloned(),
            techniques: vec![word(1)],
            settings: vec![word(2)],
            gpu: vec![("node", word(3))],
            ..Question::default()
        };
        let mut sink = Sink::default();
        let accepted = question.study(&mut sink).and_then(|text| {
            let source = sink.sources.add("the question", text);
            read(&mut sink, source, &catalogue).and_then(Draft::finish)
        });
        judge(&sink, accepted.is_some());
    });
    (seeds::texts(&texts), check)
}

/// A node file of one's own, and the technology that it makes.
pub fn technology() -> (Vec<Vec<u8>>, Check) {
    let mut texts = seeds::texts(&[OWN]);
    texts.extend(seeds::below("techlib/data/silicon", "nm.toml"));
    let check = of_text(|text| {
        let mut sink = Sink::default();
        let source = sink.sources.add("own.toml", text);
        let mut load = |_: &str, _: &str| Err("there is no other file".to_owned());
        match OwnNode::read("own.toml", text, &mut load) {
            Err(faults) => {
                for fault in faults {
                    sink.push(Diag::error(fault.code, fault.message).at(source, fault.range, ""));
                }
                judge(&sink, false);
            }
            Ok(node) => {
                for flavour in node.flavours().into_iter().chain([Flavour::Hp]) {
                    let _ = node.technology(flavour);
                }
            }
        }
    });
    (texts, check)
}

const OWN: &str = r#"
extends = "silicon:7nm"
[node]
name = "my 7nm"
[hp]
vdd = { value = "0.72 V", source = "measured", uncertainty = 0.02 }
vth = { value = "0.2 V", source = "estimate", uncertainty = 0.1 }
[wire]
resistance = { value = "5 ohm/um", source = "measured" }
"#;
