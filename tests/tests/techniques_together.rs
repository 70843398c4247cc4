//! Configurations that share a timing run, and those that must not.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use toml::Table;
use warpwatt_gpu::{
    COUNTERS, Control, GpuError, GpuSpec, Hooks, Run, Sampling, Way, simulate, simulate_under,
};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_techniques::parameter::Range;
use warpwatt_techniques::{ALL, Definition, Kind, Stack, Technique, Together, find};
use warpwatt_tests::traces_with_values;

/// Branches that part warps, local memory, barriers and several launches.
static TRACES: LazyLock<Vec<KernelTrace>> = LazyLock::new(|| {
    ["n_queens", "scan_large"]
        .into_iter()
        .flat_map(traces_with_values)
        .collect()
});

fn gpu() -> GpuSpec {
    let mut gpu = GpuSpec::preset("fermi-16sm").unwrap();
    gpu.sm.count = 2;
    gpu
}

/// The GPU of a configuration.
fn reshaped(stack: &Stack) -> GpuSpec {
    let mut gpu = gpu();
    stack.reshape(&mut gpu);
    gpu
}

fn alone(stack: &Stack) -> Run {
    timed(stack).unwrap_or_else(|error| panic!("{}: {error}", stack.label()))
}

fn timed(stack: &Stack) -> Result<Run, GpuError> {
    let (gpu, mut hooks) = (reshaped(stack), Hooks::default());
    stack.attach(&gpu, &mut hooks);
    simulate(&gpu, &TRACES, hooks)
}

/// The configurations in one run, which are of one GPU.
fn together(stacks: &[&Stack]) -> Vec<Option<Run>> {
    let (gpu, mut hooks) = (reshaped(stacks[0]), Hooks::default());
    let together = Together::attach(stacks, &gpu, &mut hooks);
    together.runs(&simulate(&gpu, &TRACES, hooks).unwrap())
}

/// Values of a parameter: its ends and some between them, or all words.
fn values(kind: Kind) -> Vec<String> {
    let some = |range: Range| {
        let near = [range.least, 1, 2, 3, 8, 16, 64];
        let within = near.into_iter().filter(move |it| range.contains(*it));
        within.map(|it| it.to_string())
    };
    match kind {
        Kind::Count { range, .. } => some(range).collect(),
        Kind::PowerOfTwo { range, .. } => range
            .powers_of_two()
            .take(4)
            .map(|it| it.to_string())
            .collect(),
        Kind::Counts { range, .. } => some(range).map(|it| format!("[{it}]")).collect(),
        Kind::CountOr { range, word, .. } => some(range).chain([format!("\"{word}\"")]).collect(),
        Kind::Choice { words, .. } => words.iter().map(|word| format!("\"{word}\"")).collect(),
        Kind::Flag { .. } => vec!["true".to_owned(), "false".to_owned()],
    }
}

/// A technique as it is, with every parameter changed, and with any two of which one is a choice; each label once.
fn configurations(definition: &Definition) -> Vec<Stack> {
    let mut texts = vec![String::new()];
    let is_choice = |kind: Kind| matches!(kind, Kind::Choice { .. } | Kind::Flag { .. });
    for (place, parameter) in definition.parameters.iter().enumerate() {
        for value in values(parameter.kind) {
            let one = format!("{} = {value}\n", parameter.name);
            for other in &definition.parameters[..place] {
                if is_choice(parameter.kind) || is_choice(other.kind) {
                    let both = values(other.kind).into_iter();
                    texts.extend(both.map(|value| format!("{one}{} = {value}\n", other.name)));
                }
            }
            texts.push(one);
        }
    }
    let parsed = texts.iter().filter_map(|text| {
        let table: Table = text.parse().unwrap();
        definition.parse(&table).ok()
    });
    let stacks = parsed.filter_map(|technique| Stack::new(vec![technique.into()]).ok());
    let by_label: BTreeMap<String, Stack> = stacks.map(|stack| (stack.label(), stack)).collect();
    by_label.into_values().collect()
}

fn stack(members: &[(&str, &str)]) -> Stack {
    let members = members.iter().map(|(name, parameters)| {
        let definition = find(name).ok().unwrap();
        let technique = definition.parse(&parameters.parse().unwrap()).unwrap();
        Arc::<dyn Technique>::from(technique)
    });
    Stack::new(members.collect()).unwrap()
}

