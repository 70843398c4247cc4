//! The pictures that answer: the change of each configuration, over nodes, and kernel by kernel; and how far each kernel is from what its GPU could do.

use std::borrow::Cow;

use super::energy;
use super::view::Chart;
use crate::answer::{self, Answer};
use crate::chart::{self, Change, MOST_ROWS, Panel};
use crate::model::{Block, Report};

/// Those that the report has anything for.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let rows = report.answer();
    let all = [
        changes(&rows),
        over_nodes(report),
        by_kernel(report, &rows),
        energy::roofline(report),
    ];
    all.into_iter().flatten().collect()
}

fn changes(rows: &[Answer]) -> Option<Chart> {
    let shown = answer::shown(rows).into_iter();
    let changes = shown.filter_map(|row| {
        Some(Change {
            label: answer::label(row, rows),
            energy: row.energy_change?,
            outside: row.within_budget == Some(false),
        })
    });
    let changes: Vec<Change> = changes.collect();
    let caption = if changes.len() < rows.len() {
        "Mean over kernels with its 95 % interval, of the best and the worst configurations; hollow: outside the budget."
    } else {
        "Mean over kernels with its 95 % interval; hollow: outside the budget."
    };
    Some(Chart {
        heading: Cow::Borrowed("Change of energy"),
        caption: Cow::Borrowed(caption),
        svg: chart::energy_changes(&changes, "changes")?,
    })
}

fn over_nodes(report: &Report) -> Option<Chart> {
    Some(Chart {
        heading: Cow::Borrowed("Change of energy over nodes"),
        caption: Cow::Borrowed(
            "Dynamic and leakage energy of all priced structures, mean over kernels; whiskers: the mean 95 % interval of the circuit models' error.",
        ),
        svg: chart::over_nodes(report, "trend")?,
    })
}

/// The configurations that change energy the most for the better, kernel by kernel.
fn by_kernel(report: &Report, rows: &[Answer]) -> Option<Chart> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[a].energy().total_cmp(&rows[b].energy()));
    order.truncate(MOST_ROWS);
    order.sort_unstable();
    let labels: Vec<String> = order
        .iter()
        .map(|&row| answer::label(&rows[row], rows))
        .collect();
    let blocks: Vec<&Block> = order.iter().map(|&row| &report.blocks[row]).collect();
    let mut names: Vec<(String, _)> = Vec::new();
    for block in &blocks {
        for (name, comparison) in block.names().into_iter().zip(&block.comparisons) {
            let kernel = &comparison.point.kernel;
            if !names.iter().any(|(_, known)| *known == kernel) {
                names.push((name, kernel));
            }
        }
    }
    let panels = names.into_iter().map(|(name, kernel)| Panel {
        name,
        changes: blocks
            .iter()
            .map(|block| {
                let mut all = block.comparisons.iter();
                all.find(|c| c.point.kernel == *kernel)?.total.relative
            })
            .collect(),
    });
    let panels: Vec<Panel> = panels.collect();
    let caption = if labels.len() < rows.len() {
        "A panel a kernel, all on one scale; the configurations that change energy the most for the better."
    } else {
        "A panel a kernel, all on one scale."
    };
    Some(Chart {
        heading: Cow::Borrowed("Kernel by kernel"),
        caption: Cow::Borrowed(caption),
        svg: chart::by_kernel(&panels, &labels, "kernels")?,
    })
}
