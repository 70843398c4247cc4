//! What the graphics board draws for each kernel, and what for: a table for each GPU variant and technique.

use warpwatt_board::reported::{Reported, meaning};

use crate::format::{self, NONE};
use crate::outcome::{KernelName, Outcome, gpu_label};
use crate::text::Column;

/// Watts below which a part is not shown.
const LEAST_W: f64 = 0.05;

/// The kernels on one GPU variant with one technique.
pub struct BoardTable {
    /// Technique, GPU and settings in one line.
    pub heading: String,
    /// The kernel of each row.
    pub names: Vec<String>,
    /// Watts, their interval, and each part.
    pub columns: Vec<Column>,
}

/// What the board draws at a point; none if the study names no board.
pub(super) fn reported(point: &Outcome) -> Option<Reported> {
    Reported::of(|name| {
        let found = point.metrics.iter().find(|metric| metric.name == name);
        found.map(|metric| metric.value)
    })
}

/// Whether a metric is in these tables, so that those of single techniques need not repeat it.
pub(super) fn shows(metric: &str) -> bool {
    meaning(metric).is_some()
}

/// The tables of all points; none if the study names no board. The technology that structures are priced in does not move a board's watts: its points share a row.
pub fn tables(points: &[Outcome]) -> Vec<BoardTable> {
    let mut groups: Vec<Vec<(&Outcome, Reported)>> = Vec::new();
    for point in points {
        let Some(drawn) = reported(point) else {
            continue;
        };
        let (own, its) = (&point.point, drawn.power_w);
        let group = groups.iter_mut().find(|group| {
            let first = &group[0].0.point;
            (&first.gpu, &first.axes, &first.technique) == (&own.gpu, &own.axes, &own.technique)
        });
        let is_known = |known: &(&Outcome, Reported)| {
            known.0.point.kernel == own.kernel && known.1.power_w == its
        };
        match group {
            None => groups.push(vec![(point, drawn)]),
            Some(group) if !group.iter().any(is_known) => group.push((point, drawn)),
            Some(_) => {}
        }
    }
    groups.iter().map(|group| table(group)).collect()
}

fn table(rows: &[(&Outcome, Reported)]) -> BoardTable {
    let point = &rows[0].0.point;
    let kernels: Vec<&KernelName> = rows.iter().map(|(row, _)| &*row.point.kernel).collect();
    BoardTable {
        heading: format!(
            "{} · {}",
            point.technique,
            gpu_label(&point.gpu, &point.axes)
        ),
        names: format::kernels(&kernels),
        columns: columns(rows),
    }
}

fn columns(rows: &[(&Outcome, Reported)]) -> Vec<Column> {
    let column = |heading: &str, meaning: &str, cell: &dyn Fn(&Reported) -> String| Column {
        heading: vec![heading.to_owned()],
        meaning: meaning.to_owned(),
        cells: rows.iter().map(|(_, drawn)| cell(drawn)).collect(),
    };
    let mut columns = vec![
        column("W", "what the board draws", &|drawn| watts(drawn.power_w)),
        column(
            "95 %",
            "of measurements of the board lie within, W",
            &|drawn| {
                let (low, high) = drawn.within_w;
                format!("{} to {}", watts(low), watts(high))
            },
        ),
    ];
    let parts = rows[0].1.parts.iter().enumerate();
    for (at, (part, _)) in parts {
        let own = |drawn: &Reported| drawn.parts[at].1;
        if rows.iter().any(|(_, drawn)| own(drawn) >= LEAST_W) {
            let heading = part.key.replace('_', " ");
            columns.push(column(&heading, part.words, &|drawn| {
                let value = own(drawn);
                if value >= LEAST_W {
                    watts(value)
                } else {
                    NONE.to_owned()
                }
            }));
        }
    }
    columns
}

fn watts(value: f64) -> String {
    format!("{value:.1}")
}
