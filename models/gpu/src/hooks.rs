//! Where techniques attach to the pipeline. What is not attached costs nothing and changes nothing.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::{KernelTrace, Step};

pub use crate::program::Port;
pub use banks::SharedUse;
pub use dispatch::{Dispatcher, DispatcherFactory};
pub use storage::{
    CacheEvent, CodeEvent, Fetched, SharedEvent, SharedFactory, SharedObserver, SmCache,
    StorageFactory, StorageObserver,
};

mod banks;
mod dispatch;
mod storage;

/// Makes one filter for each SM; the argument is the SM's number.
pub type FilterFactory = Box<dyn Fn(u32) -> Box<dyn FetchFilter>>;
/// Makes one observer for each SM; the argument is the SM's number.
pub type ObserverFactory = Box<dyn Fn(u32) -> Box<dyn FetchObserver>>;

/// Makes one issue hook for each SM; the argument is the SM's number.
pub type IssueFactory = Box<dyn Fn(u32) -> Box<dyn IssueHook>>;

/// Says for the code of a launch how many metadata instructions a compiler put in front of each instruction.
pub type MetadataFactory = Box<dyn Fn(&KernelTrace) -> Vec<u8>>;

/// Says why a launch cannot run with what is attached.
pub type Condition = Box<dyn Fn(&KernelTrace) -> Result<(), String>>;

/// Makes another trace of a launch: what its warps execute where a technique decides which warps there are; or says why it cannot.
pub type Rewrite = Box<dyn Fn(&KernelTrace) -> Result<KernelTrace, String>>;

/// The attachments of a run.
#[derive(Default)]
pub struct Hooks {
    /// What every launch has to meet; nothing runs unless everything does.
    pub conditions: Vec<Condition>,
    /// Stands before the I-cache and may serve fetches.
    pub fetch_filter: Option<FilterFactory>,
    /// Watch the front end and change nothing.
    pub fetch_observers: Vec<ObserverFactory>,
    /// Follow warps and decide how their instructions go through the back end; each sees what those before it decided.
    pub issue: Vec<IssueFactory>,
    /// See where bits lie and for how long, and change nothing.
    pub storage: Vec<StorageFactory>,
    /// See what lies in the second-level cache, and change nothing.
    pub shared: Vec<SharedFactory>,
    /// Metadata instructions: they lie in the code, are fetched in front of their instruction, wherever that is reached from, and end at decode. A branch to
    /// an instruction leads to its metadata, so that fetching them here is what executing a program with them would trace.
    pub metadata: Option<MetadataFactory>,
    /// All launches run in their order, and then all of them again.
    pub twice: bool,
    /// Decides which SM takes which CTA; without one they go in their order to whichever has room.
    pub dispatcher: Option<DispatcherFactory>,
    /// What runs instead of each launch, one rewrite after the other.
    pub rewrites: Vec<Rewrite>,
}

impl Hooks {
    /// Whether anything is attached to SMs.
    pub(crate) fn touch_sms(&self) -> bool {
        self.fetch_filter.is_some()
            || !self.fetch_observers.is_empty()
            || !self.issue.is_empty()
            || !self.storage.is_empty()
    }
}

/// A small store before the I-cache.
///
/// Contract: a fetch looks up once. If it misses, the I-cache is accessed, and the instruction is filled when it comes; a fetch that starts in a
/// later cycle than the fill sees it. With `fetch.stages = 2` the I-cache is read a cycle after the look-up, and so the fill comes a cycle later.
pub trait FetchFilter {
    /// Whether the filter holds the instruction at `pc` (a byte address).
    fn lookup(&mut self, pc: u64) -> bool;
    /// The I-cache delivers the instruction at `pc`.
    fn fill(&mut self, pc: u64);
    /// Whether it holds decoded instructions: those that it serves reach their buffer without passing the decoder.
    fn skips_decode(&self) -> bool {
        false
    }
    /// Whether warps may fetch that have instructions already. Where they may not, something that the front end is told of changes it.
    fn lets_fetch_ahead(&self) -> bool {
        true
    }
    /// Adds the filter's own counters.
    fn report(&self, activity: &mut Activity);
    /// Adds those that do not add up over time, once at the end of a run: the most there was at once, how many parts there are.
    fn report_levels(&self, activity: &mut Activity) {
        let _ = activity;
    }
}

/// A warp's slot and the instruction it fetches, gets or issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchEvent {
    /// The SM's cycle.
    pub cycle: u64,
    /// The warp's slot in the SM.
    pub warp: u8,
    /// The instruction's byte address.
    pub pc: u64,
}

