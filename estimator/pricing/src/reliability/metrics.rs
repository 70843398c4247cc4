//! Vulnerability and failures of a point, as metrics by name.

use warpwatt_reliability::{LaunchAvf, Shape, Structure};
use warpwatt_techlib::published::UpsetRate;

use super::{Fit, together};
use crate::outcome::Metric;

/// Before the name of a structure: the share of its bit-cycles that is ACE, and what protection leaves of that.
const FACTORS: [(&str, &str); 3] = [
    (
        "avf",
        "share of its bits, over all cycles, of which a flip can change the output",
    ),
    ("sdc_avf", "the same of flips that nobody notices"),
    (
        "due_avf",
        "the same of flips that are detected and not corrected",
    ),
];

/// Failures in 10⁹ hours of all structures that are followed.
const FAILURES: [(&str, &str, &str); 4] = [
    (
        "fit_sdc",
        "FIT",
        "failures in 10^9 hours that nobody notices, of the structures followed",
    ),
    (
        "fit_due",
        "FIT",
        "those that are detected and not corrected",
    ),
    (
        "fit_unprotected",
        "FIT",
        "all that there would be without protection in the same run",
    ),
    (
        "fit_uncertainty",
        "1",
        "one standard deviation of these, relative; ratios at one node are far more certain",
    ),
];

/// What a point carries: factors of the structures that the GPU has, in the order asked for, and failures at its node.
pub fn metrics(
    shape: &Shape,
    asked: impl Iterator<Item = Structure>,
    launches: &[LaunchAvf],
    rate: &UpsetRate,
) -> Vec<Metric> {
    let (_, found) = together(launches);
    let mut metrics = Vec::new();
    let mut sum = Fit::default();
    for structure in asked.filter(|it| shape.measures(*it)) {
        let it = &found[structure as usize];
        let bits = shape.bits(structure);
        sum += Fit::of(bits, it, rate);
        let values = [
            (it.avf(), it.ace),
            (it.sdc_avf(), it.silent()),
            (it.due_avf(), it.detected),
        ];
        for ((name, _), (value, part)) in FACTORS.iter().zip(values) {
            let counts = u64::try_from(part).ok().zip(u64::try_from(it.total).ok());
            metrics.push(Metric {
                name: format!("{name}.{structure}"),
                unit: "1".to_owned(),
                value,
                ratio: counts.map(|(part, whole)| [part, whole]),
            });
        }
    }
    let values = [sum.sdc, sum.due, sum.unprotected, rate.uncertainty];
    for ((name, unit, _), value) in FAILURES.iter().zip(values) {
        metrics.push(Metric {
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            value,
            ratio: None,
        });
    }
    metrics
}

/// What a metric means that [`metrics`] gives; `None` if it is another's.
pub fn meaning(name: &str) -> Option<String> {
    let failure = FAILURES.iter().find(|known| known.0 == name);
    let factor = || {
        let (factor, structure) = name.split_once('.')?;
        let structure = Structure::of(structure).ok()?;
        let (_, meaning) = FACTORS.iter().find(|known| known.0 == factor)?;
        Some(format!("{structure}: {meaning}"))
    };
    failure.map(|known| known.2.to_owned()).or_else(factor)
}

/// Names and units of all that a study may carry.
pub fn names() -> impl Iterator<Item = (String, &'static str)> {
    let factors = Structure::ALL
        .into_iter()
        .flat_map(|structure| FACTORS.map(|(factor, _)| (format!("{factor}.{structure}"), "1")));
    factors.chain(FAILURES.map(|(name, unit, _)| (name.to_owned(), unit)))
}
