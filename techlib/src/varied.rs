//! A technology whose transistors are not quite as drawn: other thresholds and gate lengths.
//!
//! | quantity | law | from |
//! | --- | --- | --- |
//! | threshold | V + v, v = dV + r d, d = ln(L / L_nominal) | – |
//! | roll-off r = L dVth/dL | (2 (Vbi - phi_s) + Vdd) DIBL ln(1 / DIBL) | Liu et al., IEEE TED 1993: dVth = -(2 (Vbi - phi_s) + Vds) exp(-L / 2l), of which DIBL = exp(-L / 2l) is the part per volt of drain |
//! | sub-threshold leakage | times exp(-v / (n kT/q) - d), n kT/q = swing(T) / ln 10 | Taur and Ning, sections 3.1.3 and 3.2 |
//! | the mean of many | times exp(s² / 2), s² = (sV / (n kT/q))² + ((r / (n kT/q) + 1) sL)² | mean of a log-normal; Rao et al., ISLPED 2003 |
//! | on-resistance | times ((Vdd - Vt) / (Vdd - Vt - v))^alpha exp((alpha - 1) d) | Sakurai and Newton, JSSC 1990; 1 / L of a long channel (alpha = 2), none where carriers move at their top speed (alpha = 1) |
//! | capacitance and leakage of the gate | times exp(d) | area of the gate |

use std::f64::consts::LN_10;

use crate::law::{ActivatedLaw, Leakage};
use crate::quantity::{Energy, Temperature, Voltage};
use crate::rules::{BOLTZMANN, REFERENCE_KELVIN};
use crate::{Sourced, Technology};

/// How far built-in potential and surface potential at threshold are apart: 3e18 cm-3 in the channel and 1e20 cm-3 in source and drain make 1.1 V and 1.0 V at 300 K (kT/q ln(Na Nd / ni²) and 2 kT/q ln(Na / ni), Taur and Ning, chapter 2).
const BUILT_IN_LESS_SURFACE: f64 = 0.1;

/// Volt of gate per factor of ten at 300 K, where leakage is a table and says nothing of it: that of planar transistors of high performance (ITRS 2007, PIDS).
const SWING_OF_TABLES: f64 = 0.1;

/// What all transistors of a die have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VthShift {
    /// Threshold, at the nominal gate length.
    pub vth: Voltage,
    /// Logarithm of the gate length over the nominal one.
    pub log_length: f64,
}

/// Standard deviations from transistor to transistor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigma {
    /// Threshold at the nominal gate length.
    pub vth: Voltage,
    /// Logarithm of the gate length.
    pub log_length: f64,
}

