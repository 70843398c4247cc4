//! Boards on measurements that were kept from them: loops of three boards, kernels of a fourth.
//!
//! Tolerances are those that were set before the first fit, but where a test says that it asserts a gap.

use warpwatt_board::board::{Board, Value};
use warpwatt_board::calibrate::calibrate;
use warpwatt_board::errors::Errors;
use warpwatt_board::map::{Map, Operands};
use warpwatt_board::rows::{Row, Rows, Table, names};
use warpwatt_board::shipped::{MEASURED, Measured, shipped};

/// A board of which nothing is known but what is published.
fn published(name: &str) -> Board {
    let board = shipped(name).expect("it ships");
    Board::unmeasured(board.facts, &[]).expect("its chip is a preset")
}

/// Tables of loops by board.
fn loops() -> &'static [Measured] {
    &MEASURED[..3]
}

fn rows(measured: &Measured, board: &Board) -> Rows {
    measured.rows(board).expect("a table that ships")
}

fn errors(board: &Board, rows: &[Row]) -> Errors {
    let compared = rows.iter().filter_map(|row| board.compared(row));
    Errors::of(&compared.collect::<Vec<_>>()).expect("rows with watts")
}

/// Twelve names, spread over the table by `draw`.
fn twelve(rows: &Rows, draw: usize) -> Vec<String> {
    let names = names(&rows.used);
    let places = (0..12).map(|at| (37 * draw + 17 * at + 3 * at * at) % names.len());
    places.map(|at| names[at].to_owned()).collect()
}

/// Errors over the other cases of a board that learned from the cases of a draw.
fn from_twelve(measured: &Measured, draw: usize) -> Errors {
    let base = published(measured.board);
    let all = rows(measured, &base);
    let chosen = twelve(&all, draw);
    let (some, rest): (Vec<Row>, Vec<Row>) = all
        .used
        .iter()
        .cloned()
        .partition(|row| chosen.contains(&row.name));
    let some = Rows {
        used: some,
        ..Rows::default()
    };
    let found = calibrate(&base, &some, "twelve").expect("twelve cases");
    errors(&found.board, &rest)
}

#[test]
fn twelve_cases_tell_a_board_at_all_clocks() {
    for measured in &loops()[..2] {
        for draw in 0..4 {
            let errors = from_twelve(measured, draw);
            assert!(
                errors.mean_absolute < 0.10,
                "{}, draw {draw}: {errors:?}",
                measured.board
            );
            assert!(
                errors.coverage > 0.85,
                "{}, draw {draw}: {errors:?}",
                measured.board
            );
        }
    }
}

#[test]
fn half_of_the_cases_tell_the_other_half() {
    for measured in loops() {
        let base = published(measured.board);
        let all = rows(measured, &base);
        let is_even = |row: &&Row| {
            row.name
                .bytes()
                .rev()
                .take_while(u8::is_ascii_digit)
                .next()
                .is_some_and(|digit| digit % 2 == 0)
        };
        let even = Rows {
            used: all.used.iter().filter(is_even).cloned().collect(),
            ..Rows::default()
        };
        let odd: Vec<Row> = all
            .used
            .iter()
            .filter(|row| !is_even(row))
            .cloned()
            .collect();
        let found = calibrate(&base, &even, "half").expect("half of the cases");
        let errors = errors(&found.board, &odd);
        assert!(
            errors.mean_absolute < 0.09,
            "{}: {errors:?}",
            measured.board
        );
        assert!(
            errors.correlation.unwrap_or(0.0) > 0.88,
            "{}: {errors:?}",
            measured.board
        );
    }
}

/// Each of the eighteen kernels as the other seventeen and three boards of loops predict it.
#[test]
fn kernels_that_were_left_out_are_within_their_tolerance() {
    let board = shipped("qv100").expect("it ships");
    let rows = rows(&MEASURED[3], &board);
    let found = calibrate(&board, &rows, "kernels").expect("eighteen kernels");
    let (error, _) = found.board.record.left_out.expect("it was measured");
    assert!(error < 0.085, "{error}");
    assert!(!found.contradicted, "{:?}", found.warnings);
}