/// Watches the front end of an SM.
pub trait FetchObserver {
    /// The arbiter granted a fetch.
    fn fetched(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The instruction is decoded in the warp's buffer from `event.cycle` on; said in advance for an I-cache hit.
    fn delivered(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// An instruction of the warp's path lies in its buffer from `event.cycle` on: one of those that a fetch brought, said when it is there. What was fetched
    /// behind a taken branch is not said.
    fn buffered(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The instruction left the buffer.
    fn issued(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The warp in slot `warp` has finished.
    fn retired(&mut self, warp: u8) {
        let _ = warp;
    }
    /// Adds the observer's counters.
    fn report(&self, activity: &mut Activity);
}

/// Follows the warps of an SM and decides how each instruction goes through the back end.
///
/// Contract: [`begin`](Self::begin) is called once a launch, before any warp is placed. Every warp is placed, issues the instructions of its trace in order,
/// and retires; then another may have its slot.
pub trait IssueHook {
    /// A launch begins.
    fn begin(&mut self, trace: &KernelTrace) {
        let _ = trace;
    }
    /// A warp starts.
    fn placed(&mut self, event: PlaceEvent) {
        let _ = event;
    }
    /// An instruction issues; `plan` is how, so far.
    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let _ = (event, plan);
    }
    /// The operands of the instruction that the warp issued last have been read before `cycle`; said in advance, right after the issue.
    fn collected(&mut self, warp: u8, cycle: u64) {
        let _ = (warp, cycle);
    }
    /// Banks of shared memory are taken, by accesses in their order; said in advance.
    fn shared_taken(&mut self, taken: &SharedUse<'_>) {
        let _ = taken;
    }
    /// The result of a load, an atomic or a texture read of global or local memory comes in `cycle`; said in advance where it is known.
    fn loaded(&mut self, cycle: u64, warp: u8) {
        let _ = (cycle, warp);
    }
    /// The warp in slot `warp` has finished.
    fn retired(&mut self, cycle: u64, warp: u8) {
        let _ = (cycle, warp);
    }
    /// What holds instructions of the SM back, if the hook does; one hook of a run at the most.
    fn throttle(&mut self) -> Option<&mut dyn Throttle> {
        None
    }
    /// What executes instructions of the SM again, if the hook does; one hook of a run at the most.
    fn reexecutor(&mut self) -> Option<&mut dyn Reexecutor> {
        None
    }
    /// The cycle has come in which the hook may be asked for its counters: what it sums up over time is summed up to there.
    fn up_to(&mut self, cycle: u64) {
        let _ = cycle;
    }
    /// Adds the hook's counters.
    fn report(&self, activity: &mut Activity);
    /// Adds those that do not add up over time, once at the end of a run: the most there was at once, how many parts there are, facts of the code.
    fn report_levels(&self, activity: &mut Activity) {
        let _ = activity;
    }
}

/// Executes instructions again, in units that are idle or that it makes wait.
///
/// Contract: a scheduler that has chosen an instruction asks whether it may issue. If it may, it does, and [`IssueHook::issued`] follows at once; if not, the
/// scheduler issues nothing in this cycle. After each answer, and at the end of a launch, all that is to be executed again goes to its unit.
pub trait Reexecutor {
    /// Whether the chosen instruction may issue.
    fn admits(&mut self, chosen: &Chosen<'_>) -> bool;
    /// Nothing issues any more in this launch, which would end in `cycle`. When it ends.
    fn ends(&mut self, cycle: u64) -> u64;
    /// The next execution of an instruction that has issued: asked until there is none.
    fn next(&mut self) -> Option<Reexecution>;
}

/// An instruction that a scheduler has chosen.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'e> {
    /// The SM's cycle.
    pub cycle: u64,
    /// The warp's slot in the SM.
    pub warp: u8,
    /// Where it goes.
    pub port: Port,
    /// What the warp is about to execute.
    pub step: &'e Step,
}

/// Another execution of an instruction. Its operands lie ready and its results are compared, not written: it takes its unit, no collector and no result bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reexecution {
    /// The instruction's index.
    pub inst: u32,
    /// The slot of the warp that issued it: it goes to the units of that warp's scheduler.
    pub warp: u8,
    /// It enters its unit when an instruction that issued in this cycle would, or as soon after as the unit takes it. The cycle may be over.
    pub from: u64,
    /// How many lanes execute it.
    pub lanes: u32,
}

/// Holds instructions back, and moves registers of warps that wait to memory and back.
///
/// Contract: what is admitted and issues changes what is admitted next, and so may every retirement, result, and opening of a barrier; nothing else does before
/// the cycle that [`reconsiders`](Self::reconsiders) gives.
pub trait Throttle {
    /// Whether a warp's next instruction may issue, which could otherwise: asked anew until it has issued.
    fn admits(&mut self, cycle: u64, warp: u8, step: &Step) -> bool;
    /// Warps that go before all others where they can: bit w for slot w.
    fn preferred(&self) -> u64;
    /// When something that is held back may be let go though nothing else happens.
    fn reconsiders(&self) -> Option<u64>;
    /// All that could issue is held back, every other warp waits at a barrier (`at_barrier`), and nothing is under way in the pipeline or in memory. Whether it
    /// is worth asking again.
    fn starved(&mut self, cycle: u64, at_barrier: u64) -> bool;
    /// Warps with registers to move.
    fn moving(&self) -> u64;
    /// The next register to move, if it is of one of `warps`; it is on its way from now on.
    fn next_move(&mut self, cycle: u64, warps: u64) -> Option<Move>;
    /// A register is read for memory before `cycle`, said in advance; or it is back from there.
    fn moved(&mut self, cycle: u64, register: Move);
}

/// A warp-wide register on its way between register file and memory: an access as wide as the warp, which takes the place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The warp's slot in the SM.
    pub warp: u8,
    /// The 32-bit register of the program.
    pub word: u16,
    /// Where it goes.
    pub to_memory: bool,
}

/// A warp that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceEvent {
    /// The SM's cycle.
    pub cycle: u64,
    /// The warp's slot in the SM.
    pub warp: u8,
    /// Its CTA's number in the grid.
    pub cta: u32,
}

