//! What techniques protect of the bits that a program needs, on kernels small enough to know every bit-cycle, and laws of it.

mod added;
mod support;

use std::sync::Arc;

use support::{Followed, Log, follow, gpu, launch, stack};
use warpwatt_gpu::{Hooks, simulate};
use warpwatt_reliability::Structure;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_techniques::{ALL, Stack, Technique};

/// Waits for memory and uses what it had before: instruction 3 the load, 4 its reader, which reads `%r1` again.
const WAITS: &str = "ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r2, %r1; st.global.u32 [%rd2], %r3;";

/// Many warps that load, compute and diverge.
fn busy() -> KernelTrace {
    launch(
        256,
        "mov.u32 %r9, tile; shl.b32 %r8, %r1, 2; add.u32 %r9, %r9, %r8;
        ld.global.u32 %r4, [%rd2]; st.shared.u32 [%r9], %r4; bar.sync 0; ld.shared.u32 %r5, [%r9];
        mov.u32 %r6, 0; $l: mad.lo.u32 %r5, %r5, %r1, %r6; add.u32 %r6, %r6, 1; and.b32 %r7, %r1, 3;
        setp.le.u32 %p1, %r6, %r7; @%p1 bra $l; ld.global.u32 %r4, [%rd2]; add.u32 %r5, %r5, %r4; st.global.u32 [%rd2], %r5;",
    )
}

/// One warp has its instructions two by two: with an entry for each all can be corrected, with one entry half of them can be detected only, by parity.
#[test]
fn sawp_corrects_what_has_check_bits_and_detects_the_rest() {
    let trace = launch(
        32,
        "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; add.u32 %r4, %r3, 1; st.global.u32 [%rd2], %r4;",
    );
    let of = |parameters: &str| {
        let mut spec = gpu();
        spec.fetch.buffer_entries = 2;
        let found = follow(&spec, &trace, &stack(&[("sawp", parameters)]));
        let buffer = found.of(Structure::InstructionBuffer);
        let file = found.of(Structure::RegisterFile);
        assert_eq!((file.detected, file.corrected), (0, 0), "other storage");
        assert_eq!(buffer.silent(), 0, "every slot has a parity bit");
        (buffer, found)
    };
    let (all, found) = of("");
    let waits = found.log.buffered.iter().zip(&found.log.issued);
    let bits = [64; 8];
    let expected: u128 = waits
        .zip(bits)
        .map(|((came, (went, _)), bits)| u128::from(went - came) * bits)
        .sum();
    assert_eq!(all.ace, expected);
    assert_eq!((all.detected, all.corrected), (0, expected));

    // One entry and no eviction of what is in use: whoever comes while it is taken goes without.
    let (one, found) = of("entries = 1\nthreshold = 0");
    assert_eq!(one.ace, expected);
    let log = &found.log;
    let (mut holder, mut corrected) = (None::<usize>, 0);
    for (inst, bits) in (0..log.buffered.len()).zip(bits) {
        let (came, went) = (log.buffered[inst], log.issued[inst].0);
        // Within a cycle instructions come first and leave then.
        let taken = holder.is_some_and(|other| log.issued[other].0 >= came);
        if !taken {
            holder = Some(inst);
            corrected += u128::from(went - came) * bits;
        }
    }
    assert_eq!(one.corrected, corrected);
    assert_eq!(one.detected, expected - corrected);
    assert!(one.detected > 0 && one.corrected > 0);
}

