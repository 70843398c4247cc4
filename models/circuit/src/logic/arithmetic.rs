//! Comparators, adders, shifters, counters.

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::netlist::{Net, Netlist};

/// How carries travel.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// From bit to bit.
    Ripple,
    /// Through a tree of least depth (Sklansky, IRE Transactions on Electronic Computers, 1960).
    #[default]
    Prefix,
}

/// Whether two words are equal.
pub(crate) fn equal(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("exclusive-nors");
    let (a, b) = (n.bus(bits), n.bus(bits));
    let same: Vec<Net> = a.iter().zip(&b).map(|(a, b)| n.xnor(*a, *b)).collect();
    n.part("and tree");
    if let Some(equal) = n.and_all(&same) {
        n.output(equal);
    }
    n
}

/// Whether the first word is greater, and whether they are equal: a tree over pairs of (greater, equal).
pub(crate) fn magnitude(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("bits");
    let (a, b) = (n.bus(bits), n.bus(bits));
    // From the highest bit down.
    let mut level: Vec<(Net, Net)> = a
        .iter()
        .zip(&b)
        .rev()
        .map(|(a, b)| {
            let not = n.not(*b);
            (n.and(*a, not), n.xnor(*a, *b))
        })
        .collect();
    n.part("tree");
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => (combine(&mut n, *high, *low), n.and(high.1, low.1)),
                rest => rest[0],
            })
            .collect();
    }
    n.output(level[0].0);
    n.output(level[0].1);
    n
}

/// Generated above, or propagated and generated below.
fn combine(n: &mut Netlist, high: (Net, Net), low: (Net, Net)) -> Net {
    let not = n.gate(Kind::Aoi21, &[high.1, low.0, high.0]);
    n.not(not)
}

/// Sum and carry out of two words and a carry in.
pub(crate) fn adder(bits: u64, carry: Carry) -> Netlist {
    let mut n = Netlist::default();
    n.part("propagate and generate");
    let (a, b, first) = (n.bus(bits), n.bus(bits), n.input());
    let propagate: Vec<Net> = a.iter().zip(&b).map(|(a, b)| n.xor(*a, *b)).collect();
    let generate: Vec<Net> = a.iter().zip(&b).map(|(a, b)| n.and(*a, *b)).collect();
    n.part("carries");
    let carries = match carry {
        Carry::Ripple => ripple(&mut n, &propagate, &generate, first),
        Carry::Prefix => prefix(&mut n, &propagate, &generate, first),
    };
    n.part("sums");
    let into = std::iter::once(first).chain(carries.iter().copied());
    let sums: Vec<Net> = propagate
        .iter()
        .zip(into)
        .map(|(p, c)| n.xor(*p, c))
        .collect();
    for sum in sums.into_iter().chain(carries.last().copied()) {
        n.output(sum);
    }
    n
}

fn ripple(n: &mut Netlist, propagate: &[Net], generate: &[Net], first: Net) -> Vec<Net> {
    let mut carry = first;
    let bits = propagate.iter().zip(generate);
    bits.map(|(p, g)| {
        carry = combine(n, (*g, *p), (carry, carry));
        carry
    })
    .collect()
}

/// Carries out of every bit.
fn prefix(n: &mut Netlist, propagate: &[Net], generate: &[Net], first: Net) -> Vec<Net> {
    // The carry in is a bit that only generates.
    let mut spans: Vec<(Net, Option<Net>)> = vec![(first, None)];
    spans.extend(generate.iter().zip(propagate).map(|(g, p)| (*g, Some(*p))));
    let mut step = 1;
    while step < spans.len() {
        for i in 0..spans.len() {
            // Sklansky: the upper half of each block takes the last of the lower half.
            if i & step == 0 {
                continue;
            }
            let below = spans[(i / step) * step - 1];
            if let Some(p) = spans[i].1 {
                let g = combine(n, (spans[i].0, p), (below.0, below.0));
                let p = below.1.map(|below| n.and(p, below));
                spans[i] = (g, p);
            }
        }
        step *= 2;
    }
    spans[1..].iter().map(|span| span.0).collect()
}

