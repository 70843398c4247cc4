//! Tables in, tables out.

use super::*;
use crate::Refusal;
use proptest::prelude::*;

const MODEL: Model = Model {
    library: LibraryName::Itrs,
    profile: Profile::Cacti7,
};

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn read(bytes: &[u8]) -> Result<Batch, Sink> {
    let mut sink = Sink::default();
    Batch::read(&mut sink, "specs.csv", bytes).ok_or(sink)
}

fn priced(text: &str) -> Vec<Vec<String>> {
    let results = read(text.as_bytes())
        .unwrap()
        .price(MODEL, &pool(1))
        .unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(results.csv.as_slice());
    let rows = reader.records().map(|row| row.unwrap());
    rows.map(|row| row.iter().map(str::to_owned).collect())
        .collect()
}

fn cell<'a>(table: &'a [Vec<String>], row: usize, column: &str) -> &'a str {
    let place = table[0].iter().position(|name| name == column).unwrap();
    &table[row][place]
}

fn said(bytes: &[u8]) -> String {
    let sink = read(bytes).unwrap_err();
    crate::diag::render(&sink, false)
}

const SMALL: &str = "id,size_bytes,block_bytes,node_um\n7,512,4,0.045\n";

#[test]
fn figures_are_those_of_the_tool() {
    let table = priced(SMALL);
    assert_eq!(
        table[0][..4],
        ["id", "size_bytes", "block_bytes", "node_um"]
    );
    assert_eq!(table[1][..4], ["7", "512", "4", "0.045"]);
    // What CACTI 7 prints for this array with its own defaults (tests/data/oracle).
    let near = |column, theirs: f64| {
        let ours: f64 = cell(&table, 1, column).parse().unwrap();
        approx::assert_relative_eq!(ours, theirs, max_relative = 1e-3);
    };
    near("access_ns", 0.194466443);
    near("read_nj", 0.000747500215);
    near("write_nj", 0.00148376531);
    near("leak_total_mw", 0.680335);
    near("area_mm2", 0.00189393278);
    assert_eq!(cell(&table, 1, "data_nspd"), "1");
    assert_eq!(cell(&table, 1, "tag_ndwl"), "");
    assert_eq!(
        (cell(&table, 1, "error"), cell(&table, 1, "search_nj")),
        ("", "")
    );
}

#[test]
fn order_blanks_quotes_line_ends_and_marks_change_nothing() {
    let plain = priced(SMALL);
    let other = "\u{feff}node_um , \"block_bytes\",id,size_bytes,temp_k\r\n 0.045,\"4\", \"a, b\" ,512.0,\r\n";
    let other = other.replace(" \"a, b\" ", "\"a, b\"");
    let table = priced(&other);
    assert_eq!(cell(&table, 1, "id"), "a, b");
    for column in OUTPUT_FIGURES {
        assert_eq!(cell(&table, 1, column), cell(&plain, 1, column), "{column}");
    }
}

const OUTPUT_FIGURES: [&str; 5] = [
    "access_ns",
    "read_nj",
    "area_mm2",
    "leak_total_mw",
    "data_ndwl",
];

#[test]
fn a_column_of_answers_is_replaced_where_it_stands() {
    let table = priced("area_mm2,size_bytes,block_bytes,node_um,error\n1,512,4,0.045,old\n");
    let names: Vec<&String> = table[0].iter().filter(|name| *name == "area_mm2").collect();
    assert_eq!(names.len(), 1);
    assert!(table[1][0].starts_with("0.00189"), "{}", table[1][0]);
    assert_eq!(cell(&table, 1, "error"), "");
}

#[test]
fn a_refused_line_says_why_and_the_others_stay() {
    let text = "size_bytes,block_bytes,node_um,banks\n512,4,0.045,3\n512,4,0.045,1\n512,4,0.016,1\n512,4,zero,1\n";
    let table = priced(text);
    let error = |row| cell(&table, row, "error");
    assert!(
        error(1).contains("power of two") && error(1).contains("nearest that works: 4"),
        "{}",
        error(1)
    );
    assert_eq!(cell(&table, 1, "area_mm2"), "");
    assert_eq!(error(2), "");
    assert!(error(3).contains("--library silicon"), "{}", error(3));
    assert!(
        error(4).contains("node_um: `zero` is no number"),
        "{}",
        error(4)
    );
}

