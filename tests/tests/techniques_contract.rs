//! What holds for every technique of the registry.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use crate::gpu_support::*;
use toml::Table;
use warpwatt::label;
use warpwatt_activity::{Activity, Event};
use warpwatt_circuit::{
    CircuitError, Cost, Gated, Gating, Granularity, OperatingPoint, Profile, Spec, power_gate,
};
use warpwatt_gpu::{
    COUNTERS, Control, GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, PlaceEvent, Run, Sampling,
    Way, simulate, simulate_under,
};
use warpwatt_simt::trace::{KernelTrace, Space, StaticInst};
use warpwatt_structures::plain;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library, Technology};
use warpwatt_techniques::parameter::Range;
use warpwatt_techniques::{
    ALL as REGISTRY, Circuits, Definition, Group, Kind, Metric, Refusal, Stack, Technique, find,
};
use warpwatt_tests::{traces, traces_with_values};

/// What stacks run: recorded once.
static KERNEL: LazyLock<[KernelTrace; 1]> = LazyLock::new(|| [kernel()]);

/// Loops over code larger than the I-cache, different in every warp, with branches and memory.
fn kernel() -> KernelTrace {
    const LENGTH: u32 = 700;
    let code: Vec<StaticInst> = (0..LENGTH)
        .map(|index| match index % 11 {
            0 => load(Space::Global, (index % 16) as u16),
            5 => exit(),
            _ => add((index % 16) as u16, &[((index + 3) % 16) as u16]),
        })
        .collect();
    launch(code, 6, 4, |cta, warp| {
        let mut steps = Vec::new();
        let mut at = 13 * (cta + warp);
        while at < LENGTH {
            steps.push(match at % 11 {
                0 => Dynamic::at(at, ALL, |lane| u64::from(128 * (cta + 7 * at)) + 4 * lane),
                _ => Dynamic::plain(at),
            });
            let jumps_back = at % 35 == 5 + warp && steps.len() < 400;
            at = if jumps_back { at - 5 } else { at + 1 };
        }
        steps
    })
}

fn defaults(definition: &Definition) -> Box<dyn Technique> {
    definition
        .parse(&Table::new())
        .unwrap_or_else(|problems| panic!("{}: {problems:?}", definition.name))
}

fn small_gpu() -> GpuSpec {
    let mut spec = gpu();
    spec.sm.count = 2;
    spec
}

fn run_with(techniques: &[&dyn Technique]) -> Run {
    let mut spec = small_gpu();
    let mut hooks = Hooks::default();
    for technique in techniques {
        technique.reshape(&mut spec);
    }
    for technique in techniques {
        technique.attach(&spec, &mut hooks);
    }
    simulate(&spec, &*KERNEL, hooks).unwrap()
}

#[test]
fn the_registry_is_not_empty_and_names_are_unique() {
    let names: BTreeSet<&str> = REGISTRY.iter().map(|definition| definition.name).collect();
    assert!(REGISTRY.len() >= 2);
    assert_eq!(names.len(), REGISTRY.len());
    for definition in REGISTRY {
        assert!(find(definition.name).is_ok());
        assert_eq!(defaults(definition).name(), definition.name);
        assert!(!definition.summary.is_empty() && !definition.citation.is_empty());
    }
}

#[test]
fn written_out_defaults_are_the_defaults() {
    for definition in REGISTRY {
        let text: String = definition
            .parameters
            .iter()
            .map(|parameter| format!("{} = {}\n", parameter.name, parameter.default()))
            .collect();
        let table: Table = text.parse().unwrap();
        let written = definition
            .parse(&table)
            .unwrap_or_else(|problems| panic!("{}: {problems:?}", definition.name));
        let usual = defaults(definition).label();
        assert!(label::same(&written.label(), &usual), "{}", written.label());
        assert!(written.label().starts_with(definition.name));
    }
}