/// Configurations by what they decide and the GPU that they are of.
fn alike(stacks: &[Stack]) -> Vec<Vec<&Stack>> {
    let mut groups: BTreeMap<String, Vec<&Stack>> = BTreeMap::new();
    for stack in stacks {
        let gpu = toml::to_string(&reshaped(stack)).unwrap();
        groups
            .entry(format!("{}\n{gpu}", stack.decides()))
            .or_default()
            .push(stack);
    }
    groups.into_values().collect()
}

/// Counters of the GPU to which `register_to_register_protection` adds its own accesses.
const ADDED_TO: [&str; 4] = [
    "register_file.read",
    "register_file.write",
    "register_words_read",
    "register_words_written",
];

/// Equal cycles and equal counts of the GPU, but for those that techniques add to.
fn assert_times_alike(one: (&Stack, &Run), other: (&Stack, &Run)) {
    let told = || format!("{} beside {}", one.0.label(), other.0.label());
    assert_eq!(one.1.cycles, other.1.cycles, "{}", told());
    assert_eq!(one.1.launches, other.1.launches, "{}", told());
    assert_eq!(one.1.work, other.1.work, "{}", told());
    let counters = COUNTERS
        .iter()
        .filter(|info| !ADDED_TO.contains(&info.name));
    for info in counters {
        let count = |run: &Run| run.activity.get(info.name);
        assert_eq!(count(one.1), count(other.1), "{}: {}", told(), info.name);
    }
}

/// Each declaration: what decides alike takes equal time and has the GPU count the same; what only watches, the same as the plain GPU. In one run each counts what it
/// counts alone, bit for bit.
#[test]
fn who_decides_alike_is_timed_alike_and_counts_alike_together() {
    let plain = (&Stack::default(), &alone(&Stack::default()));
    let mut shared = Vec::new();
    for definition in ALL {
        let configurations = configurations(definition);
        for group in alike(&configurations) {
            let watches = group[0].decides().is_empty() && reshaped(group[0]) == gpu();
            if group.len() == 1 && !watches {
                continue;
            }
            // Some have too little of something for these kernels.
            let runs = group
                .iter()
                .filter_map(|stack| Some((*stack, timed(stack).ok()?)));
            let (group, runs): (Vec<&Stack>, Vec<Run>) = runs.unzip();
            if group.is_empty() {
                continue;
            }
            let first = if watches { plain } else { (group[0], &runs[0]) };
            for (stack, run) in group.iter().zip(&runs) {
                assert_times_alike(first, (stack, run));
            }
            for ((stack, alone), together) in group.iter().zip(&runs).zip(together(&group)) {
                assert_eq!(together.as_ref(), Some(alone), "{}", stack.label());
            }
            shared.push(format!("{}: {}", definition.name, group.len()));
        }
    }
    assert!(shared.len() > 15, "{shared:#?}");
}

/// Which parameters change no time where nothing else is chosen.
#[test]
fn parameters_that_change_no_time() {
    let mut found = Vec::new();
    for definition in ALL {
        for parameter in definition.parameters {
            let usual = definition.parse(&Table::new()).ok().unwrap();
            let all = values(parameter.kind).into_iter().all(|value| {
                let table: Table = format!("{} = {value}", parameter.name).parse().unwrap();
                let Ok(technique) = definition.parse(&table) else {
                    return false;
                };
                let (mut one, mut other) = (gpu(), gpu());
                usual.reshape(&mut one);
                technique.reshape(&mut other);
                technique.decides() == usual.decides() && one == other
            });
            if all {
                found.push(format!("{}.{}", definition.name, parameter.name));
            }
        }
    }
    insta::assert_snapshot!(found.join("\n"));
}

/// Which parameters only prices hang on: with other values the same is counted and reported, on a GPU that they leave as it is.
#[test]
fn parameters_that_only_prices_hang_on() {
    let mut found = Vec::new();
    for definition in ALL {
        for parameter in definition.parameters.iter().filter(|it| it.priced_only) {
            let usual = stack(&[(definition.name, "")]);
            let run = alone(&usual);
            let mut others = 0;
            for value in values(parameter.kind) {
                let Ok(table) = format!("{} = {value}", parameter.name).parse() else {
                    panic!("{value}");
                };
                let Ok(technique) = definition.parse(&table) else {
                    continue;
                };
                let other = Stack::new(vec![technique.into()]).unwrap();
                if reshaped(&other) != reshaped(&usual) {
                    continue;
                }
                let ran = alone(&other);
                assert_eq!(ran, run, "{}", other.label());
                assert_eq!(
                    other.metrics(&ran),
                    usual.metrics(&run),
                    "{}",
                    other.label()
                );
                others += usize::from(other.label() != usual.label());
            }
            assert!(others > 0, "{}.{}", definition.name, parameter.name);
            found.push(format!("{}.{}", definition.name, parameter.name));
        }
    }
    insta::assert_snapshot!(found.join("\n"));
}

