//! What is to be seen of the bits that lie in an SM's storage.

use warpwatt_simt::trace::{Addresses, KernelTrace, LaneMask};

use super::{IssueEvent, IssuePlan, PlaceEvent};

/// Makes one observer for each SM; the argument is the SM's number.
pub type StorageFactory = Box<dyn Fn(u32) -> Box<dyn StorageObserver>>;

/// Makes the observer of the second-level cache.
pub type SharedFactory = Box<dyn Fn() -> Box<dyn SharedObserver>>;

/// Sees what lies in the storage of an SM, and when it comes and goes.
///
/// Contract: of each warp, `placed` comes first and `retired` last, with its instructions in the order of its trace between. A cycle may lie ahead of those said
/// before it, and behind: each is that of its own event. Between two calls with the same warp and instruction, no third names the two.
pub trait StorageObserver {
    /// A launch begins.
    fn begin(&mut self, cycle: u64, trace: &KernelTrace) {
        let _ = (cycle, trace);
    }
    /// A warp starts, and takes its registers and its CTA's shared memory.
    fn placed(&mut self, event: PlaceEvent) {
        let _ = event;
    }
    /// The fetch stage fetches instructions for a warp.
    fn fetched(&mut self, cycle: u64, fetched: Fetched) {
        let _ = (cycle, fetched);
    }
    /// Something happens to a line of the I-cache.
    fn code_cached(&mut self, cycle: u64, event: CodeEvent) {
        let _ = (cycle, event);
    }
    /// Instructions are in a warp's buffer: those that it will issue, and `wrong` ones that lie behind a branch.
    fn buffered(&mut self, cycle: u64, warp: u8, right: u8, wrong: u8) {
        let _ = (cycle, warp, right, wrong);
    }
    /// The wrong ones are thrown away.
    fn flushed(&mut self, cycle: u64, warp: u8) {
        let _ = (cycle, warp);
    }
    /// An instruction leaves its buffer for a collector; its operands have been read before `read`.
    fn issued(&mut self, event: &IssueEvent<'_>, plan: &IssuePlan, read: u64) {
        let _ = (event, plan, read);
    }
    /// The unit takes instruction `inst` of a warp.
    fn entered(&mut self, cycle: u64, warp: u8, inst: u32) {
        let _ = (cycle, warp, inst);
    }
    /// Its results are in their registers.
    fn written(&mut self, cycle: u64, warp: u8, inst: u32) {
        let _ = (cycle, warp, inst);
    }
    /// It accesses shared memory.
    fn accesses_shared(&mut self, cycle: u64, warp: u8, inst: u32, lanes: (&Addresses, LaneMask)) {
        let _ = (cycle, warp, inst, lanes);
    }
    /// Something happens to sectors of a cache's line.
    fn cached(&mut self, cycle: u64, cache: SmCache, event: CacheEvent) {
        let _ = (cycle, cache, event);
    }
    /// A warp has finished.
    fn retired(&mut self, cycle: u64, warp: u8) {
        let _ = (cycle, warp);
    }
    /// The launch has ended.
    fn end(&mut self, cycle: u64) {
        let _ = cycle;
    }
}

/// A cache of an SM whose contents can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SmCache {
    /// The first-level data cache: sectors of 32 bytes.
    L1,
    /// The constant cache: lines.
    Constant,
    /// The texture cache: lines.
    Texture,
}

/// What happens to a line in its place of a cache; sectors are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheEvent {
    /// The line that was there goes.
    Evicted {
        /// Its place.
        place: u32,
    },
    /// Sectors come.
    Filled {
        /// The line's place.
        place: u32,
        /// Which.
        sectors: u8,
    },
    /// Sectors that are there are read for a warp's instruction.
    Read {
        /// The line's place.
        place: u32,
        /// Which.
        sectors: u8,
        /// The slot of the warp.
        warp: u8,
        /// The static instruction.
        inst: u32,
    },
}

/// Instructions that are fetched together, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The warp's slot in the SM.
    pub warp: u8,
    /// The byte address of the first.
    pub pc: u64,
    /// The index in the trace's code of the first that is not metadata; each such one after it has the next.
    pub inst: u32,
    /// Which of them the warp will issue, in the order of its trace: bit k is the k-th. The others lie behind a taken branch, or are metadata.
    pub path: u8,
    /// Which are metadata in front of these.
    pub metadata: u8,
    /// They are read from the I-cache in this cycle. Else they have to [come](CodeEvent::Read) there, or a filter has them.
    pub read: bool,
}

/// What happens to a line of the I-cache, said by the byte address that it begins with. Lines stay from launch to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeEvent {
    /// It goes.
    Evicted {
        /// Where it begins.
        line: u64,
    },
    /// It comes.
    Filled {
        /// Where it begins.
        line: u64,
    },
    /// What was [fetched](StorageObserver::fetched) last for a warp, and was not there, is read now that it is.
    Read {
        /// The warp's slot in the SM.
        warp: u8,
    },
}

/// Sees what lies in the second-level cache, which all SMs share.
///
/// Contract: a cycle may lie ahead of those said before it, and behind; what is said of one line is said in order.
pub trait SharedObserver {
    /// A launch begins.
    fn begin(&mut self, cycle: u64, trace: &KernelTrace) {
        let _ = (cycle, trace);
    }
    /// Something happens to sectors of a line.
    fn cached(&mut self, cycle: u64, event: SharedEvent) {
        let _ = (cycle, event);
    }
    /// The launch has ended.
    fn end(&mut self, cycle: u64) {
        let _ = cycle;
    }
}

/// What happens to a line of the second-level cache, said by its place among those of all slices; sectors are bits. Lines stay from launch to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedEvent {
    /// The line that was there goes; what was written in it, to memory.
    Evicted {
        /// Its place.
        place: u32,
    },
    /// Sectors come from memory.
    Filled {
        /// The line's place.
        place: u32,
        /// Which.
        sectors: u8,
    },
    /// Sectors that are there are read, for an SM.
    Read {
        /// The line's place.
        place: u32,
        /// Which.
        sectors: u8,
    },
    /// Something in these sectors is written, though not all of each need be. They come with it if they are not there.
    Written {
        /// The line's place.
        place: u32,
        /// Which.
        sectors: u8,
    },
}
