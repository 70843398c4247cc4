//! How thresholds drift with age, and what that does to the delay of gates.
//!
//! Negative bias temperature instability: the threshold of a PMOS under load goes up as `t^n` (reaction and diffusion: M. A. Alam, S. Mahapatra, "A comprehensive model of PMOS NBTI degradation",
//! Microelectronics Reliability 45(1), 2005). NMOS stay as they are here.

use serde::Deserialize;

use super::{Fact, checked, parse};
use crate::quantity::{Temperature, Voltage};
use crate::{TechError, Technology, VthShift};

const FILE: &str = "operations/ageing.toml";
const TEXT: &str = include_str!("../../data/operations/ageing.toml");

/// Years of the drift that the data have.
const YEARS: f64 = 10.0;

/// How thresholds of PMOS drift.
#[derive(Clone, Debug, PartialEq)]
pub struct Ageing {
    /// The drift goes with time to this power.
    pub exponent: Fact<f64>,
    /// The drift of ten years under load, hot.
    pub ten_years: Fact<Voltage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    exponent: Entry,
    ten_years_mv: Entry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: f64,
    source: String,
    uncertainty: f64,
}

impl Entry {
    fn fact<T>(self, of: impl Fn(f64) -> T) -> Result<Fact<T>, TechError> {
        checked(FILE, &self.source, self.uncertainty)?;
        Ok(Fact {
            value: of(self.value),
            source: self.source,
            uncertainty: self.uncertainty,
        })
    }
}

/// The drift of thresholds.
///
/// # Errors
///
/// If the data that come with the crate cannot be read.
pub fn ageing() -> Result<Ageing, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    Ok(Ageing {
        exponent: document.exponent.fact(|value| value)?,
        ten_years: document.ten_years_mv.fact(Voltage::from_mv)?,
    })
}

impl Ageing {
    /// The drift after so many years.
    pub fn shift(&self, years: f64) -> Voltage {
        self.ten_years.value * libm::pow(years / YEARS, self.exponent.value)
    }

    /// The years after which gates at `vdd` are slower by a factor than they were; infinite if a hundred years are not enough.
    ///
    /// # Errors
    ///
    /// If the supply is outside of where the laws hold.
    pub fn years_until(
        &self,
        slower: f64,
        technology: &Technology,
        (vdd, temperature): (Voltage, Temperature),
    ) -> Result<f64, TechError> {
        let at = |years: f64| technology.aged_delay(self.shift(years), vdd, temperature);
        if at(MOST_YEARS)? < slower {
            return Ok(f64::INFINITY);
        }
        let (mut low, mut high) = (0.0, MOST_YEARS);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            match at(middle)? < slower {
                true => low = middle,
                false => high = middle,
            }
        }
        Ok(high)
    }
}

/// Longer than anything is used.
const MOST_YEARS: f64 = 100.0;

impl Technology {
    /// Delay of a path at a supply over that at the same supply, if the thresholds of its PMOS are higher by `shift`: half of its gates pull up, and those are slower.
    ///
    /// # Errors
    ///
    /// If the supply is outside of where the laws hold for the shifted device.
    pub fn aged_delay(
        &self,
        shift: Voltage,
        vdd: Voltage,
        temperature: Temperature,
    ) -> Result<f64, TechError> {
        let aged = self.shifted(VthShift {
            vth: shift,
            log_length: 0.0,
        });
        let resistance = |of: &Self| of.at(Some(vdd), temperature).map(|at| at.r_p.si());
        Ok(f64::midpoint(1.0, resistance(&aged)? / resistance(self)?))
    }

    /// Delay of gates at a supply over that at another one.
    ///
    /// # Errors
    ///
    /// If a supply is outside of where the law holds.
    pub fn delay_at(
        &self,
        vdd: Voltage,
        over: Voltage,
        temperature: Temperature,
    ) -> Result<f64, TechError> {
        let resistance = |vdd| self.at(Some(vdd), temperature).map(|at| at.r_n.si());
        Ok(resistance(vdd)? / resistance(over)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, Library};
    use approx::assert_relative_eq;

    fn technology() -> Technology {
        Library::silicon()
            .unwrap()
            .node("32nm", Flavour::Hp)
            .unwrap()
    }

    /// By hand: 40 mV in ten years, and a tenth of the time makes 10^-0.167 = 0.681 of it: 27 mV in the first.
    #[test]
    fn most_of_the_drift_comes_early() {
        let ageing = ageing().unwrap();
        assert_relative_eq!(ageing.shift(10.0).as_mv(), 40.0, max_relative = 1e-12);
        assert_relative_eq!(ageing.shift(1.0).as_mv(), 27.23, max_relative = 1e-3);
        assert_eq!(ageing.shift(0.0), Voltage::ZERO);
    }

    /// The guard band of the source, about a tenth, is more than what forty millivolt do to a path of which every second gate pulls up, and of its order.
    #[test]
    fn old_gates_are_slower_and_more_so_at_a_lower_supply() {
        let (technology, at) = (technology(), Temperature::from_k(350.0));
        let vdd = technology.device.vdd.value;
        let delay = |years: f64, vdd| {
            let shift = ageing().unwrap().shift(years);
            technology.aged_delay(shift, vdd, at).unwrap()
        };
        assert_relative_eq!(delay(0.0, vdd), 1.0);
        assert!(
            (1.01..1.1).contains(&delay(10.0, vdd)),
            "{}",
            delay(10.0, vdd)
        );
        assert!(delay(10.0, vdd * 0.9) > delay(10.0, vdd));
        assert!(technology.delay_at(vdd * 0.9, vdd, at).unwrap() > 1.0);
    }

    #[test]
    fn years_are_found_again() {
        let (technology, ageing) = (technology(), ageing().unwrap());
        let at = (technology.device.vdd.value, Temperature::from_k(350.0));
        let slower = technology
            .aged_delay(ageing.shift(3.0), at.0, at.1)
            .unwrap();
        let years = ageing.years_until(slower, &technology, at).unwrap();
        assert_relative_eq!(years, 3.0, max_relative = 1e-9);
        let never = ageing.years_until(2.0, &technology, at).unwrap();
        assert!(never.is_infinite());
    }
}
