//! From `[[technique]]` and `[[structure]]` tables to what is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::{Table, Value};
use warpwatt_techniques::{Definition, Kind, ParameterProblem, Refusal, Stack, Technique, find};

use super::axes::AxisId;
use super::reader::Placed;
use super::structure::called;
use super::sweep::{Choice, Counted, Design};
use super::technique::{Parameter, StackAxes, TechniqueAxes};
use super::variants::{Faults, named};
use super::{OwnStructure, OwnStructures};
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::BASELINE;

/// What a GPU is given: nothing, a technique, or several, and the study's own structures beside them.
#[derive(Debug)]
pub struct Configuration {
    /// [`BASELINE`], or the techniques with their parameters, and the structures that are swept with theirs.
    pub label: String,
    /// The techniques; none for the baseline.
    pub stack: Stack,
    /// The structures of the study's own that it has, in the order of the file.
    pub structures: Vec<Arc<OwnStructure>>,
    /// Where the study asks for it; nowhere for the baseline.
    pub range: Option<Range<usize>>,
}

/// The label of a plain GPU with the structures that a study describes itself.
const STRUCTURES: &str = "structures";

impl Configuration {
    /// Whether it is the plain GPU, to which others are compared.
    pub fn is_baseline(&self) -> bool {
        self.label == BASELINE
    }

    /// The labels that a study may call it by: its own, with and without structures, and those of the techniques in it.
    pub fn called(&self) -> Vec<String> {
        let mut names = called(&self.stack, &self.label);
        // The label of what swept structures stand beside.
        names.push(match self.stack.members() {
            [] if !self.is_baseline() => STRUCTURES.to_owned(),
            _ => self.stack.label(),
        });
        names
    }
}

/// More configurations of one `[[technique]]` than anyone waits for; a study beyond is a slip.
const MOST_CONFIGURATIONS: usize = 10_000;

/// The baseline, then every `[[technique]]` with every choice of its parameters and of the structures' beside it, in the order of the file: the last key of the last
/// structure changes fastest. Without techniques it is the plain GPU with the structures that the baseline has not. Each comes with what was chosen for it.
/// What cannot be is left in `sink`.
pub fn configurations(
    stacks: &[StackAxes],
    structures: &mut OwnStructures<'_>,
    design: &Design,
    sink: &mut Sink,
    source: SourceId,
) -> Vec<(Configuration, Choice)> {
    let mut faults = Faults::default();
    structures.judge(design, &mut faults, source);
    let mut comparing = Comparing {
        found: Found::default(),
        structures,
        design,
        faults,
        sink,
        source,
    };
    comparing.baseline();
    for axes in stacks {
        comparing.stack(axes);
    }
    let mut added = comparing.structures.axes().collect::<Vec<_>>().into_iter();
    let first = added.find(|it| !it.is_of_baseline());
    if let Some(first) = first.filter(|_| stacks.is_empty()) {
        comparing.stack(&StackAxes {
            members: Vec::new(),
            whole: true,
            range: first.name.range.clone(),
        });
    }
    comparing.faults.leave(comparing.sink);
    comparing.found.configurations
}

/// What is being compared, as far as it was read.
struct Comparing<'c, 'a> {
    found: Found,
    structures: &'c mut OwnStructures<'a>,
    design: &'c Design,
    faults: Faults,
    sink: &'c mut Sink,
    source: SourceId,
}

impl Comparing<'_, '_> {
    fn baseline(&mut self) {
        let axes = self.structures.axes().enumerate();
        let here = axes.filter(|(_, axes)| axes.is_of_baseline() && axes.swept().next().is_none());
        let here: Vec<usize> = here.map(|(number, _)| number).collect();
        let structures = here.into_iter().filter_map(|number| {
            self.structures
                .with(number, &[], &mut self.faults, self.source)
        });
        let baseline = Configuration {
            label: BASELINE.to_owned(),
            stack: Stack::default(),
            structures: structures.collect(),
            range: None,
        };
        self.found.push(baseline, Choice::new());
    }

