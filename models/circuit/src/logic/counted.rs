//! Logic of which only the number of gates of each kind is known, as a synthesis counts them: a netlist of as many, connected at random.
//!
//! Gates stand in levels, and the inputs of each are nets of the level before it or of any before that. That gives them fan-outs, wires (Donath, 1979) and chances to
//! change as random logic has them; what the block computes, and its longest path, it does not give.

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::netlist::{Net, Netlist};

/// Gates of generic kinds, of two inputs if the name says nothing else.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(deny_unknown_fields, default)]
pub struct GateCounts {
    /// AND.
    pub and: u64,
    /// Not (a b or c).
    pub aoi: u64,
    /// 2:1 multiplexers.
    pub mux: u64,
    /// NAND.
    pub nand: u64,
    /// NOR.
    pub nor: u64,
    /// Inverters.
    pub not: u64,
    /// Not ((a or b) c).
    pub oai: u64,
    /// OR.
    pub or: u64,
    /// Exclusive NOR.
    pub xnor: u64,
    /// Exclusive OR.
    pub xor: u64,
    /// Flip-flops. What the clock does to them is priced with the clock.
    pub flops: u64,
}

/// How many kinds there are.
const KINDS: usize = 10;

impl GateCounts {
    /// Those without state, in the order of the fields.
    pub(crate) fn each(&self) -> [u64; KINDS] {
        [
            self.and, self.aoi, self.mux, self.nand, self.nor, self.not, self.oai, self.or,
            self.xnor, self.xor,
        ]
    }

    /// All of those without state.
    pub fn total(&self) -> u64 {
        self.each()
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// So many times as many, in percent.
    #[must_use]
    pub fn percent(self, percent: u64) -> Self {
        let scaled = |count: u64| (count * percent).div_ceil(100);
        Self {
            and: scaled(self.and),
            aoi: scaled(self.aoi),
            mux: scaled(self.mux),
            nand: scaled(self.nand),
            nor: scaled(self.nor),
            not: scaled(self.not),
            oai: scaled(self.oai),
            or: scaled(self.or),
            xnor: scaled(self.xnor),
            xor: scaled(self.xor),
            flops: scaled(self.flops),
        }
    }
}

/// Gates on a path through the block. Assumed: of the order of a pipeline stage of ten to fifteen cells.
const LEVELS: u64 = 12;
/// Multiplexers that one signal selects: bits of a word.
const SELECTED: u64 = 32;

/// Random numbers, the same at every place (Numerical Recipes' linear congruence, upper half).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 32) as usize) % bound.max(1)
    }
}

struct Builder {
    netlist: Netlist,
    dice: Dice,
    /// All nets so far, and where the last level that is complete begins and ends among them.
    nets: Vec<Net>,
    level: std::ops::Range<usize>,
    /// A select line with its complement, and the multiplexers that it still selects.
    select: Option<((Net, Net), u64)>,
}

impl Builder {
    /// A net of the level before.
    fn near(&mut self) -> Net {
        let width = self.level.len();
        self.nets[self.level.start + self.dice.below(width)]
    }

    /// A net of any level before.
    fn any(&mut self) -> Net {
        self.nets[self.dice.below(self.level.end)]
    }

    fn selects(&mut self) -> (Net, Net) {
        match &mut self.select {
            Some((lines, left)) if *left > 0 => {
                *left -= 1;
                *lines
            }
            _ => {
                let select = self.any();
                let lines = (self.netlist.not(select), select);
                self.select = Some((lines, SELECTED - 1));
                lines
            }
        }
    }

    /// One gate of the kind at this place among the fields of the counts.
    fn gate(&mut self, kind: usize) {
        let (a, b) = (self.near(), self.any());
        let output = match kind {
            0 => self.netlist.and(a, b),
            1 => {
                let c = self.any();
                self.netlist.gate(Kind::Aoi21, &[a, b, c])
            }
            2 => {
                let lines = self.selects();
                self.netlist.mux(a, b, lines)
            }
            3 => self.netlist.gate(Kind::Nand2, &[a, b]),
            4 => self.netlist.gate(Kind::Nor2, &[a, b]),
            5 => self.netlist.not(a),
            6 => {
                let c = self.any();
                self.netlist.gate(Kind::Oai21, &[a, b, c])
            }
            7 => self.netlist.or(a, b),
            8 => self.netlist.xnor(a, b),
            _ => self.netlist.xor(a, b),
        };
        self.nets.push(output);
    }
}

/// A netlist of these gates.
pub(crate) fn connected(counts: &GateCounts) -> Netlist {
    let mut left = counts.each();
    let total = counts.total();
    let width = total.div_ceil(LEVELS).max(2);
    let mut netlist = Netlist::default();
    netlist.part("gates");
    let nets = netlist.bus(width);
    // What they hold stays: changes come from the inputs.
    for _ in 0..counts.flops {
        netlist.held();
    }
    let mut builder = Builder {
        netlist,
        dice: Dice(total),
        level: 0..nets.len(),
        nets,
        select: None,
    };
    let mut remaining = total;
    while remaining > 0 {
        let start = builder.nets.len();
        for _ in 0..width.min(remaining) {
            let mut drawn = builder.dice.below(remaining as usize) as u64;
            let kind = left.iter().position(|count| {
                let found = drawn < *count;
                drawn = drawn.saturating_sub(*count);
                found
            });
            let kind = kind.unwrap_or(KINDS - 1);
            left[kind] -= 1;
            remaining -= 1;
            builder.gate(kind);
        }
        builder.level = start..builder.nets.len();
    }
    let (level, nets, mut netlist) = (builder.level, builder.nets, builder.netlist);
    nets[level].iter().for_each(|net| netlist.output(*net));
    netlist
}

#[cfg(test)]
mod tests {
    use super::super::activity::signals;
    use super::*;

    /// One lane of an integer unit.
    const LANE: GateCounts = GateCounts {
        and: 2018,
        aoi: 903,
        mux: 1081,
        nand: 1785,
        nor: 359,
        not: 335,
        oai: 801,
        or: 444,
        xnor: 979,
        xor: 1215,
        flops: 2,
    };

    #[test]
    fn every_gate_that_is_counted_is_there() {
        let netlist = connected(&LANE);
        let cells = netlist.gates.iter().filter(|gate| gate.begins).count() as u64;
        // Select lines have their complements beside.
        let selects = LANE.mux.div_ceil(SELECTED);
        assert_eq!(cells, LANE.total() + LANE.flops + selects);
    }

    /// Some of the nets change, fewer than of the inputs, in the last level too.
    #[test]
    fn changes_go_through() {
        let netlist = connected(&LANE);
        let all = signals(&netlist, 0.5);
        let mean = |nets: &[Net]| {
            let toggles = nets.iter().map(|net| all[net.index()].toggles);
            toggles.sum::<f64>() / nets.len() as f64
        };
        let last = mean(&netlist.outputs);
        assert!((0.1..0.5).contains(&last), "{last}");
    }
}
