//! Tables as people bring them: without some column, in other units, twice.

use warpwatt_board::board::Board;
use warpwatt_board::calibrate::{Calibrated, calibrate};
use warpwatt_board::map::Map;
use warpwatt_board::rows::{Rows, Table};
use warpwatt_board::shipped::{MEASURED, shipped};

/// Lines of cells, the header first.
type Cells = Vec<Vec<String>>;

fn cells(text: &str) -> Cells {
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

/// The eighteen kernels.
fn kernels() -> Cells {
    cells(MEASURED[3].text)
}

/// Loops of a board at its default clocks.
fn loops() -> Cells {
    let all = cells(MEASURED[2].text);
    let core = all[0].iter().position(|name| name == "core_mhz").unwrap();
    let is_kept = |line: &Vec<String>| line[core] == "1200" || line[core] == "core_mhz";
    all.into_iter().filter(is_kept).collect()
}

/// Sixteen made-up cases with counts, times and watts.
fn counts() -> Cells {
    let mut text = "name,power_w,core_mhz,memory_mhz,seconds,launches,smsp__inst_executed.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes_read.sum\n".to_owned();
    for case in 0..16_u32 {
        let share = |parts: u32| f64::from(case % parts) / f64::from(parts);
        let (instructions, operations, sectors) = (
            2e11 * share(4),
            5e12 * share(3) * share(4),
            1.5e10 * share(5),
        );
        let works = f64::from(u8::from(instructions + sectors > 0.0));
        let dynamic = 40.0 * instructions + 9.0 * operations + 1500.0 * sectors;
        let power = 80.0 + 30.0 * works + 1e-12 * dynamic;
        let launch = 2.0 / 100.0;
        text += &format!(
            "k{case},{power},1200,850,2,100,{},{},{}\n",
            launch * instructions,
            launch * operations,
            launch * 32.0 * sectors
        );
    }
    cells(&text)
}

fn changed(mut cells: Cells, column: &str, change: impl Fn(&str) -> String) -> Cells {
    let at = cells[0].iter().position(|name| name == column).unwrap();
    for line in &mut cells[1..] {
        line[at] = change(&line[at]);
    }
    cells
}

fn scaled(cells: Cells, column: &str, by: f64) -> Cells {
    changed(cells, column, |cell| {
        cell.parse::<f64>()
            .map_or_else(|_| cell.to_owned(), |number| (by * number).to_string())
    })
}

fn without(cells: &Cells, column: usize) -> Cells {
    let rest = |line: &Vec<String>| {
        let mut line = line.clone();
        line.remove(column);
        line
    };
    cells.iter().map(rest).collect()
}

fn board(name: &str) -> Board {
    let facts = shipped(name).unwrap().facts;
    Board::unmeasured(facts, &[]).unwrap()
}

fn rows(cells: &Cells, board: &Board) -> Option<Rows> {
    let quoted = |line: &Vec<String>| {
        let cells = line.iter().map(|cell| format!("\"{cell}\""));
        cells.collect::<Vec<_>>().join(",")
    };
    let text = cells.iter().map(quoted).collect::<Vec<_>>().join("\n");
    let table = Table::parse(&text).unwrap();
    let columns: Vec<&str> = table.header.iter().map(String::as_str).collect();
    let map = Map::recognised(&columns)?;
    let gpu = board.gpu().unwrap();
    Some(Rows::of(&table, &map, (&board.facts, &gpu), map.operands))
}

fn learned(cells: &Cells, board: &Board) -> Result<Calibrated, String> {
    calibrate(board, &rows(cells, board).unwrap(), "table")
}

/// Any one column may be missing but that of watts, whose lack is named; a missing name or time says so.
#[test]
fn each_column_may_be_missing() {
    let qv100 = shipped("qv100").unwrap();
    for (board, whole, most) in [
        (&qv100, kernels(), 0.13),
        (&board("titan-v"), loops(), 0.14),
        (&board("titan-v"), counts(), 0.15),
    ] {
        for column in 0..whole[0].len() {
            let name = whole[0][column].as_str();
            let some = without(&whole, column);
            let read = rows(&some, board).unwrap_or_else(|| panic!("{name}: no layout"));
            match (name, calibrate(board, &read, "table")) {
                ("hw_W" | "power_w", found) => {
                    let why = found.unwrap_err();
                    assert!(why.contains("has no watts"), "{name}: {why}");
                    assert!(read.watts.iter().any(|known| known == name));
                }
                ("seconds", found) => {
                    let why = found.unwrap_err();
                    assert!(why.contains("need a column `seconds`"), "{name}: {why}");
                }
                (_, found) => {
                    let found = found.unwrap_or_else(|why| panic!("{name}: {why}"));
                    let (error, _) = found.board.record.left_out.unwrap();
                    assert!(error < most, "{name}: {error}");
                }
            }
            if matches!(name, "kernel" | "name" | "launches") {
                let told = read.assumed.iter().any(|text| text.contains(name));
                assert!(told, "{name}: {:?}", read.assumed);
            }
        }
    }
}

#[test]
fn other_units_are_noticed() {
    let qv100 = shipped("qv100").unwrap();
    for (by, why) in [(1e3, "more than twice"), (1e-3, "less than any board")] {
        let error = learned(&scaled(kernels(), "hw_W", by), &qv100).unwrap_err();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("line 2 and 17 more"), "{error}");
    }
    let error = learned(&scaled(kernels(), "FP_MUL_ACC", 1e9), &qv100);
    let found = error.unwrap();
    assert!(
        found
            .warnings
            .iter()
            .any(|text| text.contains("times what the chip can do")),
        "{:?}",
        found.warnings
    );
    let titan_v = board("titan-v");
    let error = learned(&scaled(loops(), "core_mhz", 1e-3), &titan_v).unwrap_err();
    assert!(error.contains("core clock is 0.001"), "{error}");
}