#[test]
fn what_the_tool_refuses_is_answered_with_a_note() {
    let table = priced("size_bytes,block_bytes,node_um,temp_k\n128,8,0.045,\n512,4,0.045,355\n");
    for (row, says) in [(1, "CACTI"), (2, "interpolated")] {
        assert_eq!(cell(&table, row, "error"), "");
        assert!(cell(&table, row, "note").contains(says), "{row}");
        assert!(cell(&table, row, "area_mm2").parse::<f64>().unwrap() > 0.0);
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let mut text = "size_bytes,block_bytes,node_um,rw_ports,r_ports,w_ports\n".to_owned();
    for size in 8..14 {
        for ports in ["1,0,0", "0,2,1", "0,0,0"] {
            text.push_str(&format!("{},16,0.032,{ports}\n", 1 << size));
        }
    }
    let batch = read(text.as_bytes()).unwrap();
    let one = batch.price(MODEL, &pool(1)).unwrap();
    assert_eq!(one, batch.price(MODEL, &pool(3)).unwrap());
    assert_eq!((one.rows, one.refused), (18, 6));
}

#[test]
fn tables_that_are_none_are_refused_with_their_lines() {
    for (bytes, says) in [
        (&b""[..], "has no header"),
        (b"\n\n", "has no header"),
        (b"1,2\n3,4\n", "there is no column `size_bytes`"),
        (
            b"size_bytes,block_bytes,node\n",
            "is it the column `node`? call it `node_um`",
        ),
        (
            b"size_bytes,block_bytes,node_um,id,id\n",
            "the column `id` is there twice",
        ),
        (
            b"size_bytes,block_bytes,node_um\n1,2,3\n1,2\n",
            ":3:4: 2 cells, the header has 3",
        ),
        (
            b"size_bytes,block_bytes,node_um\n1,2,3,4\n",
            ":2:7: 4 cells",
        ),
        (
            b"size_bytes,block_bytes,node_um\n1,2,\"3\n4,5,6\n",
            ":2:5: a quotation mark opens here",
        ),
        (
            b"size_bytes,block_bytes,node_um\n1,2,\xff\n",
            "is not UTF-8: line 2",
        ),
        (b"\xff\xfes\0i\0z\0e\0", "is not UTF-8: line 1"),
    ] {
        let text = said(bytes);
        assert!(text.contains(says), "{says} in\n{text}");
        assert!(text.contains("help"), "{text}");
    }
    let many = format!("size_bytes,block_bytes,node_um\n{}", "1\n".repeat(100));
    let text = said(many.as_bytes());
    assert!(text.contains("80 more lines like these"), "{text}");
}

#[test]
fn a_column_that_looks_like_an_input_is_warned_about() {
    let mut sink = Sink::default();
    let text = "size_bytes,block_bytes,node_um,tempk,family\n";
    assert!(Batch::read(&mut sink, "specs.csv", text.as_bytes()).is_some());
    let text = crate::diag::render(&sink, false);
    assert!(
        text.contains("warning") && text.contains("`tempk`") && text.contains("`temp_k`"),
        "{text}"
    );
    assert!(!text.contains("`family`"), "{text}");
}

#[test]
fn a_refusal_is_one_line() {
    let refusal = Refusal::new("two\nlines").help("and help");
    assert_eq!(refusal.line(), "two lines; and help");
}

fn any_row() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just(String::new()),
        "[0-9]{1,12}",
        "[0-9]{1,3}\\.[0-9]{1,3}",
        "\\PC{0,6}",
        Just("-1".to_owned()),
        Just("1e308".to_owned())
    ];
    proptest::collection::vec(number, 6).prop_map(|cells| cells.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_text_behind_a_header_is_too_odd(rows in proptest::collection::vec(any_row(), 0..4), end in "\\PC{0,10}") {
        let text = format!("size_bytes,block_bytes,node_um,assoc,mem_type,banks\n{}\n{end}", rows.join("\n"));
        if let Ok(batch) = read(text.as_bytes()) {
            let results = batch.price(MODEL, &pool(1)).unwrap();
            prop_assert_eq!(results.rows, batch.rows());
            prop_assert!(std::str::from_utf8(&results.csv).is_ok());
        }
    }
}

/// More than a table may have, all of it zeros that are never looked at.
#[test]
fn a_table_beyond_all_measure_is_refused() {
    let sink = read(&vec![0; MOST_BYTES as usize + 1]).unwrap_err();
    insta::assert_snapshot!(crate::diag::render(&sink, false));
}

#[test]
fn a_table_of_two_byte_order_marks_is_refused_with_a_reason() {
    let sink = read("\u{feff}\u{feff}".as_bytes()).unwrap_err();
    assert!(sink.has_errors());
}