/// Registers of a warp that waits: recorded one a cycle from the load's issue on, checked one a cycle from its result on.
#[test]
fn sharp_corrects_from_the_record_to_the_check() {
    let trace = launch(32, WAITS);
    let found = follow(&gpu(), &trace, &stack(&[("sharp", "")]));
    let (log, file) = (&found.log, found.of(Structure::RegisterFile));
    let count = |name: &str| u128::from(found.run.activity.get(name));
    assert_eq!(count("sharp_waited_cycles"), 0, "a port was taken");
    let recorded = count("sharp_registers_recorded");
    assert_eq!(recorded, count("sharp_registers_checked"));
    let (load, back) = (log.issue(3), log.written(3));
    // Needed through the wait: r1, for the sum, and both words of rd2, for the store. Each is checked as long after the result as it was recorded after the issue,
    // but rd2 is read for the load's address first. rd1 was read for the last time before it.
    let guarded = |word: u16, since: u128| {
        let turn = turn(&trace, word);
        32 * 32 * (back + turn - (load + turn).max(since))
    };
    let rd2: u128 = results(&trace, 2)
        .map(|word| guarded(word, log.read(3)))
        .sum();
    let r1: u128 = results(&trace, 0).map(|word| guarded(word, 0)).sum();
    assert_eq!(file.corrected, r1 + rd2);
    assert_eq!(file.detected, 0);
    // r1 from its write, rd1 to rd2's address, rd2 to the store, the sum to the store, the loaded value to the sum.
    let expected = 32 * (log.read(4) - log.written(0))
        + 64 * (log.read(2) - log.written(1))
        + 64 * (log.read(5) - log.written(2))
        + 32 * (log.read(5) - log.written(4))
        + 32 * (log.read(4) - log.written(3));
    assert_eq!(file.ace, 32 * expected);
}

/// A register that is read while its warp waits is wrong for its reader before it is checked.
#[test]
fn sharp_does_not_correct_what_was_read_before_the_check() {
    let body = "ld.global.u32 %r2, [%rd2]; xor.b32 %r4, %r1, 77; add.u32 %r3, %r2, %r1; add.u32 %r3, %r3, %r4; st.global.u32 [%rd2], %r3;";
    let trace = launch(32, body);
    let found = follow(&gpu(), &trace, &stack(&[("sharp", "")]));
    let (log, file) = (&found.log, found.of(Structure::RegisterFile));
    let (load, back) = (log.issue(3), log.written(3));
    let guarded = |word: u16, since: u128| {
        let turn = turn(&trace, word);
        32 * 32 * (back + turn - (load + turn).max(since))
    };
    // r1 from its reader on, rd2 from when the load has its address. What that reader computes comes when it has been recorded: those check bits are of the
    // value before it.
    let rd2: u128 = results(&trace, 2)
        .map(|word| guarded(word, log.read(3)))
        .sum();
    let r1: u128 = results(&trace, 0)
        .map(|word| guarded(word, log.read(4)))
        .sum();
    let (own, later) = (
        turn(&trace, results(&trace, 4).next().unwrap()),
        log.written(4),
    );
    assert!(load + own < later, "recorded before it comes");
    assert_eq!(file.corrected, r1 + rd2);
}

/// The words that an instruction writes.
fn results(trace: &KernelTrace, inst: usize) -> impl Iterator<Item = u16> {
    let registers = trace.code[inst].destinations.iter();
    registers.flat_map(|register| {
        let words = register.kind.words() as u16;
        register.number * words..(register.number + 1) * words
    })
}

/// How many registers go before a word when those of a warp are recorded: a cycle each, but for the one that instruction 3 loads.
fn turn(trace: &KernelTrace, word: u16) -> u128 {
    let loaded: Vec<u16> = results(trace, 3).collect();
    (0..word).filter(|it| !loaded.contains(it)).count() as u128
}

