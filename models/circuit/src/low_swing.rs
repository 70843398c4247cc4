//! Differential wires of low swing: a NAND, an inverter and an NMOS driver at one end, a sense amplifier at the other (CACTI 6.0 TR, HPL-2009-85,
//! section 2.3).

use warpwatt_techlib::quantity::{
    Capacitance, CapacitancePerLength, Energy, Length, Power, Resistance, ResistancePerLength, Time,
};
use warpwatt_techlib::rules;

use crate::Profile;
use crate::gate::{self, Kind};
use crate::process::Process;
use crate::repeater::Stretch;

/// What the equations need of a process and a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowSwing {
    r: ResistancePerLength,
    c: CapacitancePerLength,
    /// Ramp into the transmitter, and out of the receiver.
    in_ramp: Time,
    pub(crate) ramp: Time,
    /// Delay of an inverter that drives four.
    fo4: Time,
    /// Of the receiver.
    sense_delay: Time,
    sense_energy: Energy,
}

/// The NMOS at the end of the transmitter and the inverter in front of it, in smallest ones.
#[derive(Clone, Copy, Debug)]
struct Transmitter {
    driver: Length,
    inverter: f64,
}

impl LowSwing {
    pub(crate) fn new(process: &Process, r: ResistancePerLength, c: CapacitancePerLength) -> Self {
        let (sense_delay, sense_energy) = rules::low_swing_receiver(process.feature);
        Self {
            r,
            c,
            in_ramp: rise(process),
            ramp: per_volt(sense_delay, process.vth.si()),
            fo4: fan_out_of_four(process),
            sense_delay,
            sense_energy,
        }
    }

    /// What `length` of it costs.
    pub(crate) fn stretch(&self, p: &Process, length: Length) -> Stretch {
        let (c, r) = (self.c * length, self.r * length);
        let sized = self.transmitter(p, r, c);
        let at = p.vth / p.vdd;
        let (nand, nand_c) = nand(p, sized, self.in_ramp, at);
        let over = (p.vdd - p.vth).si();
        let (inverter, inverter_c) = inverter(p, sized, per_volt(nand, over), at);
        let sent = nand + inverter;
        let drain = gate::drain_n(p, sized.driver, 1, p.f(rules::CELL_HEIGHT)) * 2.0;
        let receiver = receiver(p);
        let r_driver = gate::r_n(p, sized.driver, 1) * rules::LOW_SWING_RESISTANCE;
        let tau = r_driver * (c + drain) + r * c / 2.0 + (r_driver + r) * receiver;
        let wire = gate::falling(
            per_volt(sent, p.vth.si()),
            tau,
            at,
            rules::LOW_SWING_THRESHOLD,
        );
        let swing = rules::LOW_SWING * rules::LOW_SWING_OVERDRIVE;
        let one = p.full_swing(nand_c + inverter_c)
            + Energy::from_si((c + drain + receiver).si() * swing);
        let (leakage, gate_leakage) = leakage(p, sized.driver);
        Stretch {
            delay: sent + wire + self.sense_delay,
            energy: one * 2.0 + self.sense_energy,
            leakage,
            gate_leakage,
            area: warpwatt_techlib::quantity::Area::ZERO,
        }
    }

    /// The driver is to discharge the wire within eight fan-outs of four, if that is possible.
    fn transmitter(&self, p: &Process, r: Resistance, c: Capacitance) -> Transmitter {
        let (least, most) = (p.min_nmos(), p.f(rules::MAX_NMOS));
        let target = self.fo4 * rules::LOW_SWING_FO4;
        let driver = if r * c > target {
            most
        } else {
            let resistance =
                target.si() / (core::f64::consts::LN_2 * c.si()) / rules::LOW_SWING_RESISTANCE;
            let width = p.r_n.si() / resistance;
            Length::from_m(width.clamp(least.si(), most.si()))
        };
        // CACTI writes the effort of the NAND as 2 + beta / 1 + beta.
        let effort = 2.0 + 2.0 * p.p_to_n;
        let load = gate::gate_c(p, driver) * effort;
        let input = gate::gate_c(p, (least + p.min_pmos()) * 2.0);
        let wanted = load / (load / input).sqrt();
        let inverter = (wanted / gate::gate_c(p, least + p.min_pmos())).max(1.0);
        Transmitter { driver, inverter }
    }
}

