//! A transistor out of a data file.

use std::ops::Mul;

use super::NodeFile;
use crate::law::{ActivatedLaw, DriveLaw, Leakage, TunnelLaw};
use crate::quantity::{CurrentPerLength, Resistivity, Voltage};
use crate::technology::{Device, Layout, Sense, SquareLaw};
use crate::{Flavour, Sourced, TechError, rules};

/// The transistors of one flavour. Files state them per width of channel; where that stands upright on the wafer, the result is per width of layout.
pub(super) fn read(
    file: &NodeFile,
    flavour: Flavour,
    layout: &Layout,
) -> Result<Device, TechError> {
    let name = |field: &str| format!("{flavour}.{field}");
    let multiplier = file.get::<f64>(&name("r_eff_multiplier"))?;
    let ratio = file.get::<f64>(&name("n_to_p_drive_ratio"))?;
    let vdd = file.get::<Voltage>(&name("vdd"))?;
    let i_on_n = drawn(file.get::<CurrentPerLength>(&name("i_on_n"))?, layout);
    let r_n: Resistivity = vdd.value / i_on_n.value * multiplier.value;
    let vth = file.get(&name("vth"))?;
    Ok(Device {
        c_gate_ideal: drawn(file.get(&name("c_gate_ideal"))?, layout),
        c_fringe: drawn(file.get(&name("c_fringe"))?, layout),
        c_junction: file.get(&name("c_junction"))?,
        c_junction_sidewall: file.get(&name("c_junction_sidewall"))?,
        l_elec: file.get(&name("l_elec"))?,
        r_n_on: i_on_n.derived("multiplier * Vdd / I_on (CACTI 7, parameter.cc:315)", r_n),
        r_p_on: i_on_n.derived(
            "drive ratio * R_n (CACTI 7, parameter.cc:316)",
            r_n * ratio.value,
        ),
        drive: drive(file, flavour, &vdd, &vth)?,
        i_off_n: off(file, flavour, layout)?,
        i_gate_n: gate(file, flavour, layout)?,
        sense: sense(file, flavour)?,
        n_to_p_drive_ratio: ratio,
        vdd,
        vth,
        i_on_n,
    })
}

/// Per width of layout, of a value per width of channel.
fn drawn<T: Copy + Mul<f64, Output = T>>(value: Sourced<T>, layout: &Layout) -> Sourced<T> {
    match &layout.fin {
        Some(fin) => value.derived(
            "per fin pitch: times the channel width of a fin over the pitch",
            value.value * (fin.effective_width.value / fin.pitch.value),
        ),
        None => value,
    }
}

fn drive(
    file: &NodeFile,
    flavour: Flavour,
    vdd: &Sourced<Voltage>,
    vth: &Sourced<Voltage>,
) -> Result<DriveLaw, TechError> {
    if file.kind.is_none() {
        let source = "Sakurai and Newton, JSSC 1990";
        return Ok(DriveLaw {
            alpha: Sourced::assumed(
                rules::ALPHA_POWER,
                source,
                "1.3 for short channels: the tables have no law",
                0.15,
            ),
            threshold: vth.clone(),
            r_temperature: Sourced::assumed(0.0, source, "the tables have no law", 0.3),
            low: vth.value * rules::LOWEST_SUPPLY,
            high: vdd.value * rules::HIGHEST_SUPPLY,
        });
    }
    let name = |field: &str| format!("{flavour}.{field}");
    let (low, high) = file.range(flavour)?;
    Ok(DriveLaw {
        alpha: file.get(&name("alpha"))?,
        threshold: file.get(&name("drive_threshold"))?,
        r_temperature: file.get(&name("r_temperature"))?,
        low,
        high,
    })
}

fn off(file: &NodeFile, flavour: Flavour, layout: &Layout) -> Result<Leakage, TechError> {
    let name = |field: &str| format!("{flavour}.{field}");
    let Some(range) = file.temperature else {
        return Ok(Leakage::Table(file.table(&name("i_off_n"))?));
    };
    Ok(Leakage::Activated(ActivatedLaw {
        current: drawn(file.get(&name("i_off"))?, layout),
        activation: file.get(&name("activation"))?,
        dibl: file.get(&name("dibl"))?,
        swing: file.get(&name("swing"))?,
        range,
    }))
}

fn gate(file: &NodeFile, flavour: Flavour, layout: &Layout) -> Result<Leakage, TechError> {
    let name = |field: &str| format!("{flavour}.{field}");
    if file.temperature.is_none() {
        return Ok(Leakage::Table(file.table(&name("i_gate_n"))?));
    }
    Ok(Leakage::Tunnel(TunnelLaw {
        current: drawn(file.get(&name("i_gate"))?, layout),
        exponent: file.get(&name("i_gate_exponent"))?,
    }))
}

fn sense(file: &NodeFile, flavour: Flavour) -> Result<Sense, TechError> {
    let name = |field: &str| format!("{flavour}.{field}");
    if file.kind.is_some() {
        return Ok(Sense::AlphaPower);
    }
    Ok(Sense::Square(Box::new(SquareLaw {
        c_ox: file.get(&name("c_ox"))?,
        mobility_n: file.get(&name("mobility_n"))?,
        vdsat: file.get(&name("vdsat"))?,
        gmp_to_gmn: file.get(&name("gmp_to_gmn"))?,
    })))
}
