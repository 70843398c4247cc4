use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::trace::{
    Addresses, Asynchronous, Flow, LatencyClass, Marks, MemoryOp, MemoryOpKind, Need, Needs,
    Outstanding, Register, RegisterKind, Release, Results, Role, Space, Split, Unit, ValueRead,
    ValueWrite, WarpRecorder,
};

const LIMIT: u64 = 64 << 20;

fn register() -> impl Strategy<Value = Register> {
    let kind = prop::sample::select(vec![
        RegisterKind::Word,
        RegisterKind::Double,
        RegisterKind::Predicate,
    ]);
    (kind, any::<u16>()).prop_map(|(kind, number)| Register { kind, number })
}

fn memory() -> impl Strategy<Value = MemoryOp> {
    let space = prop::sample::select(vec![Space::Global, Space::Shared, Space::Generic]);
    let kind = prop::sample::select(vec![MemoryOpKind::Load, MemoryOpKind::Atomic]);
    (space, kind, 1u8..=32, any::<bool>()).prop_map(|(space, kind, bytes, past_l1)| MemoryOp {
        past_l1,
        ..MemoryOp::new(space, kind, bytes)
    })
}

fn marks() -> impl Strategy<Value = Marks> {
    let reads = prop::collection::vec(any::<(u16, u32)>(), 0..4);
    let writes = prop::collection::vec(any::<(u16, u32, bool)>(), 0..4);
    (any::<bool>(), reads, writes).prop_map(|(begins, reads, writes)| Marks {
        begins,
        reads: reads
            .into_iter()
            .map(|(word, value)| ValueRead { word, value })
            .collect(),
        writes: writes
            .into_iter()
            .map(|(word, value, outlives)| ValueWrite {
                word,
                value,
                outlives,
            })
            .collect(),
    })
}

fn inst() -> impl Strategy<Value = StaticInst> {
    let unit = prop::sample::select(vec![Unit::Int, Unit::Control, Unit::Fence]);
    let latency = prop::sample::select(vec![LatencyClass::Add, LatencyClass::Simple]);
    let flow = prop::option::of(prop::sample::select(vec![Flow::Branch, Flow::Exit]));
    let results = prop::sample::select(vec![Results::FromSources, Results::PerLane]);
    let registers = || prop::collection::vec(register(), 0..4);
    let memory = prop::option::of(memory());
    let meeting = prop::collection::vec(any::<u16>(), 0..4);
    let release =
        (any::<bool>(), registers(), meeting).prop_map(|(leader, sources, meeting)| Release {
            leader,
            sources,
            meeting,
        });
    let parts = (unit, latency, registers(), registers(), memory);
    let outstanding = any::<(u8, u8)>()
        .prop_map(|(vector, near)| Asynchronous::Outstanding(Outstanding { vector, near }));
    let asynchronous = prop_oneof![
        outstanding,
        any::<u32>().prop_map(|shared_bytes| Asynchronous::Product { shared_bytes }),
        any::<u32>().prop_map(Asynchronous::Wait),
        Just(Asynchronous::Commit),
        Just(Asynchronous::Tensor),
        Just(Asynchronous::Completes),
    ];
    let asynchronous = prop::option::of(asynchronous);
    let product = (any::<u32>(), any::<u8>());
    let facts = (any::<bool>(), any::<u32>(), product, needs(), split());
    let facts = (facts, asynchronous, any::<u8>());
    (parts, flow, results, facts, release, marks()).prop_map(
        |(
            (unit, latency, sources, destinations, memory),
            flow,
            results,
            ((uniform, line, (multiply_adds, element_bits), needs, split), asynchronous, bytes),
            release,
            marks,
        )| {
            StaticInst {
                unit,
                latency,
                sources,
                destinations,
                memory,
                flow,
                results,
                uniform,
                multiply_adds,
                element_bits,
                asynchronous,
                bytes,
                line,
                release,
                marks,
                needs,
                split,
            }
        },
    )
}

fn split() -> impl Strategy<Value = Option<Split>> {
    let split = any::<(u32, u32)>().prop_map(|(target, meets)| Split { target, meets });
    prop::option::of(split)
}

fn needs() -> impl Strategy<Value = Needs> {
    let role = prop_oneof![
        prop::sample::select(vec![
            Role::Always,
            Role::Guard,
            Role::Address,
            Role::Stored,
            Role::Whole,
            Role::Bitwise,
            Role::NotAbove,
            Role::BitwiseOfLanes,
            Role::OfLanes,
        ]),
        any::<i8>().prop_map(Role::Shifted),
    ];
    let need = (role, any::<u64>()).prop_map(|(role, bits)| Need { role, bits });
    let sources = prop::collection::vec(need, 0..4);
    (sources, any::<bool>()).prop_map(|(sources, opaque)| Needs { sources, opaque })
}

#[derive(Clone, Debug)]
struct Sample {
    inst: prop::sample::Index,
    active: u64,
    guard: u64,
    addresses: Vec<u64>,
}

