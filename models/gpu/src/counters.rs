//! Every counter of the GPU model: one table that the documentation and the contract tests read.

use warpwatt_activity::Activity;

/// What a counter means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// Its name in an [`Activity`]: `structure.action` if it can be priced, else a plain word.
    pub name: &'static str,
    /// What one count is.
    pub unit: &'static str,
    /// What is counted, and when.
    pub meaning: &'static str,
    /// Whether the counter belongs to the whole GPU and no SM has a share in it.
    pub only_in_total: bool,
}

/// `total` before a meaning: the counter belongs to the whole GPU, and no SM has a share in it.
macro_rules! counters {
    ($($variant:ident $name:literal $unit:literal $($scope:ident)? $meaning:literal)*) => {
        /// Index of a counter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Counter { $($variant,)* }

        /// All counters of the GPU model. Those of techniques are documented with the techniques.
        pub const COUNTERS: &[CounterInfo] = &[$(counters!(@row $name $unit $($scope)? $meaning),)*];
    };
    (@row $name:literal $unit:literal $meaning:literal) => {
        CounterInfo { name: $name, unit: $unit, meaning: $meaning, only_in_total: false }
    };
    (@row $name:literal $unit:literal total $meaning:literal) => {
        CounterInfo { name: $name, unit: $unit, meaning: concat!($meaning, "; only in the total."), only_in_total: true }
    };
}

