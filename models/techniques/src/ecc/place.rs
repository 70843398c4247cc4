//! The storage that a code can protect.

use warpwatt_circuit::Spec;
use warpwatt_gpu::{GpuSpec, SECTOR_BYTES};
use warpwatt_reliability::Structure as Storage;
use warpwatt_structures::{Charge, Count};

use crate::{Claim, Structure};

/// Storage whose words get check bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub storage: Storage,
    /// The structures that hold its words: of those that techniques add, one of them at a time.
    pub arrays: &'static [&'static str],
    /// What nothing else may do with it.
    pub claims: &'static [Claim],
}

const fn place(storage: Storage, arrays: &'static [&'static str]) -> Place {
    Place {
        storage,
        arrays,
        claims: &[],
    }
}

const ALL: [Place; 9] = [
    Place {
        claims: &[Claim::RegisterCheckBits],
        ..place(Storage::RegisterFile, &["register_file"])
    },
    Place {
        claims: &[Claim::InstructionCheckBits],
        ..place(Storage::InstructionBuffer, &["instruction_buffer"])
    },
    place(Storage::SharedMemory, &["shared_memory"]),
    place(Storage::OperandCollector, &["operand_buffer"]),
    place(Storage::InstructionCache, &["icache.data"]),
    place(Storage::L2, &["l2.data"]),
    place(
        Storage::InstructionReuseBuffer,
        &["uniform_vector.irb.data"],
    ),
    place(Storage::ScalarRegisterFile, &["uniform_vector.srf"]),
    place(
        Storage::RenamingTable,
        &["renaming_table", "uniform_vector.renaming"],
    ),
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

/// Arrays of storage that techniques add, with the counters of their reads and of their writes.
const ADDED: [(&str, [&str; 2]); 4] = [
    (
        "uniform_vector.irb.data",
        [
            "uniform_vector.irb.data.read",
            "uniform_vector.irb.data.write",
        ],
    ),
    (
        "uniform_vector.srf",
        ["uniform_vector.srf.read", "uniform_vector.srf.write"],
    ),
    (
        "uniform_vector.renaming",
        [
            "uniform_vector.renaming.read",
            "uniform_vector.renaming.write",
        ],
    ),
    (
        "renaming_table",
        ["renaming_table.read", "renaming_table.write"],
    ),
];

/// What a technique's array holds and does: bits of an entry, what can be read and written in a cycle, and the counters of both.
pub(super) struct Entries {
    pub bits: u64,
    pub reads: u32,
    pub writes: u32,
    pub counters: [&'static str; 2],
}

impl Entries {
    /// Those of a structure that a technique added, if it has any.
    pub fn of(structure: &Structure) -> Option<Self> {
        let (bits, ports, banks) = match &structure.spec {
            Spec::Ram(ram) => (ram.bits, ram.ports, ram.banks),
            Spec::Buffer(buffer) => (buffer.bits, buffer.ports, 1),
            _ => return None,
        };
        let (_, counters) = ADDED.iter().find(|(name, _)| *name == structure.name)?;
        let at_once = |own: u32| (own + ports.read_write).max(1) * banks;
        Some(Self {
            bits,
            reads: at_once(ports.read),
            writes: at_once(ports.write),
            counters: *counters,
        })
    }
}

/// Words of a sector of the second level.
const SECTOR_WORDS: u32 = 4;

impl Place {
    /// Whether its words are instructions.
    fn holds_code(&self) -> bool {
        matches!(
            self.storage,
            Storage::InstructionBuffer | Storage::InstructionCache
        )
    }

    /// Whether a technique adds it, which then says how wide its entries are: they are coded whole.
    pub fn is_added(&self) -> bool {
        matches!(
            self.storage,
            Storage::InstructionReuseBuffer | Storage::ScalarRegisterFile | Storage::RenamingTable
        )
    }

    /// Whether all SMs share it.
    pub fn is_shared(&self) -> bool {
        self.storage == Storage::L2
    }

    /// Bits of a word, of those that the GPU has.
    pub fn word(&self, gpu: &GpuSpec) -> u64 {
        if self.holds_code() {
            8 * u64::from(gpu.fetch.instruction_bytes)
        } else if self.is_shared() {
            8 * u64::from(SECTOR_BYTES / SECTOR_WORDS)
        } else {
            32
        }
    }

    /// Generators and checkers of an SM, or of the GPU where all share it: as many as words can be written and read in a cycle. Operands are checked where they
    /// leave for a unit.
    pub fn circuits(&self, gpu: &GpuSpec) -> (Count, Count) {
        let (width, operands) = (gpu.sm.warp_width, &gpu.operands);
        let issues = gpu.scheduler.count * gpu.scheduler.width;
        let (generators, checkers) = match self.storage {
            Storage::RegisterFile => (operands.result_buses * width, operands.sources * width),
            Storage::InstructionBuffer => (gpu.fetch.instructions * gpu.fetch.warps, issues),
            Storage::SharedMemory => (gpu.shared.banks, gpu.shared.banks),
            Storage::OperandCollector => (operands.sources * width, operands.sources * width),
            Storage::L2 => {
                let words = Count::PerGpu(SECTOR_WORDS * gpu.slices());
                return (words, words);
            }
            _ => (self.code_words(gpu), self.code_words(gpu)),
        };
        (Count::PerSm(generators), Count::PerSm(checkers))
    }

    /// Instructions of a word of the I-cache.
    fn code_words(&self, gpu: &GpuSpec) -> u32 {
        (gpu.icache.word_bytes / gpu.fetch.instruction_bytes).max(1)
    }

    /// What the events of other counters are to generators and checkers: sectors of the second level that are written, and those that leave it.
    pub fn charges(&self) -> Option<(Charge, Charge)> {
        let of = |counters: &[&'static str]| {
            let counters = counters.iter();
            Charge::weighted("read", counters.map(|counter| (*counter, SECTOR_WORDS)))
        };
        self.is_shared().then(|| {
            (
                of(&["l2_writes", "l2_read_misses", "l2_crossings"]),
                of(&["l2_read_hits", "l2_write_backs"]),
            )
        })
    }

    /// The counters of reads and of writes, and the words of one; `None` if those of shared memory have to be counted, or nothing has.
    pub fn counted(&self, gpu: &GpuSpec) -> Option<([String; 2], u32)> {
        let words = match self.storage {
            Storage::RegisterFile => {
                let counters = ["register_words_read", "register_words_written"];
                return Some((counters.map(str::to_owned), 1));
            }
            Storage::OperandCollector => gpu.sm.warp_width,
            Storage::InstructionBuffer => 1,
            Storage::InstructionCache => self.code_words(gpu),
            _ => return None,
        };
        let counters = ["read", "write"].map(|action| format!("{}.{action}", self.arrays[0]));
        Some((counters, words))
    }
}