    /// The choices of one `[[technique]]`, or of structures alone.
    fn stack(&mut self, axes: &StackAxes) {
        let mut members: Vec<Member<'_>> = axes.members.iter().map(Member::new).collect();
        let techniques: Vec<&str> = axes.members.iter().map(|it| &*it.name.value).collect();
        let own = self.structures.axes().enumerate();
        let own: Vec<Beside> = own
            .filter(|(_, own)| own.may_belong(&techniques))
            .map(|(number, own)| Beside {
                number,
                counted: own.counted().collect(),
            })
            .collect();
        let counted: Vec<Counted> = members.iter().flat_map(Member::counted).collect();
        let of_members = counted.len();
        let of_structures = own.iter().flat_map(|own| own.counted.iter().copied());
        let counted: Vec<Counted> = counted.into_iter().chain(of_structures).collect();
        let Some(choices) = self.choices(&counted, axes) else {
            return;
        };
        let mut refused: Vec<[usize; 2]> = Vec::new();
        // Choices that differ in structures which are not there are one.
        let mut seen: BTreeSet<Vec<Option<usize>>> = BTreeSet::new();
        for choice in choices {
            let (of_members, of_structures) = choice.split_at(of_members);
            let Some(chosen) = self.members(&mut members, of_members, axes) else {
                continue;
            };
            let stack = match Stack::new(chosen) {
                Ok(stack) => stack,
                Err(refusals) => {
                    self.refuse(&refusals, axes, &mut refused);
                    continue;
                }
            };
            let Some((structures, kept)) = self.beside(&stack, &own, of_structures) else {
                continue;
            };
            let kept = of_members.iter().copied().map(Some).chain(kept);
            let kept: Vec<Option<usize>> = kept.collect();
            if !seen.insert(kept.clone()) {
                continue;
            }
            let chosen = counted.iter().zip(&kept);
            let (counted, kept): (Vec<Counted>, Vec<usize>) = chosen
                .filter_map(|(counted, kept)| Some((*counted, (*kept)?)))
                .unzip();
            let configuration = Configuration {
                label: labelled(&stack, &structures),
                stack,
                structures,
                range: Some(axes.range.clone()),
            };
            let choice = named(&counted, &kept);
            self.found
                .add(configuration, choice, self.sink, self.source);
        }
    }

    /// Every choice of the values of some axes, if they are not absurdly many.
    fn choices(&mut self, counted: &[Counted], axes: &StackAxes) -> Option<Vec<Vec<usize>>> {
        let choices = self.design.choices(counted);
        let choices = choices.filter(|choices| choices.len() <= MOST_CONFIGURATIONS);
        if choices.is_none() {
            let asked = counted.iter().map(|(_, count)| *count);
            let count = asked.fold(1, usize::saturating_mul);
            let message =
                format!("this spans more than {MOST_CONFIGURATIONS} configurations: {count}");
            let diag = Diag::error("study::absurd_size", message)
                .at(self.source, axes.range.clone(), "")
                .help("shorten some of its lists");
            self.sink.push(diag);
        }
        choices
    }

