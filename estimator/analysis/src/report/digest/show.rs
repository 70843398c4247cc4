//! A digest on the terminal.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{Along, Configuration, Digest, KernelFront, Spread};
use crate::outcome::{BASELINE, Point, gpu_label};
use crate::report::format;
use crate::report::metric::quantity;

/// Points of a front that the terminal shows; the page and `digest.json` have all.
const SHOWN: usize = 10;

/// A table by its headings and rows.
pub(super) struct Shown {
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Digest {
    /// As tables for the terminal.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{}\n\n{} points, too many to show one by one: points.csv and comparisons.csv have them.\n{}\n",
            self.title,
            format::count(self.points as u64),
            self.spreads().text()
        );
        if let Some(verdict) = &self.verdict {
            let _ = writeln!(text, "{verdict}");
        }
        for one in &self.configurations {
            text.push_str(&one.ends().map(|end| end + "\n").concat());
        }
        for along in &self.axes {
            text.push_str(&format!("\n{}\n", along.shown().text()));
        }
        for front in &self.fronts {
            text.push_str(&self.front_text(front));
        }
        if let Some(words) = self.scope.words() {
            let _ = writeln!(text, "\n{words}");
        }
        text
    }

    /// How the figures of each configuration spread.
    pub(super) fn spreads(&self) -> Shown {
        let rows = self.configurations.iter().map(|one| {
            vec![
                one.technique.clone(),
                format::count(one.points as u64),
                millijoules(&one.energy_j),
                microseconds(&one.time_s),
                changes(one.energy_change.as_ref()),
                one.slowdown.map_or_else(none, |spread| {
                    let [median, most] = [spread.median, spread.most].map(format::change);
                    format!("{median}, {most}")
                }),
                one.area_overhead
                    .map_or_else(none, |spread| format::change(spread.median)),
            ]
        });
        let headings = [
            "configuration",
            "points",
            "energy, mJ\nleast, median, most",
            "time, us\nleast, median, most",
            "energy change\nleast, median, most",
            "slower by\nmedian, most",
            "area\nmedian",
        ];
        Shown {
            headings: headings.map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }
    }

    /// The best compromises of a kernel, `most` of them.
    pub(super) fn front(&self, front: &KernelFront, most: usize) -> Shown {
        let names = self.objectives.iter().map(|one| one.metric.clone());
        let rows = front.points.iter().take(most).map(|held| {
            let values = held.values.iter().zip(&self.units);
            let values = values.map(|(value, unit)| quantity::show(*value, unit));
            let alike = format::count(held.alike as u64);
            let place = [alike, held.point.technique.clone(), place(&held.point)];
            values.chain(place).collect()
        });
        Shown {
            headings: names
                .chain(["points", "configuration", "first at"].map(str::to_owned))
                .collect(),
            rows: rows.collect(),
        }
    }

    fn front_text(&self, front: &KernelFront) -> String {
        if front.points.is_empty() {
            return String::new();
        }
        let more = match front.points.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("{more} more are in digest.json\n"),
        };
        let (name, case) = (&front.kernel.name, &front.kernel.case);
        let table = self.front(front, SHOWN).text();
        format!("\nbest compromises of {name} ({case})\n{table}\n{more}")
    }
}

impl Along {
    /// As a table.
    pub(super) fn shown(&self) -> Shown {
        let rows = self.values.iter().map(|value| {
            vec![
                value.value.clone(),
                format::count(value.points as u64),
                millijoules(&value.energy_j),
                microseconds(&value.time_s),
                changes(value.energy_change.as_ref()),
            ]
        });
        let headings = [
            self.axis.as_str(),
            "points",
            "energy, mJ\nleast, median, most",
            "time, us\nleast, median, most",
            "energy change by techniques\nleast, median, most",
        ];
        Shown {
            headings: headings.map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }
    }
}

impl Configuration {
    /// Where it is best and where it is worst, in words.
    pub(super) fn ends(&self) -> [String; 2] {
        let (best, worst) = match self.technique.as_str() {
            BASELINE => ("least energy", "most energy"),
            _ => ("largest saving", "smallest saving"),
        };
        [(best, &self.best), (worst, &self.worst)].map(|(what, point)| {
            let (kernel, technique) = (&point.kernel, &self.technique);
            let place = place(point);
            format!(
                "{technique}: {what} at {} ({}), {place}",
                kernel.name, kernel.case
            )
        })
    }
}

impl Shown {
    fn text(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Disabled)
            .force_no_tty();
        table.set_header(&self.headings);
        for row in &self.rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.to_string()
    }
}

/// GPU, technology and operating point in one line.
fn place(point: &Point) -> String {
    let gpu = gpu_label(&point.gpu, &point.axes);
    let technology = &point.technology;
    format!(
        "{gpu}, {} {}, {} V, {} K",
        technology.node, technology.flavour, technology.vdd_v, technology.temperature_k
    )
}

fn millijoules(spread: &Spread) -> String {
    spread.text(|joules| format::number(joules * 1e3))
}

fn microseconds(spread: &Spread) -> String {
    spread.text(|seconds| format::number(seconds * 1e6))
}

fn changes(spread: Option<&Spread>) -> String {
    spread.map_or_else(none, |spread| spread.text(format::change))
}

fn none() -> String {
    format::NONE.to_owned()
}