#[test]
fn wrong_parameters_are_refused_with_a_remedy() {
    for definition in REGISTRY {
        for parameter in definition.parameters {
            for value in ["-1", "\"many\"", "0.5"] {
                let table: Table = format!("{} = {value}", parameter.name).parse().unwrap();
                let problems = definition
                    .parse(&table)
                    .err()
                    .unwrap_or_else(|| panic!("{}.{} = {value}", definition.name, parameter.name));
                assert_eq!(problems[0].key, parameter.name);
                assert!(problems[0].help.is_some());
            }
            if let Kind::Choice { words, .. } = parameter.kind {
                for word in words {
                    let table = format!("{} = \"{word}\"", parameter.name).parse();
                    assert!(definition.parse(&table.unwrap()).is_ok(), "{word}");
                }
            }
        }
        let table: Table = "no_such_parameter = 1".parse().unwrap();
        let problems = definition
            .parse(&table)
            .expect_err("unknown keys are refused");
        assert!(problems[0].help.is_some());
    }
}

/// Values that a parameter takes, its default among them and both ends of its range, and values that it does not take.
fn within_and_outside(kind: Kind) -> (Vec<String>, Vec<String>) {
    let ends = |range: Range| {
        let (least, most) = (i64::from(range.least), i64::from(range.most));
        (vec![least, most], vec![least - 1, most + 1])
    };
    let written = |numbers: Vec<i64>| numbers.iter().map(i64::to_string).collect::<Vec<_>>();
    let quoted = |word: &str| format!("\"{word}\"");
    match kind {
        Kind::Count { range, .. } => {
            let (within, outside) = ends(range);
            (written(within), written(outside))
        }
        Kind::PowerOfTwo { range, .. } => {
            let (within, mut outside) = ends(range);
            outside.extend([i64::from(range.most) - 1, 2 * i64::from(range.most)]);
            (written(within), written(outside))
        }
        Kind::Counts { range, .. } => {
            let (within, outside) = ends(range);
            let lists = |numbers: Vec<i64>| numbers.iter().map(|it| format!("[{it}]")).collect();
            (lists(within), lists(outside))
        }
        Kind::CountOr { range, word, .. } => {
            let (within, outside) = ends(range);
            let mut within = written(within);
            within.push(quoted(word));
            (within, written(outside))
        }
        Kind::Choice { words, .. } => {
            let within = words.iter().map(|word| quoted(word));
            (within.collect(), vec![quoted("none of these")])
        }
        Kind::Flag { .. } => (
            vec!["true".to_owned(), "false".to_owned()],
            vec!["2".to_owned()],
        ),
    }
}

/// Parameters that are refused without another one: technique and parameter, and what has to be given.
const NEEDED: [((&str, &str), &str); 1] = [(("uniform_vector", "parity"), "reliability = true")];

/// A parameter is what its declaration says: taken within its range, named by the label, and refused by its name outside.
#[test]
fn parameters_are_what_is_declared() {
    for definition in REGISTRY {
        for parameter in definition.parameters {
            let needed = NEEDED
                .iter()
                .find(|(of, ..)| *of == (definition.name, parameter.name));
            let needed = needed.map_or("", |(_, needed)| needed);
            let parse = |value: &str| {
                let table = format!("{needed}\n{} = {value}", parameter.name);
                definition.parse(&table.parse().unwrap())
            };
            let usual = definition.parse(&needed.parse().unwrap());
            let usual = usual.unwrap_or_else(|_| panic!("{needed}")).label();
            let told = |value: &str| format!("{}.{} = {value}", definition.name, parameter.name);
            let (mut within, outside) = within_and_outside(parameter.kind);
            within.push(parameter.default());
            for value in within {
                let label = parse(&value).unwrap_or_else(|_| panic!("{}", told(&value)));
                let label = label.label();
                let named = format!("{}={}", parameter.name, value.replace('"', ""));
                let is_default = value == parameter.default();
                assert_eq!(label::same(&label, &usual), is_default, "{label}");
                assert!(label.contains(&named), "{label}");
            }
            for value in outside {
                let problems = parse(&value)
                    .err()
                    .unwrap_or_else(|| panic!("{}", told(&value)));
                assert_eq!(problems.len(), 1, "{}", told(&value));
                assert_eq!(problems[0].key, parameter.name);
                assert!(problems[0].help.is_some(), "{}", told(&value));
            }
        }
    }
}

