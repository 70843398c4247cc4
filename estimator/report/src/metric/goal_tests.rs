//! Goals over the metrics that there are.

use super::{Bound, Limit, Metrics, Objective};

fn limit(name: &str, text: &str) -> Result<Limit, String> {
    Limit::read(&Metrics::known().find(name).unwrap(), text)
}

#[test]
fn a_bare_value_bounds_the_bad_side() {
    let slowdown = limit("slowdown", "1%").unwrap();
    assert_eq!((slowdown.bound, slowdown.limit), (Bound::AtMost, 0.01));
    let coverage = limit("sharp.coverage", "90%").unwrap();
    assert_eq!((coverage.bound, coverage.limit), (Bound::AtLeast, 0.9));
    let energy = limit("energy_j", ">= 1 mJ").unwrap();
    assert_eq!((energy.bound, energy.limit), (Bound::AtLeast, 1e-3));
    assert_eq!(limit("fetches", "100"), Err("say <= or >=".to_owned()));
    assert!(limit("energy_j", "< 1 mJ").is_err());
    assert!(limit("energy_j", "<= 1 s").is_err());
}

#[test]
fn margins_are_positive_inside() {
    let slowdown = limit("slowdown", "1%").unwrap();
    assert!(slowdown.margin(0.005) > 0.0 && slowdown.margin(0.02) < 0.0);
    assert!((slowdown.relative_margin(0.02) + 1.0).abs() < 1e-12);
    let none = limit("slowdown", "0%").unwrap();
    assert_eq!(none.relative_margin(0.1), f64::NEG_INFINITY);
    assert_eq!(none.relative_margin(0.0), 0.0);
}

#[test]
fn an_objective_knows_or_is_told_its_way() {
    let metrics = Metrics::known();
    let read = |text: &str| Objective::read(text, &metrics);
    assert!(!read("energy_j").unwrap().maximise);
    assert!(read("max:energy_j").unwrap().maximise);
    assert!(read("filter_cache.hit_rate").unwrap().maximise);
    assert_eq!(read("fetches").unwrap_err().code, "metric::direction");
    assert_eq!(read("enrgy_j").unwrap_err().code, "metric::unknown");
}