impl Technology {
    /// The technology of a die whose transistors are all moved by `shift`.
    ///
    /// ```
    /// use warpwatt_techlib::{Flavour, Library, VthShift, quantity::{Temperature, Voltage}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let technology = Library::silicon()?.node("7nm", Flavour::Hp)?;
    /// let slow = technology.shifted(VthShift { vth: Voltage::from_mv(20.0), log_length: 0.0 });
    /// let at = |of: &warpwatt_techlib::Technology| of.at(None, Temperature::from_k(350.0));
    /// assert!(at(&slow)?.i_off < at(&technology)?.i_off && at(&slow)?.r_n > at(&technology)?.r_n);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn shifted(&self, shift: VthShift) -> Self {
        let mut moved = self.clone();
        let nominal = self.device.vdd.value;
        let by = shift.vth + Voltage::from_si(self.roll_off() * shift.log_length);
        let longer = libm::exp(shift.log_length);
        let device = &mut moved.device;
        device.vth.value += by;
        device.l_elec.value = device.l_elec.value * longer;
        device.c_gate_ideal.value = device.c_gate_ideal.value * longer;
        for current in currents(&mut device.i_gate_n) {
            *current = *current * longer;
        }
        leak(&mut device.i_off_n, by, shift.log_length);
        let drive = &mut device.drive;
        let over = nominal - drive.threshold.value;
        let alpha = drive.alpha.value;
        let slower = libm::pow(over / (over - by), alpha)
            * libm::exp((alpha - 1.0).max(0.0) * shift.log_length);
        drive.threshold.value += by;
        drive.low = drive.low.max(drive.threshold.value);
        device.r_n_on.value = device.r_n_on.value * slower;
        device.r_p_on.value = device.r_p_on.value * slower;
        device.i_on_n.value = device.i_on_n.value * (1.0 / slower);
        moved
    }

    /// The technology as a circuit of very many transistors sees it that differ by `sigma`: each leaks its own current, and what is seen is their mean. Others of
    /// its values are linear in what varies, and stay.
    #[must_use]
    pub fn mean_of_many(&self, sigma: Sigma, temperature: Temperature) -> Self {
        let s = self.leakage_sigma(sigma, temperature);
        let mut mean = self.clone();
        for current in currents(&mut mean.device.i_off_n) {
            *current = *current * libm::exp(s * s / 2.0);
        }
        mean
    }

    /// Standard deviation of the logarithm of the sub-threshold leakage of one transistor.
    pub fn leakage_sigma(&self, sigma: Sigma, temperature: Temperature) -> f64 {
        let per_volt = LN_10 / swing(&self.device.i_off_n, temperature);
        let by_length = self.roll_off() * per_volt + 1.0;
        libm::hypot(sigma.vth.si() * per_volt, by_length * sigma.log_length)
    }

    /// Relative standard deviation, to first order, of the delay of one gate at a supply: of its on-resistance and of the gates that it drives.
    pub fn delay_sigma(&self, sigma: Sigma, vdd: Voltage) -> f64 {
        let drive = &self.device.drive;
        let per_volt = drive.alpha.value / (vdd - drive.threshold.value).si();
        let by_length = self.roll_off() * per_volt + (drive.alpha.value - 1.0).max(0.0) + 1.0;
        libm::hypot(sigma.vth.si() * per_volt, by_length * sigma.log_length)
    }

    /// Volt of threshold per logarithm of the gate length; zero where leakage is a table, which says nothing of DIBL.
    fn roll_off(&self) -> f64 {
        match &self.device.i_off_n {
            Leakage::Activated(law) if law.dibl.value > 0.0 && law.dibl.value < 1.0 => {
                let volts = 2.0 * BUILT_IN_LESS_SURFACE + self.device.vdd.value.si();
                -volts * law.dibl.value * libm::log(law.dibl.value)
            }
            _ => 0.0,
        }
    }
}

/// Volt of gate per factor of ten in leakage.
fn swing(leakage: &Leakage, temperature: Temperature) -> f64 {
    let at_300 = match leakage {
        Leakage::Activated(law) => law.swing.value.si(),
        _ => SWING_OF_TABLES,
    };
    at_300 * temperature.si() / REFERENCE_KELVIN
}

/// Moves sub-threshold leakage by a threshold and a logarithm of the gate length, at every temperature: `exp(-v / (n k T / q))` is a factor at 300 K and
/// `q v / n` of activation energy.
fn leak(leakage: &mut Leakage, by: Voltage, log_length: f64) {
    let factor = |kelvin: f64, per_decade: f64| {
        libm::exp(-by.si() * LN_10 / per_decade * (REFERENCE_KELVIN / kelvin) - log_length)
    };
    match leakage {
        Leakage::Activated(law) => {
            let ActivatedLaw {
                current,
                activation,
                swing,
                ..
            } = law;
            let per_decade = swing.value.si();
            current.value = current.value * factor(REFERENCE_KELVIN, per_decade);
            let barrier = by.si() * LN_10 / per_decade * BOLTZMANN * REFERENCE_KELVIN;
            activation.value += Energy::from_j(barrier);
        }
        Leakage::Table(table) => {
            for (temperature, current) in table.rows_mut() {
                current.value = current.value * factor(temperature.si(), SWING_OF_TABLES);
            }
        }
        Leakage::Tunnel(_) => {}
    }
}