/// The code of a technique, or of what several share: its file and its folder, without tests and comments.
fn code_of(module: &str) -> String {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/techniques/src");
    let mut places = vec![
        Path::new(sources).join(format!("{module}.rs")),
        Path::new(sources).join(module),
    ];
    let mut code = String::new();
    while let Some(place) = places.pop() {
        if let Ok(entries) = std::fs::read_dir(&place) {
            places.extend(entries.map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = std::fs::read_to_string(&place) {
            let tested = text.find("#[cfg(test)]").unwrap_or(text.len());
            let lines = text[..tested].lines();
            code.extend(lines.filter(|line| !line.trim_start().starts_with("//")));
        }
    }
    assert!(!code.is_empty(), "{module} has no code");
    code
}

/// A technique declares a parameter once and reads it by that declaration: no second default or range stands beside it.
#[test]
fn a_parameter_is_declared_once() {
    const DECLARATIONS: [&str; 6] = [
        "count",
        "power_of_two",
        "counts",
        "count_or",
        "choice",
        "flag",
    ];
    let shared = code_of("register_file");
    for definition in REGISTRY {
        let mut code = code_of(definition.name) + &shared;
        code.retain(|letter| !letter.is_whitespace());
        for parameter in definition.parameters {
            let declared = DECLARATIONS.map(|it| format!("={it}(\"{}\",", parameter.name));
            let times = declared.iter().map(|it| code.matches(it.as_str()).count());
            assert_eq!(
                times.sum::<usize>(),
                1,
                "{}.{}",
                definition.name,
                parameter.name
            );
        }
        let mut uses = code.split(".given(").skip(1);
        let second = uses.any(|after| {
            after
                .split(';')
                .next()
                .unwrap_or("")
                .contains(").unwrap_or")
        });
        assert!(
            !second,
            "{}: a default where a parameter is read",
            definition.name
        );
    }
}

/// A technique that is configured but not attached leaves no trace: the run without hooks is bit for bit the same before and after.
#[test]
fn what_is_not_attached_changes_nothing() {
    let before = run_with(&[]);
    for definition in REGISTRY {
        let technique = defaults(definition);
        let attached = run_with(&[technique.as_ref()]);
        assert_eq!(
            attached.activity.get("warp_instructions"),
            before.activity.get("warp_instructions")
                + attached.activity.get("aged_sampling_dmr_instructions")
        );
        assert_eq!(run_with(&[]), before, "{}", technique.label());
    }
}

/// Techniques without structures, which leave the GPU as it is, only watch: everything that the GPU counts stays as it was.
#[test]
fn what_costs_nothing_changes_nothing() {
    let before = run_with(&[]);
    let mut watchers = 0;
    for definition in REGISTRY {
        let technique = defaults(definition);
        let mut reshaped = small_gpu();
        technique.reshape(&mut reshaped);
        if !technique.structures(&small_gpu()).is_empty() || reshaped != small_gpu() {
            continue;
        }
        watchers += 1;
        let attached = run_with(&[technique.as_ref()]);
        assert_eq!(attached.cycles, before.cycles);
        for info in COUNTERS {
            assert_eq!(
                attached.activity.get(info.name),
                before.activity.get(info.name),
                "{}",
                info.name
            );
        }
    }
    assert!(watchers > 0);
}

#[test]
fn every_technique_is_deterministic() {
    for definition in REGISTRY {
        let technique = defaults(definition);
        assert_eq!(
            run_with(&[technique.as_ref()]),
            run_with(&[technique.as_ref()]),
            "{}",
            technique.label()
        );
        assert_eq!(
            technique.metrics(&run_with(&[technique.as_ref()])),
            technique.metrics(&run_with(&[technique.as_ref()]))
        );
    }
}

/// The members of the registry at these places, stacked.
fn stacked(places: &[usize]) -> Result<Stack, Vec<Refusal>> {
    let members = places.iter().map(|&place| defaults(REGISTRY[place]).into());
    Stack::new(members.collect())
}

/// What every warp issues, in its order: equal digests are equal executions.
struct Transcript(Rc<RefCell<BTreeMap<(u32, u32), u64>>>, Vec<(u32, u32)>);

impl IssueHook for Transcript {
    fn placed(&mut self, event: PlaceEvent) {
        let warp = usize::from(event.warp);
        self.1.resize(self.1.len().max(warp + 1), (0, 0));
        let known = self.0.borrow();
        let number = known.range((event.cta, 0)..=(event.cta, u32::MAX)).count() as u32;
        drop(known);
        self.1[warp] = (event.cta, number);
        self.0.borrow_mut().insert((event.cta, number), 1);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        let mut digests = self.0.borrow_mut();
        let digest = digests.get_mut(&self.1[usize::from(event.warp)]).unwrap();
        for part in [u64::from(event.step.inst), event.step.executed] {
            *digest = (*digest ^ part)
                .wrapping_mul(0x0100_0000_01b3)
                .rotate_left(17);
        }
    }

    fn report(&self, _: &mut Activity) {}
}

/// A run, and what its warps issued.
fn run_stack(stack: &Stack) -> (Run, BTreeMap<(u32, u32), u64>) {
    let (mut spec, mut hooks) = (small_gpu(), Hooks::default());
    stack.reshape(&mut spec);
    stack.attach(&spec, &mut hooks);
    let digests = Rc::new(RefCell::new(BTreeMap::new()));
    let shared = Rc::clone(&digests);
    hooks.issue.push(Box::new(move |_| {
        Box::new(Transcript(Rc::clone(&shared), Vec::new()))
    }));
    let run = simulate(&spec, &*KERNEL, hooks).unwrap();
    (run, Rc::unwrap_or_clone(digests).into_inner())
}

/// What holds of every stack: warps execute what they execute on the plain GPU, every instruction is fetched once, structures have names of their own,
/// every priced counter has its structure, and figures are numbers.
fn check(stack: &Stack, plain: &(Run, BTreeMap<(u32, u32), u64>)) {
    let (run, mut digests) = run_stack(stack);
    let label = stack.label();
    // CTAs that run a second time have numbers behind those of the program.
    digests.retain(|place, _| plain.1.contains_key(place));
    assert_eq!(digests, plain.1, "{label}");
    let is_program = run.activity.get("aged_sampling_dmr_ctas") == 0;
    for same in [
        "warp_instructions",
        "thread_instructions",
        "memory_accesses",
        "ctas",
    ]
    .into_iter()
    .filter(|_| is_program)
    {
        assert_eq!(
            run.activity.get(same),
            plain.0.activity.get(same),
            "{label}: {same}"
        );
    }
    let fetched = |run: &Run| run.activity.get("fetches") - run.activity.get("metadata_fetches");
    let again = run.activity.get("aged_sampling_dmr_instructions");
    assert_eq!(fetched(&run), fetched(&plain.0) + again, "{label}");
    assert!(
        stack
            .metrics(&run)
            .iter()
            .all(|metric| metric.value.is_finite()),
        "{label}"
    );
    let spec = small_gpu();
    let mut structures = plain::structures(&spec);
    structures.extend(plain::lanes(&spec));
    stack.build(&spec, &mut structures);
    let names: BTreeSet<&str> = structures.iter().map(|structure| structure.name).collect();
    assert_eq!(names.len(), structures.len(), "{label}");
    for (event, count) in run.activity.events() {
        assert!(
            names.contains(event.structure) || count == 0,
            "{label}: {}",
            event.structure
        );
    }
}

/// Whether at least one pair among the places refuses each other.
fn has_refused_pair(places: &[usize]) -> bool {
    let mut pairs = places
        .iter()
        .enumerate()
        .flat_map(|(index, &second)| places[..index].iter().map(move |&first| [first, second]));
    pairs.any(|pair| stacked(&pair).is_err())
}

/// All pairs and triples of different members of the registry.
fn pairs_and_triples() -> Vec<Vec<usize>> {
    let count = REGISTRY.len();
    let mut found = Vec::new();
    for first in 0..count {
        for second in first + 1..count {
            found.push(vec![first, second]);
            found.extend((second + 1..count).map(|third| vec![first, second, third]));
        }
    }
    found
}

#[test]
fn every_pair_and_triple_composes_or_says_why_not() {
    let plain = run_stack(&Stack::default());
    let (mut composed, mut refused) = (0, 0);
    for places in pairs_and_triples() {
        match stacked(&places) {
            Ok(stack) => {
                composed += 1;
                check(&stack, &plain);
            }
            Err(refusals) => {
                refused += 1;
                assert!(
                    has_refused_pair(&places),
                    "a triple refuses what a pair does"
                );
                for refusal in refusals {
                    let [one, other] = refusal.places.map(|place| REGISTRY[places[place]].name);
                    assert!(!refusal.reason.is_empty());
                    assert!(refusal.first.starts_with(one) && refusal.second.starts_with(other));
                }
            }
        }
    }
    assert!(
        composed > 10 && refused > 0,
        "{composed} composed, {refused} refused"
    );
}

#[test]
fn nothing_is_stacked_on_itself() {
    for (place, definition) in REGISTRY.iter().enumerate() {
        assert!(stacked(&[place, place]).is_err(), "{}", definition.name);
    }
}

/// The order in which a study names the members of a stack changes nothing.
#[test]
fn the_order_of_members_does_not_matter() {
    let place = |name: &str| {
        let mut all = REGISTRY.iter();
        all.position(|definition| definition.name == name).unwrap()
    };
    let [a, b, c] = ["filter_cache", "uniform_vector", "register_virtualization"].map(place);
    let sorted = stacked(&[a, b, c]).unwrap();
    let run = run_stack(&sorted);
    for places in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        let stack = stacked(&places).unwrap();
        assert_eq!(stack.label(), sorted.label());
        assert_eq!(run_stack(&stack), run);
    }
}

/// Every action that a technique counts is declared, and every declared structure is one that it prices.
#[test]
fn counters_are_declared_and_belong_to_structures() {
    let known: BTreeSet<&str> = COUNTERS.iter().map(|info| info.name).collect();
    let base: BTreeSet<&str> = plain::structures(&gpu())
        .iter()
        .map(|structure| structure.name)
        .collect();
    for definition in REGISTRY {
        let technique = defaults(definition);
        let structures: BTreeSet<&str> = technique
            .structures(&gpu())
            .iter()
            .map(|structure| structure.name)
            .collect();
        assert!(structures.is_disjoint(&base), "{}", definition.name);
        let run = run_with(&[technique.as_ref()]);
        let added: Vec<&str> = run
            .activity
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !known.contains(name))
            .collect();
        assert!(!added.is_empty());
        for name in added {
            let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let declared = definition
                .counters
                .iter()
                .any(|(counter, _)| *counter == name || counter.strip_suffix('N') == Some(stem));
            assert!(declared, "{name}");
            if let Some(event) = Event::of(name) {
                assert!(structures.contains(event.structure), "{name}");
            }
        }
    }
}

