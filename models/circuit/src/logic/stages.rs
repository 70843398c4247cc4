//! A netlist in several stages: a flip-flop on every net from one stage to the next.
//!
//! Stages are about equally many cells deep: a cut is where the fewest nets cross it, up to a third of a stage behind its even place, as synthesis moves registers.
//! It goes between cells, never through one; what ends early waits in flip-flops, so that all outputs are of one word.

use super::kind::Kind;
use super::netlist::{Net, Netlist};

/// The gates of `whole`, which has no flip-flops, in so many stages.
pub(crate) fn staged(whole: &Netlist, stages: u32) -> Netlist {
    if stages < 2 {
        return whole.clone();
    }
    let of_net = stages_of_nets(whole, stages);
    let mut n = Netlist::default();
    for name in &whole.parts {
        n.part(name);
    }
    n.part("pipeline registers");
    // Of each net what it is called in its own stage and in those behind.
    let mut copies: Vec<Vec<Net>> = vec![Vec::new(); whole.drivers.len()];
    for net in &whole.inputs {
        copies[net.index()].push(n.input());
    }
    for gate in &whole.gates {
        let stage = of_net[gate.output.index()];
        let inputs: Vec<Net> = gate
            .inputs()
            .iter()
            .map(|net| {
                let waits = stage - of_net[net.index()];
                delayed(&mut n, &mut copies[net.index()], waits)
            })
            .collect();
        let output = n.repeat(gate, &inputs);
        copies[gate.output.index()].push(output);
    }
    for net in &whole.outputs {
        let waits = stages - of_net[net.index()];
        let output = delayed(&mut n, &mut copies[net.index()], waits);
        n.output(output);
    }
    n
}

/// A net so many stages later.
fn delayed(n: &mut Netlist, copies: &mut Vec<Net>, waits: u32) -> Net {
    while copies.len() <= waits as usize {
        let last = copies[copies.len() - 1];
        copies.push(n.flop(last));
    }
    copies[waits as usize]
}

/// The stage of each net, from one on.
fn stages_of_nets(whole: &Netlist, stages: u32) -> Vec<u32> {
    let mut depth = vec![0_u32; whole.drivers.len()];
    let mut cell: Vec<Net> = Vec::new();
    for (at, gate) in whole.gates.iter().enumerate() {
        debug_assert_ne!(gate.kind, Kind::Flop, "it has no state");
        if gate.begins {
            cell.clear();
        }
        let before = cell.first().map_or(0, |net| depth[net.index()]);
        let outside = gate.inputs().iter().filter(|net| !cell.contains(net));
        let deepest = outside.map(|net| depth[net.index()] + 1).max();
        let deepest = deepest.unwrap_or(0).max(before);
        cell.push(gate.output);
        for net in &cell {
            depth[net.index()] = deepest;
        }
        debug_assert_eq!(whole.drivers[gate.output.index()], Some(at));
    }
    let most = depth.iter().copied().max().unwrap_or(0);
    let cuts: Vec<u32> = (1..stages)
        .map(|cut| {
            let even = cut * most / stages;
            let places = even..=(3 * cut + 1) * most / (3 * stages);
            let best = places.min_by_key(|place| crossing(whole, &depth, *place));
            best.unwrap_or(even)
        })
        .collect();
    let stage = |depth: u32| 1 + cuts.iter().filter(|cut| **cut < depth).count() as u32;
    depth.into_iter().map(stage).collect()
}

/// Nets that cells of so many levels hand on to deeper ones or to the outside.
fn crossing(whole: &Netlist, depth: &[u32], level: u32) -> usize {
    let mut crosses = vec![false; depth.len()];
    for gate in &whole.gates {
        for net in gate.inputs() {
            crosses[net.index()] |= depth[gate.output.index()] > level;
        }
    }
    for net in &whole.outputs {
        crosses[net.index()] = true;
    }
    let nets = crosses.iter().zip(depth);
    nets.filter(|(crosses, depth)| **crosses && **depth <= level)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::code::{Code, Matrix};
    use crate::logic::ecc;

    fn flops(n: &Netlist) -> usize {
        n.gates
            .iter()
            .filter(|gate| gate.kind == Kind::Flop)
            .count()
    }

    /// What comes out some cycles later: flip-flops hand on what they get.
    fn settled(n: &Netlist, inputs: &[bool]) -> Vec<bool> {
        let mut values = vec![false; n.drivers.len()];
        for (net, value) in n.inputs.iter().zip(inputs) {
            values[net.index()] = *value;
        }
        for gate in &n.gates {
            let of: Vec<bool> = gate
                .inputs()
                .iter()
                .map(|net| values[net.index()])
                .collect();
            values[gate.output.index()] = gate.kind.output(&of);
        }
        n.outputs.iter().map(|net| values[net.index()]).collect()
    }

    #[test]
    fn stages_compute_what_the_whole_does() {
        let matrix = Matrix::new(Code::Sec, 64);
        for whole in [
            ecc::generator(&matrix),
            ecc::detector(&matrix),
            ecc::parity(65),
        ] {
            for stages in [1, 2, 3] {
                let cut = staged(&whole, stages);
                assert_eq!(flops(&cut) > 0, stages > 1);
                let gates = |n: &Netlist| n.gates.len() - flops(n);
                assert_eq!(gates(&cut), gates(&whole));
                for seed in 0..8 {
                    let inputs: Vec<bool> = (0..whole.inputs.len())
                        .map(|i| (i * 7 + seed * 13 + i * i * seed) % 5 < 2)
                        .collect();
                    assert_eq!(settled(&cut, &inputs), whole.evaluate(&inputs, &[]));
                }
            }
        }
    }

    /// 64 bits are four nets four levels of exclusive-ors behind, of six.
    #[test]
    fn a_parity_tree_is_cut_where_it_is_narrow() {
        assert_eq!(flops(&staged(&ecc::parity(64), 2)), 4);
    }
}
