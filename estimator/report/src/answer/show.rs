//! The answer on the terminal: one table, the winner, what is left out; details when they are asked for.

use std::fmt::Write;

use super::board;
use super::columns::{COLUMNS, Column, Value};
use super::row::Answer;
use super::scope::Scope;
use super::winner;
use crate::aligned::Aligned;
use crate::format::{self, NONE};
use crate::model::Report;
use crate::text::paragraph;

/// Rows that are shown whole; of more the best and the worst.
const MOST_ROWS: usize = 12;
/// The best and the worst of more rows.
const BEST_AND_WORST: (usize, usize) = (8, 3);

/// What is shown below the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Every kernel of every configuration, and points against budgets, fronts, supplies.
    Kernels,
    /// Energy and area by structure, without and with.
    Structures,
    /// What the SMs spent their time on.
    Stalls,
    /// What a reader must know.
    Notes,
}

/// The details that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details(Vec<Detail>);

impl Detail {
    /// Every detail, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Kernels, Self::Structures, Self::Stalls, Self::Notes];

    /// Its name at the prompt.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Structures => "structures",
            Self::Stalls => "stalls",
            Self::Notes => "notes",
        }
    }
}

impl Details {
    /// Those of `details`.
    pub fn of(details: impl IntoIterator<Item = Detail>) -> Self {
        Self(details.into_iter().collect())
    }

    /// Whether `detail` is asked for.
    pub fn has(&self, detail: Detail) -> bool {
        self.0.contains(&detail)
    }

    /// Whether everything is.
    pub fn is_all(&self) -> bool {
        Detail::ALL.iter().all(|detail| self.has(*detail))
    }
}

impl Report {
    /// The answer as text in lines of at most `width` characters as far as words allow, with the details that are asked for.
    pub fn terminal(&self, width: usize, details: &Details) -> String {
        let mut text = format!("{}\n", self.title);
        let rows = self.answer();
        if !rows.is_empty() {
            text.push_str(&self.headline(&rows, width, details.is_all()));
        }
        if let Some(words) = board::words(&self.points) {
            text.push_str(&paragraph(&words, width));
        }
        text.push_str(&self.details(width, details));
        let words = Scope::of(&self.points).words();
        text.push_str(&words.map_or_else(String::new, |words| {
            format!("\n{}", paragraph(&words, width))
        }));
        if !details.is_all() {
            text.push_str("More: --show kernels, structures, stalls, notes, all\n");
        }
        text
    }

    /// The table of the rows, what it is of, and the winner.
    fn headline(&self, rows: &[Answer], width: usize, all: bool) -> String {
        let order = if all {
            rows.iter().collect()
        } else {
            shown(rows)
        };
        let mut text = paragraph(&context(rows), width);
        let _ = writeln!(text, "\n{}", table(&order, rows, width));
        if order.len() < rows.len() {
            text.push_str(&left_out(rows.len(), "answer.csv"));
        }
        text.push_str(&paragraph(&self.verdict(rows), width));
        text
    }

    /// Which row wins, in a sentence.
    pub fn verdict(&self, rows: &[Answer]) -> String {
        verdict(rows, self.budget_words().as_deref())
    }
}

/// Which row wins, in a sentence; then what is said of the budget, if there is one.
pub fn verdict(rows: &[Answer], budget: Option<&str>) -> String {
    let said = budget.map_or_else(String::new, |words| format!(" {words}."));
    let Some(winner) = winner(rows) else {
        return format!("No configuration is inside the budget.{said}");
    };
    let saves = winner.energy() < 0.0;
    let what = match (budget.is_some(), saves) {
        (true, true) => "Most energy saved within the budget:",
        (false, true) => "Most energy saved:",
        (true, false) => "No configuration within the budget saves energy; the least is added by",
        (false, false) => "No configuration saves energy; the least is added by",
    };
    let [area, slower] = [winner.area_change, winner.slowdown]
        .map(|change| change.map_or_else(|| NONE.to_owned(), format::change));
    let name = label(winner, rows);
    format!(
        "{what} {name}: energy {}, area {area}, cycles {slower}.{said}",
        format::estimate(winner.energy_change)
    )
}