/// Every technique works on a kernel in machine code of Southern Islands as it is, or says why it does not.
#[test]
fn machine_code_runs_under_every_technique_or_is_refused_with_a_reason() {
    use warpwatt_gcn::{Code, Object};
    use warpwatt_gpu::GpuError;
    use warpwatt_suite::machine_code::host_view;
    use warpwatt_suite::{Build, RunOptions, kernel, run_machine_code};

    const REFUSED: [&str; 7] = [
        "compiler_spill",
        "hierarchical_register_file",
        "register_shrink",
        "register_virtualization",
        "static_scalarization",
        "thread_block_compaction",
        "uniform_vector",
    ];
    let reduction = kernel("reduction_tree").unwrap();
    let (_, object) = reduction.program(Build::Gfx600).unwrap();
    let code = Code::new(Object::read(object).unwrap());
    let (case, prepared) = reduction.prepare(None).unwrap();
    let options = RunOptions {
        warp_width: 64,
        ..RunOptions::default()
    };
    let view = host_view(&code);
    let executed = run_machine_code((&code, &view), &case, &prepared, options).unwrap();
    let traces = executed.into_traces();
    let plain = GpuSpec::preset("tahiti").unwrap();
    let alone = simulate(&plain, &traces, Hooks::default()).unwrap();
    let mut refused = Vec::new();
    for definition in REGISTRY {
        let technique = defaults(definition);
        let (mut spec, mut hooks) = (plain.clone(), Hooks::default());
        technique.reshape(&mut spec);
        technique.attach(&spec, &mut hooks);
        match simulate(&spec, &traces, hooks) {
            Ok(run) => {
                let count = |run: &Run| run.activity.get("thread_instructions");
                assert!(count(&run) >= count(&alone), "{}", definition.name);
            }
            Err(GpuError::Refused { reason, .. }) => {
                assert!(
                    reason.contains("machine code"),
                    "{}: {reason}",
                    definition.name
                );
                refused.push(definition.name);
            }
            Err(other) => panic!("{}: {other}", definition.name),
        }
    }
    refused.sort_unstable();
    assert_eq!(refused, REFUSED);
}

