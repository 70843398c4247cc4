use std::collections::BTreeSet;

use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use super::*;
use crate::{OperatingPoint, Profile, cost};

#[test]
fn names_are_unique_and_every_default_is_allowed() {
    let names: BTreeSet<&str> = blocks().map(|block| block.name).collect();
    assert_eq!(names.len(), blocks().count());
    assert!(names.len() >= 19);
    for block in blocks() {
        let parameters: BTreeSet<&str> = block
            .parameters
            .iter()
            .map(|parameter| parameter.name)
            .collect();
        assert_eq!(parameters.len(), block.parameters.len(), "{}", block.name);
        for parameter in block.parameters {
            assert!(
                parameter.read(parameter.default).is_ok(),
                "{} {}",
                block.name,
                parameter.name
            );
        }
    }
}

#[test]
fn every_block_can_be_priced_as_it_stands() {
    let technology = Library::itrs().unwrap().node("40nm", Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    for block in blocks() {
        let spec = block.spec(&[]).unwrap();
        let cost = cost(&technology, &at, Profile::Cacti7, &spec)
            .unwrap_or_else(|error| panic!("{}: {error}", block.name));
        assert!(
            cost.read_energy.si() > 0.0 && cost.read_energy.is_finite(),
            "{}",
            block.name
        );
        assert!(
            cost.area.is_finite() && cost.leakage.is_finite(),
            "{}",
            block.name
        );
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let settings = [("widht", "3"), ("code", "reed"), ("width", "0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let problems = find("secded").unwrap().spec(&settings).unwrap_err();
    assert_eq!(problems.len(), 3);
    assert!(
        problems[0]
            .to_string()
            .contains("width, code, side, activity")
    );
    assert_eq!(
        problems[2].to_string(),
        "`width` is `0`, but it is a whole number from 1 to 1024"
    );
}