/// All rows, or the best and the worst of many, by energy.
pub fn shown(rows: &[Answer]) -> Vec<&Answer> {
    best_and_worst(rows, Answer::energy)
}

/// All rows, or the best and the worst of many, by a change of energy.
pub fn best_and_worst<T>(rows: &[T], energy: impl Fn(&T) -> f64) -> Vec<&T> {
    let mut order: Vec<&T> = rows.iter().collect();
    if rows.len() > MOST_ROWS {
        order.sort_by(|a, b| energy(a).total_cmp(&energy(b)));
        order.drain(BEST_AND_WORST.0..order.len() - BEST_AND_WORST.1);
    }
    order
}

/// That `all` rows are not shown, and where they are.
pub fn left_out(all: usize, file: &str) -> String {
    let (best, worst) = BEST_AND_WORST;
    format!("The best {best} and the worst {worst} of {all} by energy; all: --show all, {file}\n")
}

/// What all rows have in common, and what the figures are.
pub fn context(rows: &[Answer]) -> String {
    let mut common = Vec::new();
    if let Some(first) = rows.first() {
        let parts = parts(first).into_iter().enumerate();
        let parts = parts.filter(|(place, _)| is_common(rows, *place));
        common.extend(parts.map(|(_, part)| part));
        common.push(match first.kernels.as_slice() {
            [one] => one.clone(),
            many => format!("means over {} kernels", many.len()),
        });
    }
    format!(
        "{}; changes against the plain GPU, minus is less, ± half a 95 % interval, * inside its own error",
        common.join(" · ")
    )
}

/// GPU, technology and operating point of a row, each in words.
fn parts(row: &Answer) -> [String; 5] {
    let technology = &row.technology;
    [
        row.gpu.clone(),
        technology.node.to_string(),
        format!(
            "{} ({}, {})",
            technology.flavour, technology.library, technology.profile
        ),
        format!("{:.2} V", technology.vdd_v),
        format!("{:.0} K", technology.temperature_k),
    ]
}

/// Whether all rows have the same part at this place.
fn is_common(rows: &[Answer], place: usize) -> bool {
    let mut all = rows.iter().map(|row| parts(row)[place].clone());
    let first = all.next();
    all.all(|part| Some(part) == first)
}

/// What tells a row apart beside its technique.
fn place(row: &Answer, rows: &[Answer]) -> String {
    let parts = parts(row).into_iter().enumerate();
    let parts = parts.filter(|(place, _)| !is_common(rows, *place));
    parts.map(|(_, part)| part).collect::<Vec<_>>().join(" · ")
}

/// The columns that people read, of which any row has a value; names are in the labels of the rows.
pub fn answer_columns(rows: &[Answer]) -> Vec<&'static Column> {
    COLUMNS
        .iter()
        .filter(|column| !column.title.is_empty() && !NAMES.contains(&column.key))
        .filter(|column| rows.iter().any(|row| has_value(row, column)))
        .collect()
}

/// The rows under their headings.
fn table(shown: &[&Answer], all: &[Answer], width: usize) -> String {
    aligned(shown, all).text(width)
}

/// All rows under their headings.
pub fn whole(rows: &[Answer]) -> Aligned {
    aligned(&rows.iter().collect::<Vec<_>>(), rows)
}

fn aligned(shown: &[&Answer], all: &[Answer]) -> Aligned {
    let columns = answer_columns(all);
    let words = |column: &&Column| column.title.iter().map(|word| (*word).to_owned()).collect();
    let row = |row: &&Answer| {
        let cells = columns.iter().map(|column| row.cell(column)).collect();
        (label(row, all), cells)
    };
    Aligned {
        headings: columns.iter().map(words).collect(),
        rows: shown.iter().map(row).collect(),
    }
}

/// Columns that are in the label of a row.
const NAMES: [&str; 2] = ["technique", "node"];

/// What a row is of: its technique, and what tells it apart beside that.
pub fn label(row: &Answer, all: &[Answer]) -> String {
    match place(row, all) {
        place if place.is_empty() => row.technique.clone(),
        place => format!("{} · {place}", row.technique),
    }
}

fn has_value(row: &Answer, column: &Column) -> bool {
    match (column.value)(row) {
        None => false,
        Some(Value::Named(named)) => !named.is_empty(),
        Some(_) => true,
    }
}