/// Structures of the baseline that are not leakage-only are all counted.
#[test]
fn the_front_end_of_the_baseline_is_counted() {
    let run = run_with(&[]);
    for structure in plain::structures(&gpu()) {
        let own = run
            .activity
            .events()
            .any(|(event, count)| event.structure == structure.name && count > 0);
        let mut charges = structure.charges.iter();
        let charged = charges.any(|charge| charge.count(&run.activity) > 0);
        let is_counted = structure.group == Group::FrontEnd || !structure.charges.is_empty();
        assert_eq!(structure.leakage_only, !is_counted, "{}", structure.name);
        let counted = own || charged;
        assert!(structure.leakage_only || counted, "{}", structure.name);
    }
}

/// A file or folder beside the framework's own is a technique, and every technique is one.
#[test]
fn every_technique_s_file_is_in_the_registry() {
    const FRAMEWORK: [&str; 15] = [
        "baseline",
        "compiled",
        "compose",
        "definition",
        "fetch_store",
        "lane_check",
        "lib",
        "parameter",
        "protection",
        "recovery",
        "register_file",
        "registers_over_time",
        "structure",
        "technique",
        "together",
    ];
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/techniques/src");
    let files: BTreeSet<String> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|stem| !FRAMEWORK.contains(&stem.as_str()))
        .collect();
    let registered: BTreeSet<String> = REGISTRY
        .iter()
        .map(|definition| definition.name.to_owned())
        .collect();
    assert!(registered.len() >= 2, "the audit sees something");
    assert_eq!(files, registered);
}

