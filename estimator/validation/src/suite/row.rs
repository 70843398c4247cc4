//! Rows of a suite from TOML.

use std::collections::BTreeMap;

use toml::de::DeValue;
use warpwatt_techniques::find;

use super::measure::{native, natives};
use super::read::{expression, fault, tables};
use super::reduce::{REDUCTIONS, Reduce};
use super::shipped;
use super::{Ours, Published, Row, Selection, Suite};
use crate::{Kind, Tolerance};
use warpwatt_input::diag::{did_you_mean, nearest};
use warpwatt_input::expression::Expression;
use warpwatt_pricing::outcome::BASELINE;
use warpwatt_report::metric::{Metric, Metrics};
use warpwatt_study::reader::known;
use warpwatt_study::reader::{Fault, Reader, Section, plain, text};

/// Before the name of a measure of the other point.
pub(super) const WITHOUT: &str = "without:";
/// Before the name of a setting of the GPU.
pub(super) const GPU: &str = "gpu.";

/// What an expression may name.
pub(super) struct Names<'n> {
    pub is_known: Box<dyn Fn(&str) -> bool + 'n>,
    /// What to write instead.
    pub help: Box<dyn Fn(&str) -> String + 'n>,
}

impl<'n> Names<'n> {
    /// Of points: metrics, figures of papers, and the suite's measures. What other comparisons have is written with `without:` instead, so that it may be of any
    /// two techniques. What techniques report depends on their parameters, so that only the points can tell.
    pub fn of_points(suite: &'n Suite, metrics: &'n Metrics) -> Self {
        let is_measured = |it: Metric| it.paper().is_some() || !it.needs_baseline();
        let measures = move || suite.measures.iter().map(|(name, _)| name.as_str());
        let bare = |name: &str| name.strip_prefix(WITHOUT).unwrap_or(name).to_owned();
        let reported = |name: &str| {
            let technique = name.split_once('.').map(|(technique, _)| technique);
            technique.is_some_and(|technique| find(technique).is_ok())
        };
        Self {
            is_known: Box::new(move |name| {
                let name = bare(name);
                measures().any(|known| known == name)
                    || native(&name).is_some()
                    || reported(&name)
                    || metrics.find(&name).is_ok_and(is_measured)
            }),
            help: Box::new(move |name| {
                let name = bare(name);
                match (
                    nearest(&name, measures().chain(natives())),
                    metrics.find(&name),
                ) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, Ok(_)) => {
                        "write it with `without:`, as `cycles / without:cycles - 1`".to_owned()
                    }
                    (None, Err(diag)) => diag.help.unwrap_or_default(),
                }
            }),
        }
    }

    /// One of `names`, or anything that begins with `prefix`.
    fn among(names: Vec<String>, prefix: Option<&'static str>) -> Self {
        let all = names.clone();
        Self {
            is_known: Box::new(move |name| {
                prefix.is_some_and(|prefix| name.starts_with(prefix))
                    || names.iter().any(|it| it == name)
            }),
            help: Box::new(move |name| did_you_mean(name, all.iter().map(String::as_str))),
        }
    }
}

/// What rows name.
struct Shared<'s> {
    suite: &'s Suite,
    metrics: &'s Metrics,
    /// Those of the paper's own file.
    numbers: BTreeMap<String, f64>,
    tolerances: BTreeMap<String, Tolerance>,
    techniques: BTreeMap<String, String>,
}

const VALUE: [&str; 11] = [
    "id",
    "study",
    "technique",
    "against",
    "gpu",
    "node",
    "axes",
    "kernels",
    "metric",
    "reduce",
    "ours",
];
const ROW: [&str; 7] = [
    "figure",
    "what",
    "unit",
    "published",
    "tolerance",
    "kind",
    "gap",
];

/// `[compared]`: values that rows are made of, then rows.
pub(super) fn rows(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    suite: &Suite,
    metrics: &Metrics,
) -> Vec<Row> {
    let Some(compared) = reader.section(root, "compared") else {
        reader.missing(root, "compared", "[compared]\nrows = [{ ... }]");
        return Vec::new();
    };
    reader.refuse_unknown(&compared, &["values", "rows"]);
    let shared = Shared {
        suite,
        metrics,
        numbers: numbers(reader, root),
        tolerances: tolerances(reader, root),
        techniques: techniques(reader, root),
    };
    let circuits = suite
        .circuits
        .iter()
        .flat_map(super::circuit::Circuit::names);
    let flips = suite.flips.iter().flat_map(|it| it.names(suite.paper));
    let mut named: Vec<String> = circuits.chain(flips).collect();
    let mut rows = Vec::new();
    for key in ["values", "rows"] {
        for section in tables(reader, &compared, key) {
            let keys = if key == "rows" { &ROW[..] } else { &[] };
            reader.refuse_unknown(&section, &[&VALUE[..], keys].concat());
            let ours = ours(reader, &section, &shared, &named);
            let published = (key == "rows").then(|| published(reader, &section, &shared));
            let id = said(reader, &section, "id", "id = \"combined\"");
            named.extend(id.clone());
            if let (Some(ours), Some(published)) =
                (ours, published.map_or(Some(None), |it| it.map(Some)))
            {
                rows.push(Row {
                    id,
                    ours,
                    published,
                });
            }
        }
    }
    rows
}

