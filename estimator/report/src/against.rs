//! How sure a metric of one point is against that of another: errors that both share cancel.

use super::estimate::{Sum, Terms};
use super::terms;
use crate::outcome::Outcome;

/// Half the 95 % interval of a metric of `point`, relative to its value, where the same metric of `other` is taken for sure. Nothing of metrics that are no sum of
/// energies, leakage or areas, but for times and counts, which are taken for sure.
pub fn relative_half_width(metric: &str, point: &Outcome, other: &Outcome) -> Option<f64> {
    let ratio = sum(metric, point)?.over(&sum(metric, other)?)?;
    (ratio.value > 0.0).then(|| ratio.half_width() / ratio.value)
}

fn sum(metric: &str, outcome: &Outcome) -> Option<Sum> {
    let mut sum = Sum::default();
    sum.add(&summands(metric, outcome)?, 1.0);
    Some(sum)
}

/// What a metric adds up.
fn summands<'o>(metric: &str, outcome: &'o Outcome) -> Option<Terms<'o>> {
    let structures = outcome.structures.iter();
    Some(match metric {
        "energy_j" | "power_w" | "edp_js" | "ed2p_js2" | "energy_per_instruction_j" => {
            terms::all_energy(outcome)
        }
        "dynamic_energy_j" | "dynamic_power_w" => terms::energy_of(outcome, None, terms::dynamic),
        "leakage_energy_j" => terms::energy_of(outcome, None, terms::leakage_energy),
        "leakage_w" => structures.map(terms::leakage_power).collect(),
        "area_m2" => structures.map(terms::area).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metrics;
    use crate::outcome::PricedStructure;
    use crate::sample;

    /// Against itself everything is sure; what another structure adds errs by its own error, as far as it is a part of the whole.
    #[test]
    fn what_both_have_cancels() {
        let outcome = sample::outcomes().swap_remove(0);
        for metric in ["energy_j", "area_m2", "leakage_w", "dynamic_energy_j"] {
            let off = relative_half_width(metric, &outcome, &outcome).unwrap();
            assert!(off < 1e-9, "{metric} {off}");
        }
        let mut plain = outcome.clone();
        for structure in &mut plain.structures {
            (structure.uncertainty.area, structure.uncertainty.method) = (0.0, 0.0);
        }
        let mut more = plain.clone();
        let mut added = plain.structures[0].clone();
        added.name = "added".into();
        (added.uncertainty.area, added.uncertainty.method) = (0.1, 0.1);
        let area = |outcome: &Outcome| -> f64 {
            outcome
                .structures
                .iter()
                .map(PricedStructure::total_area_m2)
                .sum()
        };
        let share = added.total_area_m2() / (area(&plain) + added.total_area_m2());
        more.structures.push(added);
        let off = relative_half_width("area_m2", &more, &plain).unwrap();
        assert!(
            (off / (1.959_964 * share * 0.1) - 1.0).abs() < 1e-6,
            "{off} {share}"
        );
        assert_eq!(relative_half_width("time_s", &more, &outcome), None);
    }

    /// The summands are what the metric is made of.
    #[test]
    fn metrics_of_energy_and_area_are_their_sums() {
        let outcome = sample::outcomes().swap_remove(0);
        for name in [
            "energy_j",
            "dynamic_energy_j",
            "leakage_energy_j",
            "leakage_w",
            "area_m2",
        ] {
            let value = Metrics::known().find(name).unwrap().value(&outcome, None);
            let sum = sum(name, &outcome).unwrap().estimate().value;
            assert!((sum / value.unwrap() - 1.0).abs() < 1e-9, "{name}");
        }
    }
}