fn filter_cache(entries: u32) -> Box<dyn Technique> {
    let table: Table = format!("entries = {entries}").parse().unwrap();
    find("filter_cache").ok().unwrap().parse(&table).unwrap()
}

fn hits(entries: u32) -> (u64, Run) {
    let run = run_with(&[filter_cache(entries).as_ref()]);
    (run.activity.get("filter_cache_hits"), run)
}

#[test]
fn a_filter_cache_conserves_fetches() {
    for entries in [1, 7, 16, 32, 100] {
        let (hits, run) = hits(entries);
        let n = |name: &str| run.activity.get(name);
        assert_eq!(n("filtered_fetches"), hits);
        assert_eq!(n("filter_cache.tag.read"), n("fetches"));
        assert_eq!(n("filter_cache.data.read"), hits);
        assert_eq!(n("icache.tag.read"), n("fetches") - hits);
        assert_eq!(
            n("filter_cache.data.write"),
            n("icache.tag.read"),
            "every miss is filled"
        );
        assert_eq!(n("filter_cache.tag.write"), n("filter_cache.data.write"));
        assert!(hits > 0 && hits < n("fetches"), "{entries} entries: {hits}");
    }
}

/// A filter cache that holds all of a small loop serves everything but the first fetch of each instruction.
#[test]
fn a_loop_that_fits_is_fetched_once() {
    let code: Vec<StaticInst> = (0..20).map(|index| add(index % 6, &[])).collect();
    let trace = || {
        launch(code.clone(), 1, 4, |_, _| {
            (0..200).map(|step| Dynamic::plain(step % 20)).collect()
        })
    };
    let run_one = |entries: u32| {
        let mut hooks = Hooks::default();
        filter_cache(entries).attach(&one_sm(), &mut hooks);
        simulate(&one_sm(), &[trace()], hooks).unwrap()
    };
    let fits = run_one(20);
    assert_eq!(fits.activity.get("fetches"), 800);
    let missed = fits.activity.get("icache.tag.read");
    assert!(
        (20..=20 + 3).contains(&missed),
        "twenty instructions, three of them of warps that missed with the first: {missed}"
    );
    let single = run_one(1);
    assert!(
        single.activity.get("filter_cache_hits") > 0,
        "another warp right behind still hits"
    );
}

