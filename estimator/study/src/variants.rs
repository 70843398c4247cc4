//! From axes to what they span: GPU variants.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::{Table, Value};
use warpwatt_gpu::{GpuSpec, Lowering, Preset, SpecProblem, presets};

use super::gpu::KEYS;
use super::reader::Placed;
use super::sweep::{Choice, Counted, Design};
use super::{GpuAxes, Override};
use crate::diag::{Diag, Sink, SourceId, nearest};

/// One GPU of a study.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The preset it starts from.
    pub preset: String,
    /// The settings that the study names, with their values here.
    pub axes: BTreeMap<String, String>,
    /// The GPU.
    pub spec: GpuSpec,
}

/// All GPUs of a study with what was chosen for each, in the order of the file, the last axis fastest; all of them run PTX as `lower` says, if it does. What
/// cannot be is left in `sink`.
pub fn gpus(
    axes: &GpuAxes,
    lower: Option<Lowering>,
    design: &Design,
    sink: &mut Sink,
    source: SourceId,
) -> Vec<(Variant, Choice)> {
    let mut counted: Vec<Counted> = vec![(design.axis("gpu.preset"), axes.preset.len())];
    let overrides = axes.overrides.iter();
    counted.extend(overrides.map(|setting| {
        let axis = design.axis(&format!("gpu.{}", setting.path));
        (axis, setting.values.len())
    }));
    let Some(choices) = design.choices(&counted) else {
        sink.push(absurd("GPUs", source, &axes.range));
        return Vec::new();
    };
    let mut variants = Vec::new();
    let mut faults = Faults::default();
    for choice in choices {
        let preset = &axes.preset[choice[0]];
        let Some(base) = presets().iter().find(|known| known.name == preset.value) else {
            continue;
        };
        let places = axes.overrides.iter().zip(&choice[1..]);
        let chosen: Vec<(&Override, &Placed<Value>)> = places
            .map(|(setting, place)| (setting, &setting.values[*place]))
            .collect();
        let axes_here = chosen
            .iter()
            .map(|(setting, value)| (setting.path.clone(), shown(&value.value)))
            .collect();
        let built = build((base, lower), chosen, |problem, named| {
            faults.push(locate(problem, named, &axes.range, source));
        });
        if let Some(spec) = built {
            let variant = Variant {
                preset: preset.value.clone(),
                axes: axes_here,
                spec,
            };
            variants.push((variant, named(&counted, &choice)));
        }
    }
    faults.leave(sink);
    variants
}

/// The choice with the axes that it is about.
pub(super) fn named(counted: &[Counted], choice: &[usize]) -> Choice {
    let places = counted.iter().zip(choice);
    places
        .filter_map(|((axis, _), place)| Some(((*axis)?, *place)))
        .collect()
}

/// More of something than anyone waits for.
pub(super) fn absurd(what: &str, source: SourceId, range: &Range<usize>) -> Diag {
    Diag::error("study::absurd_size", format!("this spans absurdly many {what}"))
        .at(source, range.clone(), "")
        .help("shorten some of its lists, let axes walk together with `zip`, or draw some with `sample` under `[sweep]`")
}

/// Faults of many choices: each once, and of those that differ in nothing but the values of a range, the first few.
#[derive(Default)]
pub struct Faults {
    found: Vec<Diag>,
    /// Those of each kind, by their places in `found`.
    kinds: BTreeMap<Kind, Vec<usize>>,
}

