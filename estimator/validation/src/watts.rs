//! Measured watts of boards beside ours: every case predicted from the others, clock by clock, and boards from what other boards told.

use warpwatt_board::board::Board;
use warpwatt_board::calibrate::{Calibrated, calibrate};
use warpwatt_board::errors::{Compared, Errors};
use warpwatt_board::rows::{Row, Rows, names};
use warpwatt_board::shipped::{MEASURED, Measured, shipped};

use super::{Check, Kind, Tolerance};

/// Mean absolute errors that are allowed: of loops from loops, of kernels from kernels, of kernels from nothing but loops of other boards.
const LOOPS: f64 = 0.09;
const KERNELS: f64 = 0.085;
const OTHERS: f64 = 0.12;
/// Of all other cases from twelve.
const TWELVE: f64 = 0.10;
/// Least share of measurements within 95 % intervals.
const COVERED: f64 = 0.85;

/// Every check.
///
/// # Errors
/// Data that ship cannot be read, or a chip cannot be priced: a sentence.
pub fn checks() -> Result<Vec<Check>, String> {
    let mut found = Vec::new();
    for measured in &MEASURED {
        let board = board(measured.board)?;
        let rows = measured.rows(&board)?;
        let fitted = calibrate(&board, &rows, measured.what)?;
        found.extend(errors(measured, &fitted));
        if fitted.left_out.iter().any(|(row, _)| row.shares.is_some()) {
            found.push(twelve(measured, &board, &rows)?);
        }
        found.extend(cases(measured, &fitted));
    }
    found.extend(transferred()?);
    Ok(found)
}

fn board(name: &str) -> Result<Board, String> {
    shipped(name).ok_or_else(|| format!("the board `{name}` does not ship"))
}

fn errors(measured: &Measured, fitted: &Calibrated) -> Vec<Check> {
    let rows = fitted.compared();
    let all: Vec<Compared> = rows.iter().map(|(_, compared)| *compared).collect();
    let Some(errors) = Errors::of(&all) else {
        return Vec::new();
    };
    let loops = rows.iter().any(|(row, _)| row.shares.is_some());
    let most = if loops { LOOPS } else { KERNELS };
    let mut found = vec![
        Check::at_most(
            measured.what,
            "mean absolute error, each case left out",
            most,
            errors.mean_absolute,
        ),
        Check::at_most(
            measured.what,
            "share outside of 95 % intervals, each case left out",
            1.0 - COVERED,
            1.0 - errors.coverage,
        ),
    ];
    if loops {
        found.push(Check::at_most(
            measured.what,
            "the same error, median of the pairs of clocks",
            most,
            median_of_pairs(&rows),
        ));
    }
    found
}

fn median_of_pairs(rows: &[(&Row, Compared)]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = rows.iter().map(|(row, _)| (row.core, row.memory)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    pairs.dedup();
    let of_pair = |pair: &(f64, f64)| {
        let rows = rows
            .iter()
            .filter(|(row, _)| (row.core, row.memory) == *pair);
        let compared: Vec<Compared> = rows.map(|(_, compared)| *compared).collect();
        Errors::of(&compared).map_or(0.0, |errors| errors.mean_absolute)
    };
    let mut errors: Vec<f64> = pairs.iter().map(of_pair).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() / 2).copied().unwrap_or(0.0)
}

/// All other cases from every ninth, at most twelve of them.
fn twelve(measured: &Measured, board: &Board, rows: &Rows) -> Result<Check, String> {
    let names = names(&rows.used);
    let every = names.len().div_ceil(12);
    let chosen: Vec<&str> = names.into_iter().step_by(every).take(12).collect();
    let (some, rest): (Vec<Row>, Vec<Row>) = rows
        .used
        .iter()
        .cloned()
        .partition(|row| chosen.contains(&row.name.as_str()));
    let some = Rows {
        used: some,
        ..Rows::default()
    };
    let facts = board.facts.clone();
    let fitted = calibrate(&Board::unmeasured(facts, &[])?, &some, "twelve cases")?;
    let rest: Vec<Compared> = rest
        .iter()
        .filter_map(|row| fitted.board.compared(row))
        .collect();
    let error = Errors::of(&rest).map_or(0.0, |errors| errors.mean_absolute);
    Ok(Check::at_most(
        measured.what,
        "mean absolute error of the others, from twelve cases",
        TWELVE,
        error,
    ))
}