/// Errors over a table of a board that only the other boards of loops told of.
fn from_others(measured: &Measured) -> Errors {
    let others = loops()
        .iter()
        .filter(|other| other.board != measured.board)
        .filter_map(|other| shipped(other.board));
    let others: Vec<Board> = others.collect();
    let facts = shipped(measured.board).expect("it ships").facts;
    let board = Board::unmeasured(facts, &others).expect("its chip is a preset");
    errors(&board, &rows(measured, &board).used)
}

/// Loops of other boards, one of them with the same die, tell what kernels draw within the tolerance; the bias that is left is below.
#[test]
fn loops_of_other_boards_tell_kernels_within_their_tolerance() {
    let errors = from_others(&MEASURED[3]);
    assert!(errors.mean_absolute < 0.12, "{errors:?}");
    assert!((-0.09..-0.05).contains(&errors.bias), "{errors:?}");
    assert!(errors.coverage > 0.85, "{errors:?}");
}

/// Boards of no other die tell a board badly: nothing was asked of them, and their intervals say so.
#[test]
fn boards_of_other_dies_tell_little_and_their_intervals_say_so() {
    for (measured, least, most) in [
        (&MEASURED[0], 0.15, 0.19),
        (&MEASURED[1], 0.19, 0.23),
        (&MEASURED[2], 0.30, 0.35),
    ] {
        let errors = from_others(measured);
        let error = errors.mean_absolute;
        assert!(
            (least..most).contains(&error),
            "{}: {errors:?}",
            measured.board
        );
        assert!(errors.coverage > 0.85, "{}: {errors:?}", measured.board);
    }
}

#[test]
fn what_ships_is_what_the_measurements_say() {
    for measured in loops() {
        let base = shipped(measured.board).expect("it ships");
        let found = calibrate(&base, &rows(measured, &base), "again").expect("its measurements");
        for (shipped, again) in base.values().zip(found.board.values()) {
            let ratio = again.value / shipped.value;
            assert!(
                (ratio - 1.0).abs() < 1e-3,
                "{}: {shipped:?} {again:?}",
                measured.board
            );
        }
    }
}

/// If prices of chips change, `boards/make.sh` writes the boards again.
#[test]
fn boards_that_were_not_measured_follow_from_those_that_were() {
    let measured = [
        "gtx-titan-x",
        "titan-xp",
        "titan-v",
        "qv100",
        "h100",
        "h200",
    ];
    let sources: Vec<Board> = measured.iter().filter_map(|name| shipped(name)).collect();
    let told = |name: &str, told: usize| {
        let board = shipped(name).expect("it ships");
        let again = Board::unmeasured(board.facts.clone(), &sources[..told]).expect("a preset");
        let again: Vec<Value> = again.values().collect();
        (board, again)
    };
    // What an H100 told only a board with its chip is told.
    for name in warpwatt_board::shipped::names().filter(|name| !measured.contains(name)) {
        let (board, again) = told(name, 4);
        for (shipped, again) in board.values().zip(again) {
            let ratio = again.value / shipped.value;
            assert!((ratio - 1.0).abs() < 1e-6, "{name}: {shipped:?} {again:?}");
        }
    }
    // What is measured of a board begins with what the others told.
    for (name, others) in [("h100", 4), ("h200", 5)] {
        let (board, again) = told(name, others);
        for (shipped, again) in board.values().zip(again) {
            let ratio = again.value / shipped.prior;
            assert!((ratio - 1.0).abs() < 1e-6, "{name}: {shipped:?} {again:?}");
        }
    }
    for name in measured.iter().take(3) {
        let (board, again) = (shipped(name).expect("it ships"), published(name));
        for (shipped, again) in board.values().zip(again.values()) {
            assert!(
                (again.prior / shipped.prior - 1.0).abs() < 1e-6,
                "{name}: {shipped:?}"
            );
        }
    }
}

