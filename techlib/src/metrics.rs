//! Figures of merit that follow from a technology: what data sheets and papers quote.

use crate::operating::Operating;
use crate::quantity::{Capacitance, CapacitancePerLength, Time};
use crate::{Technology, rules};

/// Capacitance of a gate per width of NMOS or PMOS: channel, overlap, and the fringe of its edges and contact (CACTI 5.1 TR, section 3).
pub fn gate_capacitance(technology: &Technology) -> CapacitancePerLength {
    let device = &technology.device;
    device.c_gate_ideal.value * (1.0 + rules::OVERLAP) + device.c_fringe.value * 3.0
}

/// Capacitance of a drain per width: fringe, overlap and a contacted junction (CACTI 5.1 TR, section 3).
pub fn drain_capacitance(technology: &Technology) -> CapacitancePerLength {
    let device = &technology.device;
    let contact = technology.layout.unit.value * (rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT);
    device.c_fringe.value * 2.0
        + device.c_gate_ideal.value * (rules::OVERLAP * 2.0)
        + device.c_junction_sidewall.value
        + device.c_junction.value * contact
}

/// Delay of an inverter that drives four like it, PMOS wider than NMOS by the drive ratio, a step at its input (CACTI 7, technology.cc, FO4).
pub fn fo4(technology: &Technology, at: &Operating) -> Time {
    let width = technology.layout.unit.value * rules::MIN_NMOS;
    let both = 1.0 + technology.device.n_to_p_drive_ratio.value;
    let load: Capacitance = (gate_capacitance(technology) * rules::STAGE_EFFORT
        + drain_capacitance(technology))
        * (width * both);
    at.r_n / width * load * rules::LN_2
}
