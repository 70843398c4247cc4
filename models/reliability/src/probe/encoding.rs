//! Which bits of an instruction in a buffer are needed.

use crate::Verdict;

/// Bits of the fields that matter even where an instruction's results do not. No vendor publishes an encoding of 64 bits; these are the widths that the free
/// assembler for Fermi (asfermi) found: operation 10, guard 4, destination 6.
const OPERATION: u32 = 10;
const GUARD: u32 = 4;
const DESTINATION: u32 = 6;

/// The needed bits among all `bits` of an instruction (Mukherjee et al., MICRO 2003, section 4.1).
///
/// A flip in the operation or the destination of a dead instruction can make it overwrite something; its other fields decide about a value that nobody reads. Of one
/// that is switched off only the guard counts, of one without effect the operation. A store, dead or not, is needed whole: its address is.
pub(crate) fn needed_bits(
    verdict: Verdict,
    stores: bool,
    launch_has_needs: bool,
    bits: u32,
) -> u32 {
    let needed = match verdict {
        _ if !launch_has_needs => 0,
        Verdict::Needed => bits,
        Verdict::Dead if stores => bits,
        Verdict::Dead => OPERATION + GUARD + DESTINATION,
        Verdict::SwitchedOff => GUARD,
        Verdict::Neutral => OPERATION,
    };
    needed.min(bits)
}