fn nand(p: &Process, sized: Transmitter, ramp: Time, at: f64) -> (Time, Capacitance) {
    let tall = p.f(rules::CELL_HEIGHT);
    let (n, pm) = (p.min_nmos(), p.min_pmos());
    let c = gate::drain_p(p, pm, tall) * 2.0
        + gate::drain_n(p, n * 2.0, 1, tall)
        + gate::gate_c(p, (n + pm) * sized.inverter);
    let tau = gate::r_n(p, n, 1) * 2.0 * c;
    (gate::rising(ramp, tau, at, at), c)
}

fn inverter(p: &Process, sized: Transmitter, ramp: Time, at: f64) -> (Time, Capacitance) {
    let tall = p.f(rules::CELL_HEIGHT);
    let (n, pm) = (p.min_nmos() * sized.inverter, p.min_pmos() * sized.inverter);
    let c =
        gate::drain_p(p, pm, tall) + gate::drain_n(p, n, 1, tall) + gate::gate_c(p, sized.driver);
    (gate::falling(ramp, gate::r_p(p, pm) * c, at, at), c)
}

/// Capacitance into the receiver.
fn receiver(p: &Process) -> Capacitance {
    let tall = p.f(rules::CELL_HEIGHT);
    gate::drain_p(p, p.f(rules::SENSE_ISOLATION), tall)
        + gate::gate_c(p, p.f(rules::SENSE_ENABLE + rules::SENSE_N))
        + gate::drain_n(p, p.f(rules::SENSE_N), 1, tall)
        + gate::drain_p(p, p.f(rules::SENSE_P), tall)
}

/// Four NANDs, four inverters and four drivers.
fn leakage(p: &Process, driver: Length) -> (Power, Power) {
    let (n, pm) = (p.min_nmos(), p.min_pmos());
    let (nand, inverter, open) = match p.profile {
        Profile::Cacti65 => (
            gate::leak(p, Kind::Nand(2), n, pm) * 0.5,
            gate::leak(p, Kind::Inverter, n, n),
            gate::access_leak(p, driver) * 0.5,
        ),
        Profile::Cacti7 | Profile::Silicon => (
            gate::leak(p, Kind::Nand(2), n, pm),
            gate::leak(p, Kind::Inverter, n, pm),
            gate::access_leak(p, driver),
        ),
    };
    let gates = gate::gate_leak(p, Kind::Nand(2), n, pm)
        + gate::gate_leak(p, Kind::Inverter, n, pm)
        + gate::gate_leak(p, Kind::Inverter, driver, Length::ZERO);
    (
        p.power((nand + inverter + open) * 4.0),
        p.power(gates * 4.0),
    )
}

/// CACTI's ramps are times over volts.
fn per_volt(time: Time, volts: f64) -> Time {
    Time::from_si(time.si() / volts)
}

/// Ramp behind two smallest inverters (CACTI 1 TR, WRL 93/5, section 6.1.3).
fn rise(p: &Process) -> Time {
    let tall = p.f(rules::CELL_HEIGHT);
    let (n, pm) = (p.min_nmos(), p.min_pmos());
    let c = gate::drain_n(p, n, 1, tall) + gate::drain_p(p, pm, tall) + gate::gate_c(p, n + pm);
    let at = p.vth / p.vdd;
    let first = gate::rising(Time::ZERO, gate::r_n(p, n, 1) * c, at, at);
    let second = gate::falling(per_volt(first, p.vth.si()), gate::r_p(p, pm) * c, at, at);
    per_volt(second, (p.vdd - p.vth).si())
}

/// Delay of a smallest inverter that drives four like it.
pub(crate) fn fan_out_of_four(p: &Process) -> Time {
    let tall = p.f(rules::CELL_HEIGHT);
    let (n, pm) = (p.min_nmos(), p.min_pmos());
    let c =
        gate::drain_n(p, n, 1, tall) + gate::drain_p(p, pm, tall) + gate::gate_c(p, (n + pm) * 4.0);
    gate::rising(Time::ZERO, gate::r_n(p, n, 1) * c, 0.5, 0.5)
}