/// An instruction that issues.
#[derive(Clone, Copy, Debug)]
pub struct IssueEvent<'e> {
    /// The SM's cycle.
    pub cycle: u64,
    /// The warp's slot in the SM.
    pub warp: u8,
    /// The instruction's byte address.
    pub pc: u64,
    /// Cycles from the issue to its result, without conflicts and the memory system.
    pub latency: u64,
    /// Where it goes.
    pub port: Port,
    /// Cycles for which all lanes of the warp occupy its unit.
    pub interval: u64,
    /// Cycles for which one pass does.
    pub pass: u64,
    /// What the warp executes: the instruction's index, lanes, addresses.
    pub step: &'e Step,
}

/// What an instruction takes of the back end: the words that it reads and writes, how late, and on which lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssuePlan {
    /// Which words of its register operands are read from the banks: bit k is the k-th of them, in the order of the sources, a double being two words and
    /// a predicate none. Words beyond the last bit always are.
    pub reads: u64,
    /// Which of these words are read from one lane, for all. They take their bank's time all the same.
    pub narrow_reads: u64,
    /// Words of its results that are written to the banks.
    pub writes: u32,
    /// Words of its results that are written to one lane, for all; they are not among `writes`.
    pub narrow_writes: u32,
    /// Cycles by which its operands are read later.
    pub delay: u64,
    /// Copies from one lane to all that issue right before it, each as long as a warp-wide instruction.
    pub copies: u32,
    /// How much of it executes.
    pub extent: Extent,
    /// Idle lanes that do what one of the executing lanes does, at the same time.
    pub repeats: u32,
}

/// How much of an instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All lanes.
    Warp,
    /// Some lanes that do the work of all: one pass of its unit is enough, and one cycle of the scheduler.
    OnePass {
        /// How many.
        lanes: u32,
    },
    /// Nothing: its results are known a cycle after its operands, and the scheduler is free in the next cycle.
    Skipped,
}

impl IssuePlan {
    /// That of an instruction which no technique touches, with so many result words.
    pub fn plain(writes: u32) -> Self {
        Self {
            reads: u64::MAX,
            narrow_reads: 0,
            writes,
            narrow_writes: 0,
            delay: 0,
            copies: 0,
            extent: Extent::Warp,
            repeats: 0,
        }
    }

    /// How many of `words` operand words are read from the banks.
    #[inline]
    pub fn count_reads(&self, words: usize) -> u64 {
        if self.reads == u64::MAX {
            return words as u64;
        }
        let first = u64::MAX >> (64 - words.clamp(1, 64));
        let counted = (self.reads & first).count_ones() as usize;
        (counted.min(words) + words.saturating_sub(64)) as u64
    }

    /// How many of `lanes` lanes execute.
    #[inline]
    pub fn executing(&self, lanes: u64) -> u64 {
        match self.extent {
            Extent::Warp => lanes,
            Extent::OnePass { lanes: enough } => lanes.min(u64::from(enough)),
            Extent::Skipped => 0,
        }
    }

    /// Whether the `word`-th word of the operands is read from the banks.
    #[inline]
    pub fn is_read(&self, word: usize) -> bool {
        word >= 64 || self.reads >> word & 1 != 0
    }
}
