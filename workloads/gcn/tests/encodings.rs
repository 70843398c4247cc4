//! Every row of the table, as LLVM's assembler encodes it (`encodings.txt`, which `regenerate.sh` makes).

use std::collections::BTreeSet;

use warpwatt_gcn::{Form, ROWS, decode};

const ENCODINGS: &str = include_str!("encodings.txt");

#[test]
fn bytes_of_the_assembler_print_as_what_it_read() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in ENCODINGS.lines() {
        let (bytes, text) = line.split_once("  ").unwrap();
        let words = bytes
            .split(' ')
            .map(|word| u32::from_str_radix(word, 16).unwrap());
        let words: Vec<u32> = words.collect();
        match decode(&words) {
            Ok(inst) if inst.to_string() == text && usize::from(inst.words) == words.len() => {
                seen.insert(inst.op);
            }
            Ok(inst) => wrong.push(format!("`{inst}` for `{text}`")),
            Err(error) => wrong.push(format!("{error} for `{text}`")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing = ROWS
        .iter()
        .filter(|row| row.form != Form::Vopc && !seen.contains(&row.op));
    let missing: Vec<&str> = missing.map(|row| row.name).collect();
    assert_eq!(missing, ["s_endpgm"]);
}