/// `numbers`: the file of the paper's numbers that `published` may name.
fn numbers(reader: &mut Reader<'_>, root: &Section<'_>) -> BTreeMap<String, f64> {
    let file = reader.one(root, "numbers", |value| {
        let name = text("`numbers`", value, "numbers = \"filter_cache.toml\"")?;
        known("paper's file", "validate::suite", &name, shipped::papers())
    });
    file.map(|file| shipped::numbers(&file.value))
        .unwrap_or_default()
}

fn said(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    key: &str,
    example: &str,
) -> Option<String> {
    let read = reader.one(section, key, |value| {
        text(&format!("`{key}`"), value, example)
    });
    read.map(|read| read.value)
}

fn tolerances(reader: &mut Reader<'_>, root: &Section<'_>) -> BTreeMap<String, Tolerance> {
    let Some(section) = reader.section(root, "tolerances") else {
        return BTreeMap::new();
    };
    let entries = section.in_file_order().into_iter();
    entries
        .filter_map(|(key, _)| {
            let read = reader.one(&section, key.get_ref(), |value| {
                tolerance(value, &BTreeMap::new())
            });
            Some((key.get_ref().to_string(), read?.value))
        })
        .collect()
}

fn tolerance(value: &DeValue<'_>, named: &BTreeMap<String, Tolerance>) -> Result<Tolerance, Fault> {
    const EXAMPLE: &str = "tolerance = { relative = 0.1 }";
    let wrong = || {
        let names: Vec<String> = named.keys().map(|name| format!("`\"{name}\"`")).collect();
        let all = format!(
            "`{{ absolute = 0.05 }}`, `\"at most\"`, {}",
            names.join(", ")
        );
        let help = format!("write `{EXAMPLE}`, {}", all.trim_end_matches(", "));
        fault("this is no tolerance".to_owned(), help)
    };
    let number = |table: &toml::Table, key: &str| match table.get(key) {
        Some(toml::Value::Float(number)) => Some(*number),
        Some(toml::Value::Integer(number)) => Some(*number as f64),
        _ => None,
    };
    match plain(value)? {
        toml::Value::String(name) if name == "at most" => Ok(Tolerance::AtMost),
        toml::Value::String(name) => named.get(&name).copied().ok_or_else(wrong),
        toml::Value::Table(table) if table.len() == 1 => {
            let relative = number(&table, "relative").map(Tolerance::Relative);
            let absolute = number(&table, "absolute").map(Tolerance::Absolute);
            relative.or(absolute).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// Short names of labels.
fn techniques(reader: &mut Reader<'_>, root: &Section<'_>) -> BTreeMap<String, String> {
    let Some(section) = reader.section(root, "techniques") else {
        return BTreeMap::new();
    };
    let entries = section.in_file_order().into_iter();
    entries
        .filter_map(|(key, _)| {
            let label = said(
                reader,
                &section,
                key.get_ref(),
                "short = \"filter_cache(entries=32)\"",
            );
            Some((key.get_ref().to_string(), label?))
        })
        .collect()
}

fn ours(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    shared: &Shared<'_>,
    named: &[String],
) -> Option<Ours> {
    match (section.get("metric"), section.get("ours")) {
        (None, Some(value)) => {
            let names = Names::among(named.to_vec(), Some(GPU));
            Some(Ours::Made(expression(reader, value, &names)?))
        }
        (Some(value), None) => {
            let metric = expression(
                reader,
                value,
                &Names::of_points(shared.suite, shared.metrics),
            );
            let selection = selection(reader, section, shared, metric?);
            Some(Ours::Points(Box::new(selection?)))
        }
        _ => {
            let message = "a row has a `metric` of points or is made of other values as `ours`, not both or neither";
            let help = "write for example `metric = \"warped_dmr.coverage\", technique = \"warped_dmr\"` or `ours = \"around - in_order\"`";
            reader.fault(
                section.range.clone(),
                fault(message.to_owned(), help.to_owned()),
            );
            None
        }
    }
}

fn selection(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    shared: &Shared<'_>,
    metric: Expression,
) -> Option<Selection> {
    let study = reader.one(section, "study", |value| {
        let name = text("`study`", value, "study = \"soft_error.toml\"")?;
        known(
            "study of this suite",
            "validate::suite",
            &name,
            shared.suite.studies.iter().map(String::as_str),
        )
    });
    let Some(study) = study
        .map(|it| it.value)
        .or_else(|| shared.suite.studies.first().cloned())
    else {
        reader.missing(
            section,
            "study",
            "studies = [\"warped_dmr.toml\"]` at the top of the file",
        );
        return None;
    };
    let mut label = |key: &str| {
        let name = said(reader, section, key, "technique = \"warped_dmr\"");
        let name = name.unwrap_or_else(|| BASELINE.to_owned());
        shared.techniques.get(&name).cloned().unwrap_or(name)
    };
    let (technique, against) = (label("technique"), label("against"));
    let kernels = section.get("kernels").and_then(|value| {
        reader.axis_of("kernels", value, |value| {
            let name = text("a kernel", value, "kernels = [\"BFS\"]")?;
            let Some(paper) = shared.suite.paper else {
                return Ok(name);
            };
            // A kernel that is none of its benchmarks stands for itself.
            if warpwatt_suite::kernel(&name).is_some() {
                return Ok(name);
            }
            let rows = paper.benchmarks.iter();
            known(
                "benchmark of the paper",
                "validate::suite",
                &name,
                rows.map(|row| row.abbreviation),
            )
        })
    });
    let axes = reader.one(section, "axes", plain).map(|axes| axes.value);
    let axes = axes
        .and_then(|axes| axes.as_table().cloned())
        .unwrap_or_default();
    Some(Selection {
        study,
        technique,
        against,
        gpu: said(reader, section, "gpu", "gpu = \"gtx285\""),
        node: said(reader, section, "node", "node = \"32nm\""),
        axes: axes
            .into_iter()
            .map(|(name, value)| {
                (
                    name,
                    value.as_str().map_or(value.to_string(), str::to_owned),
                )
            })
            .collect(),
        kernels: kernels.into_iter().flatten().map(|it| it.value).collect(),
        metric,
        reduce: reader
            .one(section, "reduce", reduce)
            .map_or(Reduce::Mean, |it| it.value),
    })
}

fn reduce(value: &DeValue<'_>) -> Result<Reduce, Fault> {
    if let toml::Value::Table(table) = plain(value)? {
        let bound = table.get("share_above").and_then(|bound| match bound {
            toml::Value::Integer(bound) => Some(*bound as f64),
            other => other.as_float(),
        });
        let help = "write `reduce = { share_above = 512 }`".to_owned();
        return bound
            .map(Reduce::ShareAbove)
            .ok_or_else(|| fault("this is no reduction".to_owned(), help));
    }
    let name = text("`reduce`", value, "reduce = \"geometric mean\"")?;
    let found = REDUCTIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, reduce)| *reduce).ok_or_else(|| {
        let help = did_you_mean(&name, REDUCTIONS.map(|(known, _)| known));
        fault(format!("no reduction is called `{name}`"), help)
    })
}

fn published(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    shared: &Shared<'_>,
) -> Option<Published> {
    for (key, example) in [
        ("figure", "figure = \"Figure 4.8 (b)\""),
        ("what", "what = \"slowdown, mean\""),
        ("published", "published = 0.08"),
        ("tolerance", "tolerance = { relative = 0.1 }"),
    ] {
        if section.get(key).is_none() {
            reader.missing(section, key, example);
        }
    }
    let figure = said(reader, section, "figure", "figure = \"Figure 4.8 (b)\"");
    let what = said(reader, section, "what", "what = \"slowdown, mean\"");
    let unit = said(reader, section, "unit", "unit = \"mW\"");
    let numbers = Names::among(shared.numbers.keys().cloned().collect(), None);
    let value = section
        .get("published")
        .and_then(|value| expression(reader, value, &numbers));
    let tolerance = reader.one(section, "tolerance", |value| {
        tolerance(value, &shared.tolerances)
    });
    let kind = reader.one(section, "kind", |value| {
        let name = text("`kind`", value, "kind = \"context\"")?;
        let name = known("kind", "validate::suite", &name, Kind::ALL.map(Kind::name))?;
        Ok(Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .unwrap_or_default())
    });
    let gap = said(
        reader,
        section,
        "gap",
        "gap = \"the paper prices another part\"",
    );
    let of_paper = |name: &str| shared.numbers.get(name).copied().unwrap_or(f64::NAN);
    Some(Published {
        figure: figure?,
        what: what?,
        unit: unit.unwrap_or_default(),
        value: value?.value(&of_paper).unwrap_or(f64::NAN),
        tolerance: tolerance?.value,
        kind: kind.map_or(Kind::Independent, |kind| kind.value),
        gap,
    })
}
