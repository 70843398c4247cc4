//! What each value may be by itself.

use super::Check;
use crate::{GpuSpec, MAX_WARPS};

/// Ranges of single values: wide enough for any machine built or studied, narrow enough to catch a slip of units.
pub(super) const RANGES: &[(&str, u32, u32)] = &[
    ("sm.count", 1, 1024),
    ("sm.clock_mhz", 1, 20_000),
    ("sm.warp_width", 1, 64),
    ("sm.threads", 1, 4096),
    ("sm.ctas", 1, 64),
    ("sm.registers_bytes", 4, 16 * MB),
    ("sm.register_granule", 1, 65_536),
    ("sm.warp_granule", 1, 64),
    ("sm.shared_bytes", 1, 16 * MB),
    ("sm.shared_granule", 1, 65_536),
    ("sm.barrier_cycles", 1, 10_000),
    ("sm.thread_register_granule", 1, 64),
    ("sm.dispatch_per_cycle", 1, 1024),
    ("sm.dispatch_cycles", 1, 1024),
    ("sm.launch_cycles", 0, 10_000_000),
    ("sm.cta_cycles", 0, 100_000),
    ("fetch.warps", 1, 8),
    ("fetch.instructions", 1, 4),
    ("fetch.stages", 1, 2),
    ("fetch.decode_cycles", 0, 64),
    ("fetch.branch_cycles", 1, 1000),
    ("fetch.buffer_entries", 1, 7),
    ("fetch.buffer_array_bytes", 1, MB),
    ("fetch.instruction_bytes", 1, 64),
    ("icache.bytes", 1, 16 * MB),
    ("icache.ways", 1, 64),
    ("icache.line_bytes", 1, 4096),
    ("icache.miss_cycles", 0, 100_000),
    ("icache.word_bytes", 1, 4096),
    ("icache.address_bits", 16, 64),
    ("l15.bytes", 0, 16 * MB),
    ("l15.ways", 1, 64),
    ("l15.line_bytes", 1, 4096),
    ("l15.latency", 1, 100_000),
    ("scheduler.group_size", 1, MAX_WARPS),
    ("scheduler.active_warps", 1, MAX_WARPS),
    ("scheduler.count", 1, 4),
    ("scheduler.width", 1, 8),
    ("scheduler.interval", 1, 64),
    ("scheduler.warp_interval", 0, 1000),
    ("scheduler.word_interval", 0, 1000),
    ("scheduler.wait_interval", 0, 1000),
    ("scoreboard.regions", 1, 32),
    ("scoreboard.entry_bits", 1, 4096),
    ("operands.collectors", 1, 64),
    ("operands.sfu_collectors", 0, 64),
    ("operands.ldst_collectors", 0, 64),
    ("operands.collect_cycles", 1, 64),
    ("operands.transfer_cycles", 0, 64),
    ("operands.bank_reads", 1, 8),
    ("operands.collector_reads", 1, 8),
    ("operands.sources", 1, 8),
    ("operands.banks", 1, 64),
    ("operands.result_buses", 1, 64),
    ("operands.buffer_banks", 1, 64),
    ("operands.buffer_word_bytes", 1, 1024),
    ("operands.bank_words", 1, 65_536),
    ("operands.bank_bits", 32, 4096),
    ("operands.bank_ports", 0, 16),
    ("units.scalar.count", 0, 16),
    ("units.scalar.queue", 0, 64),
    ("units.sp.count", 1, 16),
    ("units.sp.lanes", 1, 64),
    ("units.sp.queue", 0, 64),
    ("units.int.count", 0, 16),
    ("units.int.lanes", 1, 64),
    ("units.int.queue", 0, 64),
    ("units.sfu.count", 0, 16),
    ("units.sfu.lanes", 1, 64),
    ("units.sfu.queue", 0, 64),
    ("units.fp64.count", 0, 16),
    ("units.fp64.lanes", 1, 64),
    ("units.fp64.queue", 0, 64),
    ("units.tensor.count", 0, 16),
    ("units.tensor.lanes", 1, 64),
    ("units.tensor.queue", 0, 64),
    ("ldst.lanes", 1, 64),
    ("ldst.outstanding", 1, 32_768),
    ("ldst.coalesce_group", 1, 64),
    ("ldst.queue", 0, 64),
    ("ldst.segment_bytes", 1, 256),
    ("ldst.fixed_load", 0, 100_000),
    ("ldst.fixed_store", 0, 100_000),
    ("ldst.fixed_transaction", 0, 1000),
    ("l1.kb", 0, 4096),
    ("l1.ways", 1, 1024),
    ("l1.line_bytes", 1, 256),
    ("l1.banks", 1, 32),
    ("l1.latency", 2, 1000),
    ("l1.mshrs", 1, 65_536),
    ("l1.merges", 1, 65_536),
    ("l1.miss_queue", 0, 65_536),
    ("l2.kb", 0, 4 * MB),
    ("l2.ways", 1, 1024),
    ("l2.line_bytes", 1, 256),
    ("l2.slices", 1, 64),
    ("l2.interleave_bytes", 1, 65_536),
    ("l2.partitions", 1, 2),
    ("l2.crossing_cycles", 0, 100_000),
    ("l2.latency_cycles", 0, 100_000),
    ("l2.miss_cycles", 0, 100_000),
    ("l2.mshrs", 1, 65_536),
    ("l2.atomic_cycles", 1, 1000),
    ("l2.merges", 1, 65_536),
    ("l2.queue", 1, 65_536),
    ("l2.dram_queue", 1, 65_536),
    ("l2.reply_queue", 1, 65_536),
    ("shared.banks", 1, 64),
    ("shared.pass_lanes", 1, 64),
    ("shared.pass_cycles", 1, 64),
    ("shared.store_pass_cycles", 1, 64),
    ("shared.latency", 2, 1000),
    ("constant.latency", 2, 1000),
    ("constant.busy_cycles", 0, 1000),
    ("constant.miss_cycles", 0, 100_000),
    ("constant.cache_ways", 1, 1024),
    ("constant.cache_bytes", 1, MB),
    ("constant.cache_line_bytes", 1, 4096),
    ("texture.latency", 2, 10_000),
    ("texture.cache_ways", 1, 1024),
    ("texture.cache_bytes", 1, MB),
    ("texture.cache_line_bytes", 1, 4096),
    ("noc.clock_mhz", 1, 20_000),
    ("noc.sms_per_port", 1, 1024),
    ("noc.flit_bytes", 1, 1024),
    ("noc.request_flit_bytes", 1, 1024),
    ("noc.port_flits", 1, 16),
    ("noc.header_bytes", 1, 1024),
    ("noc.latency", 1, 10_000),
    ("noc.input_speedup", 1, 16),
    ("noc.lookahead", 1, 256),
    ("noc.input_queue", 1, 65_536),
    ("noc.output_queue", 0, 65_536),
    ("dram.clock_mhz", 1, 20_000),
    ("dram.controllers", 1, 1024),
    ("dram.banks", 1, 1024),
    ("dram.interleave_bytes", 1, 65_536),
    ("dram.row_bytes", 1, 65_536),
    ("dram.bytes_per_cycle", 1, 4096),
    ("dram.latency_cycles", 0, 100_000),
    ("dram.cas", 1, 1000),
    ("dram.burst", 1, 1000),
    ("dram.rcd", 1, 1000),
    ("dram.rp", 1, 1000),
    ("dram.ras", 1, 1000),
    ("dram.rrd", 1, 1000),
    ("dram.wr", 0, 1000),
    ("dram.wtr", 0, 1000),
    ("dram.rtp", 0, 1000),
    ("dram.refresh_interval", 0, MB),
    ("dram.refresh", 0, 10_000),
    ("dram.cwl", 1, 1000),
    ("dram.burst_same_group", 1, 1000),
    ("dram.bank_groups", 1, 64),
    ("dram.queue", 1, 65_536),
    ("dram.in_flight", 1, 65_536),
    ("dram.atom_bytes", 1, 1024),
    ("chip.clock_mhz", 0, 10_000),
    ("chip.fp32_lanes", 1, 1024),
    ("chip.int_lanes", 0, 1024),
    ("chip.fp64_lanes", 0, 1024),
    ("chip.sfu_lanes", 1, 1024),
    ("chip.tensor_macs", 0, 65_536),
    ("chip.stack_entries", 1, 1024),
    ("chip.link_bytes", 1, 512),
    ("chip.dram_devices", 0, 1024),
];
pub(super) const MB: u32 = 1 << 20;

