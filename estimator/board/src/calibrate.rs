//! A board from measurements.

use std::collections::BTreeMap;

use crate::board::{Board, KERNELS, Record};
use crate::channel::{CHANNELS, Channel};
use crate::errors::Compared;
use crate::fit::fit;
use crate::law::watts;
use crate::parameter::{PARAMETERS, parameter};
use crate::rows::{Refused, Row, Rows, names};

/// Cases below which a board is not fitted.
pub const LEAST: usize = 5;
/// Cases below which it is said that they are few.
const FEW: usize = 12;
/// Share of the power limit above which a row may have been slowed down.
const AT_LIMIT: f64 = 0.97;
/// Share of the limit below which watts are none: those of another unit.
const LEAST_OF_LIMIT: f64 = 0.01;
/// Reasons that are named where rows are refused.
const SHOWN: usize = 3;
/// Part of the rows above which it is said that they are refused.
const MANY: usize = 4;
/// Share of the limit above which it must have been raised.
const RAISED: f64 = 1.03;
/// Error of left-out cases above which measurements contradict the law or each other.
const CONTRADICTED: f64 = 0.2;
/// The same, where neither what was known before nor one number of watts for all rows is worse.
const WORTHLESS: f64 = 0.1;
/// Scatter is never taken to be less: what sensors differ by among boards of a kind.
const LEAST_SCATTER: f64 = 0.04;

/// A calibrated board, and what its reader must know.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The board.
    pub board: Board,
    /// Sentences about measurements that tell too little or contradict.
    pub warnings: Vec<String>,
    /// Whether they contradict.
    pub contradicted: bool,
    /// Each used row with what the other cases alone predict for it.
    pub left_out: Vec<(Row, f64)>,
}

/// Learns the values of `base`, from what was known of it before its own measurements and from `rows`.
///
/// # Errors
/// Too few rows can be used, or the fit has no solution: a sentence.
pub fn calibrate(base: &Board, rows: &Rows, table: &str) -> Result<Calibrated, String> {
    let mut refused = rows.refused.clone();
    let used = usable(base, &rows.used, &mut refused);
    let count = names(&used).len();
    if count < LEAST {
        return Err(format!(
            "{count} cases with watts can be used, at least {LEAST} are needed{}",
            reasons(&refused)
        ));
    }
    let by_share = used.iter().any(|row| row.shares.is_some());
    let found = fit(&used, &base.prior, Board::noise(by_share))?;
    let left_out: Vec<f64> = found.left_out.values().flatten().copied().collect();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / left_out.len() as f64;
    let error = mean(&mut left_out.iter().map(|error| error.abs()));
    let bias = mean(&mut left_out.iter().copied());
    let square = mean(&mut left_out.iter().map(|error| error * error)).sqrt();
    let board = Board {
        facts: base.facts.clone(),
        prior: base.prior.clone(),
        belief: found.belief,
        record: Record {
            transferred_from: base.record.transferred_from.clone(),
            measured: Some(table.to_owned()),
            rows: used.len(),
            cases: count,
            refused,
            left_out: Some((error, bias)),
            // Loops do not tell how kernels on data scatter.
            scatter: if by_share {
                KERNELS
            } else {
                square.max(LEAST_SCATTER)
            },
            typical: if by_share {
                base.record.typical
            } else {
                Some(typical(&used))
            },
        },
    };
    let mut warnings = untold(&board, &used);
    warnings.extend(mostly_refused(&board.record));
    let contradiction = contradiction(&board, &used, error);
    let contradicted = contradiction.is_some();
    warnings.extend(contradiction);
    let left_out = beside(&used, &found.left_out);
    Ok(Calibrated {
        board,
        warnings,
        contradicted,
        left_out,
    })
}

impl Calibrated {
    /// Each used row beside what the other cases predict for it, with the board's interval about that.
    pub fn compared(&self) -> Vec<(&Row, Compared)> {
        let each = self.left_out.iter().filter_map(|(row, predicted_w)| {
            let whole = self.board.predict(row);
            let share = predicted_w / whole.power_w;
            let compared = Compared {
                measured_w: row.power_w?,
                predicted_w: *predicted_w,
                within_w: (share * whole.low_w, share * whole.high_w),
            };
            Some((row, compared))
        });
        each.collect()
    }

    /// A board of which nothing was measured.
    pub fn of_nothing(board: Board) -> Self {
        Self {
            board,
            warnings: Vec::new(),
            contradicted: false,
            left_out: Vec::new(),
        }
    }
}

/// Reasons for which rows were refused, in their order: up to three, with the rows of each.
fn reasons(refused: &[Refused]) -> String {
    // Numbers in reasons differ from row to row.
    let kind = |why: &str| why.replace(|letter: char| letter.is_ascii_digit() || letter == '.', "");
    let mut kinds: Vec<(String, &Refused, usize)> = Vec::new();
    for row in refused {
        let own = kind(&row.why);
        match kinds.iter_mut().find(|(known, _, _)| *known == own) {
            Some((_, _, count)) => *count += 1,
            None => kinds.push((own, row, 1)),
        }
    }
    let each = kinds.iter().take(SHOWN).map(|(_, first, count)| {
        let others = match count - 1 {
            0 => String::new(),
            1 => " and one more".to_owned(),
            more => format!(" and {more} more"),
        };
        format!("; line {}{others}: {}", first.line, first.why)
    });
    each.collect()
}

