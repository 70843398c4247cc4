//! From `[[technique]]` tables to configured techniques.

use std::ops::Range;

use toml::{Table, Value};
use warpwatt_techniques::{Definition, Kind, ParameterProblem, Technique, find};

use super::technique::{Parameter, TechniqueAxes};
use super::toml_reader::Placed;
use super::variants::choices;
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::BASELINE;

/// What a GPU is given: nothing, or a technique.
#[derive(Debug)]
pub struct Configuration {
    /// [`BASELINE`], or the technique with its parameters.
    pub label: String,
    /// The technique.
    pub technique: Option<Box<dyn Technique>>,
    /// Where the study asks for it; nowhere for the baseline.
    pub range: Option<Range<usize>>,
}

/// The baseline, then every technique with every choice of its parameters, in the order of the file. What cannot be is left in `sink`.
pub fn configurations(
    techniques: &[TechniqueAxes],
    sink: &mut Sink,
    source: SourceId,
) -> Vec<Configuration> {
    let mut found = vec![Configuration {
        label: BASELINE.to_owned(),
        technique: None,
        range: None,
    }];
    for axes in techniques {
        let Ok(definition) = find(&axes.name.value) else {
            continue;
        };
        let values: Vec<Vec<Placed<Value>>> = axes
            .parameters
            .iter()
            .map(|parameter| values(definition, parameter))
            .collect();
        let counts: Vec<usize> = values.iter().map(Vec::len).collect();
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
                Ok(technique) => add(technique, &axes.name.range, &mut found, sink, source),
                Err(problems) => problems
                    .iter()
                    .for_each(|problem| report(problem, &chosen, &axes.name, sink, source)),
            }
        }
    }
    found
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
    technique: Box<dyn Technique>,
    range: &Range<usize>,
    found: &mut Vec<Configuration>,
    sink: &mut Sink,
    source: SourceId,
) {
    let label = technique.label();
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
        technique: Some(technique),
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