/// With two fetch stages the fill comes a cycle later, so that a second warp right behind misses too.
#[test]
fn a_pipelined_fetch_sees_fills_later() {
    let code: Vec<StaticInst> = (0..30).map(|index| add(index % 6, &[])).collect();
    let trace = || {
        launch(code.clone(), 1, 8, |_, _| {
            (0..30).map(Dynamic::plain).collect()
        })
    };
    let with = |stages: u32| {
        let mut spec = one_sm();
        spec.fetch.stages = stages;
        spec.icache.miss_cycles = 1;
        let mut hooks = Hooks::default();
        filter_cache(32).attach(&spec, &mut hooks);
        simulate(&spec, &[trace()], hooks).unwrap()
    };
    let (one, two) = (with(1), with(2));
    assert!(two.activity.get("filter_cache_hits") < one.activity.get("filter_cache_hits"));
    let n = |name: &str| two.activity.get(name);
    assert_eq!(
        n("filter_cache.data.write"),
        n("icache.tag.read"),
        "the last fill is not lost"
    );
}

#[test]
fn fetch_redundancy_grows_with_the_window() {
    let technique = defaults(find("fetch_redundancy").ok().unwrap());
    let run = run_with(&[technique.as_ref()]);
    let value = |name: &str| {
        technique
            .metrics(&run)
            .into_iter()
            .find(|metric| metric.name == name)
            .unwrap()
            .value
    };
    let other = [16, 32, 64].map(|window| value(&format!("fetch_redundancy.other_warp.{window}")));
    assert!(
        other[0] > 0.0 && other[0] <= other[1] && other[1] <= other[2] && other[2] < 1.0,
        "{other:?}"
    );
    for (window, share) in [16, 32, 64].into_iter().zip(other) {
        assert!(value(&format!("fetch_redundancy.any_warp.{window}")) >= share);
    }
    assert!(value("fetch_redundancy.buffered") <= 1.0);
}

/// Circuits of the 32 nm high-performance node at 350 K.
struct Node32(Technology);

impl Node32 {
    fn new() -> Self {
        Self(Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap())
    }
}

impl Circuits for Node32 {
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        let point = OperatingPoint::at(Temperature::from_k(350.0));
        warpwatt_circuit::cost(&self.0, &point, Profile::Cacti65, spec).map(Arc::new)
    }

    fn gated(&self, spec: &Spec, granularity: Granularity) -> Result<Gated, CircuitError> {
        let point = OperatingPoint::at(Temperature::from_k(350.0));
        let gating = Gating {
            granularity,
            ..Gating::default()
        };
        let cost = self.cost(spec)?;
        let there = (&point, &*cost);
        power_gate(&self.0, &self.0, there, there, &gating)
    }
}

#[test]
fn overheads_are_never_negative() {
    let node = Node32::new();
    let mut priced = 0;
    for definition in REGISTRY {
        for structure in defaults(definition).structures(&gpu()) {
            let cost = node.cost(&structure.spec).unwrap();
            let figures = [
                cost.area.si(),
                cost.leakage.si(),
                cost.gate_leakage.si(),
                cost.read_energy.si(),
                cost.write_energy.si(),
                cost.access_time.si(),
            ];
            assert!(
                figures
                    .iter()
                    .all(|figure| figure.is_finite() && *figure >= 0.0),
                "{}: {figures:?}",
                structure.name
            );
            // Of what is there without the technique only accesses are added.
            let there = structure.name == "sharp.shared_bank";
            assert!(
                cost.area.si() > 0.0 && (structure.count.of(1) > 0) != there,
                "{}",
                structure.name
            );
            priced += 1;
        }
    }
    assert!(priced >= 3);
}

/// A table of one or two entries is one too.
#[test]
fn the_smallest_tables_of_sawp_can_be_built() {
    let node = Node32::new();
    let sawp = find("sawp").unwrap();
    for entries in [1, 2] {
        let table = format!("entries = {entries}");
        let technique = sawp.parse(&table.parse().unwrap()).unwrap();
        for structure in technique.structures(&gpu()) {
            let cost = node.cost(&structure.spec);
            assert!(cost.is_ok(), "{entries}: {}: {cost:?}", structure.name);
        }
    }
}

