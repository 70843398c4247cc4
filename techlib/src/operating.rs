//! A transistor at an operating point.

use crate::quantity::{CurrentPerLength, Length, Power, Resistivity, Temperature, Voltage};
use crate::technology::Sense;
use crate::{TechError, Technology};

/// What a transistor does at one supply and temperature. Made by [`Technology::at`]; sizes and capacitances are those of the [`Technology`], for a
/// structure is sized once and runs anywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operating {
    /// Supply.
    pub vdd: Voltage,
    /// Temperature.
    pub temperature: Temperature,
    /// Threshold.
    pub vth: Voltage,
    /// To which bitlines are precharged.
    pub precharge: Voltage,
    /// On-resistance times width of an NMOS.
    pub r_n: Resistivity,
    /// The same of a PMOS.
    pub r_p: Resistivity,
    /// On-current of an NMOS per width.
    pub i_on_n: CurrentPerLength,
    /// Sub-threshold leakage per width.
    pub i_off: CurrentPerLength,
    /// Leakage per width through a gate that is on.
    pub i_gate: CurrentPerLength,
    sense: SenseAt,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SenseAt {
    /// Half of mobility times oxide capacitance; saturation voltage; channel length; 1 + PMOS over NMOS.
    Square(f64, f64, Length, f64),
    /// Siemens per metre of NMOS.
    PerWidth(f64),
}

impl Technology {
    /// The transistor at a supply (the nominal one if `None`) and temperature.
    ///
    /// # Errors
    ///
    /// Outside the ranges in which the laws hold, with the nearest value that works.
    ///
    /// ```
    /// use warpwatt_techlib::{Flavour, Library, quantity::{Temperature, Voltage}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let technology = Library::silicon()?.node("7nm", Flavour::Hp)?;
    /// let room = Temperature::from_k(300.0);
    /// let slow = technology.at(Some(Voltage::from_v(0.6)), room)?;
    /// assert!(slow.r_n > technology.at(None, room)?.r_n);
    /// assert!(technology.at(Some(Voltage::from_v(0.2)), room).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(
        &self,
        vdd: Option<Voltage>,
        temperature: Temperature,
    ) -> Result<Operating, TechError> {
        let device = &self.device;
        let nominal = device.vdd.value;
        let vdd = vdd.unwrap_or(nominal);
        device.drive.check(vdd)?;
        let pair = (vdd, nominal);
        let slow_down = device.drive.slow_down(vdd, nominal) * device.drive.heat(temperature);
        let i_on_n = device.i_on_n.value * (vdd / nominal / slow_down);
        Ok(Operating {
            vdd,
            temperature,
            vth: device.vth.value,
            precharge: self.cell.precharge.value * (vdd / nominal),
            r_n: device.r_n_on.value * slow_down,
            r_p: device.r_p_on.value * slow_down,
            i_on_n,
            i_off: device.i_off_n.at(temperature, pair, &self.library)?,
            i_gate: device.i_gate_n.at(temperature, pair, &self.library)?,
            sense: self.sense(vdd, i_on_n),
        })
    }

    fn sense(&self, vdd: Voltage, i_on_n: CurrentPerLength) -> SenseAt {
        let device = &self.device;
        match &device.sense {
            Sense::Square(law) => SenseAt::Square(
                law.mobility_n.value.si() / 2.0 * law.c_ox.value.si(),
                law.vdsat.value.si(),
                device.l_elec.value,
                1.0 + law.gmp_to_gmn.value,
            ),
            Sense::AlphaPower => {
                let over = vdd - device.drive.threshold.value;
                let n = device.drive.alpha.value * i_on_n.si() / over.si();
                SenseAt::PerWidth(n * (1.0 + 1.0 / device.n_to_p_drive_ratio.value))
            }
        }
    }

    /// Leakage of one high-density memory cell that is kept: of its two inverters one NMOS and one PMOS are off, and one access transistor is.
    ///
    /// # Errors
    ///
    /// As [`Technology::at`].
    pub fn cell_leakage(
        &self,
        vdd: Option<Voltage>,
        temperature: Temperature,
    ) -> Result<Power, TechError> {
        let at = self.at(vdd, temperature)?;
        let cell = &self.cell;
        let off = cell.nmos_width.value + cell.pmos_width.value + cell.access_width.value;
        let on = cell.nmos_width.value + cell.pmos_width.value;
        Ok((at.i_off * off + at.i_gate * on) * at.vdd)
    }
}

impl Operating {
    /// Transconductance of the cross-coupled pair of a sense amplifier with NMOS of `width`, in siemens.
    ///
    /// `itrs`: CACTI 5.1 TR, section 4.4; CACTI 7, parameter.cc:1223. `silicon`: the derivative of the alpha-power law at full gate drive, NMOS and PMOS.
    pub fn sense_gm(&self, width: Length) -> f64 {
        match self.sense {
            SenseAt::Square(per_square, vdsat, l_elec, both) => {
                let shape = width / l_elec;
                per_square * shape * vdsat * both
            }
            SenseAt::PerWidth(per_width) => per_width * width.si(),
        }
    }
}