/// Watchers of different kinds share a run with the plain GPU, and with whatever else decides.
#[test]
fn watchers_follow_any_run() {
    let watchers = [
        &[("fetch_redundancy", "")][..],
        &[("static_scalarization", "")],
        &[("power_gating", "")],
        &[("register_virtualization", "allocation = \"static\"")],
        &[("ecc", "structure = \"shared_memory\"")],
        &[("ecc", "structure = \"register_file\""), ("sawp", "")],
        &[("sawp", ""), ("register_to_register_protection", "")],
        &[("execution_profile", "")],
    ];
    let deciders = [
        &[][..],
        &[("filter_cache", "")],
        &[("uniform_vector", "")],
        &[("warped_dmr", "")],
        &[("full_dmr", "design = \"threads\"")],
    ];
    for decider in deciders {
        let all = watchers.iter().map(|watcher| [decider, watcher].concat());
        let mut all: Vec<Stack> = all.map(|members| stack(&members)).collect();
        all.insert(1, stack(decider));
        let all: Vec<&Stack> = all.iter().collect();
        for (stack, run) in all.iter().zip(together(&all)) {
            assert_eq!(run, Some(alone(stack)), "{}", stack.label());
        }
    }
}

/// What is put up to the whole is put up for each configuration as if it were alone.
#[test]
fn configurations_are_sampled_together_as_alone() {
    let traces = traces_with_values("hotspot");
    let sampled = |stacks: &[&Stack]| {
        let (mut gpu, mut hooks) = (reshaped(stacks[0]), Hooks::default());
        gpu.sm.count = 1;
        let together = Together::attach(stacks, &gpu, &mut hooks);
        let control = Control {
            sampling: Some(Sampling {
                batches: 30,
                way: Way::Ctas,
            }),
            ..Control::default()
        };
        together.runs(&simulate_under(&gpu, &traces, hooks, control).unwrap())
    };
    let all: [&[(&str, &str)]; 4] = [
        &[],
        &[("register_virtualization", "allocation = \"static\"")],
        &[("power_gating", "gating = \"register\"")],
        &[("static_scalarization", "")],
    ];
    let all: Vec<Stack> = all.map(stack).into();
    let all: Vec<&Stack> = all.iter().collect();
    for (stack, run) in all.iter().zip(sampled(&all)) {
        let run = run.unwrap();
        assert!(run.is_sampled());
        assert_eq!([Some(run)][..], sampled(&[*stack]), "{}", stack.label());
    }
}

/// Whoever decides otherwise is found out: what is given for a configuration is what it counts alone, or nothing.
#[test]
fn who_decides_otherwise_is_found_out() {
    let plain = Stack::default();
    let mut apart = 0;
    for definition in ALL {
        let stack = Stack::new(vec![definition.parse(&Table::new()).ok().unwrap().into()]).unwrap();
        if reshaped(&stack) != gpu() {
            continue;
        }
        for order in [[&plain, &stack], [&stack, &plain]] {
            let runs = together(&order);
            assert!(runs[0].is_some());
            for (one, run) in order.into_iter().zip(runs) {
                match run {
                    Some(run) => assert_eq!(run, alone(one), "{}", stack.label()),
                    None => apart += 1,
                }
            }
        }
    }
    assert!(apart > 5, "{apart}");
}

/// The same within a technique, whose configurations decide otherwise late or never.
#[test]
fn who_waits_longer_is_found_out() {
    let of = |parameters| stack(&[("register_virtualization", parameters)]);
    let all = [
        "",
        "wake_cycles = 10",
        "renaming_table_bytes = 64",
        "release_flag_cache = 1",
    ];
    let all = all.map(of);
    let runs = together(&all.each_ref());
    let own = all.each_ref().map(alone);
    assert_ne!(own[0].cycles, own[1].cycles);
    assert_eq!(runs[0].as_ref(), Some(&own[0]));
    assert_eq!((&runs[1], &runs[2]), (&None, &None));
    assert_eq!(runs[3].as_ref(), Some(&own[3]));
}
