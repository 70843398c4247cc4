//! Decoders, multiplexers, the register forwarding unit.

use super::kind::Kind;
use super::netlist::{Net, Netlist};

/// One line of 2^bits.
pub(crate) fn decoder(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    let address = n.bus(bits);
    let lines = decode(&mut n, &address);
    for line in lines {
        n.output(line);
    }
    n
}

/// Predecoders of up to three bits, then an AND of one line from each.
pub(crate) fn decode(n: &mut Netlist, address: &[Net]) -> Vec<Net> {
    n.part("predecoders");
    let mut lines: Vec<Vec<Net>> = Vec::new();
    for bits in address.chunks(3) {
        let pairs: Vec<[Net; 2]> = bits.iter().map(|bit| [n.not(*bit), *bit]).collect();
        let literals = |line: usize| -> Vec<Net> {
            pairs
                .iter()
                .enumerate()
                .map(|(i, pair)| pair[line >> i & 1])
                .collect()
        };
        let group = (0..1_usize << bits.len()).filter_map(|line| n.and_all(&literals(line)));
        lines.push(group.collect());
    }
    if lines.len() < 2 {
        return lines.into_iter().flatten().collect();
    }
    n.part("decoder gates");
    (0..1_usize << address.len())
        .filter_map(|line| {
            let from: Vec<Net> = lines
                .iter()
                .enumerate()
                .map(|(i, group)| group[line >> (3 * i) & (group.len() - 1)])
                .collect();
            n.and_all(&from)
        })
        .collect()
}

/// One of `inputs` words of `bits` bits, by a binary select.
pub(crate) fn multiplexer(inputs: u64, bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("select lines");
    let words: Vec<Vec<Net>> = (0..inputs).map(|_| n.bus(bits)).collect();
    let width = u64::BITS - (inputs - 1).leading_zeros();
    let select = n.bus(u64::from(width));
    let lines = decode(&mut n, &select);
    n.part("multiplexers");
    let ordered: Vec<&Vec<Net>> = words.iter().collect();
    for bit in 0..bits as usize {
        let column = column(&ordered, bit);
        if let Some(out) = one_hot(&mut n, &column, &lines) {
            n.output(out);
        }
    }
    n
}

/// One bit of every word.
fn column(words: &[&Vec<Net>], bit: usize) -> Vec<Net> {
    words.iter().map(|word| word[bit]).collect()
}

/// The bit whose line is high: AND-OR-INVERT of pairs, then NAND and OR.
pub(crate) fn one_hot(n: &mut Netlist, bits: &[Net], lines: &[Net]) -> Option<Net> {
    let chosen: Vec<(Net, Net)> = bits.iter().copied().zip(lines.iter().copied()).collect();
    if let [(bit, _)] = chosen[..] {
        return Some(bit);
    }
    let inverted: Vec<Net> = chosen
        .chunks(2)
        .map(|pair| match pair {
            [a, b] => n.gate(Kind::Aoi22, &[a.0, a.1, b.0, b.1]),
            rest => n.gate(Kind::Nand2, &[rest[0].0, rest[0].1]),
        })
        .collect();
    let kinds = [Kind::Nand2, Kind::Nand3, Kind::Nand4];
    let level: Vec<Net> = inverted
        .chunks(4)
        .map(|group| match group {
            [one] => n.not(*one),
            group => n.gate(kinds[group.len() - 2], group),
        })
        .collect();
    n.or_all(&level)
}

/// The register forwarding unit of Warped-DMR: each lane of a cluster takes its own operand if it is active, otherwise that of the first active lane in its own
/// order (Jeon and Annavaram, MICRO 2012, table 1: lane l tries l, l^1, l^2, ...).
pub(crate) fn forwarding(lanes: u64, bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("priority");
    let words: Vec<Vec<Net>> = (0..lanes).map(|_| n.bus(bits)).collect();
    let active = n.bus(lanes);
    let idle: Vec<Net> = active.iter().map(|lane| n.not(*lane)).collect();
    for lane in 0..lanes as usize {
        n.part("priority");
        let order: Vec<usize> = (0..lanes as usize).map(|choice| lane ^ choice).collect();
        let lines: Vec<Net> = (0..order.len())
            .filter_map(|choice| {
                let mut terms: Vec<Net> =
                    order[..choice].iter().map(|&before| idle[before]).collect();
                terms.push(active[order[choice]]);
                n.and_all(&terms)
            })
            .collect();
        n.part("multiplexers");
        let ordered: Vec<&Vec<Net>> = order.iter().map(|&from| &words[from]).collect();
        for bit in 0..bits as usize {
            let column = column(&ordered, bit);
            if let Some(out) = one_hot(&mut n, &column, &lines) {
                n.output(out);
            }
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_raises_the_line_of_its_address() {
        for bits in [1, 2, 3, 4, 7] {
            let gates = decoder(bits);
            for address in 0..1_usize << bits {
                let inputs: Vec<bool> = (0..bits).map(|i| address >> i & 1 == 1).collect();
                let lines = gates.evaluate(&inputs, &[]);
                let high: Vec<usize> = (0..lines.len()).filter(|&line| lines[line]).collect();
                assert_eq!(high, [address]);
            }
        }
    }

    #[test]
    fn a_multiplexer_passes_the_word_that_is_selected() {
        for inputs in [2_usize, 3, 4, 9, 17] {
            let gates = multiplexer(inputs as u64, 1);
            let width = (usize::BITS - (inputs - 1).leading_zeros()) as usize;
            for chosen in 0..inputs {
                let mut values = vec![false; inputs];
                values[chosen] = true;
                let select = (0..width).map(|i| chosen >> i & 1 == 1);
                let all: Vec<bool> = values.iter().copied().chain(select.clone()).collect();
                assert_eq!(gates.evaluate(&all, &[]), [true], "{chosen} of {inputs}");
                let none: Vec<bool> = values.iter().map(|value| !value).chain(select).collect();
                assert_eq!(gates.evaluate(&none, &[]), [false], "{chosen} of {inputs}");
            }
        }
    }

    #[test]
    fn a_forwarding_unit_follows_the_priority_table_of_its_paper() {
        const TABLE: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]];
        let gates = forwarding(4, 2);
        for mask in 1..16_usize {
            // Each lane's word is its own number.
            let mut inputs: Vec<bool> = (0..4)
                .flat_map(|lane| [lane & 1 == 1, lane & 2 == 2])
                .collect();
            inputs.extend((0..4).map(|lane| mask >> lane & 1 == 1));
            let out = gates.evaluate(&inputs, &[]);
            for (lane, order) in TABLE.iter().enumerate() {
                let from = order
                    .iter()
                    .copied()
                    .find(|&from| mask >> from & 1 == 1)
                    .unwrap();
                assert_eq!(
                    out[2 * lane..2 * lane + 2],
                    [from & 1 == 1, from & 2 == 2],
                    "mask {mask:04b} lane {lane}"
                );
            }
        }
    }
}
