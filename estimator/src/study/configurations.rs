//! From `[[technique]]` tables to configured techniques.

use std::ops::Range;
use std::sync::Arc;

use toml::{Table, Value};
use warpwatt_techniques::{Definition, Kind, ParameterProblem, Refusal, Stack, Technique, find};

use super::technique::{Parameter, StackAxes, TechniqueAxes};
use super::toml_reader::Placed;
use super::variants::choices;
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

/// More configurations of one `[[technique]]` than anyone waits for; a study beyond is a slip.
const MOST_CONFIGURATIONS: usize = 10_000;

/// The baseline, then every `[[technique]]` with every choice of its parameters, in the order of the file: the last parameter of the last member of a stack
/// changes fastest. What cannot be is left in `sink`.
pub fn configurations(
    stacks: &[StackAxes],
    sink: &mut Sink,
    source: SourceId,
) -> Vec<Configuration> {
    let mut found = vec![Configuration {
        label: BASELINE.to_owned(),
        stack: Stack::default(),
        range: None,
    }];
    for axes in stacks {
        let asked = axes.members.iter().flat_map(|member| &member.parameters);
        let asked = asked.map(|parameter| parameter.values.len());
        let count = asked.fold(1, usize::saturating_mul);
        if count > MOST_CONFIGURATIONS {
            let message =
                format!("this spans more than {MOST_CONFIGURATIONS} configurations: {count}");
            let diag = Diag::error("study::absurd_size", message)
                .at(source, axes.range.clone(), "")
                .help("shorten some of its lists");
            sink.push(diag);
            continue;
        }
        let members: Vec<Vec<Arc<dyn Technique>>> = axes
            .members
            .iter()
            .map(|member| configured(member, sink, source))
            .collect();
        if axes.whole {
            stack(axes, &members, &mut found, sink, source);
        }
    }
    found
}

/// A technique with every choice of its parameters, those apart that cannot be.
fn configured(axes: &TechniqueAxes, sink: &mut Sink, source: SourceId) -> Vec<Arc<dyn Technique>> {
    let Ok(definition) = find(&axes.name.value) else {
        return Vec::new();
    };
    let values: Vec<Vec<Placed<Value>>> = axes
        .parameters
        .iter()
        .map(|parameter| values(definition, parameter))
        .collect();
    let counts: Vec<usize> = values.iter().map(Vec::len).collect();
    let mut found: Vec<Arc<dyn Technique>> = Vec::new();
    for choice in choices(&counts) {
        let chosen: Vec<(&Parameter, &Placed<Value>)> = axes
            .parameters
            .iter()
            .zip(choice)
            .enumerate()
            .map(|(axis, (parameter, place))| (parameter, &values[axis][place]))
            .collect();
        let table: Table = chosen
            .iter()
            .map(|(parameter, value)| (parameter.name.clone(), value.value.clone()))
            .collect();
        match (definition.parse)(&table) {
            Ok(technique) => found.push(technique.into()),
            Err(problems) => problems
                .iter()
                .for_each(|problem| report(problem, &chosen, &axes.name, sink, source)),
        }
    }
    found
}

/// Every choice of one configuration of each member, together.
fn stack(
    axes: &StackAxes,
    members: &[Vec<Arc<dyn Technique>>],
    found: &mut Vec<Configuration>,
    sink: &mut Sink,
    source: SourceId,
) {
    let counts: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut refused: Vec<[usize; 2]> = Vec::new();
    for choice in choices(&counts) {
        let chosen = members.iter().zip(choice);
        let chosen = chosen.map(|(member, place)| Arc::clone(&member[place]));
        match Stack::new(chosen.collect()) {
            Ok(stack) => add(stack, &axes.range, found, sink, source),
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

fn refuse(refusal: &Refusal, axes: &StackAxes, sink: &mut Sink, source: SourceId) {
    let [first, second] = refusal.places.map(|place| &axes.members[place].name.range);
    let diag = Diag::error("study::conflict", refusal.to_string())
        .at(source, second.clone(), "")
        .at(source, first.clone(), "does not go with this")
        .help("leave one of them out; each under its own `[[technique]]` is compared with the plain GPU");
    sink.push(diag);
}

/// The values of a parameter: a list is an axis, unless the parameter itself is a list; then a list of lists is.
fn values(definition: &Definition, parameter: &Parameter) -> Vec<Placed<Value>> {
    let listed = definition
        .parameters
        .iter()
        .any(|known| known.name == parameter.name && known.kind == Kind::Counts);
    if !listed || parameter.values.iter().any(|value| value.value.is_array()) {
        return parameter.values.clone();
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
    vec![Placed::new(Value::Array(list), first.start..last.end)]
}

fn add(
    stack: Stack,
    range: &Range<usize>,
    found: &mut Vec<Configuration>,
    sink: &mut Sink,
    source: SourceId,
) {
    let label = stack.label();
    if let Some(earlier) = found
        .iter()
        .find(|configuration| configuration.label == label)
    {
        let mut diag = Diag::error(
            "study::duplicate_value",
            format!("`{label}` is asked for twice"),
        )
        .at(source, range.clone(), "again here");
        if let Some(first) = &earlier.range {
            diag = diag.at(source, first.clone(), "first here");
        }
        sink.push(diag.help("leave one of them out"));
        return;
    }
    found.push(Configuration {
        label,
        stack,
        range: Some(range.clone()),
    });
}

fn report(
    problem: &ParameterProblem,
    chosen: &[(&Parameter, &Placed<Value>)],
    name: &Placed<String>,
    sink: &mut Sink,
    source: SourceId,
) {
    let named = chosen
        .iter()
        .find(|(parameter, _)| parameter.name == problem.key);
    let range = match named {
        Some((parameter, _)) if problem.message.starts_with("there is no parameter") => {
            &parameter.key
        }
        Some((_, value)) => &value.range,
        None => &name.range,
    };
    let message = format!("{}.{}: {}", name.value, problem.key, problem.message);
    let diag = Diag::error("study::parameter", message)
        .at(source, range.clone(), "")
        .maybe_help(problem.help.clone());
    if !sink.diags.contains(&diag) {
        sink.push(diag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::render;
    use crate::run::catalogue;

    /// The labels of a study's configurations, and what was said about it.
    fn labels(techniques: &str) -> (Vec<String>, String) {
        let mut sink = Sink::default();
        let source = sink.sources.add("study.toml", techniques);
        let draft = crate::study::read(&mut sink, source, &catalogue()).unwrap();
        // Other sections are missing here.
        sink.diags.clear();
        let found = configurations(&draft.techniques, &mut sink, source);
        let labels = found.into_iter().map(|configuration| configuration.label);
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
