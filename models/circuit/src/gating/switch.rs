//! The sleep transistor: as wide as the allowed drop asks for.

use warpwatt_techlib::quantity::{
    Area, CapacitancePerLength, Current, CurrentPerLength, Energy, Length, Resistivity, Time,
    Voltage,
};
use warpwatt_techlib::{TechError, Technology, rules};

use super::domain::Domain;
use super::rail;
use super::{GatedMode, GatedSide, Gating};
use crate::{CircuitError, OperatingPoint};

/// The switches of one domain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub(super) width: Length,
    pub(super) area: Area,
    /// Sub-threshold current when off, the whole supply across it, and what scales it below that.
    off: Current,
    vdd: Voltage,
    slope: Voltage,
    /// Both charges of its gate, drivers included.
    pub(super) toggle: Energy,
    /// Until it conducts.
    pub(super) turn_on: Time,
    /// Into the empty rail.
    pub(super) wake_current: Current,
}

impl Switch {
    pub(super) fn new(
        technology: &Technology,
        flavour: &Technology,
        at: &OperatingPoint,
        (domain, width): (&Domain, Length),
        gating: &Gating,
    ) -> Result<Self, CircuitError> {
        let device = &flavour.device;
        let vdd = domain.vdd;
        // The switch is driven by the supply of what it gates.
        if vdd < device.drive.low {
            return Err(CircuitError::Technology(TechError::Supply {
                vdd,
                low: device.drive.low,
                high: device.drive.high.max(vdd),
                nearest: device.drive.low,
            }));
        }
        let on = on(flavour, vdd, gating.side);
        // A drowsy domain has a switch to each of its rails.
        let switches = match gating.mode {
            GatedMode::Off => 1.0,
            GatedMode::Drowsy | GatedMode::DrowsyAt(_) => 2.0,
        };
        let gate = c_gate(flavour) * width;
        let smallest = c_gate(technology)
            * (technology.feature
                * (rules::MIN_NMOS * (1.0 + technology.device.n_to_p_drive_ratio.value)));
        let stages = (libm::log(gate / smallest) / libm::log(rules::STAGE_EFFORT)).max(1.0);
        let saturated = on * width;
        let wake_current = gating
            .inrush
            .map_or(saturated, |inrush| saturated.min(domain.peak * inrush));
        let i_off = device
            .i_off_n
            .at(at.temperature, (vdd, device.vdd.value), &flavour.library)?;
        Ok(Self {
            width: width * switches,
            area: area(flavour, width) * switches,
            off: i_off * width,
            vdd,
            slope: rail::slope(at.temperature),
            toggle: gate * vdd * vdd * (rules::DRIVER_CHAIN * switches),
            turn_on: fanout_of_four(technology, vdd) * stages,
            wake_current,
        })
    }

    /// Current through it when off, with `across` over it.
    pub(super) fn off_at(&self, across: Voltage) -> Current {
        let lowered = (self.vdd - across) * rules::DIBL / self.slope;
        let saturation = 1.0 - libm::exp(-(across / (self.slope / rules::SUBTHRESHOLD_IDEALITY)));
        self.off * (libm::exp(-lowered) * saturation.max(0.0))
    }
}

/// Width of the switch of a domain as it is designed: it carries the largest current with the drop that is allowed.
pub(super) fn width(flavour: &Technology, designed: &Domain, gating: &Gating) -> Length {
    let vdd = designed.vdd;
    let linear: Resistivity = vdd * rules::LINEAR_REGION / on(flavour, vdd, gating.side);
    let drop = drop(gating.loss, vdd, designed.vth);
    let needed: Length = linear / (drop / designed.peak);
    needed.max(flavour.feature * rules::MIN_NMOS)
}

/// Saturation current of a switch, per width.
fn on(flavour: &Technology, vdd: Voltage, side: GatedSide) -> CurrentPerLength {
    let device = &flavour.device;
    let drive = on_current(vdd, device.vdd.value, device.vth.value);
    let per_side = match side {
        GatedSide::Header => device.n_to_p_drive_ratio.value,
        GatedSide::Footer => 1.0,
    };
    device.i_on_n.value * (drive / per_side)
}

/// Drop of the supply that makes gates slower by `loss`: delay goes with Vdd / (Vdd - Vth)^alpha, taken linear in the drop.
fn drop(loss: f64, vdd: Voltage, vth: Voltage) -> Voltage {
    let over = vdd - vth;
    let sensitivity = rules::ALPHA_POWER / over.si() - 1.0 / vdd.si();
    Voltage::from_v(loss / sensitivity)
}

/// On-current over that at the nominal supply (Sakurai and Newton, 1990).
fn on_current(vdd: Voltage, nominal: Voltage, vth: Voltage) -> f64 {
    libm::pow((vdd - vth) / (nominal - vth), rules::ALPHA_POWER)
}

/// Into a gate.
pub(super) fn c_gate(technology: &Technology) -> CapacitancePerLength {
    let device = &technology.device;
    device.c_gate_ideal.value * (1.0 + rules::OVERLAP) + device.c_fringe.value * 3.0
}

/// Fingers between contacts, in rows of standard cells whose height less rails and well gap is all transistor.
fn area(technology: &Technology, width: Length) -> Area {
    let finger = technology.feature * (1.0 + rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT);
    let used = rules::CELL_HEIGHT - 2.0 * rules::POWER_RAIL - rules::GAP_P_TO_N;
    width * finger * (rules::CELL_HEIGHT / used)
}

/// An inverter that drives four like it (its own drain counted as one more).
fn fanout_of_four(technology: &Technology, vdd: Voltage) -> Time {
    let device = &technology.device;
    let nominal = device.vdd.value;
    let slower = vdd / nominal / on_current(vdd, nominal, device.vth.value);
    let both = 1.0 + device.n_to_p_drive_ratio.value;
    let width = technology.feature * rules::MIN_NMOS;
    let tau: Time = device.r_n_on.value / width * (c_gate(technology) * width) * both;
    tau * (slower * rules::LN_2 * (rules::STAGE_EFFORT + 1.0))
}
