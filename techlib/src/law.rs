//! How a transistor depends on supply and temperature.
//!
//! | quantity | law | from |
//! | --- | --- | --- |
//! | on-resistance | R_nominal [V / (V - Vt)^alpha] / [the same at the nominal supply] (1 + s (T - 300 K)) | Sakurai and Newton, JSSC 1990 |
//! | sub-threshold leakage | I_300 (T/300)^2 exp(-Ea/k (1/T - 1/300)) 10^(dibl (V - V_nominal) / swing(T)) | Taur and Ning, sections 2.1 and 3.2 |
//! | gate leakage | I_nominal (V / V_nominal)^n | Krishnamurthy et al., CICC 2002 |

use serde::{Deserialize, Serialize};

use crate::quantity::{CurrentPerLength, Energy, Temperature, Voltage};
use crate::rules::{BOLTZMANN, REFERENCE_KELVIN};
use crate::{Sourced, TechError};

/// On-resistance by the alpha-power law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveLaw {
    /// Exponent: 2 for long channels, towards 1 where carriers move at their top speed.
    pub alpha: Sourced<f64>,
    /// The threshold that makes the law fit; not that of the transistor's data sheet.
    pub threshold: Sourced<Voltage>,
    /// Relative growth of the on-resistance per kelvin.
    pub r_temperature: Sourced<f64>,
    /// Lowest supply at which it holds.
    pub low: Voltage,
    /// Highest supply.
    pub high: Voltage,
}

/// A leakage current per width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Leakage {
    /// Tabulated over temperature; the same at every supply.
    Table(LeakageTable),
    /// Thermally activated, with the drain lowering the barrier.
    Activated(ActivatedLaw),
    /// Through the gate.
    Tunnel(TunnelLaw),
}

/// A current per width by temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakageTable {
    rows: Vec<(Temperature, Sourced<CurrentPerLength>)>,
}

/// Sub-threshold leakage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivatedLaw {
    /// At 300 K and the nominal supply.
    pub current: Sourced<CurrentPerLength>,
    /// Activation energy.
    pub activation: Sourced<Energy>,
    /// Drain-induced barrier lowering: volt of threshold per volt of drain.
    pub dibl: Sourced<f64>,
    /// Sub-threshold swing at 300 K: volt of gate per factor of ten.
    pub swing: Sourced<Voltage>,
    /// Where it holds.
    pub range: (Temperature, Temperature),
}

/// Gate leakage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunnelLaw {
    /// At the nominal supply.
    pub current: Sourced<CurrentPerLength>,
    /// Power of the supply.
    pub exponent: Sourced<f64>,
}

impl DriveLaw {
    /// On-resistance at a supply over that at the nominal one, both at one temperature.
    pub(crate) fn slow_down(&self, vdd: Voltage, nominal: Voltage) -> f64 {
        let drive = |at: Voltage| {
            let over = (at - self.threshold.value) / (nominal - self.threshold.value);
            libm::pow(over, self.alpha.value) / (at / nominal)
        };
        drive(nominal) / drive(vdd)
    }

    /// On-current at a supply over that at the nominal one, both at one temperature.
    pub fn current(&self, vdd: Voltage, nominal: Voltage) -> f64 {
        vdd / nominal / self.slow_down(vdd, nominal)
    }

    /// On-resistance at a temperature over that at 300 K.
    pub(crate) fn heat(&self, temperature: Temperature) -> f64 {
        1.0 + self.r_temperature.value * (temperature.si() - REFERENCE_KELVIN)
    }

    /// Refuses a supply outside the range. Bounds hold as they are shown, with four digits: who is told of 803.9 mV may ask for it.
    pub(crate) fn check(&self, vdd: Voltage) -> Result<(), TechError> {
        const SHOWN: f64 = 5e-4;
        if vdd >= self.low * (1.0 - SHOWN) && vdd <= self.high * (1.0 + SHOWN) {
            return Ok(());
        }
        let nearest = if vdd > self.high { self.high } else { self.low };
        Err(TechError::Supply {
            vdd,
            low: self.low,
            high: self.high,
            nearest,
        })
    }

    pub(crate) fn mixed(&self, other: &Self, share: f64, rule: &str) -> Self {
        let mean = |a: Voltage, b: Voltage| a * share + b * (1.0 - share);
        Self {
            alpha: self.alpha.mixed(&other.alpha, share, rule),
            threshold: self.threshold.mixed(&other.threshold, share, rule),
            r_temperature: self.r_temperature.mixed(&other.r_temperature, share, rule),
            low: mean(self.low, other.low),
            high: mean(self.high, other.high),
        }
    }
}

