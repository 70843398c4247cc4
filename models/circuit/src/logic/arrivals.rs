//! When the outputs of a block change for the last time in an operation.
//!
//! Every net has a latest arrival, the sum of the delays of its longest path, and the chance that it still changes within some time of that. An input hands a change on
//! if the gate's other inputs let it through, one gate's delay later. With inputs that are independent (Najm, IEEE TCAD 12(2), 1993), the chance that a net still changes
//! after `t` is
//!
//! ```text
//! L(t) = 1 - product over inputs i of (1 - s_i L_i(t - d_i))
//! ```
//!
//! where `s_i` is the chance that the gate's output depends on input `i` at all (its Boolean difference) and `d_i` the delay from there. Gates of one cell are taken
//! together, so that an exclusive-or passes every change. No inputs are simulated: operands are random, and what is left out is that nets of one block depend on each other.
//!
//! Delays of gates differ from one to the next as threshold and gate length do within a die (Pelgrom, Duinmaijer and Welbers, JSSC 1989); each gate is drawn once, so that a block
//! is one of its die.

use std::f64::consts::TAU;

use warpwatt_techlib::published::narrowest_width;
use warpwatt_techlib::quantity::{Time, Voltage};
use warpwatt_techlib::{Sigma, Technology};

use super::Kind;
use super::activity::Signal;
use super::analysis::{self, Sizes, Switching};
use super::cells::Cells;
use super::netlist::{Gate, Net, Netlist};

/// Steps of a distribution. They reach half of the longest path back: clocks that cut off more are not met.
const STEPS: usize = 64;
const REACH: f64 = 0.5;
/// Nets that a cell is fed by at the most.
const MOST_INPUTS: usize = 6;
/// Standard deviations beyond which no gate is drawn: it would be none that works.
const CUT: f64 = 4.0;

/// How late a block's outputs change.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    longest: Time,
    /// The chance that an output still changes so many steps before the end of the longest path.
    late: Vec<f64>,
}

impl Arrivals {
    /// The longest path, exercised or not.
    pub fn longest(&self) -> Time {
        self.longest
    }

    /// The chance that in an operation some output still changes at `time` or later. Before half of the longest path it is held.
    pub fn after(&self, time: Time) -> f64 {
        if time >= self.longest {
            return 0.0;
        }
        let before = (self.longest - time) / (self.longest * step());
        between(&self.late, before)
    }
}

/// Share of the longest path that is a step.
fn step() -> f64 {
    REACH / STEPS as f64
}

/// A value between those of two steps; beyond the last it is held.
fn between(late: &[f64], at: f64) -> f64 {
    let low = (at as usize).min(STEPS);
    let share = (at - low as f64).clamp(0.0, 1.0);
    let high = (low + 1).min(STEPS);
    late[low] + (late[high] - late[low]) * share
}

/// The chance that a net still changes, by steps before its latest arrival.
type Late = [f64; STEPS + 1];

/// A net: its latest arrival, and the chances.
#[derive(Clone)]
struct Seen {
    arrival: Time,
    late: Late,
}

const NEVER: Seen = Seen {
    arrival: Time::ZERO,
    late: [0.0; STEPS + 1],
};

impl Seen {
    /// What changes with a chance, and only then.
    fn at(arrival: Time, chance: f64) -> Self {
        let mut late = [chance; STEPS + 1];
        late[0] = 0.0;
        Self { arrival, late }
    }
}

/// How gates differ within a die: the narrowest transistor's deviations, and random numbers to draw by.
pub(crate) struct Spread<'t> {
    technology: &'t Technology,
    within: Sigma,
    state: u64,
}

impl<'t> Spread<'t> {
    pub(crate) fn new(technology: &'t Technology, within: Sigma) -> Self {
        Self {
            technology,
            within,
            state: 1,
        }
    }

    /// One over the other delay of a gate whose transistors are `widths` of the narrowest ones wide.
    fn draw(&mut self, widths: f64) -> f64 {
        let sigma = Sigma {
            vth: Voltage::from_si(self.within.vth.si() / widths.max(1.0).sqrt()),
            log_length: self.within.log_length,
        };
        let supply = self.technology.device.vdd.value;
        1.0 + self.technology.delay_sigma(sigma, supply) * self.normal().clamp(-CUT, CUT)
    }

    /// A normal deviate (Box and Muller, 1958), of Knuth's linear congruence.
    fn normal(&mut self) -> f64 {
        let [radius, angle] = [self.uniform(), self.uniform()];
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(TAU * angle)
    }

    /// Above zero, at most one.
    fn uniform(&mut self) -> f64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }
}

