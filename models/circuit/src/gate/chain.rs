//! A gate and the inverters behind it, sized by logical effort to drive a load (CACTI 5.1 TR, section 4.1; Amrutur and Horowitz, 2001).

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Time};
use warpwatt_techlib::rules;

use super::{Kind, area, drain_n, drain_p, gate_c, gate_leak, leak, r_n, stage};
use crate::Profile;
use crate::process::Process;

/// Most gates a chain can have.
const MOST: usize = 20;
/// Fewest.
const FEWEST: usize = 2;

/// Logarithm of [`rules::STAGE_EFFORT`] as `libm::log` gives it.
const LOG_EFFORT: f64 = 2.0 * std::f64::consts::LN_2;

/// A sized chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: Kind,
    gates: usize,
    n: [Length; MOST],
    /// PMOS of the first gate; those of the inverters follow from their NMOS.
    first_p: Length,
    p_to_n: f64,
    /// Height of its gates.
    tall: Length,
    load: Capacitance,
    /// Delay of the wire at its end, beyond what the driver sees.
    wire: Time,
}

/// What drives a chain, and what comes out of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drive {
    /// Time since the input changed.
    pub(crate) delay: Time,
    /// Ramp of the signal.
    pub(crate) ramp: Time,
    /// Energy of one transition of every node, at full swing.
    pub(crate) energy: Energy,
}

/// What a chain drives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Capacitance at its end.
    pub(crate) load: Capacitance,
    /// Delay of the wire at its end, beyond what the driver sees.
    pub(crate) wire: Time,
}

impl Chain {
    /// Sizes a chain that starts with a smallest gate of `first`.
    pub(crate) fn new(process: &Process, first: Kind, tall: Length, link: Link) -> Self {
        Self::sized(process, first, tall, link, true)
    }

    /// The same; `whole` tells whether the effort of the first gate counts in choosing the number and ratio of stages.
    pub(crate) fn sized(
        process: &Process,
        first: Kind,
        tall: Length,
        link: Link,
        whole: bool,
    ) -> Self {
        let (n_times, effort) = match first {
            Kind::Inverter => (1.0, 1.0),
            Kind::Nand(inputs) | Kind::Nor(inputs) => {
                let inputs = f64::from(inputs);
                (inputs, (inputs + process.p_to_n) / (1.0 + process.p_to_n))
            }
        };
        let mut chain = Self {
            first,
            gates: FEWEST,
            n: [Length::ZERO; MOST],
            first_p: process.min_pmos(),
            p_to_n: process.p_to_n,
            tall,
            load: link.load,
            wire: link.wire,
        };
        chain.n[0] = process.min_nmos() * n_times;
        chain.size(process, effort, if whole { effort } else { 1.0 });
        chain
    }

    fn size(&mut self, process: &Process, effort: f64, counted: f64) {
        let (min, max) = (process.min_nmos(), process.wide(rules::MAX_NMOS));
        let both = 1.0 + process.p_to_n;
        let input = gate_c(process, self.n[0] + self.p(0));
        let path = counted * (self.load / input);
        let mut gates = even(stages(path));
        let mut fanout = libm::pow(path, 1.0 / gates as f64);
        let mut last = (self.load / fanout / process.c_gate / both).max(min);
        if last > max {
            let path = effort * (gate_c(process, max * both) / input);
            gates = even(stages(path) + 1);
            fanout = libm::pow(path, 1.0 / (gates - 1) as f64);
            last = max;
        }
        self.gates = gates;
        self.n[gates - 1] = process.buildable(last);
        for i in (1..gates - 1).rev() {
            self.n[i] = process.buildable((self.n[i + 1] / fanout).max(min));
        }
    }

    /// Width of the PMOS of gate `i`.
    fn p(&self, i: usize) -> Length {
        if i == 0 {
            self.first_p
        } else {
            self.n[i] * self.p_to_n
        }
    }

    /// Capacitance into its first gate.
    pub(crate) fn input(&self, process: &Process) -> Capacitance {
        gate_c(process, self.n[0] + self.p(0))
    }

    /// The width of its last NMOS.
    pub(crate) fn last_n(&self) -> Length {
        self.n[self.gates - 1]
    }

