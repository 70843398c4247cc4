//! What the values of an SM say together.

use super::Check;
use crate::{BackEnd, GpuSpec, MAX_WARPS, TexturePath};

pub(super) fn sm(spec: &GpuSpec, check: &mut Check) {
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
    let operands = &spec.operands;
    let bank_bits = u64::from(operands.bank_words) * u64::from(operands.bank_bits);
    let register_bits = 32 * u64::from(sm.warp_width);
    check.require(
        (8 * u64::from(sm.registers_bytes)).is_multiple_of(bank_bits),
        "operands.bank_words",
        || {
            format!(
                "a register file of {} bytes is not made of whole arrays of {} words of {} bits",
                sm.registers_bytes, operands.bank_words, operands.bank_bits
            )
        },
        "choose words and bits whose product divides the bits of sm.registers_bytes",
    );
    check.require(
        bank_bits.is_multiple_of(register_bits),
        "operands.bank_words",
        || format!("an array is not as large as some warp-wide registers of {register_bits} bits"),
        "choose words and bits whose product is a multiple of 32 times sm.warp_width",
    );
}

pub(super) fn front_end(spec: &GpuSpec, check: &mut Check) {
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
pub(super) fn back_end(spec: &GpuSpec, check: &mut Check) {
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
pub(super) fn latencies(spec: &GpuSpec, check: &mut Check) {
    let depth = spec.operands.collect_cycles + spec.operands.transfer_cycles;
    let mut memories = vec![
        ("l1.latency", spec.l1.latency),
        ("shared.latency", spec.shared.latency),
        ("constant.latency", spec.constant.latency),
    ];
    if spec.texture.path != TexturePath::Data {
        memories.push(("texture.latency", spec.texture.latency));
    }
    for (path, latency) in memories {
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
