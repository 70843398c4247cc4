//! Values that no GPU can have.

use super::{GpuSpec, MAX_WARPS, SpecProblem};

/// Everything that is wrong with `spec`.
pub fn problems(spec: &GpuSpec) -> Vec<SpecProblem> {
    let mut check = Check::default();
    ranges(spec, &mut check);
    if check.problems.is_empty() {
        sm(spec, &mut check);
        front_end(spec, &mut check);
        memory(spec, &mut check);
    }
    check.problems
}

#[derive(Default)]
struct Check {
    problems: Vec<SpecProblem>,
}

impl Check {
    fn require(&mut self, holds: bool, path: &str, message: impl FnOnce() -> String, help: &str) {
        if !holds {
            self.problems.push(SpecProblem {
                path: path.to_owned(),
                message: message(),
                help: Some(help.to_owned()),
            });
        }
    }

    fn range(&mut self, path: &str, value: u32, lowest: u32, highest: u32) {
        self.require(
            (lowest..=highest).contains(&value),
            path,
            || format!("{value} is out of range"),
            &format!("a whole number from {lowest} to {highest}"),
        );
    }

    fn power_of_two(&mut self, path: &str, value: u32) {
        self.require(
            value.is_power_of_two(),
            path,
            || format!("{value} is not a power of two"),
            "use a power of two",
        );
    }
}

/// Ranges of single values: wide enough for any machine built or studied, narrow enough to catch a slip of units.
const RANGES: &[(&str, u32, u32)] = &[
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
    ("fetch.stages", 1, 2),
    ("fetch.decode_cycles", 0, 64),
    ("fetch.branch_cycles", 1, 1000),
    ("fetch.buffer_entries", 1, 4),
    ("fetch.buffer_array_bytes", 1, MB),
    ("fetch.instruction_bytes", 1, 64),
    ("icache.bytes", 1, 16 * MB),
    ("icache.ways", 1, 64),
    ("icache.line_bytes", 1, 4096),
    ("icache.miss_cycles", 1, 100_000),
    ("icache.word_bytes", 1, 4096),
    ("icache.address_bits", 16, 64),
    ("scheduler.group_size", 1, MAX_WARPS),
    ("scoreboard.regions", 1, 8),
    ("scoreboard.entry_bits", 1, 4096),
    ("operands.collectors", 1, 64),
    ("operands.sources", 1, 8),
    ("operands.banks", 1, 64),
    ("operands.buffer_banks", 1, 64),
    ("operands.buffer_word_bytes", 1, 1024),
    ("operands.register_array_bytes", 1, 16 * MB),
    ("operands.register_array_reads", 1, 16),
    ("units.sp.lanes", 1, 64),
    ("units.sp.latency", 2, 1000),
    ("units.sfu.lanes", 1, 64),
    ("units.sfu.latency", 2, 1000),
    ("units.div.interval", 1, 10_000),
    ("units.div.latency", 2, 10_000),
    ("units.fp64.lanes", 1, 64),
    ("units.fp64.latency", 2, 1000),
    ("ldst.lanes", 1, 64),
    ("ldst.outstanding", 1, 32_768),
    ("ldst.coalesce_group", 1, 64),
    ("ldst.segment_bytes", 1, 1024),
    ("ldst.sector_bytes", 1, 1024),
    ("shared.banks", 1, 64),
    ("shared.pass_lanes", 1, 64),
    ("shared.pass_cycles", 1, 64),
    ("shared.latency", 2, 1000),
    ("constant.latency", 2, 1000),
    ("constant.cache_bytes", 1, MB),
    ("constant.cache_line_bytes", 1, 4096),
    ("texture.cache_bytes", 1, MB),
    ("texture.cache_line_bytes", 1, 4096),
    ("noc.clock_mhz", 1, 20_000),
    ("noc.sms_per_port", 1, 1024),
    ("noc.flit_bytes", 1, 1024),
    ("noc.header_bytes", 1, 1024),
    ("noc.latency", 1, 10_000),
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
];
const MB: u32 = 1 << 20;

fn ranges(spec: &GpuSpec, check: &mut Check) {
    let Ok(table) = toml::Value::try_from(spec) else {
        return;
    };
    for &(path, lowest, highest) in RANGES {
        check.range(path, setting(&table, path).unwrap_or(0), lowest, highest);
    }
}

fn setting(table: &toml::Value, path: &str) -> Option<u32> {
    let value = path
        .split('.')
        .try_fold(table, |value, key| value.get(key))?;
    u32::try_from(value.as_integer()?).ok()
}

fn sm(spec: &GpuSpec, check: &mut Check) {
    let sm = &spec.sm;
    check.require(
        sm.threads.is_multiple_of(sm.warp_width),
        "sm.threads",
        || {
            format!(
                "{} threads are not whole warps of {}",
                sm.threads, sm.warp_width
            )
        },
        "use a multiple of sm.warp_width",
    );
    check.require(
        sm.threads / sm.warp_width <= MAX_WARPS,
        "sm.threads",
        || {
            format!(
                "{} threads are {} warps",
                sm.threads,
                sm.threads / sm.warp_width
            )
        },
        "an SM holds at most 64 warps",
    );
    check.require(
        sm.registers_bytes / 4 >= sm.register_granule,
        "sm.registers_bytes",
        || {
            format!(
                "{} bytes do not hold one allocation of {} registers",
                sm.registers_bytes, sm.register_granule
            )
        },
        "enlarge the register file or reduce sm.register_granule",
    );
    check.require(
        spec.operands.register_array_bytes <= sm.registers_bytes
            && sm
                .registers_bytes
                .is_multiple_of(spec.operands.register_array_bytes),
        "operands.register_array_bytes",
        || {
            format!(
                "a register file of {} bytes is not made of whole arrays of {}",
                sm.registers_bytes, spec.operands.register_array_bytes
            )
        },
        "use a divisor of sm.registers_bytes",
    );
    check.require(
        spec.operands
            .register_array_bytes
            .is_multiple_of(4 * sm.warp_width),
        "operands.register_array_bytes",
        || {
            format!(
                "an array is not made of whole warp-wide registers of {} bytes",
                4 * sm.warp_width
            )
        },
        "use a multiple of four times sm.warp_width",
    );
}

