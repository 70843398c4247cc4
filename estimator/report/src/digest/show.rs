//! A digest on the terminal.

use std::fmt::Write as _;

use super::{Along, Configuration, Digest, KernelFront, MOST_SHOWN, OnFront, Spread, Value};
use crate::aligned::Aligned;
use crate::answer::{Detail, Details, best_and_worst, left_out};
use crate::format;
use crate::metric::quantity;
use crate::outcome::{BASELINE, Point, gpu_label};
use crate::text::paragraph;

/// Behind the number of points: where they are, and what is shown of them.
const WHERE: &str = "points.csv and comparisons.csv have them. Least, median and most are over the points of \
    a configuration; changes against the plain GPU, minus is less.";

/// Points of a front that the terminal shows; the page and `digest.json` have all.
const SHOWN: usize = 10;

/// A table of the page by its headings and rows.
pub(super) struct Shown {
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Digest {
    /// As text in lines of at most `width` characters as far as words allow, with the details that are asked for.
    pub fn terminal(&self, width: usize, details: &Details) -> String {
        let mut text = format!("{}\n", self.title);
        let points = format::count(self.points as u64);
        let words = format!("{points} points, too many to show one by one: {WHERE}");
        text.push_str(&paragraph(&words, width));
        text.push_str(&self.configurations_text(width, details.is_all()));
        if let Some(verdict) = &self.verdict {
            text.push_str(&paragraph(verdict, width));
        }
        if details.has(Detail::Kernels) {
            text.push_str(&self.kernels_text(width));
        }
        if let Some(words) = self.scope.words() {
            let _ = write!(text, "\n{}", paragraph(&words, width));
        }
        let others = [Detail::Structures, Detail::Stalls, Detail::Notes];
        if others.iter().any(|detail| details.has(*detail)) {
            let most = format::count(MOST_SHOWN as u64);
            let words = format!("Structures, stalls and notes are shown of up to {most} points.");
            text.push_str(&paragraph(&words, width));
        }
        if !details.is_all() {
            text.push_str("More: --show kernels, all\n");
        }
        text
    }

    /// The figures of the configurations: of all, or of the best and the worst.
    fn configurations_text(&self, width: usize, all: bool) -> String {
        let energy = |one: &Configuration| one.energy_change.map_or(0.0, |change| change.median);
        let configurations = match all {
            true => self.configurations.iter().collect(),
            false => best_and_worst(&self.configurations, energy),
        };
        let rows = configurations.iter().map(|one| {
            let mut cells = cells(one.points, &one.energy_j, &one.time_s, one.energy_change);
            let slower = one.slowdown.map(|spread| [spread.median, spread.most]);
            cells.extend(slower.map_or([none(), none()], |both| both.map(format::change)));
            let area = one.area_overhead;
            cells.push(area.map_or_else(none, |spread| format::change(spread.median)));
            (one.technique.clone(), cells)
        });
        let own: [&[&str]; 3] = [&["slow-", "down", "median"], &["most"], &["area", "median"]];
        let table = Aligned {
            rows: rows.collect(),
            headings: headings(&[&FIGURES[..], &own].concat()),
        };
        let mut text = format!("\n{}\n", table.text(width));
        if configurations.len() < self.configurations.len() {
            text.push_str(&left_out(self.configurations.len(), "digest.json"));
        }
        text
    }

    /// Where each configuration is best and worst, figures along the axes, and the best compromises.
    fn kernels_text(&self, width: usize) -> String {
        let ends = self.configurations.iter().flat_map(Configuration::ends);
        let mut text = String::from("\n");
        text.extend(ends.map(|end| paragraph(&end, width)));
        for along in &self.axes {
            let _ = writeln!(
                text,
                "\nalong {}\n{}",
                along.axis,
                along.table().text(width)
            );
        }
        text.extend(
            self.fronts
                .iter()
                .map(|front| self.front_text(front, width)),
        );
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
            let alike = format::count(held.alike as u64);
            let place = [alike, held.point.technique.to_string(), place(&held.point)];
            self.values(held).into_iter().chain(place).collect()
        });
        Shown {
            headings: names
                .chain(["points", "configuration", "first at"].map(str::to_owned))
                .collect(),
            rows: rows.collect(),
        }
    }

    fn front_text(&self, front: &KernelFront, width: usize) -> String {
        if front.points.is_empty() {
            return String::new();
        }
        let more = match front.points.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("{more} more are in digest.json\n"),
        };
        let rows = front.points.iter().take(SHOWN).map(|held| {
            let mut cells = self.values(held);
            cells.push(format::count(held.alike as u64));
            let place = place(&held.point);
            (format!("{} · {place}", held.point.technique), cells)
        });
        let names = self.objectives.iter().map(|one| one.metric.as_str());
        let names: Vec<&str> = names.chain(["points"]).collect();
        let table = Aligned {
            rows: rows.collect(),
            headings: headings(&names.iter().map(std::slice::from_ref).collect::<Vec<_>>()),
        };
        let (name, case) = (&front.kernel.name, &front.kernel.case);
        let table = table.text(width);
        format!("\nbest compromises of {name} ({case})\n{table}\n{more}")
    }

    fn values(&self, held: &OnFront) -> Vec<String> {
        let values = held.values.iter().zip(&self.units);
        values
            .map(|(value, unit)| quantity::show(*value, unit))
            .collect()
    }
}