    /// The techniques with the values at these places, if all of them can be. Every member is looked at, so that no fault hides another.
    fn members(
        &mut self,
        members: &mut [Member<'_>],
        places: &[usize],
        axes: &StackAxes,
    ) -> Option<Vec<Arc<dyn Technique>>> {
        let mut rest = places;
        let chosen: Vec<Option<Arc<dyn Technique>>> = members
            .iter_mut()
            .map(|member| {
                let (own, others) = rest.split_at(member.values.len());
                rest = others;
                member.configured(own, &mut self.faults, self.source)
            })
            .collect();
        let chosen: Option<Vec<Arc<dyn Technique>>> = chosen.into_iter().collect();
        chosen.filter(|_| axes.whole)
    }

    fn refuse(&mut self, refusals: &[Refusal], axes: &StackAxes, refused: &mut Vec<[usize; 2]>) {
        for refusal in refusals {
            if !refused.contains(&refusal.places) {
                refused.push(refusal.places);
                refuse(refusal, axes, self.sink, self.source);
            }
        }
    }

    /// The structures that stand beside these techniques with the values at `places`, and the places of those that do. `None` if one cannot be.
    fn beside(&mut self, stack: &Stack, own: &[Beside], places: &[usize]) -> Option<Stood> {
        let label = match stack.members() {
            [] => STRUCTURES.to_owned(),
            _ => stack.label(),
        };
        let called = called(stack, &label);
        let axes: Vec<_> = self.structures.axes().collect();
        let mut rest = places;
        let (mut structures, mut kept) = (Vec::new(), Vec::new());
        let mut whole = true;
        for Beside { number, counted } in own {
            let (places, others) = rest.split_at(counted.len());
            rest = others;
            if !axes[*number].belongs(&called) {
                kept.extend(counted.iter().map(|_| None));
                continue;
            }
            kept.extend(places.iter().copied().map(Some));
            match self
                .structures
                .with(*number, places, &mut self.faults, self.source)
            {
                Some(made) => structures.push(made),
                None => whole = false,
            }
        }
        whole.then_some((structures, kept))
    }
}

/// Structures with the places of their values; none for those that are not there.
type Stood = (Vec<Arc<OwnStructure>>, Vec<Option<usize>>);

/// A structure that techniques may have beside them.
struct Beside {
    number: usize,
    counted: Vec<Counted>,
}

/// Techniques and structures of several sizes by what they are.
fn labelled(stack: &Stack, structures: &[Arc<OwnStructure>]) -> String {
    let techniques = (!stack.members().is_empty()).then(|| stack.label());
    let structures = structures.iter().filter_map(|it| it.label.clone());
    let parts: Vec<String> = techniques.into_iter().chain(structures).collect();
    match parts.is_empty() {
        true => STRUCTURES.to_owned(),
        false => parts.join(Stack::JOIN),
    }
}

/// A member of a stack, made for each choice of its parameters once.
struct Member<'a> {
    axes: &'a TechniqueAxes,
    definition: Option<&'static Definition>,
    values: Vec<(Option<AxisId>, Vec<Placed<Value>>)>,
    made: BTreeMap<Vec<usize>, Option<Arc<dyn Technique>>>,
}