fn sample() -> impl Strategy<Value = Sample> {
    let scattered = prop::collection::vec(any::<u64>(), 64);
    let affine = (any::<u32>(), -64i64..64).prop_map(|(base, stride)| {
        let address = |lane| u64::from(base).wrapping_add_signed(stride * lane);
        (0..64).map(address).collect()
    });
    let guard = prop_oneof![3 => Just(u64::MAX), 1 => any::<u64>()];
    let addresses = prop_oneof![1 => scattered, 2 => affine];
    let parts = (any::<prop::sample::Index>(), any::<u64>(), guard, addresses);
    parts.prop_map(|(inst, active, guard, addresses)| Sample {
        inst,
        active,
        guard,
        addresses,
    })
}

/// A launch of `ctas` CTAs of two warps.
fn launch() -> impl Strategy<Value = KernelTrace> {
    let code = prop::collection::vec(inst(), 1..6);
    let warp = || prop::collection::vec(sample(), 0..12);
    let warps = prop::collection::vec([warp(), warp()], 1..4);
    let width = prop::sample::select(vec![32u32, 64]);
    ("[a-z_]{1,8}", code, warps, width).prop_map(|(kernel, code, ctas, warp_width)| {
        let shape = LaunchShape {
            grid: [ctas.len() as u32, 1, 1],
            block: [warp_width, 2, 1],
            warp_width,
            shared_bytes: 7,
            registers: 20,
        };
        let mut trace = KernelTrace::new(kernel, Arc::from(code), shape);
        for warp in ctas.iter().flatten() {
            trace
                .push_warp(&record(&trace.code, warp, warp_width))
                .unwrap();
        }
        trace
    })
}

fn record(code: &[StaticInst], samples: &[Sample], width: u32) -> WarpRecorder {
    let mut recorder = WarpRecorder::default();
    for sample in samples {
        let inst = sample.inst.index(code.len());
        let active = (sample.active | 1) & (u64::MAX >> (64 - width));
        let executed = active & sample.guard;
        match code[inst].memory {
            Some(_) => {
                let addresses = &sample.addresses[..width as usize];
                recorder.access(inst as u32, active, executed, addresses);
            }
            None => recorder.step(inst as u32, active, executed),
        }
    }
    recorder
}

/// Everything that a replay sees.
fn seen(trace: &KernelTrace) -> impl PartialEq + std::fmt::Debug {
    let warps = (0..trace.launch.ctas())
        .flat_map(|cta| (0..trace.launch.warps_per_cta()).map(move |warp| (cta, warp)));
    let steps = warps.map(|(cta, warp)| {
        let steps = trace.warp(cta, warp).unwrap().map(|step| {
            let mut addresses = Vec::new();
            if let Some(found) = &step.addresses {
                found.for_each(step.executed, |lane, at| addresses.push((lane, at)));
            }
            let affine = matches!(step.addresses, Some(Addresses::Affine { .. }));
            (step.inst, step.active, step.executed, affine, addresses)
        });
        steps.collect::<Vec<_>>()
    });
    let steps: Vec<_> = steps.collect();
    let shape = trace.launch.clone();
    (trace.kernel.clone(), trace.code.to_vec(), shape, steps)
}

fn every_lane_has_an_address(trace: &KernelTrace) {
    for warp in 0..trace.warps.len() {
        for step in trace.cursor(warp).unwrap() {
            let mut lanes = 0;
            if let Some(addresses) = &step.addresses {
                addresses.for_each(step.executed, |lane, _| lanes |= 1 << lane);
                assert_eq!(lanes, step.executed);
            }
        }
    }
}

fn encoded(launches: &[KernelTrace]) -> Vec<u8> {
    let launches: Vec<&KernelTrace> = launches.iter().collect();
    encode(&[7; 32], "sample, case default", &launches).unwrap()
}

/// A file whose checksum agrees with contents that no encoder wrote.
fn forged(contents: &[u8]) -> Vec<u8> {
    let mut file = contents.to_vec();
    file.extend(Sha256::digest(contents));
    file
}

/// What stands in the blocks of a file.
fn body(file: &[u8]) -> Vec<u8> {
    let mut reader = BlockReader::new(&file[HEADER..file.len() - CHECKSUM], LIMIT);
    std::iter::from_fn(|| reader.byte().ok()).collect()
}

/// As `forged`, from what stands in the blocks.
fn forged_body(write: impl FnOnce(&mut BlockWriter)) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(FORMAT.to_le_bytes());
    header.extend([0; 32]);
    let mut writer = BlockWriter::new(header);
    write(&mut writer);
    forged(&writer.finish())
}