fn front_end(spec: &GpuSpec, check: &mut Check) {
    let (icache, fetch) = (&spec.icache, &spec.fetch);
    check.power_of_two("icache.line_bytes", icache.line_bytes);
    check.power_of_two("fetch.instruction_bytes", fetch.instruction_bytes);
    check.require(
        icache.bytes.is_multiple_of(icache.line_bytes * icache.ways),
        "icache.bytes",
        || {
            format!(
                "{} bytes are not whole sets of {} lines of {} bytes",
                icache.bytes, icache.ways, icache.line_bytes
            )
        },
        "use a multiple of icache.line_bytes times icache.ways",
    );
    check.require(
        icache.line_bytes >= fetch.instruction_bytes,
        "icache.line_bytes",
        || {
            format!(
                "a line of {} bytes holds no instruction of {}",
                icache.line_bytes, fetch.instruction_bytes
            )
        },
        "use at least fetch.instruction_bytes",
    );
    check.require(
        icache.line_bytes.is_multiple_of(icache.word_bytes)
            && icache.word_bytes >= fetch.instruction_bytes,
        "icache.word_bytes",
        || {
            format!(
                "words of {} bytes do not divide lines of {} bytes into whole instructions",
                icache.word_bytes, icache.line_bytes
            )
        },
        "use a divisor of icache.line_bytes that holds an instruction",
    );
    check.require(
        icache.address_bits > icache.line_bytes.ilog2(),
        "icache.address_bits",
        || "no tag bit is left".to_owned(),
        "use more bits than the offset within a line takes",
    );
    check.require(
        fetch
            .buffer_array_bytes
            .is_multiple_of(fetch.instruction_bytes),
        "fetch.buffer_array_bytes",
        || {
            format!(
                "{} bytes are not whole instructions",
                fetch.buffer_array_bytes
            )
        },
        "use a multiple of fetch.instruction_bytes",
    );
    let operand = 4 * spec.sm.warp_width;
    check.require(
        operand.is_multiple_of(spec.operands.buffer_word_bytes),
        "operands.buffer_word_bytes",
        || format!("an operand of {operand} bytes is not made of whole words"),
        "use a divisor of four times sm.warp_width",
    );
}

fn memory(spec: &GpuSpec, check: &mut Check) {
    let (ldst, dram) = (&spec.ldst, &spec.dram);
    check.power_of_two("ldst.segment_bytes", ldst.segment_bytes);
    check.power_of_two("ldst.sector_bytes", ldst.sector_bytes);
    check.power_of_two("dram.interleave_bytes", dram.interleave_bytes);
    check.power_of_two("dram.row_bytes", dram.row_bytes);
    check.power_of_two("shared.banks", spec.shared.banks);
    check.require(
        ldst.sector_bytes <= ldst.segment_bytes && ldst.segment_bytes <= 64 * ldst.sector_bytes,
        "ldst.sector_bytes",
        || {
            format!(
                "sectors of {} bytes do not divide segments of {}",
                ldst.sector_bytes, ldst.segment_bytes
            )
        },
        "use at most ldst.segment_bytes and at least a 64th of it",
    );
    check.require(
        ldst.segment_bytes <= dram.interleave_bytes,
        "dram.interleave_bytes",
        || format!("segments of {} bytes span controllers", ldst.segment_bytes),
        "use at least ldst.segment_bytes",
    );
    check.require(
        dram.row_bytes >= ldst.segment_bytes,
        "dram.row_bytes",
        || format!("a row holds no segment of {} bytes", ldst.segment_bytes),
        "use at least ldst.segment_bytes",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: impl FnOnce(&mut GpuSpec)) -> Vec<String> {
        let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
        change(&mut spec);
        problems(&spec)
            .into_iter()
            .map(|problem| problem.path)
            .collect()
    }

    #[test]
    fn zero_and_absurd_sizes_are_refused_together() {
        let paths = changed(|spec| {
            spec.sm.count = 0;
            spec.sm.warp_width = 128;
            spec.icache.ways = 0;
        });
        assert_eq!(paths, ["sm.count", "sm.warp_width", "icache.ways"]);
    }

    #[test]
    fn every_number_has_a_range_and_every_range_a_number() {
        let table = crate::presets()[0].table();
        let numbers: usize = table.values().map(count).sum();
        assert_eq!(numbers, RANGES.len());
        for (path, ..) in RANGES {
            assert!(
                setting(&toml::Value::Table(table.clone()), path).is_some(),
                "{path}"
            );
        }
    }

    fn count(value: &toml::Value) -> usize {
        match value {
            toml::Value::Table(table) => table.values().map(count).sum(),
            other => usize::from(other.is_integer()),
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        assert_eq!(changed(|spec| spec.sm.threads = 1000), ["sm.threads"]);
        assert_eq!(changed(|spec| spec.sm.threads = 4096), ["sm.threads"]);
        assert_eq!(changed(|spec| spec.icache.bytes = 1000), ["icache.bytes"]);
        assert_eq!(
            changed(|spec| spec.icache.word_bytes = 24),
            ["icache.word_bytes"]
        );
        assert_eq!(
            changed(|spec| spec.dram.interleave_bytes = 64),
            ["dram.interleave_bytes"]
        );
        assert!(changed(|_| ()).is_empty());
    }
}