    /// Output capacitance of gate `i` itself.
    pub(crate) fn own(&self, process: &Process, i: usize) -> Capacitance {
        let inputs = if i == 0 { inputs(self.first) } else { 1 };
        drain_p(process, self.p(i), self.tall) * f64::from(inputs)
            + drain_n(process, self.n[i], inputs, self.tall)
    }

    /// Own capacitance of the last gate.
    pub(crate) fn last_own(&self, process: &Process) -> Capacitance {
        self.own(process, self.gates - 1)
    }

    /// Sends a transition through all gates.
    pub(crate) fn drive(&self, process: &Process, from: Drive) -> Drive {
        (0..self.gates).fold(from, |drive, i| self.stage(process, i, drive))
    }

    /// Sends a transition through all gates but the first.
    pub(crate) fn drive_inverters(&self, process: &Process, from: Drive) -> Drive {
        (1..self.gates).fold(from, |drive, i| self.stage(process, i, drive))
    }

    fn stage(&self, process: &Process, i: usize, drive: Drive) -> Drive {
        let last = i + 1 == self.gates;
        let load = if last {
            self.load
        } else {
            gate_c(process, self.n[i + 1] + self.p(i + 1))
        };
        let stack = if i == 0 { inputs(self.first) } else { 1 };
        let c = self.own(process, i) + load;
        let wire = if last { self.wire } else { Time::ZERO };
        let tau = r_n(process, self.n[i], stack) * c + wire;
        let delay = stage(process, drive.ramp, tau);
        Drive {
            delay: drive.delay + delay,
            ramp: delay * 2.0,
            energy: drive.energy + process.full_swing(c),
        }
    }

    /// Layout area.
    pub(crate) fn area(&self, process: &Process) -> Area {
        (0..self.gates)
            .map(|i| area(process, self.kind(i), self.p(i), self.n[i], self.tall))
            .sum()
    }

    /// Layout area of the inverters alone.
    pub(crate) fn inverter_area(&self, process: &Process) -> Area {
        (1..self.gates)
            .map(|i| area(process, Kind::Inverter, self.p(i), self.n[i], self.tall))
            .sum()
    }

    /// Leakage with its first gate as it is and the others counted as gates of `others`.
    pub(crate) fn leakage(&self, process: &Process, others: Kind) -> (Power, Power) {
        let first = (
            leak(process, self.first, self.n[0], self.p(0)),
            gate_leak(process, self.first, self.n[0], self.p(0)),
        );
        let (sub, gate) = self.inverter_leakage(process, others);
        (process.power(first.0) + sub, process.power(first.1) + gate)
    }

    /// Leakage of the inverters alone, counted as gates of `others`.
    pub(crate) fn inverter_leakage(&self, process: &Process, others: Kind) -> (Power, Power) {
        let others = if process.profile == Profile::Cacti65 {
            Kind::Inverter
        } else {
            others
        };
        let sub = (1..self.gates)
            .map(|i| leak(process, others, self.n[i], self.p(i)))
            .sum();
        let gate = (1..self.gates)
            .map(|i| gate_leak(process, others, self.n[i], self.p(i)))
            .sum();
        (process.power(sub), process.power(gate))
    }

    /// Gate leakage of the last gate alone: all that CACTI 7 keeps of a decoder's (decoder.cc:185).
    pub(crate) fn last_gate_leakage(&self, process: &Process) -> Power {
        let i = self.gates - 1;
        process.power(gate_leak(process, Kind::Inverter, self.n[i], self.p(i)))
    }

    fn kind(&self, i: usize) -> Kind {
        if i == 0 { self.first } else { Kind::Inverter }
    }
}

fn inputs(kind: Kind) -> u32 {
    match kind {
        Kind::Inverter => 1,
        Kind::Nand(inputs) | Kind::Nor(inputs) => inputs,
    }
}

/// Stages of effort four that a path takes, rounded down.
fn stages(path: f64) -> usize {
    let count = libm::log(path) / LOG_EFFORT;
    count.max(0.0) as usize
}

/// An even number of stages, so that the signal is not inverted.
fn even(stages: usize) -> usize {
    (stages + stages % 2).clamp(FEWEST, MOST)
}

#[cfg(test)]
mod tests {
    use super::{LOG_EFFORT, rules};

    #[test]
    fn the_logarithm_of_the_effort_is_that_of_the_library() {
        assert_eq!(
            LOG_EFFORT.to_bits(),
            libm::log(rules::STAGE_EFFORT).to_bits()
        );
    }
}
