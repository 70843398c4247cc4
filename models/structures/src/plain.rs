//! The structures that every GPU has, before any technique.
//!
//! For the preset `tesla-16sm` they are the inputs with which CACTI 6.5 gives Table 1 of the filter-cache paper: exactly for the I-cache, the instruction
//! buffer and the scoreboard; within 12 % (area), 4 % (leakage) and 2 % (energy, delay) for the operand buffer, whose real input is not known.

use warpwatt_circuit::units::{Operation, Precision, UnitSpec};
use warpwatt_circuit::{Ports, RamSpec, Spec, TagSpec};
use warpwatt_gpu::GpuSpec;

#[cfg(test)]
use crate::Count;
use crate::{Structure, banks};

/// Front end and memories of an SM of `gpu`.
pub fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let mut structures = vec![
        Structure::front_end("icache.tag", icache_tag(gpu)),
        Structure::front_end("icache.data", icache_data(gpu)),
        Structure::front_end("instruction_buffer", instruction_buffer(gpu)),
        Structure::front_end("scoreboard", scoreboard(gpu)),
        Structure::front_end("operand_buffer", operand_buffer(gpu)),
        banks::register_file(gpu),
        Structure::storage("shared_memory", shared_memory(gpu), 1),
        Structure::storage("texture_cache", texture_cache(gpu), 1),
        Structure::storage("constant_cache", constant_cache(gpu), 1),
    ];
    if gpu.l15.bytes > 0 {
        structures.push(Structure::front_end("l15.tag", second_level_tag(gpu)));
        structures.push(Structure::front_end("l15.data", second_level_data(gpu)));
    }
    structures
}

/// What the lanes of an SM work with: those that it really has. Of `fp32_add` only operations count: its area and leakage are those of `fp32_mul`.
pub fn lanes(gpu: &GpuSpec) -> Vec<Structure> {
    let unit = |name, operation, precision, per_sm| {
        let spec = UnitSpec {
            operation,
            precision,
            macs: 1,
        };
        Structure::execution(name, Spec::Unit(spec), per_sm)
    };
    let chip = &gpu.chip;
    let ints = match chip.int_lanes {
        0 => chip.fp32_lanes,
        lanes => lanes,
    };
    vec![
        unit("int_add", Operation::Add, Precision::Int32, ints),
        unit("int_mul", Operation::Mad, Precision::Int32, ints),
        unit("fp32_add", Operation::Add, Precision::Fp32, 0),
        unit("fp32_mul", Operation::Fma, Precision::Fp32, chip.fp32_lanes),
        unit("fp64", Operation::Fma, Precision::Fp64, chip.fp64_lanes),
        unit("sfu", Operation::Sfu, Precision::Fp32, chip.sfu_lanes),
    ]
}

/// One tag a line, looked up as if direct-mapped, and the whole line address in it: this is what the paper's figures follow from, although the cache has
/// four ways (four comparators) and two bits of a tag's address are the set's number.
pub fn icache_tag(gpu: &GpuSpec) -> Spec {
    Spec::Tags(TagSpec {
        sets: u64::from(gpu.icache_lines()),
        ways: 1,
        tag_bits: gpu.icache.address_bits - gpu.icache.line_bytes.ilog2(),
        ports: Ports::READ_AND_WRITE,
    })
}

/// A plain array of words; an access reads one.
pub fn icache_data(gpu: &GpuSpec) -> Spec {
    words(
        gpu.icache.bytes,
        gpu.icache.word_bytes,
        Ports::READ_AND_WRITE,
    )
}

/// The tags of a set are read and compared at once.
fn second_level_tag(gpu: &GpuSpec) -> Spec {
    let sets = gpu.l15_sets();
    let place_bits = gpu.l15.line_bytes.ilog2() + sets.ilog2();
    let tag_bits = gpu.icache.address_bits.saturating_sub(place_bits);
    Spec::Tags(TagSpec {
        sets: u64::from(sets),
        ways: gpu.l15.ways,
        tag_bits: tag_bits.max(1),
        ports: Ports::READ_AND_WRITE,
    })
}

