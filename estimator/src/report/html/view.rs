//! What the page shows, as texts for its template.

use std::borrow::Cow;

use serde::Serialize;

use super::goals::{self, FrontView, PointsView};
use crate::outcome::{Outcome, PricedStructure, Provenance, TechnologyName};
use crate::report::answer::{Scope, answer_columns};
use crate::report::columns::{self, Column};
use crate::report::compare::Comparison;
use crate::report::model::{Block, Report};
use crate::report::protection::Protections;
use crate::report::stacked::Stacked;
use crate::report::uncertainty::UncertaintyLine;
use crate::report::{chart, format, operating, table, time};

/// The whole page.
#[derive(Serialize)]
pub struct Page {
    title: String,
    points: usize,
    answer: AnswerView,
    /// Over nodes.
    trend: Option<Chart>,
    sections: Vec<Section>,
    /// Shown if nothing is compared.
    outcomes: Vec<[String; 6]>,
    without_baseline: Vec<String>,
    stacks: Vec<Titled>,
    pareto: Vec<FrontView>,
    /// Draws of the Monte Carlo, if there is one, and what it shows.
    draws: usize,
    uncertainty: Vec<UncertaintyLine>,
    budget: Option<PointsView>,
    peak: Option<PointsView>,
    operating: Vec<Titled>,
    protection: Vec<Titled>,
    times: Vec<Time>,
    technologies: Vec<Technology>,
    citation: String,
    version: &'static str,
}

