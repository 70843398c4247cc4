//! `[budget]` and `[pareto]`: what is wanted of points.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::Catalogue;
use super::reader::{Fault, Reader, Section, text};
use crate::diag::Diag;
use crate::goal::{Better, Budget, Limit, Measured, MetricNames, Objective, quantity};

pub(super) fn read_budget(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
    paper: Option<&str>,
) -> Option<Budget> {
    let section = reader.section(root, "budget")?;
    let metrics = Asked {
        metrics: catalogue.metrics.as_ref(),
        paper,
    };
    let mut budget = Budget::default();
    for (key, value) in section.in_file_order() {
        match key.get_ref().as_ref() {
            "area_overhead" => budget.area_overhead = percentage(reader, &section, "area_overhead"),
            "slowdown" => budget.slowdown = percentage(reader, &section, "slowdown"),
            name => bounds(
                reader,
                &metrics,
                name.to_owned(),
                key.span(),
                value,
                &mut budget,
            ),
        }
    }
    Some(budget)
}

/// The bounds on the metric `name`, or on the metrics in the table of that name: a dot without quotes makes a table.
fn bounds(
    reader: &mut Reader<'_>,
    metrics: &dyn MetricNames,
    name: String,
    key: Range<usize>,
    value: &Spanned<DeValue<'_>>,
    budget: &mut Budget,
) {
    if value.get_ref().is_table() {
        let Some(section) = reader.as_section(format!("budget.{name}"), value) else {
            return;
        };
        for (key, value) in section.in_file_order() {
            let name = format!("{name}.{}", key.get_ref());
            bounds(reader, metrics, name, key.span(), value, budget);
        }
        return;
    }
    let metric = match metrics.measured(&name) {
        Ok(metric) => metric,
        Err(diag) => return refuse(reader, key, diag),
    };
    let limits = reader.axis_of(&name, value, |value| bound(metric.as_ref(), value));
    let limits = limits.into_iter().flatten();
    budget.limits.extend(limits.map(|limit| limit.value));
}

/// The metrics of a study, those of the paper that it asks for among them.
#[derive(Debug)]
struct Asked<'m> {
    metrics: &'m dyn MetricNames,
    paper: Option<&'m str>,
}

impl MetricNames for Asked<'_> {
    fn measured(&self, name: &str) -> Result<Box<dyn Measured>, Diag> {
        let metric = self.metrics.measured(name)?;
        let Some(paper) = metric.paper().filter(|paper| self.paper != Some(paper)) else {
            return Ok(metric);
        };
        let message = format!("`{name}` is a figure of a paper that the study does not ask for");
        let help = format!("add `paper = \"{paper}\"` under `[study]`");
        Err(Diag::error("study::paper_not_asked", message).help(help))
    }
}

/// What is wrong with a metric's name, at the name.
fn refuse(reader: &mut Reader<'_>, range: Range<usize>, diag: Diag) {
    let source = reader.source;
    reader.sink.push(diag.at(source, range, ""));
}

fn bound(metric: &dyn Measured, value: &DeValue<'_>) -> Result<Limit, Fault> {
    let name = metric.name();
    let key = if name.contains('.') {
        format!("\"{name}\"")
    } else {
        name.to_owned()
    };
    let side = match metric.better() {
        Better::Higher => ">=",
        Better::Lower | Better::Neither => "<=",
    };
    let example = format!("{key} = \"{side} {}\"", quantity::example(metric.unit()));
    let written = text(&format!("`{name}`"), value, &example)?;
    Limit::read(metric, &written).map_err(|label| Fault {
        code: "study::wrong_unit",
        message: format!("`{name}` cannot be `{written}`"),
        label,
        help: Some(format!("write for example `{example}`")),
    })
}

/// A percentage with its sign, as a fraction.
fn percentage(reader: &mut Reader<'_>, section: &Section<'_>, key: &str) -> Option<f64> {
    let parse = |value: &DeValue<'_>| {
        let example = format!("{key} = \"5%\"");
        let written = text(&format!("`{key}`"), value, &example)?;
        let fault = |label: &str| Fault {
            code: "study::wrong_unit",
            message: format!("`{key}` cannot be `{written}`"),
            label: label.to_owned(),
            help: Some(format!("write for example `{example}`")),
        };
        let number = written
            .trim()
            .strip_suffix('%')
            .ok_or_else(|| fault("a percentage ends in %"))?;
        let percent: f64 = number.trim().parse().map_err(|_| fault("not a number"))?;
        if (0.0..=1000.0).contains(&percent) {
            Ok(percent / 100.0)
        } else {
            Err(fault("must lie between 0% and 1000%"))
        }
    };
    reader.one(section, key, parse).map(|placed| placed.value)
}

pub(super) fn read_pareto(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
    paper: Option<&str>,
) -> Vec<Objective> {
    let Some(section) = reader.section(root, "pareto") else {
        return Vec::new();
    };
    let example = "metrics = [\"energy_j\", \"area_m2\"]";
    reader.refuse_unknown(&section, &["metrics"]);
    if section.get("metrics").is_none() {
        reader.missing(&section, "metrics", example);
    }
    let metrics = Asked {
        metrics: catalogue.metrics.as_ref(),
        paper,
    };
    let objective = |value: &DeValue<'_>| {
        let written = text("a metric", value, example)?;
        Objective::read(&written, &metrics).map_err(|diag| Fault {
            code: diag.code,
            message: diag.message,
            label: String::new(),
            help: diag.help,
        })
    };
    let named = reader.axis(&section, "metrics", objective);
    let written = section.get("metrics").map(Spanned::get_ref);
    let lonely = written.is_some_and(|value| value.as_array().is_none_or(|list| list.len() == 1));
    if named.is_some() && lonely {
        let fault = Fault {
            code: "study::wrong_type",
            message: "`metrics` of `[pareto]` names one metric".to_owned(),
            label: String::new(),
            help: Some(format!("a compromise is between two or more: `{example}`")),
        };
        reader.fault(section.range.clone(), fault);
    }
    let named = named.unwrap_or_default();
    for (place, one) in named.iter().enumerate() {
        let metric = &one.value.metric;
        if named[..place].iter().any(|it| it.value.metric == *metric) {
            let fault = Fault {
                code: "study::duplicate_value",
                message: format!("`metrics` of `[pareto]` names `{metric}` twice"),
                label: String::new(),
                help: Some("leave one of them out".to_owned()),
            };
            reader.fault(one.range.clone(), fault);
        }
    }
    named.into_iter().map(|one| one.value).collect()
}