counters! {
    Launches "launches" "launch" total "Kernel launches of the run"
    Cycles "cycles" "SM cycle" total "From the start to the end of the last launch, its memory traffic included"
    Ctas "ctas" "CTA" "CTAs placed on an SM."
    Warps "warps" "warp" "Warps placed on an SM."
    ResidentWarpCycles "resident_warp_cycles" "warp x SM cycle" "Sum over warps of the cycles from placement to retirement."
    WarpInstructions "warp_instructions" "warp instruction" "Instructions issued; equals the trace's."
    ThreadInstructions "thread_instructions" "thread instruction" "Active lanes of issued instructions, predicated-off lanes included."
    IssuedSp "issued_sp" "warp instruction" "Issued to the single-precision units; integer work, branches and matrix work too where there are no units of their own."
    IssuedInt "issued_int" "warp instruction" "Issued to the integer units, branches included."
    IssuedSfu "issued_sfu" "warp instruction" "Issued to the special-function units; double precision too where it has no units of its own."
    IssuedFp64 "issued_fp64" "warp instruction" "Issued to the double-precision units."
    IssuedTensor "issued_tensor" "warp instruction" "Issued to the tensor units."
    IssuedScalar "issued_scalar" "warp instruction" "Issued to the scalar units; none on GPUs without them."
    IssuedLdst "issued_ldst" "warp instruction" "Issued to the load-store unit."
    IssuedBarrier "issued_barrier" "warp instruction" "Issued to no unit: barriers; beside scalar units waits for accesses and ends of warps too."
    SpBusyCycles "sp_busy_cycles" "unit x SM cycle" "Cycles for which a single-precision unit was taken, summed over units: the initiation interval of each instruction, and of the copies before it."
    IntBusyCycles "int_busy_cycles" "unit x SM cycle" "The same of integer units."
    SfuBusyCycles "sfu_busy_cycles" "unit x SM cycle" "The same of special-function units."
    Fp64BusyCycles "fp64_busy_cycles" "unit x SM cycle" "The same of double-precision units."
    TensorBusyCycles "tensor_busy_cycles" "unit x SM cycle" "The same of tensor units."
    ScalarBusyCycles "scalar_busy_cycles" "unit x SM cycle" "The same of scalar units."
    LdstBusyCycles "ldst_busy_cycles" "unit x SM cycle" "Cycles for which the load-store unit formed addresses or passed accesses on, without those in which one waited for room."
    Fetches "fetches" "instruction" "Instructions fetched: warp_instructions + flushed_instructions + metadata_fetches."
    FetchGrants "fetch_grants" "warp instruction" "Grants of the fetch arbiter; each brings up to fetch.instructions."
    FlushedInstructions "flushed_instructions" "instruction" "Fetched behind a taken branch or behind the end and thrown away; none where fetch waits for branches."
    MetadataFetches "metadata_fetches" "instruction" "Metadata instructions among them, which techniques put into the code, and first words of instructions longer than fetch.instruction_bytes: decode makes no instruction of them."
    FilteredFetches "filtered_fetches" "warp instruction" "Grants that an attached fetch filter served; they do not reach the I-cache."
    IcacheTagRead "icache.tag.read" "access" "I-cache look-ups: fetch_grants - filtered_fetches."
    IcacheDataRead "icache.data.read" "access" "Reads of the I-cache: one for each look-up, at the hit or when the line has come."
    IcacheTagWrite "icache.tag.write" "access" "Tags written: one a fill."
    IcacheDataWrite "icache.data.write" "access" "Words written: icache.line_bytes / icache.word_bytes a fill."
    IcacheMisses "icache_misses" "access" "Look-ups that miss: icache_fills + icache_mshr_merges."
    IcacheFills "icache_fills" "line" "Lines requested from memory and filled."
    IcacheMshrMerges "icache_mshr_merges" "access" "Misses on a line that another warp had already requested."
    SecondTagRead "l15.tag.read" "line" "Lines of the second level of instructions and constants that misses of the first level look up; none where there is no such cache."
    SecondDataRead "l15.data.read" "line" "Lines that it delivers."
    SecondMisses "l15_misses" "access" "Lines of the first level that were not there whole."
    SecondTagWrite "l15.tag.write" "line" "Lines that came in from below."
    SecondDataWrite "l15.data.write" "line" "Equals l15.tag.write."
    BufferWrite "instruction_buffer.write" "access" "Instructions delivered to the instruction buffer: fetches - metadata_fetches."
    BufferRead "instruction_buffer.read" "access" "Instructions taken from the buffer at issue: equals warp_instructions."
    ScoreboardRead "scoreboard.read" "access" "Entries read to check an instruction: once an instruction. Later releases clear the outcome kept with it."
    ScoreboardWrite "scoreboard.write" "access" "Entries written: once to reserve the regions of an instruction with results, once for each release."
    RegisterRead "register_file.read" "warp-wide register" "Register operands read from the banks; a 64-bit operand is two, predicates and immediates none."
    RegisterWrite "register_file.write" "warp-wide register" "Register results written at issue order; a 64-bit result is two, predicates none."
    RegisterWordsRead "register_words_read" "word" "Words that lanes read for register_file.read: one for each executing lane, or one alone where a technique holds one value for all."
    RegisterWordsWritten "register_words_written" "word" "Words that lanes write, likewise."
    IntAdd "int_add.read" "lane operation" "Integer additions, logic, comparisons, moves and conversions that lanes execute; those that no technique saves."
    IntMul "int_mul.read" "lane operation" "Integer multiplications and multiply-adds, likewise."
    Fp32Add "fp32_add.read" "lane operation" "Single-precision additions, comparisons and conversions, likewise."
    Fp32Mul "fp32_mul.read" "lane operation" "Single-precision multiplications and multiply-adds, likewise."
    Fp64 "fp64.read" "lane operation" "Double-precision operations, likewise."
    TensorMultiplyAdds "tensor_multiply_adds" "multiply-add" "Multiply-adds of matrix instructions."
    Sfu "sfu.read" "lane operation" "Special functions and divisions, likewise."
    OperandWrite "operand_buffer.write" "warp-wide register" "Operands put into a collector: equals register_file.read."
    OperandRead "operand_buffer.read" "warp-wide register" "Operands sent on to a unit: equals register_file.read."
    BankConflictCycles "operand_bank_conflict_cycles" "SM cycle" "Cycles by which operands came later than without other accesses to the register banks, summed over instructions."
    ResultConflictCycles "result_conflict_cycles" "SM cycle" "Cycles by which instructions entered a unit later because its exit, or every result bus, would be taken when they leave it."
    WriteConflictCycles "write_conflict_cycles" "SM cycle" "Cycles by which results were written later because the write port of their bank was taken."
    SharedAccesses "shared_accesses" "warp instruction" "Shared-memory loads, stores and atomics with at least one executing lane."
    SharedPasses "shared_passes" "pass" "Passes that they took; without conflicts warp_width / shared.pass_lanes each."
    SharedWords "shared_words" "word" "32-bit words that they move: those of a 64-bit access are two, those of a lane whose neighbour has the same one are as many."
    SharedRetries "shared_retries" "event" "Times that a warp's atomics came back because a word was locked; none where atomics need no locks."
    ConstantAccesses "constant_accesses" "warp instruction" "Constant and parameter loads with at least one executing lane."
    MemoryAccesses "memory_accesses" "warp instruction" "Global and local loads, stores and atomics with at least one executing lane."
    AddressLanes "address_lanes" "lane" "Lanes for which the load-store unit forms an address: those that execute loads, stores and atomics on shared, global and local memory."
    ConstantMisses "constant_misses" "address" "Addresses whose line was missing in the constant cache, or on its way."
    L1Reads "l1_reads" "sector" "Sectors that loads look up in the first-level data cache: l1_read_hits + l1_read_merges + l1_read_misses."
    L1ReadHits "l1_read_hits" "sector" "Of them there."
    L1ReadMerges "l1_read_merges" "sector" "Of them on their way already."
    L1ReadMisses "l1_read_misses" "sector" "Of them asked for."
    L1Writes "l1_writes" "sector" "Sectors that stores write through the first-level data cache."
    L1Lookups "l1_lookups" "line" "Lines that loads and stores look up in the first-level data cache: one for the sectors of a line that an instruction wants together."
    L1Retries "l1_retries" "event" "Times that a memory instruction found no room for a miss."
    TextureAccesses "texture_accesses" "warp instruction" "Texture reads with at least one executing lane, where textures have a cache of their own."
    TextureReads "texture_reads" "line" "Lines that they look up: hits, texture_merges and texture_misses."
    TextureMerges "texture_merges" "line" "Of them on their way already."
    TextureMisses "texture_misses" "line" "Of them asked for."
    LoadTransactions "load_transactions" "transaction" "Coalesced read requests sent; behind a first-level cache its misses."
    StoreTransactions "store_transactions" "transaction" "Coalesced write requests sent."
    AtomicTransactions "atomic_transactions" "transaction" "Coalesced atomic requests sent."
    CodeTransactions "code_transactions" "transaction" "Requests for lines of instructions."
    ConstantTransactions "constant_transactions" "transaction" "Requests for lines of constants."
    TextureTransactions "texture_transactions" "transaction" "Requests for lines of textures, or for their sectors."
    LoadBytes "load_bytes" "byte" "Bytes requested by reads, those of textures among them, and atomics."
    StoreBytes "store_bytes" "byte" "Bytes sent by writes and atomics."
    RequestFlits "noc_request_flits" "flit" "Flits from SMs to controllers."
    ReplyFlits "noc_reply_flits" "flit" total "Flits from controllers to SMs"
    L2Reads "l2_reads" "sector" total "Sectors looked up to be read in the second-level cache: l2_read_hits + l2_read_merges + l2_read_misses + l2_crossings"
    L2ReadHits "l2_read_hits" "sector" total "Of them there"
    L2ReadMerges "l2_read_merges" "sector" total "Of them on their way already"
    L2ReadMisses "l2_read_misses" "sector" total "Of them asked for at DRAM"
    L2Crossings "l2_crossings" "sector" total "Of them asked for at the other partition, which looks them up once more"
    L2Writes "l2_writes" "sector" total "Sectors written in the second-level cache"
    L2WriteBacks "l2_write_backs" "sector" total "Dirty sectors sent to DRAM"
    DramReads "dram_reads" "request" total "Reads served by DRAM, each of one row; without a second-level cache atomics are among them"
    DramWrites "dram_writes" "request" total "Writes served by DRAM, each of one row; without a second-level cache atomics are among them"
    DramRowHits "dram_row_hits" "transaction" total "Requests that found their row open"
    DramRowMisses "dram_row_misses" "transaction" total "Requests that had to activate their row"
    DramBusyCycles "dram_busy_cycles" "DRAM cycle" total "Cycles of the data buses in use, summed over controllers"
    IssueCycles "issue_cycles" "SM cycle" "Cycles in which an SM issued at least one instruction; together with the stalls and idle_cycles: cycles x SMs."
    StallUnit "stall_unit" "SM cycle" "Some instruction was ready, but its unit, every collector or the limit of transactions was taken, or a technique held it back."
    StallMemory "stall_memory" "SM cycle" "Nothing ready: an instruction waited for a load's result."
    StallDependence "stall_dependence" "SM cycle" "Nothing ready: an instruction waited for a result of the pipeline or a free scoreboard region."
    StallIcache "stall_icache" "SM cycle" "Nothing ready, no instruction waited for data: an I-cache miss was outstanding."
    StallFetch "stall_fetch" "SM cycle" "As before without a miss: instructions in fetch or decode, or branches unresolved."
    StallBarrier "stall_barrier" "SM cycle" "Every warp that had not finished waited at a barrier."
    StallDrain "stall_drain" "SM cycle" "Warps had issued everything and waited for their last results."
    IdleCycles "idle_cycles" "SM cycle" "No warp on the SM."
}