/// Registers that fit are corrected at every read, the others are as they were.
#[test]
fn free_registers_correct_as_many_as_they_have_room_for() {
    // 3 the load, 4 and 5 products, 6 to 8 sums of all of them, 9 the store.
    let trace = launch(
        32,
        "ld.global.u32 %r2, [%rd2]; mul.lo.u32 %r4, %r1, %r1; mul.lo.u32 %r5, %r4, 77; add.u32 %r3, %r2, %r1;
        add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; st.global.u32 [%rd2], %r3;",
    );
    let rtrp = stack(&[("register_to_register_protection", "")]);
    let roomy = follow(&gpu(), &trace, &rtrp).of(Structure::RegisterFile);
    assert!(roomy.ace > 0);
    assert_eq!(
        roomy.corrected, roomy.ace,
        "one warp leaves most registers free"
    );
    // One register more than the resident warps take has room for the check bits of the first four.
    let mut spec = gpu();
    let registers = trace.launch.registers;
    spec.sm.registers_bytes = 4 * 32 * (registers * spec.sm.ctas + 1);
    let full = follow(&spec, &trace, &rtrp);
    assert_eq!(full.run.activity.get("rtrp_free_registers"), 1);
    let (log, file) = (&full.log, full.of(Structure::RegisterFile));
    let lives = [
        (0, 6),
        (1, 2),
        (2, 9),
        (3, 6),
        (4, 7),
        (5, 8),
        (6, 7),
        (7, 8),
        (8, 9),
    ];
    let (mut all, mut first) = (0, 0);
    for (writer, reader) in lives {
        let bit_cycles = 32 * 32 * (log.read(reader) - log.written(writer as u32));
        for word in results(&trace, writer) {
            all += bit_cycles;
            first += if word < 4 { bit_cycles } else { 0 };
        }
    }
    assert_eq!((file.ace, file.corrected), (all, first));
    assert!(first < all);
}

#[test]
fn codes_cover_their_structure_whole_and_nothing_else() {
    let trace = busy();
    let plain = follow(&gpu(), &trace, &Stack::default());
    for storage in [
        Structure::RegisterFile,
        Structure::InstructionBuffer,
        Structure::SharedMemory,
        Structure::OperandCollector,
    ] {
        for (code, detects) in [("hsiao", false), ("parity", true)] {
            let parameters = format!("structure = \"{storage}\"\ncode = \"{code}\"");
            let found = follow(&gpu(), &trace, &stack(&[("ecc", &parameters)]));
            for other in Structure::ALL {
                let (before, after) = (plain.of(other), found.of(other));
                let noticed = if other == storage { before.ace } else { 0 };
                let parts = if detects { (noticed, 0) } else { (0, noticed) };
                assert_eq!((after.detected, after.corrected), parts, "{parameters}");
                assert_eq!(after.ace, before.ace);
            }
        }
    }
}

/// A value that all lanes share lies in two lanes with the token design, whose disagreement tells of a flip but not of the right value, unless each has a parity bit.
#[test]
fn what_is_held_twice_is_detected() {
    // 3 `mov r2, 5` and 4 `add r3` are the same in all lanes, 5 is not.
    let trace = launch(
        32,
        "mov.u32 %r2, 5; add.u32 %r3, %r2, 4; add.u32 %r4, %r3, %r1; st.global.u32 [%rd2], %r4;",
    );
    let file = |parameters: &str| {
        let uniform = stack(&[("uniform_vector", parameters)]);
        let found = follow(&gpu(), &trace, &uniform);
        (found.of(Structure::RegisterFile), found.log)
    };
    let token = "design = \"token\"\nmode = \"intra\"";
    let (once, log) = file(token);
    // Shared values: rd1, r2 and r3, once for all lanes; the others in all of them.
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
    assert_eq!(once.ace, shared(&log) + wide(&log));
    assert_eq!((once.detected, once.corrected), (0, 0));
    let (twice, log) = file(&format!("{token}\nreliability = true"));
    assert_eq!(twice.ace, 2 * shared(&log) + wide(&log));
    assert_eq!((twice.detected, twice.corrected), (2 * shared(&log), 0));
    let (chosen, log) = file(&format!("{token}\nreliability = true\nparity = true"));
    assert_eq!(
        (chosen.detected, chosen.corrected),
        (0, 2 * shared(&log)),
        "the copy whose parity is right"
    );
}