impl Leakage {
    /// The current at a temperature and at a supply beside the nominal one. Most callers want [`Technology::at`](crate::Technology::at).
    ///
    /// # Errors
    ///
    /// Outside the temperatures in which the law or table holds.
    pub fn at(
        &self,
        temperature: Temperature,
        vdd_and_nominal: (Voltage, Voltage),
        library: &str,
    ) -> Result<CurrentPerLength, TechError> {
        match self {
            Self::Table(table) => table.at(temperature, library),
            Self::Activated(law) => law.at(temperature, vdd_and_nominal, library),
            Self::Tunnel(law) => {
                let (vdd, nominal) = vdd_and_nominal;
                Ok(law.current.value * libm::pow(vdd / nominal, law.exponent.value))
            }
        }
    }

    /// Relative uncertainty, one sigma, of the current at its reference point.
    pub fn uncertainty(&self) -> f64 {
        match self {
            Self::Table(table) => table
                .rows()
                .iter()
                .map(|(_, value)| value.uncertainty)
                .fold(0.0, f64::max),
            Self::Activated(law) => law.current.uncertainty,
            Self::Tunnel(law) => law.current.uncertainty,
        }
    }

    /// The tabulated points; none if it is a law.
    pub fn rows(&self) -> &[(Temperature, Sourced<CurrentPerLength>)] {
        match self {
            Self::Table(table) => table.rows(),
            _ => &[],
        }
    }

    pub(crate) fn mixed(&self, other: &Self, share: f64, rule: &str) -> Self {
        match (self, other) {
            (Self::Table(a), Self::Table(b)) => Self::Table(a.mixed(b, share, rule)),
            (Self::Activated(a), Self::Activated(b)) => Self::Activated(ActivatedLaw {
                current: a.current.mixed(&b.current, share, rule),
                activation: a.activation.mixed(&b.activation, share, rule),
                dibl: a.dibl.mixed(&b.dibl, share, rule),
                swing: a.swing.mixed(&b.swing, share, rule),
                range: (a.range.0.max(b.range.0), a.range.1.min(b.range.1)),
            }),
            (Self::Tunnel(a), Self::Tunnel(b)) => Self::Tunnel(TunnelLaw {
                current: a.current.mixed(&b.current, share, rule),
                exponent: a.exponent.mixed(&b.exponent, share, rule),
            }),
            // One library has one form for each current.
            _ => self.clone(),
        }
    }
}

impl ActivatedLaw {
    fn at(
        &self,
        temperature: Temperature,
        (vdd, nominal): (Voltage, Voltage),
        library: &str,
    ) -> Result<CurrentPerLength, TechError> {
        in_range(temperature, self.range, library)?;
        let kelvin = temperature.si();
        let inverse = 1.0 / kelvin - 1.0 / REFERENCE_KELVIN;
        let thermal = libm::pow(kelvin / REFERENCE_KELVIN, 2.0)
            * libm::exp(-self.activation.value.si() / BOLTZMANN * inverse);
        let swing = self.swing.value * (kelvin / REFERENCE_KELVIN);
        let drain = libm::exp10(self.dibl.value * ((vdd - nominal) / swing));
        Ok(self.current.value * thermal * drain)
    }
}

impl LeakageTable {
    /// From rows that rise in temperature; at least one.
    pub(crate) fn new(rows: Vec<(Temperature, Sourced<CurrentPerLength>)>) -> Self {
        Self { rows }
    }

    /// The tabulated points.
    pub fn rows(&self) -> &[(Temperature, Sourced<CurrentPerLength>)] {
        &self.rows
    }

    /// The current at a temperature; between two rows geometric in temperature, as an exponential current is. Outside the table it is refused.
    pub fn at(
        &self,
        temperature: Temperature,
        library: &str,
    ) -> Result<CurrentPerLength, TechError> {
        for pair in self.rows.windows(2) {
            let ((low, from), (high, to)) = (&pair[0], &pair[1]);
            if temperature == *low {
                return Ok(from.value);
            }
            if temperature > *low && temperature < *high {
                let share = (temperature - *low) / (*high - *low);
                return Ok(from.value * libm::pow(to.value / from.value, share));
            }
        }
        let (first, last) = (&self.rows[0], &self.rows[self.rows.len() - 1]);
        in_range(temperature, (first.0, last.0), library)?;
        Ok(last.1.value)
    }

    pub(crate) fn rows_mut(&mut self) -> &mut [(Temperature, Sourced<CurrentPerLength>)] {
        &mut self.rows
    }

    fn mixed(&self, other: &Self, share: f64, rule: &str) -> Self {
        let pairs = self.rows.iter().zip(&other.rows);
        Self {
            rows: pairs
                .map(|((at, a), (_, b))| (*at, a.mixed(b, share, rule)))
                .collect(),
        }
    }
}

fn in_range(
    temperature: Temperature,
    (low, high): (Temperature, Temperature),
    library: &str,
) -> Result<(), TechError> {
    if temperature >= low && temperature <= high {
        return Ok(());
    }
    let nearest = if temperature > high { high } else { low };
    Err(TechError::Temperature {
        library: library.to_owned(),
        temperature,
        low,
        high,
        nearest,
    })
}
