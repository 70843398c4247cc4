//! Process variation: how transistors of one process differ, from die to die and within a die.
//!
//! What a die has in common moves all of its transistors together, and is drawn. What differs from transistor to transistor averages out over the many
//! of a structure. Their leakage is the mean of a log-normal current, which lies above the median; only the error that a finite number of transistors
//! leaves is drawn. A clock edge waits for the slowest of many paths. The equations are those of `warpwatt_techlib`'s `varied.rs`.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use warpwatt_circuit::{CircuitError, OperatingPoint};
use warpwatt_techlib::published::variation;
use warpwatt_techlib::quantity::{Power, Time, Voltage};
use warpwatt_techlib::{Sigma, TechError, Technology, VthShift, metrics, rules};

use super::input::{CUT, Input};

/// Independent critical paths of a structure (Bowman, Duvall and Meindl, JSSC 37(2) 2002, take a hundred for a microprocessor). The slowest of thirty is
/// slower than the mean by 2.0 standard deviations of one path, of a hundred by 2.5, of five hundred by 3.0.
const CRITICAL_PATHS: f64 = 100.0;

/// What a study says of process variation, each one standard deviation; what it leaves out is as published for the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessVariation {
    /// Threshold that a die has in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vth_die_to_die: Option<Voltage>,
    /// Threshold of the narrowest transistor against the others of its die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vth_within_die: Option<Voltage>,
    /// Gate length that a die has in common, over the nominal one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_die_to_die: Option<f64>,
    /// Gate length from transistor to transistor, over the nominal one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_within_die: Option<f64>,
}

/// Something that a die has in common and another die has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DieToDie {
    /// Its threshold.
    Vth,
    /// Its gate length.
    Length,
}

/// The variation of one technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// Of a die: standard deviations of its threshold and of the logarithm of its gate length.
    die: VthShift,
    /// Of each of its transistors.
    within: Sigma,
    /// Where the first two are from.
    sources: [String; 2],
}

impl DieToDie {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Vth, Self::Length];

    /// As a cause of error.
    pub const fn cause(self) -> &'static str {
        match self {
            Self::Vth => "process: vth die to die",
            Self::Length => "process: gate length die to die",
        }
    }

    /// As an input.
    const fn input(self) -> &'static str {
        match self {
            Self::Vth => "process.vth",
            Self::Length => "process.l_elec",
        }
    }
}

/// The name of what is left to chance of a structure's leakage within a die.
pub fn within_cause(structure: &str) -> String {
    format!("process: leakage of {structure} within the die")
}

impl ProcessVariation {
    /// That of the transistors of `technology`.
    ///
    /// # Errors
    /// The data that come with the crate cannot be read.
    pub fn of(&self, technology: &Technology) -> Result<Varied, TechError> {
        let published = variation(technology)?;
        let source = |own: bool, published: String| {
            if own {
                "the study".to_owned()
            } else {
                published
            }
        };
        Ok(Varied {
            die: VthShift {
                vth: self
                    .vth_die_to_die
                    .unwrap_or(published.vth_die_to_die.value),
                log_length: self
                    .length_die_to_die
                    .unwrap_or(published.length_die_to_die.value),
            },
            within: Sigma {
                vth: self
                    .vth_within_die
                    .unwrap_or(published.vth_within_die.value),
                log_length: self
                    .length_within_die
                    .unwrap_or(published.length_within_die.value),
            },
            sources: [
                source(
                    self.vth_die_to_die.is_some(),
                    published.vth_die_to_die.source,
                ),
                source(
                    self.length_die_to_die.is_some(),
                    published.length_die_to_die.source,
                ),
            ],
        })
    }
}

impl Varied {
    /// What of it is drawn, die by die: what is not nothing.
    pub fn drawn(&self) -> impl Iterator<Item = DieToDie> {
        let sigma = |of: &DieToDie| match of {
            DieToDie::Vth => self.die.vth.si(),
            DieToDie::Length => self.die.log_length,
        };
        DieToDie::ALL.into_iter().filter(move |of| sigma(of) > 0.0)
    }

