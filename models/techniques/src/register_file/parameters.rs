//! Parameters and counters that techniques on the register file share.

use crate::{Kind, Parameter};

/// Subarrays of a bank.
pub const SUBARRAYS: Parameter = Parameter {
    name: "subarrays",
    kind: Kind::Count,
    default: "4",
    range: "1 to 64",
    meaning: "subarrays of a bank, each of which can be switched off; at most its rows",
};

/// How long waking takes.
pub const WAKE_CYCLES: Parameter = Parameter {
    name: "wake_cycles",
    kind: Kind::Count,
    default: "1",
    range: "0 to 1000",
    meaning: "cycles from switching a part of the register file on until it can be written; the instruction that writes it waits",
};

/// A counter and its meaning.
type Counter = (&'static str, &'static str);

/// Counters of every managed register file.
pub static COUNTERS: [Counter; 12] = [
    (
        "register_domains",
        "parts of the register file that are switched on their own",
    ),
    (
        "register_domain_cycles",
        "parts with at least one register taken, summed over cycles",
    ),
    ("register_domain_wakes", "parts switched on"),
    (
        "registers_most",
        "most physical registers taken at once, summed over SMs",
    ),
    (
        "registers_cycles",
        "physical registers taken, summed over cycles",
    ),
    (
        "registers_reserved_most",
        "most registers that resident CTAs asked for at once, summed over SMs",
    ),
    (
        "registers_reserved_cycles",
        "registers that resident CTAs asked for, summed over cycles",
    ),
    ("wear_registers", "physical registers"),
    ("wear_accesses", "reads and writes of physical registers"),
    (
        "wear_squares",
        "sum over physical registers of the square of their accesses",
    ),
    (
        "wear_most",
        "accesses of the register with the most; of one SM",
    ),
    (
        "wear_least",
        "accesses of the register with the fewest, of those that are accessed at all; of one SM",
    ),
];

/// Counters of renaming, those of every managed register file among them.
pub static RENAMING_COUNTERS: [Counter; 26] = joined(&COUNTERS, &RENAMING);

/// One list behind the other.
const fn joined<const N: usize>(first: &[Counter], second: &[Counter]) -> [Counter; N] {
    let mut all = [("", ""); N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() {
            first[at]
        } else {
            second[at - first.len()]
        };
        at += 1;
    }
    all
}

const RENAMING: [Counter; 14] = [
    (
        "renaming_table.read",
        "look-ups of renamed registers: one for each operand and result",
    ),
    (
        "renaming_table.write",
        "entries written: one for each register given out or released",
    ),
    (
        "register_availability.write",
        "availability vectors written: one for each register given out or freed",
    ),
    ("register_select.read", "searches for a free register"),
    (
        "release_flag_cache.read",
        "look-ups of the release-flag cache: one for each `pir` that a warp passes",
    ),
    ("release_flag_cache.write", "`pir` put into it after a miss"),
    (
        "renaming_most_entries",
        "most entries of the renaming table in use at once, summed over SMs",
    ),
    ("renamed_instructions", "instructions issued"),
    ("metadata_instructions", "`pir` and `pbr` that warps passed"),
    (
        "metadata_decoded",
        "of them decoded: all but those that the release-flag cache held",
    ),
    (
        "metadata_static",
        "`pir` and `pbr` in the code of all launches",
    ),
    ("instructions_static", "other instructions in it"),
    (
        "registers_exempt",
        "registers of a thread that are not renamed; the most of any launch",
    ),
    (
        "registers_waited_for",
        "times that every register was taken and an instruction waited for one that was about to be free",
    ),
];
