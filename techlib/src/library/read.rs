//! A technology out of a data file.

use super::file::NodeFile;
use crate::quantity::{CapacitancePerLength, Length, Resistivity};
use crate::rules;
use crate::technology::{Cell, Device, Technology, WireLayer, WireStack, Wires};
use crate::{Flavour, TechError};

/// The values of `file` for a feature size of `feature` (that of the file, or of a node to be interpolated: rules in F follow the target).
pub(super) fn technology(
    library: &'static str,
    file: &NodeFile,
    feature: Length,
    flavour: Flavour,
) -> Result<Technology, TechError> {
    let mine = |defect: &&crate::Defect| defect.name.starts_with(&format!("{flavour}."));
    Ok(Technology {
        library,
        feature,
        flavour,
        device: device(file, flavour)?,
        cell: cell(file, feature, flavour)?,
        wires: Wires {
            aggressive: stack(file, feature, "aggressive")?,
            conservative: stack(file, feature, "conservative")?,
        },
        interpolation: None,
        defects: file.defects.iter().filter(mine).cloned().collect(),
    })
}

fn device(file: &NodeFile, flavour: Flavour) -> Result<Device, TechError> {
    let name = |field: &str| format!("{flavour}.{field}");
    let multiplier = file.get::<f64>(&name("r_eff_multiplier"))?;
    let ratio = file.get::<f64>(&name("n_to_p_drive_ratio"))?;
    let vdd = file.get::<crate::quantity::Voltage>(&name("vdd"))?;
    let i_on_n = file.get::<crate::quantity::CurrentPerLength>(&name("i_on_n"))?;
    let r_n: Resistivity = vdd.value / i_on_n.value * multiplier.value;
    Ok(Device {
        c_gate_ideal: file.get(&name("c_gate_ideal"))?,
        c_fringe: file.get(&name("c_fringe"))?,
        c_junction: file.get(&name("c_junction"))?,
        c_junction_sidewall: file.get(&name("c_junction_sidewall"))?,
        l_elec: file.get(&name("l_elec"))?,
        vth: file.get(&name("vth"))?,
        vdsat: file.get(&name("vdsat"))?,
        c_ox: file.get(&name("c_ox"))?,
        mobility_n: file.get(&name("mobility_n"))?,
        gmp_to_gmn: file.get(&name("gmp_to_gmn"))?,
        r_n_on: i_on_n.derived("multiplier * Vdd / I_on (CACTI 7, parameter.cc:315)", r_n),
        r_p_on: i_on_n.derived(
            "drive ratio * R_n (CACTI 7, parameter.cc:316)",
            r_n * ratio.value,
        ),
        i_off_n: file.table(&name("i_off_n"))?,
        i_gate_n: file.table(&name("i_gate_n"))?,
        n_to_p_drive_ratio: ratio,
        vdd,
        i_on_n,
    })
}

fn cell(file: &NodeFile, feature: Length, flavour: Flavour) -> Result<Cell, TechError> {
    let area = file.get::<f64>("cell.area_f2")?;
    let aspect = file.get::<f64>("cell.aspect")?;
    let width = feature * (area.value / aspect.value).sqrt();
    let in_f = |name: &str| -> Result<_, TechError> {
        let widths = file.get::<f64>(name)?;
        Ok(widths.derived("width in F", feature * widths.value))
    };
    Ok(Cell {
        width: area.derived("sqrt(area / aspect) F", width),
        height: area.derived("aspect * width", width * aspect.value),
        access_width: in_f("cell.access_width_f")?,
        nmos_width: in_f("cell.nmos_width_f")?,
        pmos_width: in_f("cell.pmos_width_f")?,
        precharge: file.get(&format!("{flavour}.vdd"))?,
    })
}

fn stack(file: &NodeFile, feature: Length, projection: &str) -> Result<WireStack, TechError> {
    let layer = |name: &str| wire(file, feature, &format!("{projection}.{name}"));
    Ok(WireStack {
        local: layer("local")?,
        semi_global: layer("semi_global")?,
        global: layer("global")?,
    })
}

/// Resistance and capacitance from the cross-section (CACTI 6.0 TR, section on wires; CACTI 7, basic_circuit.cc:945-962).
fn wire(file: &NodeFile, feature: Length, name: &str) -> Result<WireLayer, TechError> {
    let ratio = |field: &str| file.get::<f64>(&format!("{name}.{field}"));
    let length = |field: &str| file.get::<Length>(&format!("{name}.{field}"));
    let pitch_f = ratio("pitch_f")?;
    let (aspect_ratio, miller) = (ratio("aspect_ratio")?, ratio("miller")?);
    let (k_horizontal, k_vertical) = (ratio("k_horizontal")?, ratio("k_vertical")?);
    let (barrier, dishing, ild) = (length("barrier")?, length("dishing")?.value, length("ild")?);
    let fringe = file.get::<CapacitancePerLength>(&format!("{name}.fringe"))?;
    let resistivity = file.get::<Resistivity>(&format!("{name}.resistivity"))?;
    let pitch = feature * pitch_f.value;
    let width = pitch / 2.0;
    let thickness = width * aspect_ratio.value;
    let section = (thickness - barrier.value - dishing) * (width - barrier.value * 2.0);
    let resistance = resistivity.value * ratio("alpha_scatter")?.value / section;
    let spacing = pitch - width;
    let vertical = 2.0 * k_vertical.value * (width / ild.value);
    let sidewall = 2.0 * miller.value * k_horizontal.value * (thickness / spacing);
    let capacitance = rules::VACUUM_PERMITTIVITY * (vertical + sidewall) + fringe.value;
    Ok(WireLayer {
        pitch: pitch_f.derived("pitch in F", pitch),
        resistance: resistivity.derived("cross-section less barrier and dishing", resistance),
        capacitance: fringe.derived(
            "parallel plates with Miller factor, plus fringe",
            capacitance,
        ),
        aspect_ratio,
        miller,
        k_horizontal,
        k_vertical,
        ild,
        barrier,
        fringe,
    })
}
