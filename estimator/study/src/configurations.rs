//! From `[[technique]]` tables to configured techniques.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::{Table, Value};
use warpwatt_techniques::{Definition, Kind, ParameterProblem, Refusal, Stack, Technique, find};

use super::OwnStructure;
use super::axes::AxisId;
use super::reader::Placed;
use super::sweep::{Choice, Counted, Design};
use super::technique::{Parameter, StackAxes, TechniqueAxes};
use super::variants::{Faults, named};
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::BASELINE;

/// What a GPU is given: nothing, a technique, or several.
#[derive(Debug)]
pub struct Configuration {
    /// [`BASELINE`], or the techniques with their parameters.
    pub label: String,
    /// The techniques; none for the baseline.
    pub stack: Stack,
    /// Where the study asks for it; nowhere for the baseline.
    pub range: Option<Range<usize>>,
}

/// The label of a plain GPU with the structures that a study describes itself.
const STRUCTURES: &str = "structures";

impl Configuration {
    /// The plain GPU with structures of a study's own, where it has no techniques to put them beside.
    pub fn of_structures(structures: &[OwnStructure]) -> Option<Self> {
        let added = structures.iter().find(|it| !it.baseline)?;
        Some(Self {
            label: STRUCTURES.to_owned(),
            stack: Stack::default(),
            range: Some(added.name.range.clone()),
        })
    }

    /// Whether it is the plain GPU, to which others are compared.
    pub fn is_baseline(&self) -> bool {
        self.label == BASELINE
    }
}

/// More configurations of one `[[technique]]` than anyone waits for; a study beyond is a slip.
const MOST_CONFIGURATIONS: usize = 10_000;

/// The baseline, then every `[[technique]]` with every choice of its parameters, in the order of the file: the last parameter of the last member of a stack
/// changes fastest. Each comes with what was chosen for it. What cannot be is left in `sink`.
pub fn configurations(
    stacks: &[StackAxes],
    design: &Design,
    sink: &mut Sink,
    source: SourceId,
) -> Vec<(Configuration, Choice)> {
    let baseline = Configuration {
        label: BASELINE.to_owned(),
        stack: Stack::default(),
        range: None,
    };
    let mut found = Found::default();
    found.push(baseline, Choice::new());
    let mut faults = Faults::default();
    for axes in stacks {
        let mut members: Vec<Member<'_>> = axes.members.iter().map(Member::new).collect();
        let counted: Vec<Counted> = members.iter().flat_map(Member::counted).collect();
        let choices = design.choices(&counted);
        let Some(choices) = choices.filter(|choices| choices.len() <= MOST_CONFIGURATIONS) else {
            let asked = counted.iter().map(|(_, count)| *count);
            let count = asked.fold(1, usize::saturating_mul);
            let message =
                format!("this spans more than {MOST_CONFIGURATIONS} configurations: {count}");
            let diag = Diag::error("study::absurd_size", message)
                .at(source, axes.range.clone(), "")
                .help("shorten some of its lists");
            sink.push(diag);
            continue;
        };
        let mut refused: Vec<[usize; 2]> = Vec::new();
        for choice in choices {
            let mut rest = &choice[..];
            // Every member is looked at, so that no fault hides another.
            let chosen: Vec<Option<Arc<dyn Technique>>> = members
                .iter_mut()
                .map(|member| {
                    let (own, others) = rest.split_at(member.values.len());
                    rest = others;
                    member.configured(own, &mut faults, source)
                })
                .collect();
            let chosen: Option<Vec<Arc<dyn Technique>>> = chosen.into_iter().collect();
            let Some(chosen) = chosen.filter(|_| axes.whole) else {
                continue;
            };
            match Stack::new(chosen) {
                Ok(stack) => found.add(stack, axes, named(&counted, &choice), sink, source),
                Err(refusals) => {
                    for refusal in refusals {
                        if !refused.contains(&refusal.places) {
                            refused.push(refusal.places);
                            refuse(&refusal, axes, sink, source);
                        }
                    }
                }
            }
        }
    }
    faults.leave(sink);
    found.configurations
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
        stack: Stack,
        axes: &StackAxes,
        choice: Choice,
        sink: &mut Sink,
        source: SourceId,
    ) {
        let label = stack.label();
        let Some(earlier) = self.by_label.get(&label) else {
            let range = Some(axes.range.clone());
            let configuration = Configuration {
                label,
                stack,
                range,
            };
            self.push(configuration, choice);
            return;
        };
        let message = format!("`{label}` is asked for twice");
        let mut diag = Diag::error("study::duplicate_value", message).at(
            source,
            axes.range.clone(),
            "again here",
        );
        if let Some(first) = &self.configurations[*earlier].0.range {
            diag = diag.at(source, first.clone(), "first here");
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
        let found = configurations(&draft.techniques, &draft.design, &mut sink, source);
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