/// The paper: 0.28 ns for a hit and 0.45 ns for a miss without warp selection, within a period of 0.77 ns.
#[test]
fn the_filter_cache_fits_the_clock_of_the_paper_and_not_one_three_times_as_fast() {
    let node = Node32::new();
    let technique = filter_cache(32);
    let mut spec = gpu();
    let fit = technique.fit(&mut spec, &node).unwrap();
    assert_eq!(spec.fetch.stages, 1, "{:#?}", fit.notes);
    // The paper leaves warp selection open and the multiplexer out (section 4).
    let arrays = |path: &warpwatt_techniques::Path| -> f64 {
        let left_out = ["warp selection", "multiplexer"];
        let counted = path
            .parts
            .iter()
            .filter(|(name, _)| !left_out.contains(name));
        counted.map(|(_, delay)| delay.as_ps()).sum()
    };
    let (hit, miss) = (arrays(&fit.paths[0]), arrays(&fit.paths[1]));
    // Half of the last printed digit.
    assert!((hit - 280.0).abs() < 5.0, "{hit} ps");
    assert!((miss - 450.0).abs() < 5.0, "{miss} ps");
    let mut fast = gpu();
    fast.sm.clock_mhz = 3900;
    let fit = technique.fit(&mut fast, &node).unwrap();
    assert_eq!(fast.fetch.stages, 2);
    assert!(
        fit.notes
            .iter()
            .any(|note| note.contains("first fetch stage")),
        "{:#?}",
        fit.notes
    );
    println!("{:#?}", fit.notes);
}

/// What a technique counts of its own in runs of a kernel of the suite: timed whole, and with whole CTAs left out. Nothing if nothing was left out.
fn whole_and_sampled(
    technique: &dyn Technique,
    spec: &GpuSpec,
    traces: &[KernelTrace],
) -> Option<[Run; 2]> {
    let sampling = Some(Sampling {
        batches: 30,
        way: Way::Ctas,
    });
    let [whole, sampled] = [None, sampling].map(|sampling| {
        let mut hooks = Hooks::default();
        technique.attach(spec, &mut hooks);
        let control = Control {
            sampling,
            ..Control::default()
        };
        simulate_under(spec, traces, hooks, control).unwrap()
    });
    sampled.is_sampled().then_some([whole, sampled])
}

/// Those that say that their counts add up over CTAs count nearly as much in all when CTAs are left out: within a fifth, on a small GPU with few batches.
#[test]
fn what_adds_up_is_counted_when_a_part_is_timed() {
    let mut compared = 0;
    let mut off = Vec::new();
    for definition in REGISTRY {
        let technique = defaults(definition);
        if !technique.adds_up() {
            continue;
        }
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        spec.sm.count = 1;
        technique.reshape(&mut spec);
        for name in ["hotspot", "transpose_naive"] {
            let traces = match technique.needs_values() {
                true => traces_with_values(name),
                false => traces(name),
            };
            let Some([whole, sampled]) = whole_and_sampled(&*technique, &spec, &traces) else {
                continue;
            };
            let own = whole.activity.iter().filter(|(counter, count)| {
                *count > 1000 && COUNTERS.iter().all(|known| known.name != *counter)
            });
            for (counter, count) in own {
                let ratio = sampled.activity.get(counter) as f64 / count as f64;
                if (ratio - 1.0).abs() >= 0.2 {
                    off.push(format!("{}, {name}, {counter}: {ratio}", definition.name));
                }
                compared += 1;
            }
            let metrics = [&whole, &sampled].map(|run| technique.metrics(run));
            for Metric {
                name: metric,
                value: is,
                ..
            } in &metrics[1]
            {
                let was = metrics[0].iter().find(|whole| whole.name == *metric);
                let was = was.unwrap().value;
                if (is - was).abs() > 0.05f64.max(0.2 * was.abs()) {
                    off.push(format!("{name}, {metric}: {is}, was {was}"));
                }
                compared += 1;
            }
        }
    }
    assert_eq!(off, [""; 0]);
    assert!(compared > 30, "{compared}");
}
