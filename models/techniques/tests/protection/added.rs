//! Storage that techniques add, on kernels small enough to know every bit-cycle.

use std::collections::BTreeMap;

use warpwatt_reliability::{BitCycles, Structure};
use warpwatt_simt::trace::KernelTrace;

use crate::results;
use crate::support::{Followed, Log, follow, gpu, launch, stack};

/// Instructions 3 `mov r2` and 4 `add r3` are the same in all lanes, and so is rd1, which 1 loads from one address.
const SHARED: &str =
    "mov.u32 %r2, 5; add.u32 %r3, %r2, 4; add.u32 %r4, %r3, %r1; st.global.u32 [%rd2], %r4;";

/// How long words hold what all lanes share: until it is written over with what they do not, or the warp ends.
fn shared_words(trace: &KernelTrace, end: u64, at: impl Fn(usize) -> u128) -> u128 {
    let (mut since, mut sum) = (BTreeMap::new(), 0);
    for inst in 0..trace.code.len() {
        for word in results(trace, inst) {
            if [1, 3, 4].contains(&inst) {
                since.entry(word).or_insert(at(inst));
            } else if let Some(since) = since.remove(&word) {
                sum += at(inst) - since;
            }
        }
    }
    let left = since.values().map(|since| u128::from(end) - since);
    sum + left.sum::<u128>()
}

/// What lies in scalar registers is needed there and nowhere else; their numbers as long as registers are theirs.
#[test]
fn scalar_registers_hold_what_all_lanes_share() {
    let trace = launch(32, SHARED);
    let of = |parameters: &str| {
        let parameters = format!("design = \"srf\"\nmode = \"intra\"\n{parameters}");
        follow(&gpu(), &trace, &stack(&[("uniform_vector", &parameters)]))
    };
    let found = of("");
    let log = &found.log;
    let shared = |log: &Log| {
        64 * (log.read(2) - log.written(1))
            + 32 * (log.read(4) - log.written(3))
            + 32 * (log.read(5) - log.written(4))
    };
    let wide = |log: &Log| {
        32 * (32 * (log.read(5) - log.written(0))
            + 64 * (log.read(6) - log.written(2))
            + 32 * (log.read(6) - log.written(5)))
    };
    let scalars = found.of(Structure::ScalarRegisterFile);
    assert_eq!(scalars.ace, shared(log));
    assert_eq!(found.of(Structure::RegisterFile).ace, wide(log));
    let cycles = u128::from(found.launches[0].cycles);
    assert_eq!(scalars.total, 128 * 32 * cycles);
    let there = shared_words(&trace, log.retired, |inst| log.written(inst as u32));
    assert_eq!(scalars.occupied, 32 * there);
    // Of 512 vector registers, each with seven bits.
    let table = found.of(Structure::RenamingTable);
    let renamed = shared_words(&trace, log.retired, |inst| log.issue(inst));
    assert_eq!(table.ace, 7 * renamed);
    assert_eq!((table.occupied, table.total), (table.ace, 512 * 7 * cycles));
    // A second copy in a lane tells of a flip in either.
    let twice = of("reliability = true");
    let both = shared(&twice.log);
    for (structure, rest) in [
        (Structure::ScalarRegisterFile, 0),
        (Structure::RegisterFile, wide(&twice.log)),
    ] {
        let it = twice.of(structure);
        assert_eq!((it.ace, it.detected), (both + rest, both), "{structure}");
    }
}

/// A loop of three rounds. 5 computes the same every time, of which the last is needed; the counter 6 and its comparison 7 find their own entries with other values.
const ROUNDS: &str = "mov.u32 %r2, 7; mov.u32 %r3, 0; $l: add.u32 %r4, %r2, 5; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra $l; st.global.u32 [%rd2], %r4;";

#[test]
fn results_are_needed_from_their_entry_to_their_last_needed_reuse() {
    let trace = launch(32, ROUNDS);
    let of = |parameters: &str| {
        let parameters = format!("mode = \"inter\"\n{parameters}");
        let found = follow(&gpu(), &trace, &stack(&[("uniform_vector", &parameters)]));
        let buffer = found.of(Structure::InstructionReuseBuffer);
        (buffer, found)
    };
    let (buffer, found) = of("");
    let count = |name: &str| found.run.activity.get(name);
    assert_eq!(count("uniform_vector_reused"), 2, "two of three rounds");
    let rounds = |inst: u32| -> Vec<(u128, u128)> {
        let log = &found.log;
        let all = log.issued.iter().zip(&log.insts);
        let own = all.filter(|(_, (it, _))| *it == inst);
        own.map(|((issued, _), (_, latency))| (u128::from(*issued), u128::from(*latency)))
            .collect()
    };
    let since = |(issued, latency): (u128, u128)| issued + latency;
    let sum = rounds(5);
    let mut ace = 32 * (sum[2].0 - since(sum[0]));
    for inst in [6, 7] {
        let each = rounds(inst);
        for pair in each.windows(2) {
            ace += pair[1].0 - since(pair[0]);
        }
    }
    assert_eq!(buffer.ace, ace);
    // Tag, three sources and a result, opcode, age.
    let entry = 10 + 4 * 32 + 8 + 3;
    let cycles = u128::from(found.launches[0].cycles);
    assert_eq!(buffer.total, 8 * entry * cycles);
    let there = [3, 4, 5, 6, 7].map(|inst| cycles - since(rounds(inst)[0]));
    assert_eq!(buffer.occupied, entry * there.iter().sum::<u128>());
    assert_eq!((buffer.detected, buffer.corrected), (0, 0));
    // What the parity bit finds wrong is executed.
    let (guarded, _) = of("reliability = true");
    assert!(guarded.ace > 0);
    assert_eq!((guarded.silent(), guarded.detected), (0, 0));
}

/// Each register has an entry from the issue of its writer to that of its last reader, which gives its place back.
#[test]
fn the_renaming_table_is_needed_as_long_as_registers_have_places() {
    let trace = launch(32, "add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2;");
    let virtualized = stack(&[("register_virtualization", "")]);
    let Followed { launches, log, .. } = &follow(&gpu(), &trace, &virtualized);
    let lives = [(0, 3, 1), (1, 2, 2), (2, 4, 2), (3, 4, 1)];
    let life = |(writer, reader, words): (usize, usize, u128)| {
        words * (log.issue(reader) - log.issue(writer))
    };
    let table: &BitCycles = launches[0].of(Structure::RenamingTable);
    // 512 physical registers: nine bits; a kilobyte of them in four banks.
    assert_eq!(table.ace, 9 * lives.map(life).iter().sum::<u128>());
    assert_eq!(table.occupied, table.ace);
    assert_eq!(table.total, 912 * 9 * u128::from(launches[0].cycles));
    let plain = follow(&gpu(), &trace, &stack(&[]));
    assert_eq!(plain.of(Structure::RenamingTable), BitCycles::default());
}
