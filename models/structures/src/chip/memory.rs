//! Memory controllers, and the DRAM beside the chip.

use warpwatt_circuit::memory::{MemoryKind, MemoryPart, MemorySpec};
use warpwatt_circuit::{CamSpec, Ports, Spec};
use warpwatt_gpu::{DramKind, GpuSpec, SECTOR_BYTES};

use super::ADDRESS_BITS;
use crate::{Charge, Group, Structure};

/// Controllers and DRAM of the whole GPU.
pub(super) fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let in_group =
        |group| move |name, spec, count| Structure::new(name, group, spec).per_gpu(count);
    let (uncore, memory) = (in_group(Group::Uncore), in_group(Group::Dram));
    let requests = ["dram_reads", "dram_writes"];
    // Behind a second-level cache sectors move; without one, requests of one each.
    let (reads, writes) = match gpu.has_l2() {
        true => ("l2_read_misses", "l2_write_backs"),
        false => ("dram_reads", "dram_writes"),
    };
    vec![
        uncore("memory_controller", queue(gpu), gpu.dram.controllers)
            .charged(Charge::any("search", &requests))
            .charged(Charge::any("write", &requests)),
        memory(
            "dram",
            device(gpu, MemoryPart::Access),
            gpu.chip.dram_devices,
        )
        .charged(Charge::each("read", reads))
        .charged(Charge::each("write", writes)),
        memory("dram.row", device(gpu, MemoryPart::Row), 0)
            .charged(Charge::each("read", "dram_row_misses")),
    ]
}

/// Requests that wait, searched for those whose row is open.
fn queue(gpu: &GpuSpec) -> Spec {
    Spec::Cam(CamSpec {
        entries: u64::from(gpu.dram.queue),
        bits: u64::from(ADDRESS_BITS - SECTOR_BYTES.ilog2()),
        ports: Ports::ONE,
        banks: 1,
    })
}

/// A sector moved, or a row opened and closed.
fn device(gpu: &GpuSpec, part: MemoryPart) -> Spec {
    Spec::Memory(MemorySpec {
        kind: kind(gpu.chip.dram),
        bits: 8 * u64::from(SECTOR_BYTES),
        row_hits: 100,
        part,
    })
}

fn kind(dram: DramKind) -> MemoryKind {
    match dram {
        DramKind::Gddr5 => MemoryKind::Gddr5,
        DramKind::Gddr5x => MemoryKind::Gddr5x,
        DramKind::Gddr6 => MemoryKind::Gddr6,
        DramKind::Gddr6x => MemoryKind::Gddr6x,
        DramKind::Hbm2 => MemoryKind::Hbm2,
        DramKind::Hbm2e => MemoryKind::Hbm2e,
        DramKind::Hbm3 => MemoryKind::Hbm3,
    }
}