/// Both executions of a launch are compared: whatever is needed in either shows; but not what the first leaves in a cache that the second reads.
#[test]
fn a_second_execution_detects_flips_in_either() {
    let trace = busy();
    let plain = follow(&gpu(), &trace, &Stack::default());
    let found = follow(
        &gpu(),
        &trace,
        &stack(&[("full_dmr", "design = \"kernel\"")]),
    );
    assert_eq!(found.launches.len(), 2);
    assert_eq!(found.launches[0].cycles, plain.launches[0].cycles);
    for launch in &found.launches {
        for structure in [Structure::RegisterFile, Structure::SharedMemory] {
            let it = launch.of(structure);
            assert!(it.ace > 0);
            assert_eq!((it.detected, it.corrected), (it.ace, 0), "{structure}");
        }
    }
    // A second lane computes from the same bits, and so does Warped-DMR: what lies in storage is not theirs to tell.
    for name in ["full_dmr", "warped_dmr"] {
        let found = follow(&gpu(), &trace, &stack(&[(name, "")]));
        for structure in Structure::ALL {
            let it = found.of(structure);
            assert_eq!((it.detected, it.corrected), (0, 0), "{name}: {structure}");
        }
    }
}

/// The best of several protections counts, and each adds its own structures.
#[test]
fn stacks_protect_what_their_members_do() {
    let trace = busy();
    let ecc = ("ecc", "structure = \"shared_memory\"");
    let together = follow(&gpu(), &trace, &stack(&[ecc, ("sawp", ""), ("sharp", "")]));
    let alone = follow(&gpu(), &trace, &stack(&[("sharp", "")]));
    assert_eq!(together.run.cycles, alone.run.cycles);
    let noticed = |found: &Followed, structure| {
        let it = found.of(structure);
        (it.detected, it.corrected)
    };
    let file = Structure::RegisterFile;
    assert_eq!(noticed(&together, file), noticed(&alone, file));
    assert!(noticed(&alone, file).1 > 0);
    let shared = together.of(Structure::SharedMemory);
    assert_eq!((shared.silent(), shared.corrected), (0, shared.ace));
    assert_eq!(together.of(Structure::InstructionBuffer).silent(), 0);
}

/// Following needed bits changes no run; where a technique leaves timing alone, what it covers and what it does not are the plain GPU's needed bits.
#[test]
fn covered_and_uncovered_are_what_the_plain_gpu_needs() {
    let trace = busy();
    let plain = follow(&gpu(), &trace, &Stack::default());
    let mut same = 0;
    // Compaction forms other warps than those that are followed where lanes part, a sampled check runs other CTAs: both refuse.
    const REFUSED: [&str; 2] = ["aged_sampling_dmr", "thread_block_compaction"];
    let followed = ALL.iter().filter(|it| !REFUSED.contains(&it.name));
    for definition in followed {
        let technique: Arc<dyn Technique> = definition.parse(&toml::Table::new()).unwrap().into();
        let stack = Stack::new(vec![Arc::clone(&technique)]).unwrap();
        let found = follow(&gpu(), &trace, &stack);
        let mut spec = gpu();
        stack.reshape(&mut spec);
        let mut hooks = Hooks::default();
        stack.attach(&spec, &mut hooks);
        let run = simulate(&spec, std::slice::from_ref(&trace), hooks).unwrap();
        assert_eq!(found.run, run, "{}", definition.name);
        for structure in Structure::ALL {
            let it = found.of(structure);
            assert!(
                it.detected + it.corrected <= it.ace,
                "{}: {structure}",
                definition.name
            );
            assert!(
                it.ace <= it.occupied,
                "{}: {structure}: {it:?}",
                definition.name
            );
            assert!(
                it.occupied <= it.total,
                "{}: {structure}: {it:?}",
                definition.name
            );
            let windows = found.launches[0].over_time.windows.iter();
            let sum: u128 = windows.map(|window| window[structure as usize]).sum();
            assert_eq!(sum, it.ace, "{}: {structure}", definition.name);
            if ["ecc", "sawp", "register_to_register_protection"].contains(&definition.name) {
                assert_eq!(found.run.cycles, plain.run.cycles);
                assert_eq!(
                    it.ace,
                    plain.of(structure).ace,
                    "{}: {structure}",
                    definition.name
                );
                assert_eq!(
                    it.silent() + it.detected + it.corrected,
                    plain.of(structure).ace
                );
                same += 1;
            }
        }
    }
    assert_eq!(same, 3 * Structure::COUNT);
}
