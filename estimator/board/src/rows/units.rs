//! A line of units below the header, as Nsight Compute writes it.

use std::collections::BTreeMap;

use super::Table;

/// Units that are not those of the columns as maps know them, and what a number in them is multiplied by: prefixes of bytes and counts, times in seconds, clocks in MHz, powers in watts.
const UNITS: [(&str, f64); 22] = [
    ("kbyte", 1e3),
    ("mbyte", 1e6),
    ("gbyte", 1e9),
    ("tbyte", 1e12),
    ("kinst", 1e3),
    ("minst", 1e6),
    ("ginst", 1e9),
    ("ksector", 1e3),
    ("msector", 1e6),
    ("gsector", 1e9),
    ("nsecond", 1e-9),
    ("usecond", 1e-6),
    ("msecond", 1e-3),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("hz", 1e-6),
    ("khz", 1e-3),
    ("ghz", 1e3),
    ("mw", 1e-3),
    ("kw", 1e3),
    ("hertz", 1e-6),
];

/// The factors of columns, and whether the first line is one of units: no number in it, and no name.
pub(super) fn of(table: &Table, names: &[String]) -> (BTreeMap<String, f64>, bool) {
    let Some(first) = table.rows.first() else {
        return (BTreeMap::new(), false);
    };
    let words: Vec<&str> = first.iter().filter(|cell| !cell.is_empty()).collect();
    let are_units = words.len() > 1
        && table.text(0, names).is_none()
        && words.iter().all(|word| word.parse::<f64>().is_err());
    if !are_units {
        return (BTreeMap::new(), false);
    }
    let cells = table.header.iter().zip(first);
    let factors = cells.filter_map(|(name, unit)| {
        let unit = unit.to_lowercase();
        let found = UNITS.iter().find(|(known, _)| *known == unit)?;
        Some((name.clone(), found.1))
    });
    (factors.collect(), true)
}
