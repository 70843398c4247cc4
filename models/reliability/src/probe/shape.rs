//! How many bits the structures of a GPU have.

use warpwatt_gpu::{GpuSpec, MissSource, TexturePath};

use crate::Structure;

/// Operands of a collector: three, as instructions have at most (US patent 7,834,881, "Operand collector architecture", figure 4).
const OPERANDS: u64 = 3;

/// Bits of the two instruction addresses in an entry of the reconvergence stack: where the path runs and where it ends (Fung et al., MICRO 2007, figure 4).
const STACK_ADDRESSES: u64 = 2 * 32;

/// The sizes of what a probe watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits of each structure in the whole GPU; zero where it is not watched, or there is none.
    bits: [u64; Structure::COUNT],
    sms: u32,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Warps of an SM.
    pub warps: u32,
    /// Bits of an instruction in a buffer.
    pub instruction_bits: u32,
    /// Bits of an entry of the reconvergence stack.
    pub stack_entry_bits: u32,
    /// Bits of the operands that a collector holds.
    pub collector_bits: u32,
    /// Bytes of a line of the I-cache.
    pub code_line_bytes: u32,
    /// Bits of a sector of the L1, and of a line of the constant and of the texture cache.
    pub sector_bits: [u32; 3],
}

impl Shape {
    /// That of a GPU.
    pub fn new(spec: &GpuSpec) -> Self {
        let width = spec.sm.warp_width;
        let warps = spec.warps_per_sm();
        let instruction_bits = 8 * spec.fetch.instruction_bytes;
        let stack_entry_bits = STACK_ADDRESSES as u32 + width;
        let collector_bits = OPERANDS as u32 * 32 * width;
        let operands = &spec.operands;
        let collectors = operands.collectors + operands.sfu_collectors + operands.ldst_collectors;
        let constant = match spec.constant.misses {
            MissSource::Never => 0,
            MissSource::Fixed | MissSource::Memory => u64::from(spec.constant.cache_bytes),
        };
        let texture = match spec.texture.path {
            TexturePath::Data => 0,
            TexturePath::Own => {
                let lines = spec.texture_sets() * spec.texture.cache_ways;
                u64::from(lines) * u64::from(spec.texture.cache_line_bytes)
            }
        };
        let l1 = if spec.has_l1() {
            u64::from(spec.l1.kb) * 1024
        } else {
            0
        };
        // An I-cache that never misses has no contents to speak of.
        let code = match spec.icache.misses {
            MissSource::Never => 0,
            MissSource::Fixed | MissSource::Memory => u64::from(spec.icache.bytes),
        };
        let mut bits = [0; Structure::COUNT];
        for (structure, size) in [
            (
                Structure::InstructionBuffer,
                u64::from(warps * spec.fetch.buffer_entries * instruction_bits),
            ),
            (
                Structure::RegisterFile,
                32 * u64::from(spec.registers_per_sm()),
            ),
            (Structure::SharedMemory, 8 * u64::from(spec.sm.shared_bytes)),
            // A stack is as deep as a warp is wide at the most: each entry has fewer lanes than the one below.
            (
                Structure::SimtStack,
                u64::from(warps) * u64::from(width) * u64::from(stack_entry_bits),
            ),
            (
                Structure::OperandCollector,
                u64::from(collectors) * u64::from(collector_bits),
            ),
            (Structure::InstructionCache, 8 * code),
            (Structure::ConstantCache, 8 * constant),
            (Structure::TextureCache, 8 * texture),
            (Structure::L1Data, 8 * l1),
        ] {
            bits[structure as usize] = size * u64::from(spec.sm.count);
        }
        let l2 = u64::from(spec.l2_sets()) * u64::from(spec.l2.ways * spec.l2.line_bytes);
        if spec.has_l2() {
            bits[Structure::L2 as usize] = 8 * l2 * u64::from(spec.slices());
        }
        Self {
            bits,
            sms: spec.sm.count,
            warp_width: width,
            warps,
            instruction_bits,
            stack_entry_bits,
            collector_bits,
            code_line_bytes: spec.icache.line_bytes,
            sector_bits: [
                8 * warpwatt_gpu::SECTOR_BYTES,
                8 * spec.constant.cache_line_bytes,
                8 * spec.texture.cache_line_bytes,
            ],
        }
    }

    /// With storage that techniques add, of so many bits an SM.
    pub fn with_added(mut self, storage: &[(Structure, u64)]) -> Self {
        for &(structure, bits) in storage {
            self.bits[structure as usize] += bits * u64::from(self.sms);
        }
        self
    }

    /// Bits of a structure in the whole GPU; zero if it has none, or a probe does not watch it.
    pub fn bits(&self, structure: Structure) -> u64 {
        self.bits[structure as usize]
    }

    /// Whether a probe watches a structure.
    pub fn measures(&self, structure: Structure) -> bool {
        self.bits(structure) > 0
    }
}