/// What Nsight Compute writes: a line of units, and commas between thousands.
#[test]
fn units_below_the_header_hold() {
    let titan_v = board("titan-v");
    let values = |cells: &Cells| {
        let found = learned(cells, &titan_v).unwrap();
        found.board.belief.mean
    };
    let plain = values(&counts());
    let mut with_units = scaled(counts(), "dram__bytes_read.sum", 1e-6);
    let units = with_units[0].iter().map(|name| match name.as_str() {
        "name" => "",
        "dram__bytes_read.sum" => "Mbyte",
        "power_w" => "W",
        _ => "unit",
    });
    let units = units.map(str::to_owned).collect();
    with_units.insert(1, units);
    let thousands = changed(counts(), "smsp__inst_executed.sum", |cell| {
        let whole = format!("{:.0}", cell.parse::<f64>().unwrap());
        let groups = whole.as_bytes().rchunks(3).rev();
        let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
        groups.collect::<Vec<_>>().join(",")
    });
    for found in [values(&with_units), values(&thousands)] {
        for (a, b) in plain.iter().zip(found) {
            approx::assert_relative_eq!(*a, b, max_relative = 1e-6);
        }
    }
}

#[test]
fn a_row_counts_once() {
    let qv100 = shipped("qv100").unwrap();
    let mut twice = kernels();
    twice.extend(kernels().into_iter().skip(1));
    let found = learned(&twice, &qv100).unwrap();
    assert_eq!(found.board.record.rows, 18);
    assert_eq!(found.board.record.refused.len(), 18);
    assert!(found.board.record.refused[0].why.contains("line 2 again"));
    assert_eq!(
        found.board.belief.mean,
        learned(&kernels(), &qv100).unwrap().board.belief.mean
    );
}

/// Watts whose counts are missing are no measurement of a board at rest.
#[test]
fn rows_without_counts_are_refused() {
    let titan_v = board("titan-v");
    let mut some = counts();
    for count in &mut some[4][6..9] {
        count.clear();
    }
    let found = learned(&some, &titan_v).unwrap();
    assert_eq!(found.board.record.refused[0].why, "it has no counts");
}

/// What a row says of SMs with work holds although it has no events; a share that there is not is refused.
#[test]
fn sms_that_only_wait_have_work_if_the_row_says_so() {
    let board = board("titan-v");
    let [said, silent, wrong] = ["1", "", "7"].map(|share| {
        let mut some: Cells = loops()[..2].to_vec();
        let cells = some[0].clone().into_iter().zip(&mut some[1]);
        for (name, cell) in cells {
            if name == "active_share" {
                *cell = share.to_owned();
            } else if !matches!(&*name, "name" | "power_w" | "core_mhz" | "memory_mhz") {
                *cell = "0".to_owned();
            }
        }
        if !some[0].iter().any(|name| name == "active_share") {
            some[0].push("active_share".to_owned());
            some[1].push(share.to_owned());
        }
        rows(&some, &board).unwrap()
    });
    assert_eq!((said.used[0].active, silent.used[0].active), (1.0, 0.0));
    assert!(
        wrong.refused[0].why.contains("700 %"),
        "{:?}",
        wrong.refused
    );
}