/// Each case at the board's default clocks; the tolerance is half of its interval.
fn cases(measured: &Measured, fitted: &Calibrated) -> Vec<Check> {
    let rows = fitted.compared().into_iter();
    let rows = rows.filter(|(row, _)| row.core == 1.0 && row.memory == 1.0);
    rows.map(|(row, compared)| {
        let half = libm::log(compared.within_w.1 / compared.within_w.0) / 2.0;
        let (measured_w, ours) = (compared.measured_w, compared.predicted_w);
        let tolerance = Tolerance::Relative(half);
        Check::new(measured.what, row.name.clone(), measured_w, ours, tolerance).in_unit("W")
    })
    .collect()
}

/// Boards from what other measured ones tell: a Volta from loops of three boards, one of them with the same chip; a Hopper from these and it; and another with the same chip from all of them.
fn transferred() -> Result<Vec<Check>, String> {
    let [x, xp, v, volta, hopper, larger] = &MEASURED;
    let loops = "kernels on a Quadro GV100, from loops of other boards";
    let others = "loops and kernels on an H100, from other boards";
    let same = "loops and kernels on an H200, from other boards";
    let mut found = from_others(volta, &[x, xp, v], loops)?;
    found.extend(from_others(hopper, &[x, xp, v, volta], others)?);
    found.extend(from_others(larger, &[x, xp, v, volta, hopper], same)?);
    Ok(found)
}

/// What was measured on a board from what others tell of it.
fn from_others(
    measured: &Measured,
    others: &[&Measured],
    what: &str,
) -> Result<Vec<Check>, String> {
    let sources = others.iter().map(|other| board(other.board));
    let sources = sources.collect::<Result<Vec<Board>, String>>()?;
    let board = Board::unmeasured(board(measured.board)?.facts, &sources)?;
    let rows = measured.rows(&board)?;
    let all: Vec<Compared> = rows
        .used
        .iter()
        .filter_map(|row| board.compared(row))
        .collect();
    let errors = Errors::of(&all).ok_or("no kernels")?;
    let check = |text: &str, most: f64, ours: f64| {
        Check::at_most(what, text, most, ours).of_kind(Kind::Independent)
    };
    Ok(vec![
        check("mean absolute error", OTHERS, errors.mean_absolute),
        check(
            "share outside of 95 % intervals",
            1.0 - COVERED,
            1.0 - errors.coverage,
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    /// Of single cases one in twenty may lie outside.
    #[test]
    fn gaps_are_those_that_are_known() {
        let checks = checks().unwrap();
        let gaps: Vec<&Check> = checks
            .iter()
            .filter(|check| check.status == Status::Gap)
            .collect();
        let (single, whole): (Vec<&Check>, Vec<&Check>) =
            gaps.into_iter().partition(|check| check.unit == "W");
        let whole: Vec<(&str, &str)> = whole
            .iter()
            .map(|check| (check.place.as_str(), check.what.as_str()))
            .collect();
        // A node of which older boards tell nothing; H100 and H200 share a die, and still differ.
        let left_out = "mean absolute error, each case left out";
        let known = [
            ("loops and kernels on an H100", left_out),
            ("loops and kernels on an H200", left_out),
            (
                "loops and kernels on an H100, from other boards",
                "mean absolute error",
            ),
        ];
        assert_eq!(whole, known);
        let cases = checks.iter().filter(|check| check.unit == "W").count();
        assert!(
            single.len() * 20 <= cases,
            "{} of {cases}: {single:?}",
            single.len()
        );
    }
}
