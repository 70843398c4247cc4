//! One launch in every packing is one trace.

use std::fs::File;
use std::path::Path;

use warpwatt_sass::{KernelTrace, Limits, Packing, listing, read};
use warpwatt_simt::trace::{Addresses, Space};

fn trace(name: &str) -> KernelTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let packing = Packing::of(name).unwrap();
    let limits = Limits::of(1_000);
    read(File::open(path).unwrap(), packing, limits)
        .unwrap()
        .trace
}

#[test]
fn every_packing_is_the_same_trace() {
    let list = listing(include_str!("data/kernelslist.g")).unwrap();
    assert_eq!(list.launches.len(), 3);
    assert_eq!(list.copied_bytes, 2 * 4 * 160);
    let traces: Vec<KernelTrace> = list.launches.iter().map(|name| trace(name)).collect();
    let steps = |trace: &KernelTrace| -> Vec<String> {
        let warps = (0..3).flat_map(|cta| [(cta, 0), (cta, 1)]);
        warps
            .flat_map(|(cta, warp)| {
                trace
                    .warp(cta, warp)
                    .unwrap()
                    .map(|step| format!("{step:?}"))
            })
            .collect()
    };
    for other in &traces[1..] {
        assert_eq!(other.launch, traces[0].launch);
        assert_eq!(other.code, traces[0].code);
        assert_eq!(steps(other), steps(&traces[0]));
    }
}

/// Worked out by hand: 160 threads are five warps of 15 instructions; the sixth leaves after six.
#[test]
fn what_the_launch_did() {
    let trace = trace("kernel-1.traceg");
    let counts = trace.counts().unwrap();
    assert_eq!(counts.warp_instructions, 5 * 15 + 6);
    // An exit that no lane takes is one whose 32 lanes are switched off.
    assert_eq!(counts.predicated_off, 5 * 32);
    assert_eq!(counts.thread_instructions, (5 * 15 + 6) * 32);
    let loads = trace.code.iter().filter_map(|inst| inst.memory);
    let spaces: Vec<Space> = loads.map(|memory| memory.space).collect();
    assert_eq!(spaces, [Space::Global; 3]);
    let store = trace.warp(1, 1).unwrap().nth(13).unwrap();
    let at = Addresses::Affine {
        base: 0x7f1c_0000_2000 + 4 * 96,
        stride: 4,
    };
    assert_eq!(store.addresses, Some(at));
}
