//! What a GPU is: sizes, ports, latencies and policies, without technology.

mod preset;
mod read;
mod validate;

pub use preset::{Preset, presets};
pub use read::SpecProblem;

use serde::{Deserialize, Serialize};

/// Widest warp that lane masks hold, and most warps that an SM's warp masks hold.
pub const MAX_WARPS: u32 = 64;

macro_rules! tables {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

tables! {
    /// A GPU. Two equal specifications serialise to equal bytes.
    pub struct GpuSpec {
        /// The streaming multiprocessors and what they hold.
        sm: SmSpec,
        /// Instruction fetch, decode and the instruction buffer.
        fetch: FetchSpec,
        /// The instruction cache of each SM.
        icache: IcacheSpec,
        /// Which warp is served next.
        scheduler: SchedulerSpec,
        /// Dependence checking.
        scoreboard: ScoreboardSpec,
        /// Operand collection and the register file.
        operands: OperandSpec,
        /// Execution units.
        units: UnitsSpec,
        /// Load-store unit and coalescing.
        ldst: LdstSpec,
        /// Shared memory.
        shared: SharedSpec,
        /// Constants and parameters.
        constant: ConstantSpec,
        /// Texture cache; only its size.
        texture: TextureSpec,
        /// The network between SMs and memory controllers.
        noc: NocSpec,
        /// Memory controllers and DRAM.
        dram: DramSpec,
    }

    /// Streaming multiprocessors.
    pub struct SmSpec {
        /// How many.
        count: u32,
        /// Their clock in MHz; every cycle count without another clock's name is in its cycles.
        clock_mhz: u32,
        /// Lanes of a warp.
        warp_width: u32,
        /// Resident threads of an SM; whole warps, at most [`MAX_WARPS`] of them.
        threads: u32,
        /// Resident CTAs of an SM.
        ctas: u32,
        /// Register file of an SM in bytes.
        registers_bytes: u32,
        /// Registers are allocated to a CTA in multiples of this many.
        register_granule: u32,
        /// Registers are allocated for a multiple of this many warps.
        warp_granule: u32,
        /// Shared memory of an SM in bytes.
        shared_bytes: u32,
        /// Shared memory is allocated in multiples of this many bytes.
        shared_granule: u32,
        /// Cycles from the last arrival at a barrier to its release.
        barrier_cycles: u32,
    }

    /// Instruction fetch.
    pub struct FetchSpec {
        /// Cycles from the selection of a warp to its instruction: 1, or 2 if selection and access are pipelined apart.
        stages: u32,
        /// Cycles of decode, until the instruction can issue.
        decode_cycles: u32,
        /// Cycles from the issue of a branch to the next fetch of its warp.
        branch_cycles: u32,
        /// Instruction-buffer entries a warp; reserved when the fetch starts.
        buffer_entries: u32,
        /// Bytes of the array that the instruction buffer of an SM is priced as.
        buffer_array_bytes: u32,
        /// Bytes of an instruction word.
        instruction_bytes: u32,
    }

    /// Instruction cache.
    pub struct IcacheSpec {
        /// Capacity.
        bytes: u32,
        /// Lines of a set.
        ways: u32,
        /// Bytes of a line.
        line_bytes: u32,
        /// Cycles by which a miss is later than a hit.
        miss_cycles: u32,
        /// Bytes that one access of the data array moves.
        word_bytes: u32,
        /// Bits of an instruction address.
        address_bits: u32,
    }

    /// Warp scheduling.
    pub struct SchedulerSpec {
        /// The policy of fetch and issue.
        policy: Policy,
        /// Warps of a fetch group, for [`Policy::TwoLevel`].
        group_size: u32,
    }

    /// Scoreboard.
    pub struct ScoreboardSpec {
        /// Register regions that a warp can have pending; a region is a run of consecutive registers.
        regions: u32,
        /// Bits of a warp's entry.
        entry_bits: u32,
    }

    /// Operand collection.
    pub struct OperandSpec {
        /// Instructions that can collect operands at once.
        collectors: u32,
        /// Register operands that a collector holds.
        sources: u32,
        /// Banks of the register file, each a warp-wide register a cycle; register r of warp w lies in bank (r + w) mod banks.
        banks: u32,
        /// Banks of the operand buffer.
        buffer_banks: u32,
        /// Bytes of a word of the operand buffer.
        buffer_word_bytes: u32,
        /// Bytes of one array of the register file.
        register_array_bytes: u32,
        /// Read ports of a register-file array (and one write port).
        register_array_reads: u32,
    }

    /// Execution units. A warp occupies a unit for `warp_width / lanes` cycles.
    pub struct UnitsSpec {
        /// Integer, logic, single precision, branches.
        sp: UnitSpec,
        /// Transcendental functions.
        sfu: UnitSpec,
        /// Division and square root on the special-function unit.
        div: IterativeSpec,
        /// Double precision.
        fp64: UnitSpec,
    }

    /// A pipelined unit.
    pub struct UnitSpec {
        /// Threads that it accepts a cycle.
        lanes: u32,
        /// Cycles from the issue of an instruction to the earliest issue of one that needs its result.
        latency: u32,
    }

    /// Instructions that occupy their unit for longer than one pass of the warp.
    pub struct IterativeSpec {
        /// Cycles for which a warp occupies the unit.
        interval: u32,
        /// Cycles from the issue of an instruction to the earliest issue of one that needs its result.
        latency: u32,
    }

    /// Load-store unit.
    pub struct LdstSpec {
        /// Threads whose addresses are formed in a cycle.
        lanes: u32,
        /// Memory transactions of an SM in flight from which on no further memory instruction issues.
        outstanding: u32,
        /// Neighbouring lanes whose accesses are coalesced together.
        coalesce_group: u32,
        /// Largest transaction in bytes.
        segment_bytes: u32,
        /// Smallest transaction in bytes.
        sector_bytes: u32,
    }

    /// Shared memory.
    pub struct SharedSpec {
        /// Banks of 32 bits.
        banks: u32,
        /// Lanes served at once.
        pass_lanes: u32,
        /// Cycles of one pass; each further word in a bank takes another.
        pass_cycles: u32,
        /// Cycles from a load without conflicts to the earliest issue of an instruction that needs it.
        latency: u32,
    }

    /// Constant and parameter port.
    pub struct ConstantSpec {
        /// Cycles from a load to the earliest issue of an instruction that needs it.
        latency: u32,
        /// Size of the cache, for its leakage.
        cache_bytes: u32,
        /// Bytes of its line.
        cache_line_bytes: u32,
    }

    /// Texture cache.
    pub struct TextureSpec {
        /// Size, for its leakage.
        cache_bytes: u32,
        /// Bytes of its line.
        cache_line_bytes: u32,
    }

    /// Network.
    pub struct NocSpec {
        /// Its clock in MHz.
        clock_mhz: u32,
        /// SMs that share a port.
        sms_per_port: u32,
        /// Bytes that a port moves in a network cycle, each way.
        flit_bytes: u32,
        /// Bytes of a packet besides its data.
        header_bytes: u32,
        /// Network cycles through the empty network, each way.
        latency: u32,
    }

    /// Memory controllers and DRAM; times in DRAM command cycles unless they say otherwise.
    pub struct DramSpec {
        /// Command clock in MHz.
        clock_mhz: u32,
        /// Controllers.
        controllers: u32,
        /// Banks of a controller.
        banks: u32,
        /// Neighbouring bytes in one controller.
        interleave_bytes: u32,
        /// Bytes of a row of a bank.
        row_bytes: u32,
        /// Bytes on the data bus in a command cycle.
        bytes_per_cycle: u32,
        /// Core cycles between a request's arrival and its turn in an empty queue.
        latency_cycles: u32,
        /// Column access to first data.
        cas: u32,
        /// Least distance of two column accesses.
        burst: u32,
        /// Activate to column access.
        rcd: u32,
        /// Precharge to activate.
        rp: u32,
        /// Activate to precharge.
        ras: u32,
        /// Activate to activate in another bank.
        rrd: u32,
        /// End of written data to precharge.
        wr: u32,
    }
}

/// Which warp is fetched for, and which issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The next warp after the last one, loosely: warps that cannot are skipped.
    RoundRobin,
    /// Narasiman et al., MICRO 2011: warps of the last issued warp's group first, round robin within it; then the groups after it.
    TwoLevel,
}

impl GpuSpec {
    /// Warps that an SM can hold.
    pub fn warps_per_sm(&self) -> u32 {
        self.sm.threads / self.sm.warp_width
    }

    /// 32-bit registers of an SM.
    pub fn registers_per_sm(&self) -> u32 {
        self.sm.registers_bytes / 4
    }

    /// Sets of the I-cache.
    pub fn icache_sets(&self) -> u32 {
        self.icache.bytes / (self.icache.line_bytes * self.icache.ways)
    }

    /// Lines of the I-cache.
    pub fn icache_lines(&self) -> u32 {
        self.icache.bytes / self.icache.line_bytes
    }

    /// Network ports on the SMs' side.
    pub fn noc_ports(&self) -> u32 {
        self.sm.count.div_ceil(self.noc.sms_per_port)
    }

    /// The SM clock's period in femtoseconds, rounded down; for display and timing checks, never to accumulate.
    pub fn core_period_fs(&self) -> u64 {
        1_000_000_000 / u64::from(self.sm.clock_mhz)
    }

    /// Cycles for which a warp occupies a unit of `lanes` lanes.
    pub fn interval(&self, lanes: u32) -> u32 {
        self.sm.warp_width.div_ceil(lanes)
    }
}
