//! Parameters and counters that techniques on the register file share.

use super::Domain;
use crate::parameter::{Count, CountOr, count, count_or};

/// Subarrays of a bank.
pub const SUBARRAYS: Count = count(
    "subarrays",
    4,
    1..=64,
    "subarrays of a bank, each of which can be switched off; at most its rows",
);

/// How long waking takes.
pub const WAKE_CYCLES: Count = count(
    "wake_cycles",
    1,
    0..=1000,
    "cycles from switching a part of the register file on until it can be written; the instruction that writes it waits",
);

/// The renaming table.
pub const RENAMING_TABLE_BYTES: CountOr = count_or(
    "renaming_table_bytes",
    Some(1024),
    16..=65_536,
    "full",
    "size of the renaming table of an SM; registers whose values live longest stay out of it where it is too small. \"full\": 63 entries a warp",
);

/// The release-flag cache.
pub const RELEASE_FLAG_CACHE: Count = count(
    "release_flag_cache",
    10,
    0..=1024,
    "entries of the direct-mapped cache of `pir` instructions",
);

/// How long a look-up takes.
pub const PIPELINE_CYCLES: Count = count(
    "pipeline_cycles",
    1,
    0..=8,
    "cycles that looking up the renaming table adds between issue and operand collection",
);

/// What can be switched off while it holds nothing.
pub const GATINGS: [(&str, Option<Domain>); 3] = [
    ("subarray", Some(Domain::Subarray)),
    ("register", Some(Domain::Register)),
    ("none", None),
];

/// A counter and its meaning.
type Counter = (&'static str, &'static str);

/// Counters of every managed register file.
pub static COUNTERS: [Counter; 9] = [
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
];

/// Counters of renaming, those of every managed register file among them.
pub static RENAMING_COUNTERS: [Counter; 23] = joined(&COUNTERS, &RENAMING);

/// Counters of a register file that is smaller than what programs see, those of renaming among them.
pub static SHRUNK_COUNTERS: [Counter; 30] = joined(&RENAMING_COUNTERS, &SHRUNK);

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

const SHRUNK: [Counter; 7] = [
    (
        "register_balance.read",
        "counters of registers compared: one for each time that an instruction asked for registers",
    ),
    (
        "register_balance.write",
        "counters written: two for each register given out or freed",
    ),
    (
        "throttled_instructions",
        "instructions that were held back because they wanted registers",
    ),
    (
        "throttled_cycles",
        "cycles for which they were, from the first in which they could have issued",
    ),
    (
        "spilled_warps",
        "times that the registers of a warp went to memory to make room",
    ),
    (
        "spilled_registers",
        "registers that went, each one store as wide as a warp",
    ),
    (
        "restored_registers",
        "registers that came back, each one load as wide as a warp",
    ),
];
