//! Words in flip-flops with multiplexed ports, as synthesis makes a register file of a description without memories.
//!
//! A read port is a decoder of the address and an AND-OR of all words for each bit; the write port a decoder, and a multiplexer at each flip-flop that keeps or takes.
//! What the clock does to the flip-flops is priced with the clock: it comes in every cycle, whether anything is read or written or not.

use warpwatt_techlib::quantity::Energy;

use super::analysis::Piece;
use super::netlist::{Net, Netlist};
use super::route::{decode, one_hot};

fn address_bits(words: u64) -> u64 {
    u64::from(u64::BITS - (words - 1).leading_zeros())
}

/// The file.
pub(crate) fn file(words: u64, bits: u64, reads: u32) -> Netlist {
    let mut n = Netlist::default();
    n.part("flip-flops");
    let held: Vec<Vec<Net>> = (0..words)
        .map(|_| (0..bits).map(|_| n.held()).collect())
        .collect();
    for _ in 0..reads {
        let select = n.bus(address_bits(words));
        let lines = decode(&mut n, &select);
        n.part("read ports");
        for bit in 0..bits as usize {
            let column: Vec<Net> = held.iter().map(|word| word[bit]).collect();
            if let Some(out) = one_hot(&mut n, &column, &lines) {
                n.output(out);
            }
        }
    }
    let select = n.bus(address_bits(words));
    let data = n.bus(bits);
    let lines = decode(&mut n, &select);
    n.part("multiplexers that keep");
    for (word, line) in held.iter().zip(lines) {
        let keep = n.not(line);
        for (flop, bit) in word.iter().zip(&data) {
            let next = n.mux(*flop, *bit, (keep, line));
            n.feed(*flop, next);
        }
    }
    n
}

/// The parts of a file with the energy of a read through one port in them, and the energy of a write.
pub(crate) fn one_read(mut pieces: Vec<Piece>, words: u64, reads: u32) -> (Vec<Piece>, Energy) {
    // A decoder has one part if it needs no gates behind its predecoders.
    let of_port = if address_bits(words) > 3 { 3 } else { 2 };
    let (read, write) = pieces.split_at_mut(1 + reads as usize * of_port);
    for piece in read {
        piece.energy = piece.energy / f64::from(reads);
    }
    let mut written = Energy::ZERO;
    for piece in write {
        written += std::mem::replace(&mut piece.energy, Energy::ZERO);
    }
    (pieces, written)
}
