//! Netlists: gates and what they are connected to. Counted, evaluated and priced from one description.

use super::kind::Kind;

/// A wire with one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Net(u32);

impl Net {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) kind: Kind,
    inputs: [Net; 4],
    pub(crate) output: Net,
    /// Which part of the block it belongs to.
    pub(crate) part: usize,
    /// Whether it begins a cell: cells stand apart, gates inside one do not.
    pub(crate) begins: bool,
    /// A flip-flop whose clock is off while it keeps its value.
    pub(crate) held: bool,
    /// Its output is low in every operation, whatever its inputs would make likely.
    pub(crate) low: bool,
}

impl Gate {
    pub(crate) fn inputs(&self) -> &[Net] {
        &self.inputs[..self.kind.inputs()]
    }
}

/// Gates in an order in which every gate comes after those that drive it; flip-flops may be fed by later ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Netlist {
    pub(crate) gates: Vec<Gate>,
    /// Driver of each net; inputs of the block have none.
    pub(crate) drivers: Vec<Option<usize>>,
    pub(crate) inputs: Vec<Net>,
    pub(crate) outputs: Vec<Net>,
    /// Names of the parts.
    pub(crate) parts: Vec<&'static str>,
    inside: bool,
}

impl Netlist {
    /// Gates from here on belong to this part.
    pub(crate) fn part(&mut self, name: &'static str) {
        self.parts.push(name);
    }

    fn net(&mut self, driver: Option<usize>) -> Net {
        self.drivers.push(driver);
        Net(self.drivers.len() as u32 - 1)
    }

    pub(crate) fn input(&mut self) -> Net {
        let net = self.net(None);
        self.inputs.push(net);
        net
    }

    pub(crate) fn bus(&mut self, bits: u64) -> Vec<Net> {
        (0..bits).map(|_| self.input()).collect()
    }

    pub(crate) fn output(&mut self, net: Net) {
        self.outputs.push(net);
    }

    /// One gate.
    pub(crate) fn gate(&mut self, kind: Kind, from: &[Net]) -> Net {
        let output = self.net(Some(self.gates.len()));
        let mut inputs = [output; 4];
        inputs[..from.len()].copy_from_slice(from);
        if self.parts.is_empty() {
            self.part("gates");
        }
        self.gates.push(Gate {
            kind,
            inputs,
            output,
            part: self.parts.len() - 1,
            begins: !self.inside,
            held: false,
            low: false,
        });
        output
    }

    /// A gate as in another netlist, on these nets, in the part of the same number.
    pub(crate) fn repeat(&mut self, gate: &Gate, from: &[Net]) -> Net {
        let output = self.gate(gate.kind, from);
        if let Some(last) = self.gates.last_mut() {
            *last = Gate {
                inputs: last.inputs,
                output,
                ..*gate
            };
        }
        output
    }

    /// Several gates laid out as one cell.
    fn cell(&mut self, build: impl FnOnce(&mut Self) -> Net) -> Net {
        let first = self.gates.len();
        let outer = std::mem::replace(&mut self.inside, true);
        let output = build(self);
        self.inside = outer;
        if let Some(gate) = self.gates.get_mut(first) {
            gate.begins = !outer;
        }
        output
    }

    pub(crate) fn not(&mut self, a: Net) -> Net {
        self.gate(Kind::Inv, &[a])
    }

    pub(crate) fn and(&mut self, a: Net, b: Net) -> Net {
        self.cell(|n| {
            let not = n.gate(Kind::Nand2, &[a, b]);
            n.not(not)
        })
    }

    pub(crate) fn or(&mut self, a: Net, b: Net) -> Net {
        self.cell(|n| {
            let not = n.gate(Kind::Nor2, &[a, b]);
            n.not(not)
        })
    }

    /// NOR2 and AOI21: ten transistors.
    pub(crate) fn xor(&mut self, a: Net, b: Net) -> Net {
        self.cell(|n| {
            let neither = n.gate(Kind::Nor2, &[a, b]);
            n.gate(Kind::Aoi21, &[a, b, neither])
        })
    }

    /// NAND2 and OAI21.
    pub(crate) fn xnor(&mut self, a: Net, b: Net) -> Net {
        self.cell(|n| {
            let both = n.gate(Kind::Nand2, &[a, b]);
            n.gate(Kind::Oai21, &[a, b, both])
        })
    }

    /// `b` if `select`, else `a`; `unselect` is its complement.
    pub(crate) fn mux(&mut self, a: Net, b: Net, (unselect, select): (Net, Net)) -> Net {
        self.cell(|n| {
            let not = n.gate(Kind::Aoi22, &[a, unselect, b, select]);
            n.not(not)
        })
    }

