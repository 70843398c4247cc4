//! How often nets are high and how often they change, from one operation to the next.
//!
//! A net is described by the probability that it is high and the probability that it differs from the operation before. Gates combine them exactly under the
//! usual assumption that their inputs are independent (Najm, IEEE TCAD 12(2), 1993, at zero delay): glitches are not counted.

use super::netlist::{Gate, Net, Netlist};

/// Two consecutive values of a net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signal {
    /// Probability of being high.
    pub(crate) high: f64,
    /// Probability of having changed.
    pub(crate) toggles: f64,
}

/// A net that never rises.
const LOW: Signal = Signal {
    high: 0.0,
    toggles: 0.0,
};

impl Signal {
    /// Probability of a pair of values, before and after.
    fn pair(self, before: bool, after: bool) -> f64 {
        let half = self.toggles / 2.0;
        match (before, after) {
            (true, true) => self.high - half,
            (false, false) => 1.0 - self.high - half,
            _ => half,
        }
    }
}

/// The signal on every net, with inputs that are high half of the time and change in `toggles` of the operations. Flip-flops hold what stands
/// before them; state that is fed later holds such data too, unless its clock is off.
pub(crate) fn signals(netlist: &Netlist, toggles: f64) -> Vec<Signal> {
    let random = Signal { high: 0.5, toggles };
    let mut signals = vec![random; netlist.drivers.len()];
    for gate in &netlist.gates {
        if gate.low {
            signals[gate.output.index()] = LOW;
        } else if gate.held {
            signals[gate.output.index()].toggles = 0.0;
        } else if gate.kind != super::Kind::Flop {
            signals[gate.output.index()] = combine(gate, &signals);
        } else if gate.inputs()[0] < gate.output {
            signals[gate.output.index()] = signals[gate.inputs()[0].index()];
        }
    }
    signals
}

/// What each state of a gate's inputs is worth, in the order of the binary numbers.
pub(crate) fn states(inputs: &[Net], signals: &[Signal]) -> impl Iterator<Item = ([bool; 4], f64)> {
    let count = inputs.len();
    let mut of = [0.0; 4];
    for (high, net) in of.iter_mut().zip(inputs) {
        *high = signals[net.index()].high;
    }
    (0..1_usize << count).map(move |state| {
        let values = bits(state);
        let each = of[..count]
            .iter()
            .zip(values)
            .map(|(high, value)| if value { *high } else { 1.0 - high });
        (values, each.product())
    })
}

fn combine(gate: &Gate, signals: &[Signal]) -> Signal {
    let inputs = gate.inputs();
    let of: Vec<Signal> = inputs.iter().map(|net| signals[net.index()]).collect();
    let count = of.len();
    let outputs: Vec<bool> = (0..1_usize << count)
        .map(|state| gate.kind.output(&bits(state)[..count]))
        .collect();
    let (mut high, mut toggles) = (0.0, 0.0);
    for (before, &old) in outputs.iter().enumerate() {
        for (after, &new) in outputs.iter().enumerate() {
            if !new && !old {
                continue;
            }
            let (old_bits, new_bits) = (bits(before), bits(after));
            let pair = |i: usize| of[i].pair(old_bits[i], new_bits[i]);
            let probability: f64 = (0..count).map(pair).product();
            if new {
                high += probability;
            }
            if new != old {
                // Falling as often as rising; only pairs with a high value are looked at, and a change has one.
                toggles += probability;
            }
        }
    }
    Signal { high, toggles }
}

fn bits(state: usize) -> [bool; 4] {
    [0, 1, 2, 3].map(|i| state >> i & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_data_toggle_half_of_the_time_behind_exclusive_ors_and_less_behind_ands() {
        let mut netlist = Netlist::default();
        let (a, b) = (netlist.input(), netlist.input());
        let and = netlist.and(a, b);
        let all = signals(&netlist, 0.5);
        let (high, toggles) = (all[and.index()].high, all[and.index()].toggles);
        assert!((high - 0.25).abs() < 1e-12 && (toggles - 2.0 * 0.25 * 0.75).abs() < 1e-12);
        let exclusive = netlist.gate(super::super::Kind::Inv, &[a]);
        let all = signals(&netlist, 0.5);
        assert!((all[exclusive.index()].toggles - 0.5).abs() < 1e-12);
    }

    #[test]
    fn quiet_inputs_make_no_transition() {
        let mut netlist = Netlist::default();
        let bus = netlist.bus(9);
        netlist.and_all(&bus);
        assert!(
            signals(&netlist, 0.0)
                .iter()
                .all(|signal| signal.toggles.abs() < 1e-15)
        );
    }
}