impl Counter {
    /// The counter's name.
    pub(crate) fn name(self) -> &'static str {
        COUNTERS[self as usize].name
    }
}

/// Counts by index; the hot form of an [`Activity`].
#[derive(Clone, Debug)]
pub(crate) struct Counts([u64; COUNTERS.len()]);

impl Counts {
    pub(crate) fn new() -> Self {
        Self([0; COUNTERS.len()])
    }

    #[inline]
    pub(crate) fn add(&mut self, counter: Counter, count: u64) {
        // What counts nothing, as conflicts do mostly, leaves the processor's cache alone.
        if count != 0 {
            self.0[counter as usize] += count;
        }
    }

    #[inline]
    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Adds those of another.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// The counters of a selection, by name.
    pub(crate) fn activity(&self, selection: &Selection) -> Activity {
        let selected = selection.0.iter();
        Activity::of_known(selected.map(|&index| (COUNTERS[index].name, self.0[index])))
    }
}

/// Some of the counters, in the order of their names.
#[derive(Clone, Debug)]
pub(crate) struct Selection(Vec<usize>);

impl Selection {
    /// Those that `kept` keeps.
    pub(crate) fn new(kept: impl Fn(&CounterInfo) -> bool) -> Self {
        let mut indices: Vec<usize> = (0..COUNTERS.len())
            .filter(|&index| kept(&COUNTERS[index]))
            .collect();
        indices.sort_unstable_by_key(|&index| COUNTERS[index].name);
        Self(indices)
    }

    /// What each SM counts.
    pub(crate) fn of_sms() -> Self {
        Self::new(|info| !info.only_in_total)
    }

    /// What belongs to no SM.
    pub(crate) fn in_total() -> Self {
        Self::new(|info| info.only_in_total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<&str> =
            COUNTERS.iter().map(|info| info.name).collect();
        assert_eq!(names.len(), COUNTERS.len());
    }

    #[test]
    fn indices_and_rows_agree() {
        assert_eq!(
            COUNTERS[Counter::IcacheTagRead as usize].name,
            "icache.tag.read"
        );
        assert_eq!(COUNTERS[Counter::IdleCycles as usize].name, "idle_cycles");
        assert!(COUNTERS[Counter::Cycles as usize].only_in_total);
    }
}