proptest! {
    #[test]
    fn what_was_written_is_what_is_read(launches in prop::collection::vec(launch(), 0..4)) {
        let stored = decode(&encoded(&launches), LIMIT, &Store::default()).unwrap();
        prop_assert_eq!(stored.key, [7; 32]);
        prop_assert_eq!(stored.label.as_str(), "sample, case default");
        prop_assert_eq!(stored.executions.len(), launches.len());
        for (execution, wrote) in stored.executions.iter().zip(&launches) {
            let read = execution.trace.as_ref().unwrap();
            prop_assert_eq!(seen(read), seen(wrote));
            let counts = wrote.counts().unwrap();
            prop_assert_eq!(counts.warp_instructions, wrote.warp_instructions());
            prop_assert_eq!(execution.warp_instructions, counts.warp_instructions);
            prop_assert_eq!(execution.thread_instructions, counts.thread_instructions);
            prop_assert_eq!(execution.predicated_off, counts.predicated_off);
        }
    }

    #[test]
    fn every_changed_byte_is_noticed(launch in launch(), at: prop::sample::Index, flip in 1u8..) {
        let mut file = encoded(&[launch]);
        let at = at.index(file.len());
        file[at] ^= flip;
        prop_assert!(decode(&file, LIMIT, &Store::default()).is_err());
    }

    #[test]
    fn every_missing_and_every_further_byte_is_noticed(launch in launch(), at: prop::sample::Index, more: u8) {
        let mut file = encoded(&[launch]);
        prop_assert!(decode(&file[..at.index(file.len())], LIMIT, &Store::default()).is_err());
        file.push(more);
        prop_assert!(decode(&file, LIMIT, &Store::default()).is_err());
    }

    /// Behind a right checksum the reader is on its own.
    #[test]
    fn a_forged_file_is_read_whole_or_refused(launch in launch(), places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut body = body(&encoded(&[launch]));
        for (at, byte) in places {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if let Ok(stored) = decode(&forged_body(|writer| writer.bytes(&body)), LIMIT, &Store::default()) {
            for execution in &stored.executions {
                let trace = execution.trace.as_ref().unwrap();
                let _ = seen(trace);
                every_lane_has_an_address(trace);
                prop_assert_eq!(trace.counts().unwrap().warp_instructions, execution.warp_instructions);
            }
        }
    }

    /// The same with what is compressed.
    #[test]
    fn forged_blocks_are_refused(launch in launch(), at: prop::sample::Index, byte: u8) {
        let file = encoded(&[launch]);
        let mut contents = file[..file.len() - CHECKSUM].to_vec();
        let at = HEADER + at.index(contents.len() - HEADER);
        contents[at] = byte;
        let _ = decode(&forged(&contents), LIMIT, &Store::default());
    }

    #[test]
    fn a_forged_body_is_read_whole_or_refused(body in prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(32), Just(255), any::<u8>()], 0..200)) {
        let _ = decode(&forged_body(|writer| writer.bytes(&body)), LIMIT, &Store::default());
    }

    /// Records are bounded by what was written, so any bytes in their place must end and do no harm.
    #[test]
    fn any_records_end(bytes in prop::collection::vec(any::<u8>(), 0..200), steps in 0u32..40) {
        let shape = LaunchShape { grid: [1; 3], block: [32, 1, 1], warp_width: 32, shared_bytes: 0, registers: 0 };
        let mut trace = KernelTrace::new("k", Arc::from([]), shape);
        trace.push(&bytes, steps).unwrap();
        let _ = seen(&trace);
        prop_assert_eq!(trace.counts().is_ok(), steps == 0 && bytes.is_empty());
    }
}

#[test]
fn other_files_and_other_versions_are_told_apart() {
    assert_eq!(
        decode(b"", LIMIT, &Store::default()).unwrap_err(),
        TraceFileError::Foreign
    );
    let other = decode(&[b'x'; 400], LIMIT, &Store::default()).unwrap_err();
    assert_eq!(other, TraceFileError::Foreign);
    let mut older = encoded(&[]);
    older[8..12].copy_from_slice(&(FORMAT - 1).to_le_bytes());
    let found = FORMAT - 1;
    assert_eq!(
        decode(&older, LIMIT, &Store::default()).unwrap_err(),
        TraceFileError::Format { found }
    );
    let whole = encoded(&[]);
    let short = decode(&whole[..whole.len() - 1], LIMIT, &Store::default()).unwrap_err();
    assert_eq!(short, TraceFileError::Damaged);
}

/// A few bytes that claim 2^60 warps, or a name of 2^60 bytes: refused before memory is taken.
#[test]
fn claims_take_no_memory() {
    let cut = TraceFileError::Malformed(Malformed("it ends too early"));
    let warps = forged_body(|writer| {
        // No label, one code of no instructions, one launch.
        writer.bytes(&[0, 1, 0, 1]);
        writer.text("k");
        for number in [0, 1 << 30, 1 << 30, 1, 32, 1, 1, 32, 0, 0] {
            writer.unsigned(number);
        }
    });
    assert_eq!(decode(&warps, LIMIT, &Store::default()).unwrap_err(), cut);
    let name = forged_body(|writer| writer.unsigned(1 << 60));
    assert_eq!(decode(&name, LIMIT, &Store::default()).unwrap_err(), cut);
}

/// Some forty kilobytes that stand for ten megabytes.
#[test]
fn memory_is_bounded_by_the_limit() {
    let file = forged_body(|writer| writer.text(&"a".repeat(10 << 20)));
    assert!(file.len() < 50_000, "{}", file.len());
    let limit = 1 << 20;
    assert_eq!(
        decode(&file, limit, &Store::default()).unwrap_err(),
        TraceFileError::TooLarge { limit }
    );
}
