//! Which bits of an instruction are needed.

use crate::Verdict;

/// Fields of an instruction, as a set of bits.
pub(super) type Fields = u8;

/// How many fields are told apart.
pub(super) const FIELDS: usize = 4;

const OPERATION: Fields = 1;
const GUARD: Fields = 1 << 1;
const DESTINATION: Fields = 1 << 2;

/// All of an instruction.
pub(super) const WHOLE: Fields = (1 << FIELDS) - 1;

/// The bits of each field of an instruction of `bits` bits, the last being all others. No vendor publishes an encoding of 64 bits; these are the widths that the
/// free assembler for Fermi (asfermi) found: operation 10, guard 4, destination 6.
pub(super) fn widths(bits: u32) -> [u32; FIELDS] {
    let mut left = bits;
    [10, 4, 6, bits].map(|width: u32| {
        let width = width.min(left);
        left -= width;
        width
    })
}

/// The needed fields of an instruction (Mukherjee et al., MICRO 2003, section 4.1).
///
/// A flip in the operation or the destination of a dead instruction can make it overwrite something; its other fields decide about a value that nobody reads. Of one
/// that is switched off only the guard counts, of one without effect the operation. A store, dead or not, is needed whole: its address is.
pub(super) fn needed(verdict: Verdict, stores: bool, launch_has_needs: bool) -> Fields {
    match verdict {
        _ if !launch_has_needs => 0,
        Verdict::Needed => WHOLE,
        Verdict::Dead if stores => WHOLE,
        Verdict::Dead => OPERATION | GUARD | DESTINATION,
        Verdict::SwitchedOff => GUARD,
        Verdict::Neutral => OPERATION,
    }
}

/// Bits of some fields.
pub(super) fn bits_of(fields: Fields, widths: &[u32; FIELDS]) -> u32 {
    let of = |(field, width): (usize, &u32)| if fields >> field & 1 != 0 { *width } else { 0 };
    widths.iter().enumerate().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_the_instruction() {
        for bits in [8, 16, 64, 128] {
            assert_eq!(widths(bits).iter().sum::<u32>(), bits);
        }
        let of = |verdict| bits_of(needed(verdict, false, true), &widths(64));
        let verdicts = [
            Verdict::Needed,
            Verdict::Dead,
            Verdict::SwitchedOff,
            Verdict::Neutral,
        ];
        assert_eq!(verdicts.map(of), [64, 20, 4, 10]);
        assert_eq!(needed(Verdict::Dead, true, true), WHOLE);
        assert_eq!(needed(Verdict::Needed, true, false), 0);
    }
}
