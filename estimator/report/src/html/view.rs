//! What the page shows, as texts for its template.

use std::borrow::Cow;

use serde::Serialize;

use super::energy::EnergyView;
use super::goals::{self, FrontView, PointsView};
use crate::answer::{Scope, answer_columns, saved_and_added};
use crate::columns;
use crate::compare::Comparison;
use crate::model::{Block, Report};
use crate::outcome::{Outcome, PricedStructure, Provenance, TechnologyName};
use crate::protection::Protections;
use crate::stacked::Stacked;
use crate::structures::families;
use crate::text::Column;
use crate::uncertainty::UncertaintyLine;
use crate::{board, chart, format, operating, table, time};

/// The whole page.
#[derive(Serialize)]
pub struct Page {
    title: String,
    points: usize,
    answer: AnswerView,
    /// The change of each configuration, over nodes, and by kernel.
    overview: Vec<Chart>,
    /// Where the energy goes: what of, and its pictures.
    energy: Option<EnergyView>,
    /// What the columns of the sections' tables mean.
    meanings: Vec<(String, String)>,
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
    board: Vec<Titled>,
    times: Vec<Time>,
    technologies: Vec<Technology>,
    citation: Option<String>,
    version: &'static str,
}

/// One technique configuration on one GPU variant and technology.
#[derive(Serialize)]
struct Section {
    id: String,
    heading: String,
    context: String,
    overhead: [(&'static str, String); 2],
    figures: Grid,
    /// The figures of the paper that the study asks for.
    beside: Option<Grid>,
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

/// A picture with its heading and with what its marks are.
#[derive(Serialize)]
pub(crate) struct Chart {
    pub heading: Cow<'static, str>,
    pub caption: Cow<'static, str>,
    pub svg: String,
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
        let sections = sections.map(|(i, block)| section(report, block, i));
        let sections: Vec<Section> = sections.collect();
        let compared = !report.blocks.is_empty();
        Self {
            title: report.title.clone(),
            points: report.points.len(),
            answer: answer(report),
            meanings: meanings(&sections),
            sections,
            overview: super::overview::charts(report),
            energy: super::energy::view(report),
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
            board: board::tables(&report.points)
                .iter()
                .map(|table| Titled {
                    heading: table.heading.clone(),
                    table: named_grid(&table.names, &table.columns),
                })
                .collect(),
            times: time::tables(&report.points).into_iter().map(time).collect(),
            technologies: technologies(report),
            citation: report
                .paper
                .as_ref()
                .map(|paper| paper.citation().to_owned()),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// What the headings of the sections' tables mean, each once.
fn meanings(sections: &[Section]) -> Vec<(String, String)> {
    let mut meanings: Vec<(String, String)> = Vec::new();
    for section in sections {
        let beside = section.beside.iter().flat_map(|grid| &grid.columns);
        for column in section.figures.columns.iter().chain(beside) {
            if !meanings.contains(column) {
                meanings.push(column.clone());
            }
        }
    }
    meanings
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
    let figure = |of: fn(&crate::Overhead) -> Option<crate::estimate::Estimate>| {
        format::estimate(overhead.as_ref().and_then(of))
    };
    Section {
        id: format!("configuration-{}", index + 1),
        heading: block.technique.to_string(),
        context: block.context(),
        overhead: [
            ("Area", figure(|o| o.sm_area)),
            ("Leakage", figure(|o| o.sm_leakage)),
        ],
        figures: grid(block, &columns::figures(block)),
        beside: report
            .paper
            .as_deref()
            .map(|paper| grid(block, &columns::beside(block, paper))),
        metrics: grid(block, &columns::metrics(block)),
        charts: charts(report, block, index),
        energies: {
            let pairs = block.comparisons.iter().zip(report.pairs(index));
            pairs.map(|(c, pair)| energy_row(c, pair)).collect()
        },
        structures: structures(report, block),
        lines: block.lines.clone(),
        notes: table::notes(block),
    }
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

/// What the structures of a kernel save and cost, with leakage.
fn energy_row(comparison: &Comparison, pair: (&Outcome, &Outcome)) -> Row {
    let [saved, added] = saved_and_added(pair);
    let energies = [
        comparison.total.without_j,
        saved,
        added,
        saved - added,
        comparison.total.with_j,
    ];
    let mut cells = energies.map(format::nanojoules).to_vec();
    cells.push(format::estimate(comparison.total.relative));
    row(comparison, cells)
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
    let mut charts = Vec::new();
    if let Some(svg) = chart::by_structure(families(report, index), &id("structures")) {
        charts.push(Chart {
            heading: Cow::Borrowed("Energy by structure"),
            caption: Cow::Borrowed("Dynamic and leakage energy summed over the kernels, relative to the whole without the technique."),
            svg,
        });
    }
    if let Some(paper) = &report.paper {
        let own = paper.charts(block, index).into_iter();
        charts.extend(own.map(|chart| Chart {
            heading: chart.heading,
            caption: Cow::Borrowed(chart.caption),
            svg: chart.svg,
        }));
    }
    let points = points(report, block);
    if let Some(svg) = chart::register_accesses(&points, &id("registers")) {
        charts.push(Chart {
            heading: Cow::Borrowed("Accesses of physical registers"),
            caption: Cow::Borrowed("Reads and writes of each physical register, summed over SMs, relative to the kernel's most accessed one: a row a bank, a column a row of the bank. Variation: standard deviation over mean; lifetime: of the most accessed register over that under even use, by Black's equation."),
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
        name: structure.name.to_string(),
        detail: structure
            .organisation
            .clone()
            .unwrap_or_default()
            .to_string(),
        cells: vec![
            structure.group.replace('_', " "),
            format::count(structure.instances),
            format::number(structure.area_m2 * 1e12),
            format::number((structure.leakage_w + structure.gate_leakage_w) * 1e3),
            energy("read"),
            energy("write"),
            format::number(structure.delay_s * 1e12),
            format!("{:.0}%", 100.0 * uncertainty.energy),
            structure.made_of(),
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
            interpolation: technology.interpolation.as_deref().map(str::to_owned),
            sources: technology.sources.to_vec(),
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