/// A word shifted left by any distance below its width; zeros come in.
pub(crate) fn shifter(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("shift lines");
    let mut word = n.bus(bits);
    let stages = u64::BITS - (bits - 1).leading_zeros();
    let distance = n.bus(u64::from(stages));
    for (stage, select) in distance.into_iter().enumerate() {
        n.part("shift lines");
        let unselect = n.not(select);
        n.part("multiplexers");
        let by = 1 << stage;
        word = (0..word.len())
            .map(|i| {
                if i >= by {
                    n.mux(word[i], word[i - by], (unselect, select))
                } else {
                    n.and(word[i], unselect)
                }
            })
            .collect();
    }
    for net in word {
        n.output(net);
    }
    n
}

/// A register that counts up by one.
pub(crate) fn counter(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("register");
    let state: Vec<Net> = (0..bits).map(|_| n.state()).collect();
    n.part("incrementer");
    // Bit i toggles when all below are one: a prefix tree of ANDs.
    let mut all = state.clone();
    let mut step = 1;
    while step < all.len() {
        for i in 0..all.len() {
            if i & step != 0 {
                all[i] = n.and(all[i], all[(i / step) * step - 1]);
            }
        }
        step *= 2;
    }
    for (i, bit) in state.iter().enumerate() {
        let next = if i == 0 {
            n.not(*bit)
        } else {
            n.xor(*bit, all[i - 1])
        };
        n.feed(*bit, next);
        n.output(next);
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: u64, bits: u64) -> Vec<bool> {
        (0..bits).map(|i| value >> i & 1 == 1).collect()
    }

    fn value(word: &[bool]) -> u64 {
        word.iter()
            .enumerate()
            .map(|(i, bit)| u64::from(*bit) << i)
            .sum()
    }

    const SAMPLES: [(u64, u64); 7] = [
        (0, 0),
        (1, 0),
        (0, 1),
        (5, 5),
        (127, 1),
        (100, 29),
        (85, 42),
    ];

    #[test]
    fn adders_add() {
        for carry in [Carry::Ripple, Carry::Prefix] {
            for bits in [1, 3, 7, 8] {
                let gates = adder(bits, carry);
                for (a, b) in SAMPLES {
                    for first in [0, 1] {
                        let (a, b) = (a & ((1 << bits) - 1), b & ((1 << bits) - 1));
                        let mut inputs = word(a, bits);
                        inputs.extend(word(b, bits));
                        inputs.push(first == 1);
                        assert_eq!(
                            value(&gates.evaluate(&inputs, &[])),
                            a + b + first,
                            "{carry:?} {bits} {a} {b}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn comparators_compare() {
        for bits in [1, 5, 7] {
            for (a, b) in SAMPLES {
                let (a, b) = (a & ((1 << bits) - 1), b & ((1 << bits) - 1));
                let mut inputs = word(a, bits);
                inputs.extend(word(b, bits));
                assert_eq!(equal(bits).evaluate(&inputs, &[]), [a == b]);
                assert_eq!(magnitude(bits).evaluate(&inputs, &[]), [a > b, a == b]);
            }
        }
    }

    #[test]
    fn shifters_shift_and_counters_count() {
        for by in 0..8 {
            let mut inputs = word(0b1011_0101, 8);
            inputs.extend(word(by, 3));
            assert_eq!(
                value(&shifter(8).evaluate(&inputs, &[])),
                (0b1011_0101 << by) & 0xff
            );
        }
        for now in [0, 1, 7, 63, 99, 127] {
            assert_eq!(
                value(&counter(7).evaluate(&[], &word(now, 7))),
                (now + 1) % 128
            );
        }
    }
}