impl Along {
    /// As a table for the terminal.
    fn table(&self) -> Aligned {
        let rows = self.values.iter().map(|value| {
            let Value {
                points,
                energy_j,
                time_s,
                energy_change,
                ..
            } = value;
            (
                value.value.clone(),
                cells(*points, energy_j, time_s, *energy_change),
            )
        });
        Aligned {
            rows: rows.collect(),
            headings: headings(&FIGURES),
        }
    }

    /// As a table for the page.
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

/// The headings of what is shown of many points.
const FIGURES: [&[&str]; 6] = [
    &["points"],
    &["energy", "median", "mJ"],
    &["time", "median", "us"],
    &["energy", "least"],
    &["change", "median"],
    &["most"],
];

/// What is shown of many points.
fn cells(points: usize, energy_j: &Spread, time_s: &Spread, change: Option<Spread>) -> Vec<String> {
    let changes = change.map(|change| [change.least, change.median, change.most]);
    let changes = changes.map_or([none(), none(), none()], |all| all.map(format::change));
    let mut cells = vec![
        format::count(points as u64),
        format::number(energy_j.median * 1e3),
        format::number(time_s.median * 1e6),
    ];
    cells.extend(changes);
    cells
}

fn headings(columns: &[&[&str]]) -> Vec<Vec<String>> {
    let words = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    columns.iter().map(words).collect()
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

#[cfg(test)]
mod tests {
    use super::super::Gathering;
    use super::*;
    use crate::metric::{Metrics, Objective};
    use crate::{Report, sample};

    /// A digest of as many configurations as are asked for, with long names.
    fn digest(configurations: u32) -> Digest {
        let read = |text| Objective::read(text, &Metrics::known()).unwrap();
        let objectives = ["energy_j", "time_s"].map(read);
        let mut gathering = Gathering::new("Many", "0".to_owned(), &objectives);
        for entries in 1..=configurations {
            let mut points = sample::outcomes();
            for point in &mut points {
                point.point.technology.vdd_v += f64::from(entries) / 1000.0;
                if !point.point.is_baseline() {
                    point.point.technique =
                        format!("warped_dmr(queue=5) + filter_cache(entries={entries}, line=1)")
                            .into();
                }
            }
            gathering.add(&Report::new("Many", &points));
        }
        gathering.finish().0
    }

    #[test]
    fn the_first_screen_fits_and_details_come_when_asked() {
        for configurations in [1, 9, 40] {
            let digest = digest(configurations);
            for width in [80, 100] {
                let text = digest.terminal(width, &Details::default());
                assert!(text.lines().count() <= 40, "{text}");
                let details = digest.terminal(width, &Details::of(Detail::ALL));
                for line in text.lines().chain(details.lines()) {
                    assert!(line.chars().count() <= width, "{line}");
                }
                assert!(details.contains("best compromises of bfs"), "{details}");
                assert!(details.contains("along kernel"), "{details}");
                assert!(details.contains("largest saving at"), "{details}");
            }
        }
        insta::assert_snapshot!(digest(9).terminal(100, &Details::default()));
        insta::assert_snapshot!(digest(2).terminal(100, &Details::of(Detail::ALL)));
    }
}