    /// The flip-flop's output. Its data may be given later, see [`Self::feed`].
    pub(crate) fn flop(&mut self, data: Net) -> Net {
        self.gate(Kind::Flop, &[data])
    }

    /// A flip-flop without data so far.
    pub(crate) fn state(&mut self) -> Net {
        let next = Net(self.drivers.len() as u32);
        self.gate(Kind::Flop, &[next])
    }

    /// A flip-flop that keeps its value; what would write it is priced elsewhere.
    pub(crate) fn held(&mut self) -> Net {
        let state = self.state();
        if let Some(gate) = self.gates.last_mut() {
            gate.inputs[0] = state;
            gate.held = true;
        }
        state
    }

    /// A gate's output that is low in every operation, since its inputs depend on each other; inputs of the block are left as they are.
    pub(crate) fn stays_low(&mut self, net: Net) {
        if let Some(driver) = self.drivers[net.index()] {
            self.gates[driver].low = true;
        }
    }

    /// Gives a flip-flop its data.
    pub(crate) fn feed(&mut self, flop: Net, data: Net) {
        if let Some(driver) = self.drivers[flop.index()] {
            self.gates[driver].inputs[0] = data;
        }
    }

    /// A balanced tree of a two-input function.
    pub(crate) fn tree(
        &mut self,
        nets: &[Net],
        mut join: impl FnMut(&mut Self, Net, Net) -> Net,
    ) -> Option<Net> {
        let mut level = nets.to_vec();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => join(self, *a, *b),
                    rest => rest[0],
                })
                .collect();
        }
        level.first().copied()
    }

    pub(crate) fn xor_tree(&mut self, nets: &[Net]) -> Option<Net> {
        self.tree(nets, Self::xor)
    }

    /// AND of any number: NAND4 and NOR levels, so that every second level is positive.
    pub(crate) fn and_all(&mut self, nets: &[Net]) -> Option<Net> {
        self.wide(
            nets,
            [Kind::Nand2, Kind::Nand3, Kind::Nand4],
            [Kind::Nor2, Kind::Nor3],
        )
    }

    /// OR of any number.
    pub(crate) fn or_all(&mut self, nets: &[Net]) -> Option<Net> {
        let nor = [Kind::Nor2, Kind::Nor3, Kind::Nor3];
        let nand = [Kind::Nand2, Kind::Nand3];
        self.wide(nets, nor, nand)
    }

    fn wide(&mut self, nets: &[Net], first: [Kind; 3], second: [Kind; 2]) -> Option<Net> {
        let mut level = nets.to_vec();
        let widest = first.iter().map(|kind| kind.inputs()).max().unwrap_or(2);
        while level.len() > 1 {
            let inverted = self.groups(&level, widest, &first);
            if inverted.len() == 1 {
                return Some(self.not(inverted[0]));
            }
            level = self.groups(&inverted, 3, &second);
        }
        level.first().copied()
    }

    /// One inverting gate for each group of nets, as evenly as it goes; a net alone is inverted.
    fn groups(&mut self, nets: &[Net], widest: usize, kinds: &[Kind]) -> Vec<Net> {
        let count = nets.len().div_ceil(widest);
        let (size, more) = (nets.len() / count, nets.len() % count);
        let mut at = 0;
        let mut outputs = Vec::with_capacity(count);
        for i in 0..count {
            let group = &nets[at..at + size + usize::from(i < more)];
            at += group.len();
            outputs.push(match group {
                [one] => self.not(*one),
                group => self.gate(kinds[group.len() - 2], group),
            });
        }
        outputs
    }

    /// What its outputs are; `state` gives the flip-flops' in their order.
    #[cfg(test)]
    pub(crate) fn evaluate(&self, inputs: &[bool], state: &[bool]) -> Vec<bool> {
        let mut values = vec![false; self.drivers.len()];
        for (net, value) in self.inputs.iter().zip(inputs) {
            values[net.index()] = *value;
        }
        let mut state = state.iter();
        for gate in &self.gates {
            let value = if gate.kind == Kind::Flop {
                state.next().copied().unwrap_or(false)
            } else {
                let inputs: Vec<bool> = gate
                    .inputs()
                    .iter()
                    .map(|net| values[net.index()])
                    .collect();
                gate.kind.output(&inputs)
            };
            values[gate.output.index()] = value;
        }
        self.outputs.iter().map(|net| values[net.index()]).collect()
    }

    /// How many gates of each kind, in the order of the kinds.
    pub(crate) fn counts(&self) -> Vec<(Kind, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for gate in &self.gates {
            *counts.entry(gate.kind).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}