/// The arrivals of a netlist whose inputs change as often as it says.
pub(crate) fn arrivals(cells: &Cells, gates: &Switching, mut spread: Spread<'_>) -> Arrivals {
    let (netlist, signals) = (gates.netlist(), gates.signals());
    let sizes = analysis::size(cells, netlist);
    let delays = delays(cells, (netlist, &sizes), &mut spread);
    let scale = static_longest(cells, (netlist, &sizes), &delays) * step();
    let shown = used_outside(netlist);
    let mut seen = vec![NEVER; netlist.drivers.len()];
    for net in &netlist.inputs {
        let arrival = analysis::through(cells, &sizes, net.index());
        seen[net.index()] = Seen::at(arrival, signals[net.index()].toggles);
    }
    for range in cells_of(netlist) {
        let gates = &netlist.gates[range.clone()];
        if let [gate] = gates
            && (gate.kind == Kind::Flop || gate.low)
        {
            let net = gate.output.index();
            seen[net] = match gate.kind == Kind::Flop && !gate.held {
                true => Seen::at(delays[range.start], signals[net].toggles),
                false => Seen::at(delays[range.start], 0.0),
            };
            continue;
        }
        let cell = Cell::new(gates, &delays[range]);
        for number in (0..gates.len()).filter(|number| shown[gates[*number].output.index()]) {
            seen[gates[number].output.index()] = cell.output(number, (&seen, signals), scale);
        }
    }
    together(cells, netlist, (&seen, scale))
}

/// Delay of every gate with the inverters and the wire behind it.
fn delays(
    cells: &Cells,
    (netlist, sizes): (&Netlist, &Sizes),
    spread: &mut Spread<'_>,
) -> Vec<Time> {
    let narrowest = cells.width() / narrowest_width(spread.technology);
    let gates = netlist.gates.iter().enumerate();
    let each = gates.map(|(number, gate)| {
        let plain = analysis::own_delay(cells, (gate, number), sizes)
            + analysis::through(cells, sizes, gate.output.index());
        plain * spread.draw(narrowest * sizes.of_gate(number))
    });
    each.collect()
}

/// The end of the longest path.
fn static_longest(cells: &Cells, (netlist, sizes): (&Netlist, &Sizes), delays: &[Time]) -> Time {
    let mut arrival = vec![Time::ZERO; netlist.drivers.len()];
    for net in &netlist.inputs {
        arrival[net.index()] = analysis::through(cells, sizes, net.index());
    }
    for (gate, delay) in netlist.gates.iter().zip(delays) {
        let inputs = gate.inputs().iter().map(|net| arrival[net.index()]);
        let start = match gate.kind {
            Kind::Flop => Time::ZERO,
            _ => inputs.fold(Time::ZERO, Time::max),
        };
        arrival[gate.output.index()] = start + *delay;
    }
    ends(cells, netlist)
        .map(|(net, setup)| arrival[net.index()] + setup)
        .fold(Time::ZERO, Time::max)
}

/// Where paths end, with the time that must be left there.
fn ends<'n>(cells: &Cells, netlist: &'n Netlist) -> impl Iterator<Item = (Net, Time)> + 'n {
    let setup = cells.flop_setup();
    let outputs = netlist.outputs.iter().map(|net| (*net, Time::ZERO));
    let flops = netlist.gates.iter();
    let flops = flops.filter(|gate| gate.kind == Kind::Flop && !gate.held);
    outputs.chain(flops.map(move |gate| (gate.inputs()[0], setup)))
}

/// Nets that are outputs, or lead to another cell than the one that drives them.
fn used_outside(netlist: &Netlist) -> Vec<bool> {
    let mut cell_of = vec![0; netlist.gates.len()];
    for (number, range) in cells_of(netlist).enumerate() {
        cell_of[range].fill(number);
    }
    let mut used = vec![false; netlist.drivers.len()];
    for (number, gate) in netlist.gates.iter().enumerate() {
        for net in gate.inputs() {
            let driver = netlist.drivers[net.index()];
            used[net.index()] |= driver.is_none_or(|driver| cell_of[driver] != cell_of[number]);
        }
    }
    netlist
        .outputs
        .iter()
        .for_each(|net| used[net.index()] = true);
    used
}

/// Gates of one cell each; one with more inputs than are taken together is taken gate by gate.
fn cells_of(netlist: &Netlist) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = netlist.gates.get(start..).filter(|rest| !rest.is_empty())?;
        let length = 1 + rest[1..].iter().take_while(|gate| !gate.begins).count();
        let whole = fed_by(&rest[..length]).len() <= MOST_INPUTS;
        let range = start..start + if whole { length } else { 1 };
        start = range.end;
        Some(range)
    })
}