impl<'a> Member<'a> {
    fn new(axes: &'a TechniqueAxes) -> Member<'a> {
        let definition = find(&axes.name.value).ok();
        let parameters = axes.parameters.iter();
        Member {
            axes,
            definition,
            values: parameters
                .map(|parameter| values(definition, parameter))
                .collect(),
            made: BTreeMap::new(),
        }
    }

    fn counted(&self) -> impl Iterator<Item = Counted> {
        self.values
            .iter()
            .map(|(axis, values)| (*axis, values.len()))
    }

    /// The technique with the values at these places, if it can be.
    fn configured(
        &mut self,
        places: &[usize],
        faults: &mut Faults,
        source: SourceId,
    ) -> Option<Arc<dyn Technique>> {
        if let Some(made) = self.made.get(places) {
            return made.clone();
        }
        let parameters = self.axes.parameters.iter().zip(&self.values).zip(places);
        let chosen: Vec<(&Parameter, &Placed<Value>)> = parameters
            .map(|((parameter, (_, values)), place)| (parameter, &values[*place]))
            .collect();
        let table: Table = chosen
            .iter()
            .map(|(parameter, value)| (parameter.name.clone(), value.value.clone()))
            .collect();
        let made = self
            .definition
            .and_then(|definition| match definition.parse(&table) {
                Ok(technique) => Some(technique.into()),
                Err(problems) => {
                    for problem in &problems {
                        faults.push(report(problem, &chosen, &self.axes.name, source));
                    }
                    None
                }
            });
        self.made.insert(places.to_vec(), made.clone());
        made
    }
}

fn refuse(refusal: &Refusal, axes: &StackAxes, sink: &mut Sink, source: SourceId) {
    let [first, second] = refusal.places.map(|place| &axes.members[place].name.range);
    let diag = Diag::error("study::conflict", refusal.to_string())
        .at(source, second.clone(), "")
        .at(source, first.clone(), "does not go with this")
        .help("leave one of them out; each under its own `[[technique]]` is compared with the plain GPU");
    sink.push(diag);
}

/// The values of a parameter: a list is an axis, unless the parameter itself is a list; then a list of lists is.
fn values(
    definition: Option<&Definition>,
    parameter: &Parameter,
) -> (Option<AxisId>, Vec<Placed<Value>>) {
    let mut known = definition
        .iter()
        .flat_map(|definition| definition.parameters);
    let listed = known
        .any(|known| known.name == parameter.name && matches!(known.kind, Kind::Counts { .. }));
    if !listed || parameter.values.iter().any(|value| value.value.is_array()) {
        return (Some(parameter.axis), parameter.values.clone());
    }
    let list = parameter
        .values
        .iter()
        .map(|value| value.value.clone())
        .collect();
    let (first, last) = (
        &parameter.values[0].range,
        &parameter.values[parameter.values.len() - 1].range,
    );
    let placed = Placed::new(Value::Array(list), first.start..last.end);
    (None, vec![placed])
}

/// Configurations, each once.
#[derive(Default)]
struct Found {
    configurations: Vec<(Configuration, Choice)>,
    by_label: BTreeMap<String, usize>,
}

impl Found {
    fn push(&mut self, configuration: Configuration, choice: Choice) {
        let place = self.configurations.len();
        self.by_label.insert(configuration.label.clone(), place);
        self.configurations.push((configuration, choice));
    }