/// An access moves a line: it is what the first level misses.
fn second_level_data(gpu: &GpuSpec) -> Spec {
    words(gpu.l15.bytes, gpu.l15.line_bytes, Ports::READ_AND_WRITE)
}

fn instruction_buffer(gpu: &GpuSpec) -> Spec {
    words(
        gpu.fetch.buffer_array_bytes,
        gpu.fetch.instruction_bytes,
        Ports::READ_AND_WRITE,
    )
}

/// One entry a warp.
fn scoreboard(gpu: &GpuSpec) -> Spec {
    Spec::Ram(RamSpec {
        words: u64::from(gpu.warps_per_sm()),
        bits: u64::from(gpu.scoreboard.entry_bits),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: 1,
    })
}

/// Warp-wide operands of all collectors. One priced access moves one word of it, as the paper's accounting has it, although a warp-wide operand is several
/// words.
fn operand_buffer(gpu: &GpuSpec) -> Spec {
    let operands = &gpu.operands;
    let bytes = operands.collectors * operands.sources * register_bytes(gpu);
    Spec::Ram(RamSpec {
        words: u64::from(bytes / operands.buffer_word_bytes),
        bits: 8 * u64::from(operands.buffer_word_bytes),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: operands.buffer_banks,
    })
}

fn shared_memory(gpu: &GpuSpec) -> Spec {
    words(
        gpu.sm.shared_bytes,
        register_bytes(gpu),
        Ports::READ_AND_WRITE,
    )
}

fn texture_cache(gpu: &GpuSpec) -> Spec {
    words(
        gpu.texture.cache_bytes,
        gpu.texture.cache_line_bytes,
        Ports::ONE,
    )
}

fn constant_cache(gpu: &GpuSpec) -> Spec {
    words(
        gpu.constant.cache_bytes,
        gpu.constant.cache_line_bytes,
        Ports::READ_AND_WRITE,
    )
}

/// Bytes of a warp-wide register.
fn register_bytes(gpu: &GpuSpec) -> u32 {
    4 * gpu.sm.warp_width
}

fn words(bytes: u32, word_bytes: u32, ports: Ports) -> Spec {
    Spec::Ram(RamSpec {
        words: u64::from(bytes.div_ceil(word_bytes)),
        bits: 8 * u64::from(word_bytes),
        out_bits: None,
        ports,
        banks: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ram(words: u64, bits: u64, ports: Ports, banks: u32) -> Spec {
        Spec::Ram(RamSpec {
            words,
            bits,
            out_bits: None,
            ports,
            banks,
        })
    }

    #[test]
    fn the_paper_s_gpu_has_the_arrays_that_give_its_table_1() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let both = Ports::READ_AND_WRITE;
        let tags = Spec::Tags(TagSpec {
            sets: 16,
            ways: 1,
            tag_bits: 24,
            ports: both,
        });
        let three_reads = Ports {
            read: 3,
            write: 1,
            ..Ports::NONE
        };
        let expected = [
            ("icache.tag", tags, 1),
            ("icache.data", ram(4096 / 16, 128, both, 1), 1),
            ("instruction_buffer", ram(48, 64, both, 1), 1),
            ("scoreboard", ram(32, 128, both, 1), 1),
            ("operand_buffer", ram(1920 / 16, 128, both, 2), 1),
            ("register_file", ram(16384 / 128, 1024, three_reads, 1), 4),
            ("shared_memory", ram(16384 / 128, 1024, both, 1), 1),
            ("texture_cache", ram(5120 / 16, 128, Ports::ONE, 1), 1),
            ("constant_cache", ram(2048 / 64, 512, both, 1), 1),
        ];
        let structures = structures(&gpu);
        assert_eq!(structures.len(), expected.len());
        for (structure, (name, spec, per_sm)) in structures.iter().zip(expected) {
            assert_eq!(
                (structure.name, &structure.spec, structure.count),
                (name, &spec, Count::PerSm(per_sm))
            );
        }
    }
}