/// The currents that a leakage is given by.
fn currents(leakage: &mut Leakage) -> Vec<&mut crate::quantity::CurrentPerLength> {
    fn value<T>(sourced: &mut Sourced<T>) -> &mut T {
        &mut sourced.value
    }
    match leakage {
        Leakage::Table(table) => table
            .rows_mut()
            .iter_mut()
            .map(|row| value(&mut row.1))
            .collect(),
        Leakage::Activated(law) => vec![value(&mut law.current)],
        Leakage::Tunnel(law) => vec![value(&mut law.current)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, Library};
    use approx::assert_relative_eq;

    fn nodes() -> Vec<Technology> {
        let silicon = |node| Library::silicon().unwrap().node(node, Flavour::Hp).unwrap();
        let itrs = Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap();
        vec![silicon("7nm"), silicon("45nm"), silicon("130nm"), itrs]
    }

    fn shift(mv: f64, log_length: f64) -> VthShift {
        VthShift {
            vth: Voltage::from_mv(mv),
            log_length,
        }
    }

    #[test]
    fn no_shift_and_no_spread_change_nothing() {
        let none = Sigma {
            vth: Voltage::ZERO,
            log_length: 0.0,
        };
        for technology in nodes() {
            assert_eq!(technology.shifted(shift(0.0, 0.0)), technology);
            let mean = technology.mean_of_many(none, Temperature::from_k(350.0));
            assert_eq!(mean, technology);
            assert_eq!(
                technology.delay_sigma(none, technology.device.vdd.value),
                0.0
            );
        }
    }

    /// A swing's worth of threshold is a factor of ten of leakage, at every temperature: by hand, not by the code's own formula.
    #[test]
    fn a_swing_of_threshold_is_a_factor_of_ten() {
        for technology in nodes() {
            for kelvin in [300.0, 360.0] {
                let at = Temperature::from_k(kelvin);
                let volts = swing(&technology.device.i_off_n, at);
                let moved = technology.shifted(shift(volts * 1e3, 0.0));
                let leakage = |of: &Technology| of.at(None, at).unwrap().i_off.si();
                assert_relative_eq!(
                    leakage(&technology) / leakage(&moved),
                    10.0,
                    max_relative = 1e-9
                );
            }
        }
    }

    #[test]
    fn long_gates_leak_less_load_more_and_are_slower() {
        for technology in nodes() {
            let at = Temperature::from_k(350.0);
            let (long, nominal) = (technology.shifted(shift(0.0, 0.1)), &technology);
            let figures = |of: &Technology| of.at(None, at).unwrap();
            let (slow, fast) = (figures(&long), figures(nominal));
            assert!(
                slow.i_off.si() < fast.i_off.si() / 1.1,
                "{}",
                technology.label()
            );
            assert!(slow.r_n >= fast.r_n && slow.i_on_n <= fast.i_on_n);
            assert_relative_eq!(
                long.device.c_gate_ideal.value / nominal.device.c_gate_ideal.value,
                0.1f64.exp(),
                max_relative = 1e-12
            );
        }
    }

    /// The mean of many transistors against a sum over a fine grid of a normal threshold, moved one by one.
    #[test]
    fn the_mean_of_many_is_the_mean_of_each() {
        let technology = nodes().remove(0);
        let at = Temperature::from_k(350.0);
        let sigma = Sigma {
            vth: Voltage::from_mv(25.0),
            log_length: 0.0,
        };
        let leakage = |of: &Technology| of.at(None, at).unwrap().i_off.si();
        let (mut sum, mut weights) = (0.0, 0.0);
        for step in -800..=800 {
            let z = f64::from(step) / 100.0;
            let weight = (-z * z / 2.0).exp();
            sum += weight * leakage(&technology.shifted(shift(25.0 * z, 0.0)));
            weights += weight;
        }
        let mean = leakage(&technology.mean_of_many(sigma, at));
        assert_relative_eq!(mean, sum / weights, max_relative = 1e-6);
        assert!(mean > 1.1 * leakage(&technology));
    }
}