    fn add(
        &mut self,
        configuration: Configuration,
        choice: Choice,
        sink: &mut Sink,
        source: SourceId,
    ) {
        let Some(earlier) = self.by_label.get(&configuration.label) else {
            self.push(configuration, choice);
            return;
        };
        let message = format!("`{}` is asked for twice", configuration.label);
        let mut diag = Diag::error("study::duplicate_value", message);
        let first = self.configurations[*earlier].0.range.clone();
        for (range, what) in [(configuration.range, "again here"), (first, "first here")] {
            if let Some(range) = range {
                diag = diag.at(source, range, what);
            }
        }
        sink.push(diag.help("leave one of them out"));
    }
}

fn report(
    problem: &ParameterProblem,
    chosen: &[(&Parameter, &Placed<Value>)],
    name: &Placed<String>,
    source: SourceId,
) -> Diag {
    let named = chosen
        .iter()
        .find(|(parameter, _)| parameter.name == problem.key);
    let range = match named {
        Some((parameter, _)) if problem.unknown => &parameter.key,
        Some((_, value)) => &value.range,
        None => &name.range,
    };
    let message = format!("{}.{}: {}", name.value, problem.key, problem.message);
    Diag::error("study::parameter", message)
        .at(source, range.clone(), "")
        .maybe_help(problem.help.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;
    use crate::diag::render;
    use std::sync::Arc;

    /// The labels of a study's configurations, and what was said about it.
    fn labels(techniques: &str) -> (Vec<String>, String) {
        let mut sink = Sink::default();
        let source = sink.sources.add("study.toml", techniques);
        let draft = crate::read(&mut sink, source, &Catalogue::shipped(Arc::new(()))).unwrap();
        // Other sections are missing here.
        sink.diags.clear();
        let mut structures = OwnStructures::new(&draft.structures);
        let design = &draft.design;
        let found = configurations(
            &draft.techniques,
            &mut structures,
            design,
            &mut sink,
            source,
        );
        let labels = found
            .into_iter()
            .map(|(configuration, _)| configuration.label);
        (labels.collect(), render(&sink, false))
    }

    #[test]
    fn lists_in_members_of_a_stack_are_axes() {
        let text = r#"
            [[technique]]
            stack = [{ name = "uniform_vector", design = ["srf", "token"] }, { name = "filter_cache", entries = [16, 32] }]

            [[technique]]
            name = "filter_cache"
            entries = 16
        "#;
        let (labels, said) = labels(text);
        assert_eq!(said.trim(), "");
        let expected = [
            "baseline",
            "filter_cache(entries=16) + uniform_vector(design=srf, mode=combined)",
            "filter_cache(entries=32) + uniform_vector(design=srf, mode=combined)",
            "filter_cache(entries=16) + uniform_vector(design=token, mode=combined)",
            "filter_cache(entries=32) + uniform_vector(design=token, mode=combined)",
            "filter_cache(entries=16)",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn sizes_of_structures_are_axes_of_what_has_them() {
        let structures = r#"
            [[structure]]
            name = "a.table"
            array = { words = [32, 64], bits = 8 }
            read = "cycles"
            only_with = "filter_cache(entries=32)"
            [[structure]]
            name = "code"
            count = { from = 1, to = 3, step = 2 }
            logic = { block = "secded", width = 32 }
            read = "cycles"
        "#;
        let technique = r#"
            [[technique]]
            name = "filter_cache"
            entries = [16, 32]
        "#;
        let with = |said: &str, structures: &[&str]| -> Vec<String> {
            let beside = structures.iter();
            beside
                .map(|it| format!("{said} + structure.{it}"))
                .collect()
        };
        let (labels, said) = labels(&format!("{technique}{structures}"));
        assert_eq!(said.trim(), "");
        let mut expected = vec!["baseline".to_owned()];
        expected.extend(with(
            "filter_cache(entries=16)",
            &["code(count=1)", "code(count=3)"],
        ));
        let tables = [32, 64]
            .map(|words| format!("filter_cache(entries=32) + structure.a.table(words={words})"));
        for table in &tables {
            expected.extend(with(table, &["code(count=1)", "code(count=3)"]));
        }
        assert_eq!(labels, expected);
        let (alone, said) = super::tests::labels(structures);
        assert_eq!(said.trim(), "");
        let expected = [
            "baseline",
            "structure.code(count=1)",
            "structure.code(count=3)",
        ];
        assert_eq!(
            alone, expected,
            "the table has no technique to stand beside"
        );
        let zip = "[sweep]\nzip = [\"structure.code.count\", \"technique.filter_cache.entries\"]\n";
        let (together, said) = super::tests::labels(&format!("{zip}{technique}{structures}"));
        assert_eq!(said.trim(), "");
        let expected = [
            "baseline",
            "filter_cache(entries=16) + structure.code(count=1)",
            "filter_cache(entries=32) + structure.a.table(words=32) + structure.code(count=3)",
            "filter_cache(entries=32) + structure.a.table(words=64) + structure.code(count=3)",
        ];
        assert_eq!(together, expected);
    }

    #[test]
    fn what_is_wrong_with_one_size_and_what_is_no_size_is_said() {
        let (labels, said) = labels(
            r#"
            [[structure]]
            name = "table"
            array = { words = [32, 64], bits = [8, 0], ports = ["1rw", "2x"] }
            read = "cycles"
            [[structure]]
            name = "of_all"
            array = { words = [32, 64], bits = 8 }
            read = "cycles"
            baseline = true
            "#,
        );
        assert_eq!(labels[0], "baseline");
        insta::assert_snapshot!(said);
    }

    #[test]
    fn more_configurations_than_anyone_waits_for_are_refused_before_they_are_made() {
        let list: Vec<String> = (1..=300).map(|entry| entry.to_string()).collect();
        let list = list.join(", ");
        let text = format!(
            "[[technique]]\nstack = [{{ name = \"filter_cache\", entries = [{list}] }}, {{ name = \"register_virtualization\", wake_cycles = [{list}] }}]"
        );
        let (labels, said) = labels(&text);
        assert_eq!(labels, ["baseline"]);
        assert!(
            said.contains("study::absurd_size") && said.contains("90000"),
            "{said}"
        );
    }
}