    /// The technology of a die that lies `z` standard deviations from the nominal one.
    pub fn die(&self, technology: &Technology, z: impl Fn(DieToDie) -> f64) -> Technology {
        let z = |of| z(of).clamp(-CUT, CUT);
        technology.shifted(VthShift {
            vth: self.die.vth * z(DieToDie::Vth),
            log_length: self.die.log_length * z(DieToDie::Length),
        })
    }

    /// The same as a structure of many transistors sees it.
    pub fn many(&self, die: &Technology, at: &OperatingPoint) -> Technology {
        die.mean_of_many(self.within, at.temperature)
    }

    /// How much longer the slowest of many paths takes than a path of equal transistors that takes `delay`.
    ///
    /// It is the median of the slowest of independent normal delays, each of a chain of gates with a fan-out of four (Bowman, Duvall and Meindl, JSSC 37(2)
    /// 2002, equations for within-die variation). Gates are taken for the narrowest ones, so that it is an upper bound.
    ///
    /// # Errors
    /// The operating point is outside what the technology's laws cover.
    pub fn slowest_path(
        &self,
        technology: &Technology,
        at: &OperatingPoint,
        delay: Time,
    ) -> Result<f64, CircuitError> {
        let now = technology.at(at.vdd, at.temperature)?;
        let gates = (delay / metrics::fo4(technology, &now)).max(1.0);
        let one = technology.delay_sigma(self.within, now.vdd);
        let slowest = Normal::standard().inverse_cdf(libm::exp2(-1.0 / CRITICAL_PATHS));
        Ok(1.0 + slowest * one / gates.sqrt())
    }

    /// Relative standard deviation of the sub-threshold leakage of a circuit that leaks `leakage`, `sqrt((exp(s²) - 1) / N)`: that of the mean of `N` of the
    /// narrowest transistors, as many as leak so much when off.
    ///
    /// # Errors
    /// The operating point is outside what the technology's laws cover.
    pub fn left_to_chance(
        &self,
        technology: &Technology,
        at: &OperatingPoint,
        leakage: Power,
    ) -> Result<f64, CircuitError> {
        let now = technology.at(at.vdd, at.temperature)?;
        let fin = technology.layout.fin.as_ref();
        let width = fin.map_or(technology.layout.unit.value * rules::MIN_NMOS, |fin| {
            fin.pitch.value
        });
        let transistors = leakage / (now.i_off * width * now.vdd);
        let s = technology.leakage_sigma(self.within, at.temperature);
        Ok((libm::expm1(s * s) / transistors.max(1.0)).sqrt())
    }

    /// What is drawn, as inputs of a figure.
    pub fn inputs(&self, technology: &Technology) -> Vec<Input> {
        let input = |of: DieToDie| {
            let device = &technology.device;
            let (value, unit, uncertainty, source) = match of {
                DieToDie::Vth => {
                    let vth = device.vth.value;
                    (vth.si(), "V", self.die.vth / vth, &self.sources[0])
                }
                DieToDie::Length => {
                    let length = device.l_elec.value.si();
                    (length, "m", self.die.log_length, &self.sources[1])
                }
            };
            Input {
                name: of.input().to_owned(),
                value,
                unit,
                uncertainty,
                cause: of.cause(),
                source: source.clone(),
                how: "process variation, die to die".to_owned(),
            }
        };
        self.drawn().map(input).collect()
    }

    /// `technology` with one input moved by `z` of its standard deviations; nothing if the input is none of process variation.
    pub fn moved(&self, technology: &Technology, input: &Input, z: f64) -> Option<Technology> {
        let which = DieToDie::ALL
            .into_iter()
            .find(|of| of.input() == input.name)?;
        Some(self.die(technology, |of| if of == which { z } else { 0.0 }))
    }
}
