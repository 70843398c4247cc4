//! Within a crate, too, arrows point one way: the top-level modules have no circle, but those listed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{ROOMS, root, sources};

/// A folder, modules of it that may depend on each other in a circle, and why.
type Circle = (&'static str, &'static [&'static str], &'static str);

const CIRCLES: &[Circle] = &[
    (
        "models/circuit",
        &[
            "array",
            "build",
            "choices",
            "compare",
            "cost",
            "error",
            "gate",
            "gating",
            "interface",
            "logic",
            "low_swing",
            "memory",
            "noc",
            "process",
            "repeater",
            "settings",
            "slices",
            "small",
            "spec",
            "units",
        ],
        "a specification names every kind of structure, and each is built of arrays, gates and logic under settings that name structures",
    ),
    (
        "workloads/simt",
        &[
            "barrier",
            "cta",
            "device_launch",
            "error",
            "execute",
            "grid",
            "lane_watch",
            "lanes",
            "memory",
            "nature",
            "needs",
            "races",
            "registers",
            "span",
            "speculate",
            "stack",
            "statics",
            "texture",
            "tile",
            "trace",
            "under_way",
            "upset",
            "warp",
        ],
        "one interpreter: warps leave traces, and a trace is read back with the options of its execution",
    ),
    (
        "estimator/report",
        &[
            "answer",
            "beside",
            "budget",
            "chart",
            "compare",
            "drawn",
            "metric",
            "model",
            "paper",
            "pareto",
            "protection",
            "stacked",
        ],
        "a report holds what is made of its points (answers, budgets, fronts, stacks), each of which is made from a report",
    ),
    (
        "models/techniques",
        &["protection", "recovery", "register_file", "technique"],
        "a technique says how it corrects, a correction is of what protections found, and those follow lives of registers, which register files have as techniques",
    ),
    (
        "workloads/ptx",
        &[
            "allocate",
            "cfg",
            "divergence",
            "machine",
            "program",
            "traits",
        ],
        "an entry says why it was left as PTX, which passes towards machine code decide that look at all of a program",
    ),
    (
        "workloads/gcn",
        &["exec", "wave"],
        "one interpreter: a wavefront executes instructions, and what they do is done to a wavefront",
    ),
];

/// Of a module those that it names, each with a file that does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn modules_have_no_circle() {
    let mut found = Vec::new();
    let mut stale: BTreeSet<usize> = (0..CIRCLES.len()).collect();
    for (_, folder) in ROOMS {
        let graph = graph(folder);
        for circle in circles(&graph) {
            let listed = CIRCLES.iter().position(|(room, modules, _)| {
                room == folder
                    && circle
                        .iter()
                        .all(|module| modules.contains(&module.as_str()))
            });
            match listed {
                Some(number) => drop(stale.remove(&number)),
                None => found.push(drawn(folder, &circle, &graph)),
            }
        }
    }
    assert!(
        found.is_empty(),
        "modules in a circle:\n{}",
        found.join("\n")
    );
    let stale: Vec<Circle> = stale.into_iter().map(|number| CIRCLES[number]).collect();
    assert!(
        stale.is_empty(),
        "no circle any more, drop from the list: {stale:?}"
    );
}

#[test]
fn a_circle_is_found_and_drawn() {
    let arrows = |to: &[&str]| {
        to.iter()
            .map(|to| ((*to).to_owned(), "file.rs".to_owned()))
            .collect()
    };
    let graph: Graph = [
        ("a", &["b"][..]),
        ("b", &["c", "d"]),
        ("c", &["a"]),
        ("d", &[]),
    ]
    .map(|(from, to)| (from.to_owned(), arrows(to)))
    .into();
    let found = circles(&graph);
    assert_eq!(found, [BTreeSet::from(["a", "b", "c"].map(str::to_owned))]);
    assert!(drawn("room", &found[0], &graph).contains("b -> c (file.rs)"));
    assert_eq!(
        named("use crate::{a::{x, y}, b}; super::c::z", true),
        ["a", "b", "c"]
    );
    assert_eq!(named("mycrate::a super::super::b", true), ["b"; 0]);
}

/// The modules that a library declares, and the module behind each name that it makes public at its root.
fn declared(folder: &str) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let text = fs::read_to_string(root().join(folder).join("src/lib.rs")).unwrap();
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut modules = BTreeSet::new();
    let mut names = BTreeMap::new();
    for statement in code.split(';') {
        let statement = statement.trim_start_matches(|c: char| c == '}' || c.is_whitespace());
        if let Some((_, module)) = statement.rsplit_once("mod ") {
            modules.insert(module.trim().to_owned());
        } else if let Some((_, used)) = statement.split_once("use ") {
            let Some((module, rest)) = used.split_once("::") else {
                continue;
            };
            for name in rest.split(|c: char| !c.is_alphanumeric() && c != '_') {
                names.insert(name.to_owned(), module.to_owned());
            }
        }
    }
    names.retain(|_, module| modules.contains(module));
    (modules, names)
}

fn graph(folder: &str) -> Graph {
    let (modules, names) = declared(folder);
    let mut graph = Graph::new();
    for (path, text) in sources(folder) {
        let lines = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(""));
        let code = lines.collect::<Vec<_>>().join("\n");
        let inside = path.strip_prefix(root().join(folder).join("src")).unwrap();
        let first = inside.iter().next().unwrap().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if !modules.contains(&module) {
            continue;
        }
        let is_root = inside.iter().count() == 1 || inside.ends_with(format!("{module}/mod.rs"));
        let arrows = graph.entry(module.clone()).or_default();
        for name in named(&code, is_root) {
            let other = names.get(&name).unwrap_or(&name);
            if *other != module && modules.contains(other) {
                let file = inside.display().to_string();
                arrows.entry(other.clone()).or_insert(file);
            }
        }
    }
    graph
}

/// What follows `crate::` in `code`, and `super::` in the root of a module: a name, or each of a list in braces.
fn named(code: &str, is_root: bool) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["crate::", "super::"] {
        if word == "super::" && !is_root {
            continue;
        }
        for (at, _) in code.match_indices(word) {
            let before = &code[..at];
            let in_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !in_name && !before.ends_with("super::") {
                found.extend(first_names(&code[at + word.len()..]));
            }
        }
    }
    found.retain(|name| name != "super");
    found
}

fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let Some(list) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let mut names = vec![name(list)];
    let mut depth = 1;
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&list[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The sets of modules that reach each other, largest sets whole.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|from| {
            let mut seen = BTreeSet::new();
            let mut left = vec![from];
            while let Some(at) = left.pop() {
                let next = graph.get(at).into_iter().flat_map(BTreeMap::keys);
                left.extend(next.filter(|to| seen.insert(*to)));
            }
            (from, seen)
        })
        .collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, seen) in &reached {
        if !seen.contains(from) || found.iter().any(|circle| circle.contains(*from)) {
            continue;
        }
        let back = |to: &&&String| reached.get(**to).is_some_and(|seen| seen.contains(from));
        found.push(seen.iter().filter(back).map(|to| (*to).clone()).collect());
    }
    found
}

/// The arrows of a circle, one a line.
fn drawn(folder: &str, circle: &BTreeSet<String>, graph: &Graph) -> String {
    let mut lines = vec![format!(
        "{folder}: {}",
        Vec::from_iter(circle.iter().cloned()).join(", ")
    )];
    for from in circle {
        for (to, file) in &graph[from] {
            if circle.contains(to) {
                lines.push(format!("    {from} -> {to} ({file})"));
            }
        }
    }
    lines.join("\n")
}