/// The code of a fault, and where its main place begins.
type Kind = (&'static str, Option<usize>);

/// Faults of one kind at one place that are shown.
const MOST_OF_A_KIND: usize = 3;

impl Faults {
    /// Takes a fault among the others, if it is not one too many of its kind.
    pub fn push(&mut self, fault: Diag) {
        let alike = self.kinds.entry(kind(&fault)).or_default();
        if alike.len() >= MOST_OF_A_KIND || alike.iter().any(|place| self.found[*place] == fault) {
            return;
        }
        alike.push(self.found.len());
        self.found.push(fault);
    }

    /// Leaves them all in `sink`.
    pub fn leave(self, sink: &mut Sink) {
        let mut known: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
        for (place, diag) in sink.diags.iter().enumerate() {
            known.entry(kind(diag)).or_default().push(place);
        }
        for fault in self.found {
            let mut alike = known.get(&kind(&fault)).into_iter().flatten();
            if !alike.any(|place| sink.diags[*place] == fault) {
                sink.push(fault);
            }
        }
    }
}

fn kind(fault: &Diag) -> Kind {
    let place = fault.labels.first().map(|label| label.range.start);
    (fault.code, place)
}

/// The setting that chooses what runs of PTX.
const LOWER: &str = "lower";

/// A setting and the value that is chosen for it.
pub type Chosen<'a> = (&'a Override, &'a Placed<Value>);

/// The preset with the chosen settings, and a lowering if one is given, whatever is chosen; `report` hears of every problem and of the setting that it is about.
/// If some of them cannot be, the others are judged without them, so that no fault hides another.
pub fn build(
    (base, lower): (&Preset, Option<Lowering>),
    mut chosen: Vec<Chosen<'_>>,
    mut report: impl FnMut(&SpecProblem, Option<Chosen<'_>>),
) -> Option<GpuSpec> {
    let asked = chosen.len();
    loop {
        let mut own = chosen
            .iter()
            .filter(|(setting, _)| setting.path == LOWER)
            .filter_map(|(_, value)| Lowering::named(value.value.as_str()?));
        let own = lower.or_else(|| own.next_back());
        let mut table = base.table_lowered(own);
        let blocked: Vec<SpecProblem> = chosen
            .iter()
            .filter_map(|(setting, value)| {
                set(&mut table, &setting.path, value.value.clone()).err()
            })
            .collect();
        if let Some(lower) = lower {
            table.insert(LOWER.to_owned(), lower.name().into());
        }
        let read = if blocked.is_empty() {
            GpuSpec::from_table(table)
        } else {
            Err(blocked)
        };
        let problems = match read {
            Ok(spec) => return (chosen.len() == asked).then_some(spec),
            Err(problems) => problems,
        };
        let settings = chosen.iter().map(|(setting, _)| setting.path.as_str());
        let settings = Paths::new(settings);
        for problem in &problems {
            let named = settings.concerned(&problem.path).map(|place| chosen[place]);
            report(problem, named);
        }
        let before = chosen.len();
        let judged = Paths::new(problems.iter().map(|problem| problem.path.as_str()));
        chosen.retain(|(setting, _)| judged.concerned(&setting.path).is_none());
        if chosen.len() == before {
            return None;
        }
    }
}

/// Paths in a GPU's table, each with its place in a list.
struct Paths<'p>(BTreeMap<&'p str, usize>);

impl<'p> Paths<'p> {
    fn new(paths: impl DoubleEndedIterator<Item = &'p str> + ExactSizeIterator) -> Self {
        // The first of equals stays.
        Self(
            paths
                .enumerate()
                .rev()
                .map(|(place, path)| (path, place))
                .collect(),
        )
    }

    /// The first of them in the list that is `path`, a table that holds it, or something in it.
    fn concerned(&self, path: &str) -> Option<usize> {
        let ends = path.match_indices('.').map(|(end, _)| end);
        let outer = ends
            .chain([path.len()])
            .filter_map(|end| self.0.get(&path[..end]));
        let start = format!("{path}.");
        let inner = self.0.range(start.as_str()..);
        let inner = inner.take_while(|(inner, _)| inner.starts_with(&start));
        outer.chain(inner.map(|(_, place)| place)).min().copied()
    }
}

/// A value as it is shown on an axis: texts without quotes.
pub fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A TOML value, or else a text.
pub fn literal(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>();
    parsed
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// In so many tables may a setting lie: more than any does, and so few that the stack holds dropping them.
const DEEPEST: usize = 16;

/// Sets `path` in a GPU's table. Judging the value is not its job, but there must be tables on the way, and not too many.
pub fn set(table: &mut Table, path: &str, value: Value) -> Result<(), SpecProblem> {
    let problem = |message: String| SpecProblem {
        path: path.to_owned(),
        message,
        help: Some("settings are named as in `sm.threads`".to_owned()),
        unknown: false,
    };
    let tables = path.matches('.').count();
    if tables > DEEPEST {
        let first = path.split('.').next().unwrap_or_default();
        return Err(problem(format!(
            "`{first}.…` lies in {tables} tables: no setting lies in more than {DEEPEST}"
        )));
    }
    let (outer, last) = path
        .rsplit_once('.')
        .map_or((None, path), |(outer, last)| (Some(outer), last));
    let mut inner = table;
    for key in outer.into_iter().flat_map(|outer| outer.split('.')) {
        let next = inner
            .entry(key)
            .or_insert_with(|| Value::Table(Table::new()));
        inner = next
            .as_table_mut()
            .ok_or_else(|| problem(format!("`{key}` is a setting, not a table of settings")))?;
    }
    inner.insert(last.to_owned(), value);
    Ok(())
}

/// A problem of a GPU at the setting that the study names, or else at the GPU itself.
fn locate(
    problem: &SpecProblem,
    named: Option<Chosen<'_>>,
    gpu: &Range<usize>,
    source: SourceId,
) -> Diag {
    let message = if problem.path.is_empty() {
        problem.message.clone()
    } else {
        format!("gpu.{}: {}", problem.path, problem.message)
    };
    let unknown = problem.unknown;
    let slip = nearest(&problem.path, KEYS).filter(|_| unknown);
    let help = slip
        .map(|key| format!("did you mean `{key}`?"))
        .or_else(|| problem.help.clone());
    let diag = Diag::error("study::gpu", message).maybe_help(help);
    match named {
        Some((setting, _)) if unknown => diag.at(source, setting.key.clone(), ""),
        Some((_, value)) => diag.at(source, value.range.clone(), ""),
        None => diag.at(source, gpu.clone(), "this GPU"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_put_where_its_path_says() {
        let mut table: Table = "[sm]\nthreads = 1024\n".parse().unwrap();
        set(&mut table, "sm.threads", Value::Integer(512)).unwrap();
        set(&mut table, "units.sp.lanes", Value::Integer(16)).unwrap();
        assert_eq!(table["sm"]["threads"].as_integer(), Some(512));
        assert_eq!(table["units"]["sp"]["lanes"].as_integer(), Some(16));
        assert!(set(&mut table, "sm.threads.deep", Value::Integer(1)).is_err());
        // So many that dropping them would overflow the stack.
        let path = "a.".repeat(100_000) + "b";
        let fault = set(&mut table, &path, Value::Integer(1)).unwrap_err();
        assert!(
            fault.message.starts_with("`a.…` lies in 100000 tables"),
            "{}",
            fault.message
        );
    }
}
