//! How much transistors of one process differ: from die to die, and within a die.
//!
//! Between two nodes of the table Pelgrom's coefficient is geometric in the node; beyond it the nearest of its kind of transistor is held, and is less certain.
//! A stack of sheets is taken for a fin.

use serde::Deserialize;

use super::{Fact, checked, parse};
use crate::quantity::{Length, Voltage};
use crate::{Kind, TechError, Technology, rules};

const FILE: &str = "operations/variation.toml";
const TEXT: &str = include_str!("../../data/operations/variation.toml");

/// Relative uncertainty of a coefficient that is held beyond the table.
const HELD: f64 = 0.5;

/// Standard deviations of threshold and gate length.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Threshold that a die has in common.
    pub vth_die_to_die: Fact<Voltage>,
    /// Threshold of the narrowest transistor against the others of its die.
    pub vth_within_die: Fact<Voltage>,
    /// Gate length that a die has in common, over the nominal one.
    pub length_die_to_die: Fact<f64>,
    /// Gate length from transistor to transistor, over the nominal one.
    pub length_within_die: Fact<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    vth_die_to_die: Share,
    length_die_to_die: Share,
    length_within_die: Share,
    pelgrom: Vec<Pelgrom>,
}

/// Of the nominal value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    value: f64,
    source: String,
    uncertainty: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pelgrom {
    kind: Kind,
    node: Length,
    mv_um: f64,
    source: String,
    uncertainty: f64,
}

/// The variation of a technology's transistors.
///
/// # Errors
///
/// If the data that come with the crate cannot be read.
pub fn variation(technology: &Technology) -> Result<Variation, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    let shares = [
        &document.vth_die_to_die,
        &document.length_die_to_die,
        &document.length_within_die,
    ];
    for share in shares {
        checked(FILE, &share.source, share.uncertainty)?;
    }
    let vth = technology.device.vth.value;
    let die = document.vth_die_to_die;
    Ok(Variation {
        vth_die_to_die: Fact {
            value: vth * die.value,
            source: die.source,
            uncertainty: die.uncertainty,
        },
        vth_within_die: narrowest(&document.pelgrom, technology)?,
        length_die_to_die: document.length_die_to_die.fact(),
        length_within_die: document.length_within_die.fact(),
    })
}

impl Share {
    fn fact(self) -> Fact<f64> {
        Fact {
            value: self.value,
            source: self.source,
            uncertainty: self.uncertainty,
        }
    }
}

/// The narrowest transistor of a technology: one fin, or the smallest width of the layout rules.
pub fn narrowest_width(technology: &Technology) -> Length {
    match &technology.layout.fin {
        Some(fin) => fin.effective_width.value,
        None => technology.layout.unit.value * rules::MIN_NMOS,
    }
}

/// `sigma = A / sqrt(W L)` of the narrowest transistor (Pelgrom, Duinmaijer and Welbers, JSSC 1989).
fn narrowest(table: &[Pelgrom], technology: &Technology) -> Result<Fact<Voltage>, TechError> {
    for entry in table {
        checked(FILE, &entry.source, entry.uncertainty)?;
    }
    let coefficient = coefficient(table, technology.layout.kind, technology.feature)
        .ok_or_else(|| super::problem(FILE, "there is no coefficient"))?;
    let length = technology.device.l_elec.value;
    let area = narrowest_width(technology).as_um() * length.as_um();
    Ok(Fact {
        value: Voltage::from_mv(coefficient.value / area.sqrt()),
        source: coefficient.source,
        uncertainty: coefficient.uncertainty,
    })
}

/// Pelgrom's coefficient in millivolt times micrometre.
fn coefficient(table: &[Pelgrom], kind: Kind, node: Length) -> Option<Fact<f64>> {
    let planar = kind == Kind::Planar;
    let alike = || {
        table
            .iter()
            .filter(|entry| (entry.kind == Kind::Planar) == planar)
    };
    let above = alike().rfind(|entry| entry.node >= node);
    let below = alike().find(|entry| entry.node <= node);
    match (above, below) {
        (Some(larger), Some(smaller)) if larger.node > smaller.node => {
            let share = libm::log(node / smaller.node) / libm::log(larger.node / smaller.node);
            Some(Fact {
                value: smaller.mv_um * libm::pow(larger.mv_um / smaller.mv_um, share),
                source: format!(
                    "between {} and {}: {}; {}",
                    larger.node, smaller.node, larger.source, smaller.source
                ),
                uncertainty: larger.uncertainty.max(smaller.uncertainty),
            })
        }
        (Some(entry), Some(_)) => Some(Fact {
            value: entry.mv_um,
            source: entry.source.clone(),
            uncertainty: entry.uncertainty,
        }),
        (one, other) => one.or(other).map(|entry| Fact {
            value: entry.mv_um,
            source: format!("held from {}: {}", entry.node, entry.source),
            uncertainty: HELD,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, Library};
    use approx::assert_relative_eq;

    fn of(node: &str) -> (Technology, Variation) {
        let technology = Library::silicon().unwrap().node(node, Flavour::Hp).unwrap();
        let variation = variation(&technology).unwrap();
        (technology, variation)
    }

    #[test]
    fn the_narrowest_transistor_varies_by_its_area() {
        // One fin at 7 nm, by hand: 0.95 mV um over the root of width times length.
        let (technology, variation) = of("7nm");
        let fin = technology.layout.fin.as_ref().unwrap();
        let area = fin.effective_width.value.as_um() * technology.device.l_elec.value.as_um();
        let by_hand = 0.95 / area.sqrt();
        assert_relative_eq!(
            variation.vth_within_die.value.si() * 1e3,
            by_hand,
            max_relative = 1e-12
        );
        assert!(variation.vth_within_die.source.starts_with("held from 14"));
        assert!(by_hand > 10.0 && by_hand < 40.0, "{by_hand} mV");
        assert_relative_eq!(
            variation.vth_die_to_die.value.si(),
            0.063 * technology.device.vth.value.si()
        );
    }

    #[test]
    fn planar_transistors_vary_more_as_they_shrink() {
        let sigmas = ["130nm", "90nm", "65nm", "45nm", "32nm", "22nm"]
            .map(|node| of(node).1.vth_within_die.value.si());
        assert!(
            sigmas.windows(2).all(|pair| pair[0] < pair[1]),
            "{sigmas:?}"
        );
        let between = coefficient(&table(), Kind::Planar, Length::from_nm(90.0)).unwrap();
        assert!(between.value > 1.8 && between.value < 3.05);
        assert!(between.source.starts_with("between"));
        let held = coefficient(&table(), Kind::Nanosheet, Length::from_nm(3.0)).unwrap();
        assert_relative_eq!(held.value, 0.95);
        assert_relative_eq!(held.uncertainty, HELD);
    }

    fn table() -> Vec<Pelgrom> {
        parse::<Document>(FILE, TEXT).unwrap().pelgrom
    }
}
