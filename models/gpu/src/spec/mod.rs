//! What a GPU is: sizes, ports, latencies and policies, without technology.

mod preset;
mod read;
mod validate;

pub use preset::{Preset, presets, setting};
pub use read::SpecProblem;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Widest warp that lane masks hold, and most warps that an SM's warp masks hold.
pub const MAX_WARPS: u32 = 64;

/// Bytes of a sector: the unit in which caches and DRAM behind the coalescer move data.
pub const SECTOR_BYTES: u32 = 32;

macro_rules! choices {
    ($($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// The names of the choices in a TOML file.
            pub const NAMES: &[&str] = &[$($text),*];

            /// Its name there.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The choice of that name, if there is one.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    )*};
}

macro_rules! tables {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

tables! {
    /// A GPU. Two equal specifications serialise to equal bytes.
    pub struct GpuSpec {
        /// What runs of a program in PTX.
        lower: Lowering,
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
        /// How long instructions take, by class.
        timing: TimingSpec,
        /// Second level of instructions and constants in each SM.
        l15: L15Spec,
        /// Load-store unit and coalescing.
        ldst: LdstSpec,
        /// First-level data cache of each SM.
        l1: L1Spec,
        /// Second-level cache.
        l2: L2Spec,
        /// Shared memory.
        shared: SharedSpec,
        /// Constants and parameters.
        constant: ConstantSpec,
        /// Texture cache.
        texture: TextureSpec,
        /// The network between SMs and memory controllers.
        noc: NocSpec,
        /// Memory controllers and DRAM.
        dram: DramSpec,
        /// What is on the chip and beside it: for area and energy alone.
        chip: ChipSpec,
        /// How often operations come late, where a technique lets them: none of the settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        late: Option<LateOperations>,
    }

    /// How often an operation of a block ends when its cycle is over, in parts of 2^32. Of vector units it is that of one lane.
    pub struct LateOperations {
        /// A fetch.
        fetch: u32,
        /// An instruction that leaves the instruction buffer.
        wavepool: u32,
        /// A decoded instruction.
        decode: u32,
        /// An issued instruction.
        issue: u32,
        /// What an instruction reads and writes of a warp's state.
        exec: u32,
        /// An operation of the scalar unit.
        salu: u32,
        /// Of an integer lane.
        simd: u32,
        /// Of a floating-point lane.
        simf: u32,
        /// Of a lane of the load-store unit.
        lsu: u32,
        /// What the supply is lower by, in thousandths of its unit: to be reported, timing does not ask for it.
        reduction: u32,
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
        /// Registers of a thread are rounded up to a multiple of this many.
        thread_register_granule: u32,
        /// Shared memory of an SM in bytes.
        shared_bytes: u32,
        /// Shared memory is allocated in multiples of this many bytes.
        shared_granule: u32,
        /// Cycles from the last arrival at a barrier to its release.
        barrier_cycles: u32,
        /// CTAs that the dispatcher places at most every `dispatch_cycles`, on all SMs together.
        dispatch_per_cycle: u32,
        /// Cycles in which the dispatcher places `dispatch_per_cycle` CTAs.
        dispatch_cycles: u32,
        /// Cycles from the beginning of a launch to its first CTA.
        launch_cycles: u32,
        /// Cycles that an SM takes to set up a CTA, from when there is room for it until its warps can fetch.
        cta_cycles: u32,
    }

    /// Instruction fetch.
    pub struct FetchSpec {
        /// Cycles from the selection of a warp to its instruction: 1, or 2 if selection and access are pipelined apart.
        stages: u32,
        /// Cycles of decode, until the instruction can issue.
        decode_cycles: u32,
        /// Warps for which an SM fetches in a cycle.
        warps: u32,
        /// Neighbouring instructions that one fetch brings. One: a warp fetches whenever it has room for another. More: it fetches when its buffer is empty.
        instructions: u32,
        /// What fetch does behind a branch.
        branches: BranchFetch,
        /// Cycles from the issue of a branch (of a taken one, if fetch runs past branches) to the next fetch of its warp.
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
        /// Where a missing line comes from.
        misses: MissSource,
        /// Cycles by which a miss is later than a hit, if misses take a fixed time.
        miss_cycles: u32,
        /// Bytes that one access of the data array moves.
        word_bytes: u32,
        /// Bits of an instruction address.
        address_bits: u32,
    }

    /// Warp scheduling.
    pub struct SchedulerSpec {
        /// The policy of issue.
        policy: Policy,
        /// Warps of a fetch group, for [`Policy::TwoLevel`].
        group_size: u32,
        /// Warps of a scheduler that may issue at a time, for [`Policy::ActivePool`]; the others wait until one of them waits for memory.
        active_warps: u32,
        /// Schedulers of an SM; warp w belongs to scheduler w mod count.
        count: u32,
        /// Instructions that a scheduler may issue in a cycle.
        width: u32,
        /// Of which warps they are.
        choice: Choice,
        /// Least cycles from one issue of a scheduler to the next.
        interval: u32,
        /// In which cycles a scheduler may issue.
        turns: Turns,
        /// How instructions issue that take no unit: barriers; beside scalar units waits and ends too.
        unitless: Unitless,
        /// Least cycles from an issue of a warp to its next one: the way from the buffer into the one place that the warp has before the scheduler. 0 where
        /// the buffer itself is looked at.
        warp_interval: u32,
        /// Cycles by which that is longer for each fetch that an instruction takes beyond its first.
        word_interval: u32,
        /// The same distance before an instruction that only waits for counts of accesses.
        wait_interval: u32,
        /// What the schedulers have in common behind the issue stage.
        back_end: BackEnd,
    }

    /// Scoreboard.
    pub struct ScoreboardSpec {
        /// Register regions that a warp can have pending; a region is a run of consecutive registers.
        regions: u32,
        /// Bits of a warp's entry.
        entry_bits: u32,
        /// What becomes of instructions that wait for counts of accesses.
        counts: CountWaits,
        /// Whether the last instruction of a warp waits for its results.
        exits: Exits,
    }

    /// Operand collection.
    pub struct OperandSpec {
        /// Instructions that can collect operands at once; with a split back end each scheduler has its share of them.
        collectors: u32,
        /// Collectors of their own for the special-function unit; without any it uses the others.
        sfu_collectors: u32,
        /// Collectors of their own for memory instructions; without any they use the others.
        ldst_collectors: u32,
        /// Cycles that an instruction without conflicts holds its collector.
        collect_cycles: u32,
        /// Cycles in the pipeline registers before and behind the collectors: an instruction reaches its unit `collect_cycles + transfer_cycles` after its issue.
        transfer_cycles: u32,
        /// Registers that a bank delivers in a cycle.
        bank_reads: u32,
        /// Operands that a collector takes in a cycle; a wide one is one.
        collector_reads: u32,
        /// Register operands that a collector holds.
        sources: u32,
        /// Banks of the register file, each a warp-wide register a cycle; register r of warp w lies in bank (r + w) mod banks.
        banks: u32,
        /// What a bank writes through.
        write_port: WritePort,
        /// Warps whose results the arithmetic units of an SM hand over in a cycle, those without a register among them; each unit hands over one.
        result_buses: u32,
        /// Banks of the operand buffer.
        buffer_banks: u32,
        /// Bytes of a word of the operand buffer.
        buffer_word_bytes: u32,
        /// Words of one array of the register file.
        bank_words: u32,
        /// Bits of such a word: lanes side by side share one.
        bank_bits: u32,
        /// Read ports of such an array, beside one write port; 0 for one port that does both.
        bank_ports: u32,
    }

    /// Execution units. A warp occupies one for `warp_width / lanes` cycles, or longer if its instruction's interval says so.
    pub struct UnitsSpec {
        /// One value for a whole warp: scalar instructions of machine code, branches with them. All schedulers share them; without any of them, `int` does it.
        scalar: ScalarUnitSpec,
        /// Single precision, and whatever has no units of its own.
        sp: UnitSpec,
        /// Integer, logic, moves, conversions, branches; without any of them, `sp` does it.
        int: UnitSpec,
        /// Transcendental functions, division; without any of them, `sp` does it.
        sfu: UnitSpec,
        /// Double precision; without any of them, `sfu` does it.
        fp64: UnitSpec,
        /// Matrix multiply-add; without any of them, `sp` does it.
        tensor: UnitSpec,
    }

    /// Scalar units: an instruction occupies one for its interval.
    pub struct ScalarUnitSpec {
        /// How many an SM has.
        count: u32,
        /// Instructions of each scheduler that may be between issue and unit; 0 as for other units.
        queue: u32,
    }

    /// Units of a class.
    pub struct UnitSpec {
        /// How many an SM has; with a split back end each scheduler has its share of them.
        count: u32,
        /// Threads that one accepts a cycle.
        lanes: u32,
        /// Instructions of the class that may be between issue and unit; with a split back end for each scheduler. 0: one issues only if a unit takes it as soon
        /// as its operands are there.
        queue: u32,
    }

    /// Latencies and intervals by class of instruction.
    pub struct TimingSpec {
        /// Scalar instructions, where they have units of their own.
        scalar: OpTiming,
        /// Integer.
        int: ClassTiming,
        /// Single and half precision.
        fp32: ClassTiming,
        /// Double precision.
        fp64: ClassTiming,
        /// Square roots, reciprocals, logarithms, exponentials, sine, cosine.
        special: OpTiming,
        /// Exchange between lanes.
        shuffle: OpTiming,
        /// Matrix multiply-add.
        tensor: OpTiming,
        /// Matrix multiply-add of a warpgroup, m64n128k16 of 16-bit elements: cycles of each of its warps' units, others in proportion, and cycles beyond them until
        /// its results are there.
        warpgroup: OpTiming,
        /// Branches, barriers, and what memory instructions spend in the pipeline.
        control: OpTiming,
    }

    /// One row for each kind of operation.
    pub struct ClassTiming {
        /// Addition, subtraction, sums of absolute differences.
        add: OpTiming,
        /// Minimum and maximum.
        minmax: OpTiming,
        /// Multiplication.
        mul: OpTiming,
        /// Multiply-add.
        mad: OpTiming,
        /// Division, remainder, correctly rounded reciprocal.
        div: OpTiming,
        /// Moves, conversions, logic, shifts, comparisons, selections, votes.
        simple: OpTiming,
    }

    /// How long an instruction takes.
    pub struct OpTiming {
        /// Cycles from the issue of an instruction to the earliest issue of one that needs its result.
        latency: u32,
        /// Least cycles for which a warp occupies its unit.
        interval: u32,
    }

    /// Load-store unit.
    pub struct LdstSpec {
        /// Threads whose addresses are formed in a cycle.
        lanes: u32,
        /// Memory instructions that may be between issue and unit; 0 as for other units.
        queue: u32,
        /// Memory transactions of an SM in flight from which on no further memory instruction issues.
        outstanding: u32,
        /// Neighbouring lanes whose accesses are coalesced together.
        coalesce_group: u32,
        /// What lanes are coalesced into.
        transactions: Transactions,
        /// Bytes of a segment: at most 256.
        segment_bytes: u32,
        /// What is behind the unit for global and local memory.
        memory: MemoryPath,
        /// With a memory of fixed times: cycles until a load or an atomic is done, besides those of its transactions.
        fixed_load: u32,
        /// The same of a store.
        fixed_store: u32,
        /// The same of each transaction.
        fixed_transaction: u32,
    }

    /// First-level data cache. Allocated on a miss, least recently used line replaced; written through; empty at the beginning of a launch.
    pub struct L1Spec {
        /// Capacity in KB, with the carve-out for shared memory; 0 for none.
        kb: u32,
        /// Lines of a set; with a carve-out the sets stay and the lines of each become fewer, one at least.
        ways: u32,
        /// Bytes of a line.
        line_bytes: u32,
        /// Whether a miss brings a sector or the line.
        fill: Fill,
        /// Banks; with `data = "transactions"` each transaction occupies one for a cycle, that of its address in units of the smallest transaction.
        banks: u32,
        /// What meets in its data.
        data: DataBanks,
        /// Cycles from the issue of a load that hits to the earliest issue of an instruction that needs it. A miss leaves the SM as late.
        latency: u32,
        /// Misses on their way (lines or sectors, as `fill` says) from which on memory instructions wait.
        mshrs: u32,
        /// Loads that can wait for a miss; the next one for it waits before the cache, and those behind it.
        merges: u32,
        /// Flits of misses and stores that can wait before the network's own queue.
        miss_queue: u32,
        /// What a store does with a line that is not there.
        stores: StoreMiss,
        /// How a line's set is found.
        index: Index,
        /// What shared memory takes of the capacity.
        carveout: Carveout,
    }

    /// Second-level cache. Written back; a store allocates its line and fetches nothing.
    pub struct L2Spec {
        /// Capacity of all slices in KB; 0 for none.
        kb: u32,
        /// Lines of a set.
        ways: u32,
        /// Bytes of a line; a miss brings the sectors asked for.
        line_bytes: u32,
        /// Slices of each memory controller.
        slices: u32,
        /// Neighbouring bytes of a controller in one slice.
        interleave_bytes: u32,
        /// Parts of one or two, each nearer to half of the SMs and of the channels. A sector that is read and lies in the far one is kept in the near one too.
        partitions: u32,
        /// Core cycles of a request or a reply between partitions.
        crossing_cycles: u32,
        /// Core cycles from a request's arrival to its look-up.
        latency_cycles: u32,
        /// Core cycles from a miss to its arrival at the DRAM controller.
        miss_cycles: u32,
        /// Sectors on their way from DRAM to a slice from which on its requests wait.
        mshrs: u32,
        /// Network cycles between two atomics on one address.
        atomic_cycles: u32,
        /// Requests that can wait for a sector; the next one for it waits before the slice, and those behind it.
        merges: u32,
        /// Sectors that can wait for their look-up in a slice.
        queue: u32,
        /// Sectors, and lines to be written, of a slice that can wait for DRAM; as long as they are as many, the slice looks up nothing.
        dram_queue: u32,
        /// Flits of a slice's replies that can wait before the network's own queue; as long as they are as many, the slice looks up nothing.
        reply_queue: u32,
        /// How slice and set are found.
        index: Index,
    }

    /// Shared memory.
    pub struct SharedSpec {
        /// Banks of 32 bits.
        banks: u32,
        /// Lanes served at once.
        pass_lanes: u32,
        /// Cycles of one pass; each further word in a bank takes another.
        pass_cycles: u32,
        /// The same of a store.
        store_pass_cycles: u32,
        /// How atomics are done.
        atomics: Atomics,
        /// Cycles from a load without conflicts to the earliest issue of an instruction that needs it.
        latency: u32,
    }

    /// Second level of instructions and constants: where misses of the I-cache and of the constant cache are looked up.
    pub struct L15Spec {
        /// Capacity; 0 for none.
        bytes: u32,
        /// Lines of a set.
        ways: u32,
        /// Bytes of a line; those of the caches before it are whole multiples.
        line_bytes: u32,
        /// Cycles from a miss of the first level to its line. What misses here too goes on as much later.
        latency: u32,
    }

    /// Constant and parameter port.
    pub struct ConstantSpec {
        /// Cycles from a load to the earliest issue of an instruction that needs it.
        latency: u32,
        /// Cycles for which a load takes the load-store unit; at least one for each of its turns, and as long as lanes' addresses take there. 0: as many as turns,
        /// for addresses that do not come from lanes.
        busy_cycles: u32,
        /// What takes a turn of a cycle.
        turns: ConstantTurns,
        /// Where a missing line comes from; if misses never happen, size and ways are for leakage only.
        misses: MissSource,
        /// Cycles by which a miss is later than a hit, if misses take a fixed time.
        miss_cycles: u32,
        /// Size of the cache.
        cache_bytes: u32,
        /// Lines of a set.
        cache_ways: u32,
        /// Bytes of its line.
        cache_line_bytes: u32,
    }

    /// Texture cache.
    pub struct TextureSpec {
        /// What texture reads go through.
        path: TexturePath,
        /// Cycles from a read that hits to the earliest issue of an instruction that needs it.
        latency: u32,
        /// Size of the cache.
        cache_bytes: u32,
        /// Lines of a set.
        cache_ways: u32,
        /// Bytes of its line.
        cache_line_bytes: u32,
    }

    /// Network.
    pub struct NocSpec {
        /// Its clock in MHz.
        clock_mhz: u32,
        /// SMs that share a port.
        sms_per_port: u32,
        /// Bytes that a slice sends in a network cycle.
        flit_bytes: u32,
        /// Bytes that a slice takes in a network cycle.
        request_flit_bytes: u32,
        /// Flits that a port of SMs moves in a network cycle, each way: 1 with a mesh.
        port_flits: u32,
        /// Bytes of a packet besides its data.
        header_bytes: u32,
        /// How it is told which bytes of its sectors a store writes.
        masks: Masks,
        /// What a packet of a read asks for where requests are for sectors.
        reads: Reads,
        /// How ports and slices are connected.
        topology: Topology,
        /// Network cycles through the empty crossbar, each way; of a mesh, those of a hop.
        latency: u32,
        /// Packets of an input that can cross in a network cycle, to different outputs.
        input_speedup: u32,
        /// Packets of an input among which the first crosses whose output is free; with 1 the first waits for its output, and holds up those behind it. 1 with a mesh.
        lookahead: u32,
        /// Flits that can wait at an input, in order: the first packet holds up those behind it.
        input_queue: u32,
        /// Sectors that can wait behind an output on the slices' side.
        output_queue: u32,
    }

    /// Memory controllers and DRAM; times in DRAM command cycles unless they say otherwise.
    pub struct DramSpec {
        /// Command clock in MHz.
        clock_mhz: u32,
        /// Controllers.
        controllers: u32,
        /// Banks of a controller.
        banks: u32,
        /// Groups that the banks of a controller form.
        bank_groups: u32,
        /// How the bank of a row is found.
        bank_index: Index,
        /// The order in which requests are served.
        scheduler: DramOrder,
        /// Sectors to be read, and lines to be written, of a controller among which the order can choose.
        queue: u32,
        /// Those on their way from the slices to the controller, in it, or on their way back; with a second-level cache only.
        in_flight: u32,
        /// Neighbouring bytes in one controller.
        interleave_bytes: u32,
        /// Bytes of a row of a bank.
        row_bytes: u32,
        /// Bytes that a column access moves; a sector takes one all the same if it is smaller.
        atom_bytes: u32,
        /// Bytes on the data bus in a command cycle.
        bytes_per_cycle: u32,
        /// Core cycles between a request's arrival and its turn in an empty queue, on GPUs without a second-level cache.
        latency_cycles: u32,
        /// Column read to first data.
        cas: u32,
        /// Column write to first data.
        cwl: u32,
        /// Least distance of two column accesses.
        burst: u32,
        /// Least distance of two column accesses to one bank group.
        burst_same_group: u32,
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
        /// End of written data to a column read.
        wtr: u32,
        /// Column read to precharge.
        rtp: u32,
        /// From one refresh of a bank to the next; 0 for none.
        refresh_interval: u32,
        /// What a refresh keeps its bank.
        refresh: u32,
    }

    /// What timing does not ask of a chip, but area and energy do.
    pub struct ChipSpec {
        /// Which structures are priced.
        inventory: Inventory,
        /// Of which transistors they are.
        flavour: FlavourChoice,
        /// SM clock in MHz that its structures are designed for; 0 for the one that it runs at.
        clock_mhz: u32,
        /// Single-precision lanes that an SM really has; timing may have more of them, for longer.
        fp32_lanes: u32,
        /// Integer lanes that an SM really has; 0 where the single-precision lanes do their work.
        int_lanes: u32,
        /// Double-precision lanes that an SM really has.
        fp64_lanes: u32,
        /// Special-function lanes that an SM really has.
        sfu_lanes: u32,
        /// Multiply-adds of half precision that the tensor units of an SM do in a cycle; 0 for none.
        tensor_macs: u32,
        /// Entries of a warp's SIMT stack.
        stack_entries: u32,
        /// Bytes that the wires of a network port carry side by side; the flits of timing may be wider.
        link_bytes: u32,
        /// Kind of the DRAM.
        dram: DramKind,
        /// Devices of the DRAM, each of the size that data sheets of the kind describe.
        dram_devices: u32,
    }
}

choices! {
    /// What runs of a program in PTX.
    pub enum Lowering {
        /// Its instructions, as in simulators of the PTX age.
        Ptx = "ptx",
        /// About those that a compiler makes of it for Volta and later.
        SassLike = "sass-like",
    }

    /// What of a load from constant memory takes a turn of a cycle.
    pub enum ConstantTurns {
        /// Each address: lanes that agree on it share it.
        Address = "address",
        /// Each line of the cache.
        Line = "line",
        /// The load.
        Load = "load",
    }

    /// Which warp issues. Fetch goes round robin over the warps, with [`Policy::TwoLevel`] by its groups.
    pub enum Policy {
        /// Loosely round robin: the next warp after the last one; warps that cannot issue are skipped.
        RoundRobin = "round_robin",
        /// Greedy, then oldest (Rogers et al., MICRO 2012): the last issued warp as long as it can, else the one placed first.
        Gto = "gto",
        /// The warp placed first.
        Oldest = "oldest",
        /// Narasiman et al., MICRO 2011: warps of the last issued warp's group first, round robin within it; then the groups after it.
        TwoLevel = "two_level",
        /// Gebhart et al., ISCA 2011: a few active warps, round robin; one that waits for memory makes room for another.
        ActivePool = "active_pool",
        /// Lakshminarayana and Kim, 2010: the warp that has issued least.
        Fair = "fair",
        /// The warp that has been ready longest.
        FirstReady = "first_ready",
    }

    /// Of which warps a scheduler issues in a cycle.
    pub enum Choice {
        /// Of one.
        OneWarp = "one_warp",
        /// Of as many as instructions, each for another kind of unit.
        Kinds = "kinds",
    }

    /// In which cycles a scheduler may issue.
    pub enum Turns {
        /// In any.
        Any = "any",
        /// Schedulers take turns: the first one in cycle 0 of `scheduler.interval`, the next one in cycle 1, and so on.
        Rotating = "rotating",
    }

    /// How instructions issue that take no unit.
    pub enum Unitless {
        /// As any other.
        Slot = "slot",
        /// Beside the others, each as soon as its warp may issue.
        Beside = "beside",
    }

    /// What becomes of instructions of machine code that wait until no more than some accesses go on.
    pub enum CountWaits {
        /// Nothing: the scoreboard knows results of memory.
        Ignored = "ignored",
        /// They take no unit, and the next instruction of their warp waits.
        Honoured = "honoured",
    }

    /// Whether the last instruction of a warp waits.
    pub enum Exits {
        /// It issues as soon as it can.
        Free = "free",
        /// It issues when the warp has nothing pending.
        Drained = "drained",
    }

    /// What is behind the load-store unit for global and local memory.
    pub enum MemoryPath {
        /// The first-level cache and the memory system.
        System = "system",
        /// A memory that answers after fixed times, one instruction at a time; no cache, network or DRAM is asked.
        Fixed = "fixed",
        /// Likewise, but the unit takes the next instruction as soon as the transactions of one are on their way.
        Pipelined = "pipelined",
    }

    /// What texture reads go through.
    pub enum TexturePath {
        /// A cache of their own.
        Own = "own",
        /// The first-level data cache, as global loads.
        Data = "data",
    }

    /// What fetch does behind a branch.
    pub enum BranchFetch {
        /// Waits until the branch is resolved.
        Stall = "stall",
        /// Goes on with the next instruction; if the branch is taken, that is thrown away.
        NotTaken = "not_taken",
    }

    /// Where lines that a read-only cache misses come from.
    pub enum MissSource {
        /// The cache never misses.
        Never = "never",
        /// From somewhere, after a fixed time.
        Fixed = "fixed",
        /// From the memory system, like data.
        Memory = "memory",
    }

    /// What the schedulers of an SM share.
    pub enum BackEnd {
        /// Everything.
        Shared = "shared",
        /// The load-store unit; collectors, register banks and execution units are divided among them.
        Split = "split",
    }

    /// What a register bank writes through; it writes one result a cycle at most.
    pub enum WritePort {
        /// A port of its own.
        Own = "own",
        /// The port that it reads through; a write goes first.
        Shared = "shared",
    }

    /// How atomics on shared memory are done. Lanes on one word go one by one in any case.
    pub enum Atomics {
        /// In the memory: a pass for each lane of a word.
        Native = "native",
        /// By loads that lock and stores that unlock, in a loop for lanes that find a word locked (before Maxwell: Maxwell tuning guide, section 1.4.3).
        Locked = "locked",
    }

    /// What the accesses of lanes are coalesced into.
    pub enum Transactions {
        /// One transaction a segment; it shrinks to the half that is touched (CUDA programming guide, compute capability 1.2 to 2).
        Segments = "segments",
        /// One transaction a sector that is touched.
        Sectors = "sectors",
    }

    /// What a miss brings.
    pub enum Fill {
        /// The whole line.
        Line = "line",
        /// The sectors that are asked for.
        Sector = "sector",
    }

    /// What meets in the data of a first-level cache.
    pub enum DataBanks {
        /// Transactions, in the banks of the cache.
        Transactions = "transactions",
        /// Words, in the banks of shared memory, with which it is one array; beside them the tags of as many lines as there are banks are read in a cycle.
        Words = "words",
    }

    /// How it is told which bytes are written.
    pub enum Masks {
        /// In the header.
        Header = "header",
        /// With as many flits as a sector has, where the sectors of a store are not filled, and of an atomic on more than one.
        Sector = "sector",
    }

    /// What a packet of a read asks for.
    pub enum Reads {
        /// One sector.
        Sector = "sector",
        /// Sectors of a line.
        Line = "line",
    }

    /// What a store does in a cache that is written through.
    pub enum StoreMiss {
        /// Writes a line that is there; allocates none.
        NoAllocate = "no_allocate",
        /// Allocates the sectors it writes.
        Allocate = "allocate",
    }

    /// How a place is found from an address.
    pub enum Index {
        /// Its low bits.
        Linear = "linear",
        /// Its bits folded by exclusive or, so that strides spread.
        Hashed = "hashed",
    }

    /// What shared memory takes of a unified capacity.
    pub enum Carveout {
        /// Nothing.
        None = "none",
        /// The smallest of 0, 8, 16, 32, 64 and 96 KB that holds the shared memory of the resident CTAs (Volta tuning guide).
        Volta = "volta",
        /// The smaller of 32 and 64 KB (Turing tuning guide).
        Turing = "turing",
        /// The smallest of 0, 8, 16, 32, 64, 100, 132, 164, 196 and 228 KB (Hopper tuning guide).
        Hopper = "hopper",
    }

    /// How the ports of SMs and the slices are connected.
    pub enum Topology {
        /// Every port with every slice.
        Crossbar = "crossbar",
        /// Neighbours in a square; packets go along the row and then along the column. Slices are spread evenly among the ports.
        Mesh = "mesh",
    }

    /// Which structures are priced.
    pub enum Inventory {
        /// Those of an SM's front end, lanes and memories, as papers about one of them price them: Table 1 of the filter-cache paper, and what lanes work with.
        Table1 = "table-1",
        /// Those of the whole chip, and the DRAM beside it.
        Chip = "chip",
        /// Those of a compute unit that was synthesised without memories: all in gates and flip-flops.
        ComputeUnit = "compute-unit",
    }

    /// Of which transistors the structures of a chip are.
    pub enum FlavourChoice {
        /// All of the flavour that the technology is asked for with.
        Study = "study",
        /// Each of the least leaky ones that are in time for its clock; that flavour is the fastest one.
        Auto = "auto",
    }

    /// Kinds of DRAM.
    pub enum DramKind {
        /// Graphics memory, fifth generation.
        Gddr5 = "gddr5",
        /// With twice the prefetch.
        Gddr5x = "gddr5x",
        /// Sixth generation.
        Gddr6 = "gddr6",
        /// With four levels on the pin.
        Gddr6x = "gddr6x",
        /// High-bandwidth memory, second generation.
        Hbm2 = "hbm2",
        /// The same, faster.
        Hbm2e = "hbm2e",
        /// Third generation, and its faster kind.
        Hbm3 = "hbm3",
    }

    /// The order of DRAM requests.
    pub enum DramOrder {
        /// First come, first served.
        Fcfs = "fcfs",
        /// Those that find their row open first, then the oldest (Rixner et al., ISCA 2000).
        FrFcfs = "fr_fcfs",
    }
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

    /// The kinds of units, as counters name them, and how many of each an SM has.
    pub fn units_by_kind(&self) -> [(&'static str, u32); 7] {
        let units = &self.units;
        [
            ("sp", units.sp.count),
            ("int", units.int.count),
            ("sfu", units.sfu.count),
            ("fp64", units.fp64.count),
            ("tensor", units.tensor.count),
            ("scalar", units.scalar.count),
            ("ldst", 1),
        ]
    }

    /// Sets of the I-cache.
    pub fn icache_sets(&self) -> u32 {
        self.icache.bytes / (self.icache.line_bytes * self.icache.ways)
    }

    /// Sets of the second level of instructions and constants.
    pub fn l15_sets(&self) -> u32 {
        self.l15.bytes / (self.l15.line_bytes * self.l15.ways)
    }

    /// Sets of the texture cache.
    pub fn texture_sets(&self) -> u32 {
        self.texture.cache_bytes / (self.texture.cache_line_bytes * self.texture.cache_ways)
    }

    /// Lines of the I-cache.
    pub fn icache_lines(&self) -> u32 {
        self.icache.bytes / self.icache.line_bytes
    }

    /// Network ports on the SMs' side.
    pub fn noc_ports(&self) -> u32 {
        self.sm.count.div_ceil(self.noc.sms_per_port)
    }

    /// Flits that can wait before a network port of SMs.
    pub(crate) fn port_queue(&self) -> u64 {
        let misses = if self.has_l1() {
            self.l1.miss_queue * self.noc.sms_per_port
        } else {
            0
        };
        u64::from(misses + self.noc.input_queue)
    }

    /// Flits of replies that can wait in a slice and before the network.
    pub(crate) fn reply_flits(&self) -> u64 {
        u64::from(self.l2.reply_queue + self.noc.input_queue)
    }

    /// Sectors that can wait for their look-up in a slice and behind the network.
    pub(crate) fn slice_sectors(&self) -> u32 {
        self.l2.queue + self.noc.output_queue
    }

    /// The SM clock's period in femtoseconds, rounded down; for display and timing checks, never to accumulate.
    pub fn core_period_fs(&self) -> u64 {
        1_000_000_000 / u64::from(self.sm.clock_mhz)
    }

    /// Cycles for which a warp occupies a unit of `lanes` lanes.
    pub fn interval(&self, lanes: u32) -> u32 {
        self.sm.warp_width.div_ceil(lanes)
    }

    /// Whether there is a first-level data cache.
    pub fn has_l1(&self) -> bool {
        self.l1.kb > 0
    }

    /// Sectors of the second-level cache.
    pub(crate) fn shared_sectors(&self) -> u64 {
        if !self.has_l2() {
            return 0;
        }
        let lines = u64::from(self.slices() * self.l2_sets() * self.l2.ways);
        lines * u64::from(self.l2.line_bytes / SECTOR_BYTES)
    }

    /// Whether there is a second-level cache.
    pub fn has_l2(&self) -> bool {
        self.l2.kb > 0
    }

    /// Slices of the whole GPU: of the second-level cache, or of nothing where there is none.
    pub fn slices(&self) -> u32 {
        self.dram.controllers * if self.has_l2() { self.l2.slices } else { 1 }
    }

    /// Sets of a slice of the second-level cache.
    pub fn l2_sets(&self) -> u32 {
        let set = u64::from(self.l2.ways) * u64::from(self.l2.line_bytes);
        let sets = u64::from(self.l2.kb) * 1024 / (u64::from(self.slices()) * set).max(1);
        u32::try_from(sets).unwrap_or(u32::MAX)
    }

    /// Sets of the first-level data cache.
    pub fn l1_sets(&self) -> u32 {
        self.l1.kb * 1024 / (self.l1.ways * self.l1.line_bytes)
    }

    /// Schedulers that a part of the back end serves, and how many parts there are.
    pub fn back_ends(&self) -> u32 {
        match self.scheduler.back_end {
            BackEnd::Shared => 1,
            BackEnd::Split => self.scheduler.count,
        }
    }
}

impl Carveout {
    /// KB that shared memory takes of the unified capacity if resident CTAs need `bytes`.
    pub fn taken_kb(self, bytes: u32) -> u32 {
        let steps: &[u32] = match self {
            Self::None => return 0,
            Self::Volta => &[0, 8, 16, 32, 64, 96],
            Self::Turing => &[32, 64],
            Self::Hopper => &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228],
        };
        let fits = steps.iter().find(|&&kb| kb * 1024 >= bytes);
        fits.or(steps.last()).copied().unwrap_or(0)
    }
}