/// Nets from outside, each once.
fn fed_by(gates: &[Gate]) -> Vec<Net> {
    let mut nets: Vec<Net> = Vec::new();
    for gate in gates {
        for net in gate.inputs() {
            let inside = gates.iter().any(|other| other.output == *net);
            if !inside && !nets.contains(net) {
                nets.push(*net);
            }
        }
    }
    nets
}

/// A cell: its gates as functions of its inputs, and the delays from each of these.
struct Cell {
    inputs: Vec<Net>,
    /// Of each gate: its output in each state of the inputs, and how long each input takes to it, where it leads there.
    gates: Vec<(u64, Vec<Option<Time>>)>,
}

impl Cell {
    fn new(gates: &[Gate], delays: &[Time]) -> Self {
        let inputs = fed_by(gates);
        let states = 1_u64 << inputs.len();
        let mut known: Vec<(Net, u64, Vec<Option<Time>>)> = Vec::new();
        for (place, net) in inputs.iter().enumerate() {
            let table = (0..states).filter(|state| state >> place & 1 != 0);
            let table = table.fold(0, |table, state| table | 1 << state);
            let mut from = vec![None; inputs.len()];
            from[place] = Some(Time::ZERO);
            known.push((*net, table, from));
        }
        for (gate, delay) in gates.iter().zip(delays) {
            let of = |net: &Net| known.iter().find(|(known, ..)| known == net);
            let fed: Vec<_> = gate.inputs().iter().filter_map(of).collect();
            let output = |state: u64| {
                let values: Vec<bool> = fed.iter().map(|it| it.1 >> state & 1 != 0).collect();
                gate.kind.output(&values)
            };
            let table = (0..states).filter(|state| output(*state));
            let table = table.fold(0, |table, state| table | 1 << state);
            let from = (0..inputs.len()).map(|place| {
                let latest = fed.iter().filter_map(|it| it.2[place]).reduce(Time::max);
                latest.map(|before| before + *delay)
            });
            let entry = (gate.output, table, from.collect());
            known.push(entry);
        }
        let gates = known.drain(inputs.len()..);
        Self {
            gates: gates.map(|(_, table, from)| (table, from)).collect(),
            inputs,
        }
    }

    /// The chance that a gate's output depends on an input.
    fn depends(&self, number: usize, place: usize, signals: &[Signal]) -> f64 {
        let table = self.gates[number].0;
        let lower = (0..1_u64 << self.inputs.len()).filter(|state| state >> place & 1 == 0);
        let deciding =
            lower.filter(|state| (table >> state ^ table >> (state | 1 << place)) & 1 != 0);
        let chance = |state: u64| -> f64 {
            let others = self
                .inputs
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            let each = others.map(|(other, net)| {
                let high = signals[net.index()].high;
                if state >> other & 1 != 0 {
                    high
                } else {
                    1.0 - high
                }
            });
            each.product()
        };
        deciding.map(chance).sum()
    }

    fn output(&self, number: usize, (seen, signals): (&[Seen], &[Signal]), scale: Time) -> Seen {
        let from = &self.gates[number].1;
        let leading = self.inputs.iter().zip(from).enumerate();
        let leading = leading.filter_map(|(place, (net, delay))| {
            let before = &seen[net.index()];
            delay.map(|delay| (place, before.arrival + delay, &before.late))
        });
        let leading: Vec<(usize, Time, &Late)> = leading.collect();
        let ends = leading.iter().map(|it| it.1);
        let arrival = ends.fold(Time::ZERO, Time::max);
        let mut stays = [1.0; STEPS + 1];
        for (place, end, late) in leading {
            let depends = self.depends(number, place, signals);
            let slack = (arrival - end) / scale;
            for (step, stays) in stays.iter_mut().enumerate() {
                let before = step as f64 - slack;
                if before > 0.0 {
                    *stays *= 1.0 - depends * between(late, before);
                }
            }
        }
        Seen {
            arrival,
            late: stays.map(|stays| 1.0 - stays),
        }
    }
}

