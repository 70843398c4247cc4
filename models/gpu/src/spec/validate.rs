//! Values that no GPU can have.

use super::{BackEnd, GpuSpec, MAX_WARPS, MissSource, SECTOR_BYTES, SpecProblem, TexturePath};

/// Everything that is wrong with `spec`.
pub fn problems(spec: &GpuSpec) -> Vec<SpecProblem> {
    let mut check = Check::default();
    ranges(spec, &mut check);
    // What goes together is looked at where each value alone can be.
    for &(tables, relations) in RELATIONS {
        if check.allows(tables) {
            relations(spec, &mut check);
        }
    }
    check.problems
}

type Relations = fn(&GpuSpec, &mut Check);

/// Rules about several values, with the tables that these are in.
const RELATIONS: &[(&[&str], Relations)] = &[
    (&["sm", "operands"], sm),
    (&["icache", "fetch", "operands", "sm"], front_end),
    (&["fetch", "operands", "scheduler", "units"], back_end),
    (&["operands", "l1", "shared", "constant"], latencies),
    (&["ldst", "dram", "shared", "l2"], memory),
    (&["ldst", "dram", "l1", "l2"], caches),
    (
        &["ldst", "icache", "constant", "l15", "texture", "l2"],
        read_only_caches,
    ),
    (&["sm", "icache", "constant", "l15", "l1", "l2"], footprint),
];

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

    /// Whether nothing is wrong yet in any of the tables.
    fn allows(&self, tables: &[&str]) -> bool {
        let in_tables = |problem: &SpecProblem| {
            let table = problem.path.split('.').next();
            table.is_some_and(|table| tables.contains(&table))
        };
        !self.problems.iter().any(in_tables)
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
    ("sm.thread_register_granule", 1, 64),
    ("sm.dispatch_per_cycle", 1, 1024),
    ("sm.launch_cycles", 0, 10_000_000),
    ("fetch.warps", 1, 8),
    ("fetch.instructions", 1, 4),
    ("fetch.stages", 1, 2),
    ("fetch.decode_cycles", 0, 64),
    ("fetch.branch_cycles", 1, 1000),
    ("fetch.buffer_entries", 1, 4),
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
    ("scheduler.width", 1, 2),
    ("scheduler.interval", 1, 64),
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
    ("operands.register_array_bytes", 1, 16 * MB),
    ("operands.register_array_reads", 1, 16),
    ("units.sp.count", 1, 16),
    ("units.sp.lanes", 1, 64),
    ("units.sp.queue", 1, 64),
    ("units.int.count", 0, 16),
    ("units.int.lanes", 1, 64),
    ("units.int.queue", 1, 64),
    ("units.sfu.count", 1, 16),
    ("units.sfu.lanes", 1, 64),
    ("units.sfu.queue", 1, 64),
    ("units.fp64.count", 0, 16),
    ("units.fp64.lanes", 1, 64),
    ("units.fp64.queue", 1, 64),
    ("units.tensor.count", 0, 16),
    ("units.tensor.lanes", 1, 64),
    ("units.tensor.queue", 1, 64),
    ("ldst.lanes", 1, 64),
    ("ldst.outstanding", 1, 32_768),
    ("ldst.coalesce_group", 1, 64),
    ("ldst.queue", 1, 64),
    ("ldst.segment_bytes", 1, 256),
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
    ("shared.latency", 2, 1000),
    ("constant.latency", 2, 1000),
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
    ("noc.header_bytes", 1, 1024),
    ("noc.latency", 1, 10_000),
    ("noc.input_speedup", 1, 16),
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
    ("dram.cwl", 1, 1000),
    ("dram.burst_same_group", 1, 1000),
    ("dram.bank_groups", 1, 64),
    ("dram.queue", 1, 65_536),
    ("dram.in_flight", 1, 65_536),
    ("dram.atom_bytes", 1, 1024),
];
const MB: u32 = 1 << 20;

