//! What managing the registers costs, and what it comes to.

use warpwatt_circuit::{BufferSpec, Granularity, Ports, RamSpec, SelectSpec, Spec};
use warpwatt_gpu::{GpuSpec, Run};

use super::{Domain, Management, wear};
use crate::{Gates, Metric, Structure};

/// Banks of the renaming table, so that the operands of an instruction are looked up together (section 2.5.4).
pub(super) const TABLE_BANKS: u32 = 4;
/// Bits of the flags of a `pir`.
const FLAG_BITS: u64 = 54;

/// The structures of renaming.
pub fn structures(management: &Management, gpu: &GpuSpec) -> Vec<Structure> {
    let geometry = management.geometry(gpu);
    let rows = u64::from(geometry.registers / geometry.banks);
    let entries = management.table_entries(gpu);
    let table = Spec::Ram(RamSpec {
        words: u64::from(entries),
        bits: u64::from(management.entry_bits(gpu)),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: TABLE_BANKS,
    });
    let vectors = Spec::Buffer(BufferSpec {
        entries: u64::from(geometry.banks),
        bits: rows,
        ports: Ports::READ_AND_WRITE,
    });
    let mut structures = vec![
        beside("renaming_table", table),
        beside("register_availability", vectors),
        beside("register_select", Spec::Select(SelectSpec { inputs: rows })).per_sm(geometry.banks),
    ];
    if management.flag_entries > 0 {
        let tag = u64::from(gpu.icache.address_bits - gpu.fetch.instruction_bytes.ilog2());
        let flags = Spec::Buffer(BufferSpec {
            entries: u64::from(management.flag_entries),
            bits: FLAG_BITS + tag,
            ports: Ports::READ_AND_WRITE,
        });
        structures.push(beside("release_flag_cache", flags));
    }
    structures
}

/// Free registers, those of each CTA, and what a CTA may come to need: 100 bits for 1024 registers and eight CTAs (section 3.3).
pub fn balance(management: &Management, gpu: &GpuSpec) -> Structure {
    let counters = Spec::Buffer(BufferSpec {
        entries: u64::from(gpu.sm.ctas) + 2,
        bits: u64::from(management.entry_bits(gpu)),
        ports: Ports::READ_AND_WRITE,
    });
    beside("register_balance", counters)
}

/// A structure beside the register file whose accesses count.
fn beside(name: &'static str, spec: Spec) -> Structure {
    Structure {
        leakage_only: false,
        ..Structure::storage(name, spec, 1)
    }
}

/// Puts sleep transistors into the register file.
pub fn gate(management: &Management, gpu: &GpuSpec, structures: &mut [Structure]) {
    let granularity = match management.gating {
        None => return,
        Some(Domain::Subarray) => Granularity::Subarray,
        Some(Domain::Register) => Granularity::Row,
    };
    let files = structures
        .iter_mut()
        .filter(|structure| structure.name == "register_file");
    for file in files {
        file.gates = Some(Gates {
            granularity,
            domains: management.domains(gpu),
            powered: "register_domain_cycles",
            wakes: "register_domain_wakes",
        });
    }
}

/// How registers were used.
pub fn metrics(name: &str, run: &Run) -> Vec<Metric> {
    let n = |counter: &str| run.activity.get(counter);
    let ratio = |what: &str, part, whole| Metric::ratio(format!("{name}.{what}"), part, whole);
    let (reserved, most) = (n("registers_reserved_most"), n("registers_most"));
    let mut metrics = vec![
        ratio(
            "allocation_reduction",
            reserved.saturating_sub(most),
            reserved,
        ),
        ratio(
            "held_of_reserved",
            n("registers_cycles"),
            n("registers_reserved_cycles"),
        ),
        ratio(
            "powered_share",
            n("register_domain_cycles"),
            n("register_domains") * run.cycles,
        ),
    ];
    metrics.extend(wear::metrics(name, run));
    metrics
}

/// What it takes to do with fewer registers.
pub fn hold_metrics(name: &str, run: &Run) -> Vec<Metric> {
    let n = |counter: &str| run.activity.get(counter);
    let ratio = |what: &str, part, whole| Metric::ratio(format!("{name}.{what}"), part, whole);
    let instructions = n("renamed_instructions");
    vec![
        ratio("throttled", n("throttled_instructions"), instructions),
        ratio(
            "throttled_cycles_each",
            n("throttled_cycles"),
            n("throttled_instructions"),
        ),
        ratio("spilled", n("spilled_registers"), instructions),
    ]
}

/// What release flags add to the code.
pub fn metadata_metrics(name: &str, run: &Run) -> Vec<Metric> {
    let n = |counter: &str| run.activity.get(counter);
    let ratio = |what: &str, part, whole| Metric::ratio(format!("{name}.{what}"), part, whole);
    let issued = n("renamed_instructions");
    vec![
        ratio(
            "static_code_increase",
            n("metadata_static"),
            n("instructions_static"),
        ),
        ratio("dynamic_code_increase", n("metadata_decoded"), issued),
        ratio(
            "dynamic_code_increase_without_cache",
            n("metadata_instructions"),
            issued,
        ),
    ]
}