/// That many rows were not used, and why.
fn mostly_refused(record: &Record) -> Option<String> {
    let (refused, all) = (record.refused.len(), record.refused.len() + record.rows);
    (refused * MANY > all).then(|| {
        format!(
            "{refused} of {all} rows are not used{}",
            reasons(&record.refused)
        )
    })
}

/// Rows with watts that their work needs, and not what the limit left of them.
fn usable(base: &Board, rows: &[Row], refused: &mut Vec<Refused>) -> Vec<Row> {
    let limit = base.facts.power_limit_w;
    let most = rows
        .iter()
        .filter_map(|row| row.power_w)
        .fold(0.0, f64::max);
    let mut used: Vec<Row> = Vec::new();
    let mut lines = BTreeMap::new();
    for row in rows {
        let again = lines.get(&content(row)).copied();
        lines.entry(content(row)).or_insert(row.line);
        let why = match row.power_w {
            _ if again.is_some() => Some(format!("it is line {} again", again.unwrap_or(0))),
            Some(watts) if watts < LEAST_OF_LIMIT * limit => Some(format!(
                "{watts} W are less than any board draws at rest whose limit is {limit} W"
            )),
            None => Some("it has no watts".to_owned()),
            Some(watts) if most <= RAISED * limit && watts >= AT_LIMIT * limit => Some(format!(
                "{watts} W are at the board's limit of {limit} W: it may have been slowed down"
            )),
            Some(watts) if watts > 2.0 * limit => Some(format!(
                "{watts} W are more than twice the board's limit of {limit} W"
            )),
            Some(_) => None,
        };
        match why {
            None => used.push(row.clone()),
            Some(why) => refused.push(Refused {
                name: row.name.clone(),
                line: row.line,
                why,
            }),
        }
    }
    used
}

/// What makes a row another one.
fn content(row: &Row) -> (&str, Vec<u64>) {
    let numbers = [
        row.power_w.unwrap_or(-1.0),
        row.core,
        row.memory,
        row.active,
    ];
    let all = numbers.iter().chain(&row.rates);
    (&row.name, all.map(|number| number.to_bits()).collect())
}

/// Median rate of each kind of event.
fn typical(rows: &[Row]) -> [f64; CHANNELS] {
    Channel::ALL.map(|channel| {
        let known = rows.iter().filter(|row| !row.unknown.contains(&channel));
        let mut rates: Vec<f64> = known.map(|row| row.rates[channel as usize]).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    })
}

/// Each row with what the other cases predict, in the order of the rows.
fn beside(
    rows: &[Row],
    left_out: &std::collections::BTreeMap<String, Vec<f64>>,
) -> Vec<(Row, f64)> {
    let mut taken: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let with = rows.iter().filter_map(|row| {
        let next = taken.entry(&row.name).or_default();
        let error = left_out.get(&row.name)?.get(*next)?;
        *next += 1;
        Some((row.clone(), row.power_w? * (1.0 + error)))
    });
    with.collect()
}

/// What measurements do not tell.
fn untold(board: &Board, rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    if board.record.cases < FEW {
        found.push(format!(
            "{} cases are few: twelve that use the chip in different ways tell a board",
            board.record.cases
        ));
    }
    let idle: Vec<&str> = Channel::ALL
        .into_iter()
        .filter(|channel| rows.iter().all(|row| row.rates[*channel as usize] == 0.0))
        .map(Channel::key)
        .collect();
    if !idle.is_empty() {
        found.push(format!(
            "no row uses {}: their energies are what was known before",
            idle.join(", ")
        ));
    }
    let untold: Vec<&str> = (0..PARAMETERS)
        .filter(|at| !board.told(*at) && !idle.contains(&parameter(*at).key))
        .map(|at| parameter(at).key)
        .collect();
    if !untold.is_empty() {
        found.push(format!(
            "the rows do not tell {} from what was known before",
            untold.join(", ")
        ));
    }
    found
}

/// Where they contradict the law, or each other.
fn contradiction(board: &Board, rows: &[Row], error: f64) -> Option<String> {
    let (before, plain) = (mean_error(&board.prior.mean, rows), of_a_constant(rows));
    let worthless = error > WORTHLESS && error > before.min(plain);
    (error > CONTRADICTED || worthless).then(|| {
        format!(
            "the measurements contradict the law or each other: cases that were left out are {:.0} % off, what was known before is {:.0} % off, the same watts for every row are {:.0} % off; \
             look at units, clocks and counters before using this board",
            100.0 * error,
            100.0 * before,
            100.0 * plain
        )
    })
}

fn mean_error(places: &crate::law::Places, rows: &[Row]) -> f64 {
    let errors = rows.iter().map(|row| {
        let predicted = watts(places, row, 0.0).total_w();
        (predicted / row.power_w.unwrap_or(predicted) - 1.0).abs()
    });
    errors.sum::<f64>() / rows.len() as f64
}

fn of_a_constant(rows: &[Row]) -> f64 {
    let logs: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.power_w)
        .map(libm::log)
        .collect();
    let mean = libm::exp(logs.iter().sum::<f64>() / logs.len() as f64);
    let errors = rows
        .iter()
        .filter_map(|row| row.power_w)
        .map(|watts| (mean / watts - 1.0).abs());
    errors.sum::<f64>() / logs.len() as f64
}