/// All ends together.
fn together(cells: &Cells, netlist: &Netlist, (seen, scale): (&[Seen], Time)) -> Arrivals {
    let ends = ends(cells, netlist).map(|(net, setup)| {
        let seen = &seen[net.index()];
        (seen.arrival + setup, &seen.late)
    });
    let ends: Vec<(Time, &Late)> = ends.collect();
    let longest = ends.iter().map(|end| end.0).fold(Time::ZERO, Time::max);
    let mut stays = [1.0; STEPS + 1];
    for (end, late) in ends {
        let slack = (longest - end) / scale;
        for (step, stays) in stays.iter_mut().enumerate() {
            let before = step as f64 - slack;
            if before > 0.0 {
                *stays *= 1.0 - between(late, before);
            }
        }
    }
    Arrivals {
        longest,
        late: stays.map(|stays| 1.0 - stays).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use approx::assert_relative_eq;
    use warpwatt_techlib::quantity::Temperature;
    use warpwatt_techlib::{Flavour, Library};

    use super::super::{GateCounts, LogicBlock, LogicSpec};
    use super::*;
    use crate::{OperatingPoint, Profile, Spec, Workshop};

    const ALIKE: Sigma = Sigma {
        vth: Voltage::ZERO,
        log_length: 0.0,
    };

    fn workshop() -> Workshop {
        let technology = Library::silicon().unwrap().node("32nm", Flavour::Lstp);
        let at = OperatingPoint::at(Temperature::from_k(350.0));
        Workshop::new(Arc::new(technology.unwrap()), &at, Profile::Silicon).unwrap()
    }

    fn spec(block: LogicBlock, activity: u8) -> Spec {
        Spec::Logic(LogicSpec { block, activity })
    }

    /// The longest path is the one that the block is priced with.
    #[test]
    fn the_longest_path_is_the_delay_of_the_block() {
        let gates = GateCounts {
            nand: 300,
            xor: 100,
            mux: 64,
            ..GateCounts::default()
        };
        for block in [
            LogicBlock::Counted { gates },
            LogicBlock::Equality { bits: 32 },
            LogicBlock::Multiplexer {
                inputs: 40,
                bits: 8,
            },
        ] {
            let (workshop, spec) = (workshop(), spec(block, 50));
            let arrivals = workshop.arrivals(&spec, ALIKE).unwrap();
            let delay = workshop.lay_out(&spec).unwrap().cost().access_time;
            assert_relative_eq!(arrivals.longest().si(), delay.si(), max_relative = 1e-9);
        }
    }

    /// A parity tree lets every change through, along paths that are alike: with bits that all change, to its end in every operation. One bit in
    /// ten: that any changes, by hand.
    #[test]
    fn exclusive_ors_let_everything_through() {
        let parity = LogicBlock::Parity { bits: 8, stages: 1 };
        let at = |activity| {
            let arrivals = workshop().arrivals(&spec(parity.clone(), activity), ALIKE);
            let arrivals = arrivals.unwrap();
            arrivals.after(arrivals.longest() * 0.5)
        };
        assert_relative_eq!(at(100), 1.0, max_relative = 1e-9);
        assert_relative_eq!(at(10), 1.0 - 0.9_f64.powi(8), max_relative = 1e-6);
        assert_eq!(at(0), 0.0);
    }

    /// The equality of two words of eight bits: half of the bits of 16 change, and a difference shows only where no other bit differs.
    #[test]
    fn what_other_inputs_decide_does_not_go_through() {
        let equality = spec(LogicBlock::Equality { bits: 8 }, 50);
        let arrivals = workshop().arrivals(&equality, ALIKE).unwrap();
        let late = arrivals.after(arrivals.longest() * 0.5);
        assert!(late > 0.0 && late < 0.2, "{late}");
    }

    #[test]
    fn less_time_is_less_often_enough_and_all_is_enough() {
        let gates = GateCounts {
            and: 200,
            or: 200,
            xor: 200,
            ..GateCounts::default()
        };
        let spec = spec(LogicBlock::Counted { gates }, 50);
        let within = Sigma {
            vth: Voltage::from_mv(30.0),
            log_length: 0.03,
        };
        let [alike, varied] = [ALIKE, within].map(|it| workshop().arrivals(&spec, it).unwrap());
        assert!(varied.longest() > alike.longest() * 0.9 && varied != alike);
        for arrivals in [&alike, &varied] {
            let after =
                |percent: i32| arrivals.after(arrivals.longest() * (f64::from(percent) / 100.0));
            assert_eq!(after(100), 0.0);
            let falls = (50..100).all(|percent| after(percent) >= after(percent + 1));
            assert!(falls && after(60) > 0.0 && after(50) <= 1.0);
        }
        assert_eq!(workshop().arrivals(&spec, within).unwrap(), varied);
    }

    #[test]
    fn arrays_have_none() {
        let refused = workshop().arrivals(&Spec::Mux(crate::MuxSpec { bits: 8 }), ALIKE);
        assert!(refused.is_err());
    }
}