#[test]
fn watts_of_other_rows_are_noticed() {
    let base = published("gtx-titan-x");
    let mut all = rows(&MEASURED[0], &base);
    all.used.retain(|row| row.core == 1.0 && row.memory == 1.0);
    all.used.truncate(60);
    all.used.drain(..30);
    let watts: Vec<Option<f64>> = all.used.iter().map(|row| row.power_w).collect();
    for (at, row) in all.used.iter_mut().enumerate() {
        // Every row has the watts of another, and every third is in milliwatts.
        row.power_w =
            watts[(at * 7 + 11) % 30].map(|watts| if at % 3 == 0 { watts / 1000.0 } else { watts });
    }
    let found = calibrate(&base, &all, "shuffled").expect("it is a table");
    assert!(found.contradicted, "{:?}", found.board.record.left_out);
}

#[test]
fn thirty_rows_of_one_kind_tell_little_and_say_so() {
    let base = published("gtx-titan-x");
    let mut all = rows(&MEASURED[0], &base);
    all.used
        .retain(|row| row.core == 1.0 && row.memory == 1.0 && row.rates[12] < 1e8);
    all.used.truncate(30);
    let found = calibrate(&base, &all, "alike").expect("thirty cases");
    let told = found.board.told(12);
    assert!(!told, "no row moves anything to or from DRAM");
    assert!(
        found.warnings.iter().any(|text| text.contains("dram")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn rows_at_the_limit_are_refused_and_predictions_clipped() {
    let base = published("titan-v");
    let mut all = rows(&MEASURED[2], &base);
    all.used.truncate(400);
    all.used[0].power_w = Some(249.0);
    let found = calibrate(&base, &all, "limit").expect("rows");
    assert_eq!(found.board.record.refused.len(), 1);
    assert!(found.board.record.refused[0].why.contains("limit"));
    let mut busy = all.used[1].clone();
    busy.rates = busy.rates.map(|rate| 50.0 * rate);
    let drawn = found.board.predict(&busy);
    assert!(drawn.clipped && drawn.power_w <= 250.0 && drawn.high_w <= 250.0);
}

/// From the row's shares to the printed watts.
#[test]
fn a_row_by_hand() {
    let board = shipped("titan-v").expect("it ships");
    let text = "name,core_mhz,memory_mhz,util_int,util_dram\na,1200,850,0.5,0\n";
    let table = Table::parse(text).expect("a table");
    let map = Map::shipped("utilisation").expect("it ships");
    let gpu = board.gpu().expect("a preset");
    let rows = Rows::of(&table, &map, (&board.facts, &gpu), Operands::Random);
    let drawn = board.predict(&rows.used[0]);
    let value = |key: &str| {
        let found = board
            .values()
            .find(|value| warpwatt_board::parameter::parameter(value.at).key == key);
        found.expect("a value").value
    };
    // Half of 80 SMs x 64 lanes x 1.2 GHz, and a thirty-second as many instructions.
    let operations = 0.5 * 80.0 * 64.0 * 1.2e9;
    // Half of the way from operands that hardly change to random ones.
    let changing = 0.5 + 0.5 * value("operands.still_int");
    let events = operations * value("int") * changing + operations / 32.0 * value("issue");
    let standing = [
        "board.constant",
        "board.memory",
        "board.clock",
        "board.leakage",
        "board.active",
    ];
    let watts = standing.map(value).iter().sum::<f64>() + events * value("scale");
    approx::assert_relative_eq!(drawn.power_w, watts, max_relative = 1e-9);
}

/// A table says nothing of kinds that an idle board was not asked for: they are none, not typical ones. (The 8.5 % are those of boards that are fitted.)
#[test]
fn an_idle_board_does_nothing_that_was_not_counted() {
    let measured = MEASURED.iter().find(|it| it.board == "h200").unwrap();
    let board = shipped("h200").unwrap();
    let rows = rows(measured, &board);
    let idle: Vec<Row> = rows
        .used
        .into_iter()
        .filter(|it| it.active == 0.0)
        .collect();
    assert!(idle.iter().any(|row| !row.unknown.is_empty()));
    for row in &idle {
        let compared = board.compared(row).unwrap();
        let off = compared.predicted_w / compared.measured_w - 1.0;
        assert!(off.abs() < 0.085, "{off}");
    }
}
