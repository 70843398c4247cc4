//! The storage that a code can protect.

use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::Structure as Storage;

use crate::Claim;

/// Storage whose words get check bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub storage: Storage,
    /// The structures that hold its words.
    pub arrays: &'static [&'static str],
    /// What nothing else may do with it.
    pub claims: &'static [Claim],
}

const ALL: [Place; 5] = [
    Place {
        storage: Storage::RegisterFile,
        arrays: &["register_file"],
        claims: &[Claim::RegisterCheckBits],
    },
    Place {
        storage: Storage::InstructionBuffer,
        arrays: &["instruction_buffer"],
        claims: &[Claim::InstructionCheckBits],
    },
    Place {
        storage: Storage::SharedMemory,
        arrays: &["shared_memory"],
        claims: &[],
    },
    Place {
        storage: Storage::OperandCollector,
        arrays: &["operand_buffer"],
        claims: &[],
    },
    Place {
        storage: Storage::InstructionCache,
        arrays: &["icache.data"],
        claims: &[],
    },
];

/// All of it, by its name in studies.
pub(super) const PLACES: [(&str, Place); ALL.len()] = {
    let mut named = [("", ALL[0]); ALL.len()];
    let mut at = 0;
    while at < named.len() {
        named[at] = (ALL[at].storage.name(), ALL[at]);
        at += 1;
    }
    named
};

impl Place {
    /// Whether its words are instructions.
    fn holds_code(&self) -> bool {
        matches!(
            self.storage,
            Storage::InstructionBuffer | Storage::InstructionCache
        )
    }

    /// Bits of a word.
    pub fn word(&self, gpu: &GpuSpec) -> u64 {
        if self.holds_code() {
            8 * u64::from(gpu.fetch.instruction_bytes)
        } else {
            32
        }
    }

    /// Generators and checkers of an SM: as many as words can be written and read in a cycle. Operands are checked where they leave for a unit.
    pub fn circuits(&self, gpu: &GpuSpec) -> (u32, u32) {
        let (width, operands) = (gpu.sm.warp_width, &gpu.operands);
        let issues = gpu.scheduler.count * gpu.scheduler.width;
        match self.storage {
            Storage::RegisterFile => (operands.result_buses * width, operands.sources * width),
            Storage::InstructionBuffer => (gpu.fetch.instructions * gpu.fetch.warps, issues),
            Storage::SharedMemory => (gpu.shared.banks, gpu.shared.banks),
            Storage::OperandCollector => (operands.sources * width, operands.sources * width),
            _ => {
                let words = (gpu.icache.word_bytes / gpu.fetch.instruction_bytes).max(1);
                (words, words)
            }
        }
    }

    /// The counters of reads and of writes, and the words of one; `None` if those of shared memory have to be counted.
    pub fn counted(&self, gpu: &GpuSpec) -> Option<([String; 2], u32)> {
        let words = match self.storage {
            Storage::SharedMemory => return None,
            Storage::RegisterFile => {
                let counters = ["register_words_read", "register_words_written"];
                return Some((counters.map(str::to_owned), 1));
            }
            Storage::OperandCollector => gpu.sm.warp_width,
            Storage::InstructionBuffer => 1,
            _ => self.circuits(gpu).0,
        };
        let counters = ["read", "write"].map(|action| format!("{}.{action}", self.arrays[0]));
        Some((counters, words))
    }
}