/// Range of every latency under `timing`: the result of an instruction takes a cycle at least, and another to be used.
const LATENCY: (u32, u32) = (2, 10_000);
/// Range of every interval under `timing`.
const INTERVAL: (u32, u32) = (1, 10_000);

fn ranges(spec: &GpuSpec, check: &mut Check) {
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

/// What is divided among schedulers must be there for each of them.
fn back_end(spec: &GpuSpec, check: &mut Check) {
    let (fetch, operands) = (&spec.fetch, &spec.operands);
    check.require(
        fetch.instructions <= fetch.buffer_entries,
        "fetch.instructions",
        || {
            format!(
                "a buffer of {} entries does not hold {} instructions",
                fetch.buffer_entries, fetch.instructions
            )
        },
        "use at most fetch.buffer_entries",
    );
    if spec.scheduler.back_end == BackEnd::Shared {
        return;
    }
    let parts = spec.scheduler.count;
    let units = &spec.units;
    for (path, count) in [
        ("operands.collectors", operands.collectors),
        ("operands.sfu_collectors", operands.sfu_collectors),
        ("operands.ldst_collectors", operands.ldst_collectors),
        ("operands.banks", operands.banks),
        ("units.sp.count", units.sp.count),
        ("units.int.count", units.int.count),
        ("units.sfu.count", units.sfu.count),
        ("units.fp64.count", units.fp64.count),
        ("units.tensor.count", units.tensor.count),
    ] {
        check.require(
            count.is_multiple_of(parts),
            path,
            || format!("{count} cannot be divided among {parts} schedulers"),
            "use a multiple of scheduler.count, or scheduler.back_end = \"shared\"",
        );
    }
}

/// Latencies of memory count from the issue, so that operand collection is in them.
fn latencies(spec: &GpuSpec, check: &mut Check) {
    let depth = spec.operands.collect_cycles + spec.operands.transfer_cycles;
    for (path, latency) in [
        ("l1.latency", spec.l1.latency),
        ("shared.latency", spec.shared.latency),
        ("constant.latency", spec.constant.latency),
    ] {
        check.require(
            latency > depth,
            path,
            || {
                format!(
                    "after {latency} cycles not even operands are collected, which takes {depth}"
                )
            },
            "use more than operands.collect_cycles and operands.transfer_cycles together",
        );
    }
}

fn memory(spec: &GpuSpec, check: &mut Check) {
    let (ldst, dram, l2) = (&spec.ldst, &spec.dram, &spec.l2);
    check.power_of_two("ldst.segment_bytes", ldst.segment_bytes);
    check.power_of_two("dram.interleave_bytes", dram.interleave_bytes);
    check.power_of_two("dram.row_bytes", dram.row_bytes);
    check.power_of_two("shared.banks", spec.shared.banks);
    check.require(
        ldst.segment_bytes >= SECTOR_BYTES,
        "ldst.segment_bytes",
        || {
            format!(
                "a segment of {} bytes holds no sector of {SECTOR_BYTES}",
                ldst.segment_bytes
            )
        },
        "use at least 32",
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
    check.require(
        dram.banks.is_multiple_of(dram.bank_groups),
        "dram.bank_groups",
        || {
            format!(
                "{} banks are not {} equal groups",
                dram.banks, dram.bank_groups
            )
        },
        "use a divisor of dram.banks",
    );
    if spec.has_l2() {
        check.power_of_two("l2.slices", l2.slices);
        check.power_of_two("l2.interleave_bytes", l2.interleave_bytes);
        check.require(
            l2.interleave_bytes >= ldst.segment_bytes,
            "l2.interleave_bytes",
            || format!("segments of {} bytes span slices", ldst.segment_bytes),
            "use at least ldst.segment_bytes",
        );
        check.require(
            dram.banks.is_multiple_of(l2.slices),
            "l2.slices",
            || {
                format!(
                    "{} banks cannot be divided among {} slices",
                    dram.banks, l2.slices
                )
            },
            "use a divisor of dram.banks",
        );
    }
}

/// Caches hold whole sets of whole lines, and lines are what the coalescer makes.
fn caches(spec: &GpuSpec, check: &mut Check) {
    let (l1, l2) = (&spec.l1, &spec.l2);
    let segment = spec.ldst.segment_bytes;
    for (level, there, line) in [
        ("l1", spec.has_l1(), l1.line_bytes),
        ("l2", spec.has_l2(), l2.line_bytes),
    ] {
        check.require(
            !there || line == segment,
            &format!("{level}.line_bytes"),
            || format!("lines of {line} bytes are no segments of {segment}"),
            "use ldst.segment_bytes: lanes are coalesced into lines",
        );
    }
    let set = u64::from(l1.ways) * u64::from(l1.line_bytes);
    check.require(
        (u64::from(l1.kb) * 1024).is_multiple_of(set),
        "l1.kb",
        || {
            format!(
                "{} KB are not whole sets of {} lines of {} bytes",
                l1.kb, l1.ways, l1.line_bytes
            )
        },
        "use a multiple of l1.line_bytes times l1.ways",
    );
    let sets = u64::from(spec.slices()) * u64::from(l2.ways) * u64::from(l2.line_bytes);
    check.require(
        (u64::from(l2.kb) * 1024).is_multiple_of(sets),
        "l2.kb",
        || {
            format!(
                "{} KB are not whole sets of {} lines of {} bytes in each of {} slices",
                l2.kb,
                l2.ways,
                l2.line_bytes,
                spec.slices()
            )
        },
        "use a multiple of l2.line_bytes times l2.ways times all slices",
    );
}

/// What is read only comes in whole lines, each in one transaction.
fn read_only_caches(spec: &GpuSpec, check: &mut Check) {
    let (icache, constant) = (&spec.icache, &spec.constant);
    check.require(
        constant.misses == MissSource::Never
            || constant
                .cache_bytes
                .is_multiple_of(constant.cache_ways * constant.cache_line_bytes),
        "constant.cache_bytes",
        || {
            format!(
                "{} bytes are not whole sets of {} lines of {} bytes",
                constant.cache_bytes, constant.cache_ways, constant.cache_line_bytes
            )
        },
        "use a multiple of constant.cache_line_bytes times constant.cache_ways",
    );
    textures(spec, check);
    second_level(spec, check);
    for (path, source, line_path, line) in [
        (
            "icache.misses",
            icache.misses,
            "icache.line_bytes",
            icache.line_bytes,
        ),
        (
            "constant.misses",
            constant.misses,
            "constant.cache_line_bytes",
            constant.cache_line_bytes,
        ),
    ] {
        if source != MissSource::Memory {
            continue;
        }
        check.require(
            spec.has_l2(),
            path,
            || "there is no second-level cache to bring lines from".to_owned(),
            "use \"fixed\", or give l2.kb",
        );
        check.require(
            line.is_power_of_two() && line <= spec.ldst.segment_bytes,
            line_path,
            || {
                format!(
                    "a line of {line} bytes does not come in one segment of {}",
                    spec.ldst.segment_bytes
                )
            },
            "use a power of two of at most ldst.segment_bytes, or take misses from elsewhere",
        );
    }
}

/// The second level of instructions and constants, if there is one.
fn second_level(spec: &GpuSpec, check: &mut Check) {
    let l15 = &spec.l15;
    if l15.bytes == 0 {
        return;
    }
    check.require(
        l15.bytes.is_multiple_of(l15.line_bytes * l15.ways),
        "l15.bytes",
        || {
            format!(
                "{} bytes are not whole sets of {} lines of {} bytes",
                l15.bytes, l15.ways, l15.line_bytes
            )
        },
        "use a multiple of l15.line_bytes times l15.ways, or 0 for none",
    );
    let before = [
        (
            "icache.line_bytes",
            spec.icache.misses,
            spec.icache.line_bytes,
        ),
        (
            "constant.cache_line_bytes",
            spec.constant.misses,
            spec.constant.cache_line_bytes,
        ),
    ];
    let missing = before
        .iter()
        .filter(|(_, misses, _)| *misses != MissSource::Never);
    check.require(
        missing.clone().count() > 0,
        "l15.bytes",
        || {
            "neither the I-cache nor the constant cache ever misses, so nothing reaches it"
                .to_owned()
        },
        "use 0 for none, or set icache.misses or constant.misses",
    );
    for (path, _, line) in missing {
        check.require(
            line.is_multiple_of(l15.line_bytes),
            "l15.line_bytes",
            || {
                format!(
                    "{path} is {line} bytes, not a multiple of {}",
                    l15.line_bytes
                )
            },
            "use a divisor of the lines of the caches before it",
        );
    }
}

/// Lines that the model keeps tags of; some forty bytes each.
const MOST_LINES: u64 = 1 << 24;

/// A model of the GPU fits a computer's memory.
fn footprint(spec: &GpuSpec, check: &mut Check) {
    let sms = u64::from(spec.sm.count);
    let lines = |bytes: u64, line: u32| bytes / u64::from(line);
    let constants = match spec.constant.misses {
        MissSource::Never => 0,
        _ => lines(
            u64::from(spec.constant.cache_bytes),
            spec.constant.cache_line_bytes,
        ),
    };
    let icache = lines(u64::from(spec.icache.bytes), spec.icache.line_bytes);
    let kb = |kb: u32| 1024 * u64::from(kb);
    let levels = [
        ("icache.bytes", sms * icache),
        ("constant.cache_bytes", sms * constants),
        (
            "l15.bytes",
            sms * lines(u64::from(spec.l15.bytes), spec.l15.line_bytes),
        ),
        ("l1.kb", sms * lines(kb(spec.l1.kb), spec.l1.line_bytes)),
        ("l2.kb", lines(kb(spec.l2.kb), spec.l2.line_bytes)),
    ];
    let total: u64 = levels.iter().map(|(_, lines)| lines).sum();
    if let Some(&(path, most)) = levels.iter().max_by_key(|(_, lines)| *lines) {
        check.require(
            total <= MOST_LINES,
            path,
            || format!("the caches of the GPU have {total} lines, {most} of them here"),
            "use smaller caches, longer lines or fewer SMs: the model holds 16777216 lines",
        );
    }
}

fn textures(spec: &GpuSpec, check: &mut Check) {
    let texture = &spec.texture;
    if texture.path == TexturePath::Data {
        return;
    }
    let (bytes, line) = (texture.cache_bytes, texture.cache_line_bytes);
    check.power_of_two("texture.cache_line_bytes", line);
    check.require(
        line <= spec.ldst.segment_bytes,
        "texture.cache_line_bytes",
        || format!("lines of {line} bytes are longer than a segment"),
        "use at most ldst.segment_bytes",
    );
    check.require(
        bytes >= texture.cache_ways * line && bytes.is_multiple_of(texture.cache_ways * line),
        "texture.cache_bytes",
        || {
            format!(
                "{bytes} bytes are not whole sets of {} lines of {line} bytes",
                texture.cache_ways
            )
        },
        "use a multiple of texture.cache_line_bytes times texture.cache_ways",
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
        let timing = count(&table["timing"]);
        assert_eq!(numbers, RANGES.len() + timing);
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
        assert_eq!(changed(|spec| spec.l1.latency = 2), [] as [&str; 0]);
        assert_eq!(
            changed(|spec| spec.operands.collect_cycles = 64),
            ["l1.latency", "shared.latency", "constant.latency"]
        );
        assert_eq!(changed(|spec| spec.l2.kb = 4 * MB), ["l2.kb"]);
        assert!(changed(|_| ()).is_empty());
    }

    #[test]
    fn lines_that_come_from_memory_come_in_one_segment() {
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        spec.icache.line_bytes = 256;
        spec.constant.cache_line_bytes = 48;
        spec.constant.cache_bytes = 48 * spec.constant.cache_ways;
        let paths: Vec<String> = problems(&spec)
            .into_iter()
            .map(|problem| problem.path)
            .collect();
        assert_eq!(paths, ["icache.line_bytes", "constant.cache_line_bytes"]);
    }
}