/// One technique configuration on one GPU variant and technology.
#[derive(Serialize)]
struct Section {
    id: String,
    heading: String,
    context: String,
    overhead: [(&'static str, String); 4],
    figures: Grid,
    metrics: Grid,
    charts: Vec<Chart>,
    energies: Vec<Row>,
    structures: Vec<Row>,
    lines: Vec<String>,
    notes: Vec<String>,
}

/// The answer, with its columns' headings and meanings.
#[derive(Serialize)]
struct AnswerView {
    columns: Vec<(String, &'static str)>,
    cells: Vec<Vec<String>>,
    verdict: Option<String>,
    scope: Option<String>,
}

/// A table under a heading.
#[derive(Serialize)]
struct Titled {
    heading: String,
    table: Grid,
}

/// What the SMs spent their time on, on one GPU variant with one technique.
#[derive(Serialize)]
struct Time {
    heading: String,
    /// Shown at once; the others when they are asked for.
    open: bool,
    table: Grid,
}

/// A table of comparisons.
#[derive(Serialize)]
pub(super) struct Grid {
    /// Heading and meaning.
    columns: Vec<(String, String)>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    detail: String,
    cells: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) heading: Cow<'static, str>,
    pub(super) caption: &'static str,
    pub(super) svg: String,
}

#[derive(Serialize)]
struct Technology {
    label: String,
    counts: String,
    interpolation: Option<String>,
    sources: Vec<String>,
}

impl Page {
    /// The page of a report.
    pub fn of(report: &Report) -> Self {
        let sections = report.blocks.iter().enumerate();
        let compared = !report.blocks.is_empty();
        Self {
            title: report.title.clone(),
            points: report.points.len(),
            answer: answer(report),
            sections: sections
                .map(|(i, block)| section(report, block, i))
                .collect(),
            trend: trend(report),
            outcomes: report
                .points
                .iter()
                .filter(|_| !compared)
                .map(format::outcome)
                .collect(),
            without_baseline: report
                .without_baseline
                .iter()
                .map(|point| format!("{} with {}", point.kernel.name, point.technique))
                .collect(),
            stacks: report.stacks.iter().map(stacked).collect(),
            pareto: goals::fronts(report),
            draws: report
                .uncertainty
                .as_ref()
                .map_or(0, |all| all.sampling.samples),
            uncertainty: report.uncertainty_lines(),
            budget: report.budget_table().map(PointsView::of),
            peak: report.peak_table().map(PointsView::of),
            operating: operating::tables(&report.points)
                .iter()
                .map(|table| Titled {
                    heading: table.heading.clone(),
                    table: named_grid(&table.names, &table.columns),
                })
                .collect(),
            protection: report.protection.iter().map(protected).collect(),
            times: time::tables(&report.points).into_iter().map(time).collect(),
            technologies: technologies(report),
            citation: report.paper.citation.clone(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The answer: a row a configuration, in the order of the sections.
fn answer(report: &Report) -> AnswerView {
    let rows = report.answer();
    let columns = answer_columns(&rows);
    AnswerView {
        columns: columns
            .iter()
            .map(|column| (column.title.join(" ").replace("- ", ""), column.meaning))
            .collect(),
        cells: rows
            .iter()
            .map(|row| columns.iter().map(|column| row.cell(column)).collect())
            .collect(),
        verdict: (!rows.is_empty()).then(|| report.verdict(&rows)),
        scope: Scope::of(&report.points).words(),
    }
}

fn section(report: &Report, block: &Block, index: usize) -> Section {
    let overhead = block.comparisons.first().map(|c| c.overhead);
    let figure = |of: fn(&crate::report::Overhead) -> Option<crate::report::estimate::Estimate>| {
        format::estimate(overhead.as_ref().and_then(of))
    };
    Section {
        id: format!("configuration-{}", index + 1),
        heading: block.technique.clone(),
        context: block.context(),
        overhead: [
            ("Area over the front end's", figure(|o| o.front_end_area)),
            (
                "Area over the SM's priced structures'",
                figure(|o| o.sm_area),
            ),
            (
                "Leakage over the front end's",
                figure(|o| o.front_end_leakage),
            ),
            (
                "Leakage over the SM's priced structures'",
                figure(|o| o.sm_leakage),
            ),
        ],
        figures: grid(block, &columns::figures(block)),
        metrics: grid(block, &columns::metrics(block)),
        charts: charts(report, block, index),
        energies: block.comparisons.iter().map(energy_row).collect(),
        structures: structures(report, block),
        lines: block.lines(&report.paper),
        notes: table::notes(block),
    }
}

fn trend(report: &Report) -> Option<Chart> {
    Some(Chart {
        heading: Cow::Borrowed("Change of energy over nodes"),
        caption: "Dynamic and leakage energy of all priced structures, mean over kernels; whiskers: the mean 95 % interval of the circuit models' error.",
        svg: chart::over_nodes(report, "trend")?,
    })
}

fn grid(block: &Block, columns: &[Column]) -> Grid {
    let rows = block.comparisons.iter().enumerate();
    let cells = |index: usize| columns.iter().map(|c| c.cells[index].clone()).collect();
    Grid {
        columns: headings(columns),
        rows: rows
            .map(|(index, comparison)| row(comparison, cells(index)))
            .collect(),
    }
}

/// Gross, overhead and net of the front end, then everything with leakage.
fn energy_row(comparison: &Comparison) -> Row {
    let saving = comparison.front_end_saving;
    row(
        comparison,
        vec![
            format::nanojoules(comparison.front_end.without_j),
            format::nanojoules(saving.gross_j),
            format::nanojoules(saving.overhead_j),
            format::nanojoules(saving.net_j),
            format::nanojoules(comparison.total.without_j),
            format::nanojoules(comparison.total.with_j),
            format::estimate(comparison.total.relative),
        ],
    )
}

fn row(comparison: &Comparison, cells: Vec<String>) -> Row {
    Row {
        name: comparison.point.kernel.name.clone(),
        detail: comparison.point.kernel.case.clone(),
        cells,
    }
}

fn charts(report: &Report, block: &Block, index: usize) -> Vec<Chart> {
    let id = |name: &str| format!("{name}-{}", index + 1);
    let mut charts = vec![Chart {
        heading: Cow::Borrowed("Front-end energy"),
        caption: "Dynamic energy of the front end by structure, relative to the whole without the technique: without on top, with below. On the right the sums.",
        svg: chart::front_end_breakdown(block, &id("breakdown")),
    }];
    if block.comparisons.iter().any(|c| c.hit_rate.is_some()) {
        charts.splice(
            0..0,
            [Chart {
                heading: Cow::Borrowed("I-cache energy"),
                caption: "Energy of I-cache and filter cache, relative to the I-cache alone (100%). Whiskers: 95 % interval of the circuit models' error; diamonds: the paper.",
                svg: chart::icache_energy(block, &id("icache")),
            }],
        );
        charts.push(Chart {
            heading: Cow::Borrowed("Filter-cache hit rate"),
            caption: "Fraction of the fetches that the filter cache served.",
            svg: chart::hit_rates(block, &id("hits")),
        });
        charts.push(Chart {
            heading: Cow::Borrowed("Energy ratio against miss rate"),
            caption: "Table 4 of the paper is a straight line in the hit rate; ours are too, as far as I-cache fills do not matter.",
            svg: chart::ratio_against_miss_rate(block, &report.paper, &id("line")),
        });
    }
    let points = points(report, block);
    if let Some(svg) = chart::register_accesses(&points, &id("registers")) {
        charts.push(Chart {
            heading: Cow::Borrowed("Accesses of physical registers"),
            caption: "Reads and writes of each physical register, summed over SMs, relative to the kernel's most accessed one: a row a bank, a column a row of the bank. Variation: standard deviation over mean; lifetime: of the most accessed register over that under even use, by Black's equation.",
            svg,
        });
    }
    charts
}

/// The points with the technique, in the order of the comparisons.
fn points<'r>(report: &'r Report, block: &Block) -> Vec<&'r Outcome> {
    let of = |comparison: &Comparison| {
        let points = report.points.iter();
        points
            .into_iter()
            .find(|outcome| outcome.point == comparison.point)
    };
    block.comparisons.iter().filter_map(of).collect()
}

/// The structures of the technique's first point: their costs do not depend on the kernel.
fn structures(report: &Report, block: &Block) -> Vec<Row> {
    let outcome = points(report, block).into_iter().next();
    let structures = outcome.map_or(&[] as &[PricedStructure], |outcome| &outcome.structures);
    structures.iter().map(structure_row).collect()
}

fn structure_row(structure: &PricedStructure) -> Row {
    let energy = |action: &str| {
        structure.actions.get(action).map_or_else(
            || format::NONE.to_owned(),
            |priced| format::number(priced.unit_j * 1e12),
        )
    };
    let uncertainty = structure.uncertainty;
    Row {
        name: structure.name.clone(),
        detail: structure.organisation.clone().unwrap_or_default(),
        cells: vec![
            structure.group.replace('_', " "),
            format::count(structure.instances),
            format::number(structure.area_m2 * 1e12),
            format::number((structure.leakage_w + structure.gate_leakage_w) * 1e3),
            energy("read"),
            energy("write"),
            format::number(structure.delay_s * 1e12),
            format!("{:.0}%", 100.0 * uncertainty.energy),
            structure.model.clone(),
        ],
    }
}

fn time(table: time::TimeTable) -> Time {
    Time {
        open: table.is_baseline,
        table: named_grid(&table.names, &table.columns),
        heading: table.heading,
    }
}

fn stacked(stacked: &Stacked) -> Titled {
    Titled {
        heading: stacked.configuration.clone(),
        table: named_grid(&stacked.names(), &stacked.columns()),
    }
}

fn protected(table: &Protections) -> Titled {
    Titled {
        heading: table.context(),
        table: named_grid(&table.names(), &table.columns()),
    }
}

/// Columns as a table, a row a name.
pub(super) fn named_grid(names: &[String], columns: &[Column]) -> Grid {
    let row = |(index, name): (usize, &String)| Row {
        name: name.clone(),
        detail: String::new(),
        cells: columns.iter().map(|c| c.cells[index].clone()).collect(),
    };
    Grid {
        columns: headings(columns),
        rows: names.iter().enumerate().map(row).collect(),
    }
}

fn headings(columns: &[Column]) -> Vec<(String, String)> {
    columns
        .iter()
        .map(|column| {
            (
                column.heading.join(" ").replace("- ", ""),
                column.meaning.clone(),
            )
        })
        .collect()
}

fn technologies(report: &Report) -> Vec<Technology> {
    let mut seen: Vec<&TechnologyName> = Vec::new();
    for outcome in &report.points {
        if !seen.contains(&&outcome.point.technology) {
            seen.push(&outcome.point.technology);
        }
    }
    seen.into_iter()
        .map(|technology| Technology {
            label: technology.label(),
            counts: counts(&technology.provenance),
            interpolation: technology.interpolation.clone(),
            sources: technology.sources.clone(),
        })
        .collect()
}

/// `131 values: 96 published, 31 scaled, 4 assumed`.
fn counts(provenance: &Provenance) -> String {
    let kinds = [
        (provenance.published, "published"),
        (provenance.measured, "measured"),
        (provenance.scaled, "scaled"),
        (provenance.fitted, "fitted"),
        (provenance.assumed, "assumed"),
    ];
    let total: u64 = kinds.iter().map(|(count, _)| count).sum();
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    format!("{total} values: {}", parts.join(", "))
}