/// Range of every latency under `timing`: the result of an instruction takes a cycle at least, and another to be used.
const LATENCY: (u32, u32) = (2, 10_000);
/// Range of every interval under `timing`.
const INTERVAL: (u32, u32) = (1, 10_000);

pub(super) fn all(spec: &GpuSpec, check: &mut Check) {
    let Ok(table) = toml::Value::try_from(spec) else {
        return;
    };
    for &(path, lowest, highest) in RANGES {
        check.range(path, setting(&table, path).unwrap_or(0), lowest, highest);
    }
    if let Some(timing) = table.get("timing") {
        timing_ranges("timing", timing, check);
    }
}

fn timing_ranges(path: &str, value: &toml::Value, check: &mut Check) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                timing_ranges(&format!("{path}.{key}"), value, check);
            }
        }
        other => {
            let (lowest, highest) = if path.ends_with(".latency") {
                LATENCY
            } else {
                INTERVAL
            };
            let number = other
                .as_integer()
                .and_then(|number| u32::try_from(number).ok());
            check.range(path, number.unwrap_or(0), lowest, highest);
        }
    }
}

pub(super) fn setting(table: &toml::Value, path: &str) -> Option<u32> {
    let value = path
        .split('.')
        .try_fold(table, |value, key| value.get(key))?;
    u32::try_from(value.as_integer()?).ok()
}
