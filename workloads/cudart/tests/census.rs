//! The library has the functions that programs of public suites ask for: `data/census.csv`, by how many of 184 programs need each.

use std::collections::BTreeSet;
use std::path::PathBuf;

use object::{Object, ObjectSymbol};
use warpwatt_cudart::api::UNSUPPORTED;

/// The library beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1).take(2);
    let mut places = folders.map(|folder| folder.join("libwarpwatt_cudart.so"));
    places
        .find(|path| path.is_file())
        .expect("the library was built with its tests")
}

#[test]
#[cfg(target_os = "linux")]
fn every_function_of_the_census_is_there_and_works() {
    let bytes = std::fs::read(library()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbols = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition());
    let exported: BTreeSet<&str> = symbols.filter_map(|symbol| symbol.name().ok()).collect();
    /// Functions of the census that are refused, with the reason.
    const REFUSED: &[(&str, &str)] = &[];
    let census = include_str!("../data/census.csv").lines().skip(1);
    let names: Vec<&str> = census.filter_map(|line| line.split(',').next()).collect();
    assert!(names.len() > 80, "the census has {} functions", names.len());
    for name in names {
        assert!(exported.contains(name), "{name} is not exported");
        let works = !UNSUPPORTED.contains(&name);
        assert!(
            works || REFUSED.iter().any(|(refused, _)| *refused == name),
            "{name} is refused"
        );
    }
    assert!(
        exported.len() >= 422,
        "only {} functions are exported",
        exported.len()
    );
    for name in UNSUPPORTED {
        assert!(exported.contains(name), "{name} is not exported");
    }
}
