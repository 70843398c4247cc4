//! Why a kernel could not run, or had to stop.

use std::fmt;

use warpwatt_ptx::PtxError;
use warpwatt_ptx::program::CLUSTER_BARRIER;
use warpwatt_ptx::types::Space;

use crate::barrier::WARPGROUP_BARRIERS;
use crate::trace::StoreError;

/// A launch that was refused or an execution that stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecError {
    /// The module has no such entry.
    UnknownEntry {
        /// The asked name.
        name: String,
        /// The entries that there are.
        known: Vec<String>,
    },
    /// The entry contains what is not supported.
    Unsupported {
        /// The entry.
        kernel: String,
        /// Each place.
        problems: Vec<PtxError>,
    },
    /// The launch does not fit the entry or the machine.
    Launch {
        /// The entry.
        kernel: String,
        /// What does not fit.
        message: String,
    },
    /// The grid alone is beyond the limit of warp instructions.
    Limit {
        /// The entry.
        kernel: String,
        /// Its blocks.
        ctas: u128,
        /// The limit.
        limit: u64,
    },
    /// What was recorded cannot be kept.
    Store {
        /// The entry.
        kernel: String,
        /// Why.
        error: StoreError,
    },
    /// A thread did what it must not.
    Fault(Box<Fault>),
}

/// A fault at an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The entry.
    pub kernel: String,
    /// Line in the PTX file.
    pub line: u32,
    /// The CTA.
    pub cta: [u32; 3],
    /// The thread in its CTA.
    pub thread: [u32; 3],
    /// What happened.
    pub cause: Cause,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// An access outside every buffer.
    OutOfBounds {
        /// State space.
        space: Space,
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// What lies nearby.
        near: String,
    },
    /// An address that is no multiple of the access size.
    Misaligned {
        /// State space.
        space: Space,
        /// First byte.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// A store to constants or parameters.
    ReadOnly {
        /// State space.
        space: Space,
    },
    /// A barrier that only a part of the warp's live threads reached.
    DivergentBarrier,
    /// A barrier of a number that does not exist.
    BarrierNumber(u32),
    /// Warps wait at one barrier in ways that do not go together.
    BarrierMismatch {
        /// The barrier.
        barrier: u32,
        /// How they differ.
        difference: String,
    },
    /// A barrier that warps ran past and exited while others wait at it.
    MissedBarrier {
        /// The barrier.
        barrier: u32,
        /// Those warps of the CTA.
        warps: Vec<u32>,
    },
    /// Every warp that still runs waits at a barrier that can never open.
    Deadlock {
        /// The barriers that they wait at.
        barriers: Vec<WaitingBarrier>,
    },
    /// No thread can ever go on: each waits for lanes that never come, or for a change of memory that nobody makes.
    Hang {
        /// Who waits, and where.
        waiting: Vec<Waiting>,
    },
    /// A CTA waits for another one, in a launch in which races are looked for: there they run one after the other.
    Together,
    /// Somebody wanted the execution to end.
    Interrupted,
    /// A lane executes a collective whose mask does not name it.
    NotMember {
        /// The mask.
        mask: u32,
    },
    /// Calls nest too deep, or their frames are too large.
    StackOverflow {
        /// How many calls were open.
        depth: usize,
    },
    /// A read of a texture that no launch has bound, by its handle.
    NoTexture(u64),
    /// A surface access outside of the surface: x in bytes or pixels, y, z.
    OutsideSurface {
        /// Where.
        position: [i64; 3],
    },
    /// `free` of an address that `malloc` did not give, or that was given back.
    BadFree(u64),
    /// An instruction of a warpgroup that only a part of a warp's threads executes.
    PartialWarp,
    /// An operation on tensor memory that there is not.
    TensorMemory(String),
    /// A tensor map that no copy can use.
    TensorMap(&'static str),
    /// `trap`.
    Trap,
    /// A failed `assert`: where, and what was asserted.
    Assertion(String),
    /// What a kernel printed: a format, string or argument that cannot be read, by its address.
    BadFormat(u64),
    /// An indexed branch beyond its list.
    BranchIndex(u32),
    /// A call of an address at which no function that it may reach begins.
    CallTarget(u64),
    /// Execution ran past the last instruction: only an upset leads there.
    BeyondCode,
    /// The instruction limit was reached.
    Limit(u64),
    /// So many instructions have changed nothing in memory, passed no barrier and ended no warp.
    NoProgress(u64),
}

/// Lanes that wait in a launch in which nobody can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Their CTA.
    pub cta: [u32; 3],
    /// Their warp in it.
    pub warp: u32,
    /// The lanes.
    pub lanes: u64,
    /// Line in the PTX file.
    pub line: u32,
    /// What they wait for.
    pub reason: Reason,
}

/// What lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A change of memory: their loop reads the same for ever.
    Memory,
    /// These lanes of their warp.
    Lanes(u64),
    /// The other threads at a barrier of the CTA.
    Barrier,
    /// Columns of tensor memory that are allocated.
    Columns,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cta: [x, y, z],
            warp,
            lanes,
            line,
            reason,
        } = self;
        let who = named("lane", &numbers(*lanes));
        write!(f, "CTA ({x}, {y}, {z}) warp {warp} {who} at line {line} ")?;
        match reason {
            Reason::Memory => f.write_str("for a change of memory"),
            Reason::Lanes(lanes) => write!(f, "for {}", named("lane", &numbers(*lanes))),
            Reason::Barrier => f.write_str("at a barrier"),
            Reason::Columns => f.write_str("for columns of tensor memory that are taken"),
        }
    }
}

/// The lanes of a mask, neighbours as ranges.
fn numbers(mut lanes: u64) -> Vec<String> {
    let mut found = Vec::new();
    while lanes != 0 {
        let first = lanes.trailing_zeros();
        let count = (lanes >> first).trailing_ones();
        found.push(match count {
            1 => first.to_string(),
            _ => format!("{first}-{}", first + count - 1),
        });
        lanes &= !(u64::MAX >> (64 - count) << first);
    }
    found
}

/// A barrier that cannot open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingBarrier {
    /// Its number.
    pub barrier: u32,
    /// Line in the PTX file where the first warp waits.
    pub line: u32,
    /// Warps of the CTA that wait.
    pub warps: Vec<u32>,
    /// Threads that have arrived, a whole warp each time.
    pub arrived: u32,
    /// Threads that must arrive.
    pub needed: u32,
}

impl fmt::Display for WaitingBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            barrier,
            line,
            warps,
            arrived,
            needed,
        } = self;
        let barrier = match barrier.checked_sub(WARPGROUP_BARRIERS) {
            _ if *barrier == CLUSTER_BARRIER => "the barrier of the cluster".to_owned(),
            Some(group) if group < WARPGROUP_BARRIERS => format!("the wait of warpgroup {group}"),
            _ => format!("barrier {barrier}"),
        };
        write!(
            f,
            "{barrier} at line {line} has {arrived} of {needed} threads ({})",
            named("warp", warps)
        )
    }
}

/// `warp 3`, `warps 0, 1, 5`.
fn named(what: &str, numbers: &[impl ToString]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let plural = match &numbers[..] {
        [one] if !one.contains('-') => "",
        _ => "s",
    };
    format!("{what}{plural} {}", numbers.join(", "))
}

/// What to say of barriers that cannot open.
fn deadlock(waiting: &[WaitingBarrier]) -> String {
    let barriers: Vec<String> = waiting.iter().map(ToString::to_string).collect();
    let of_cluster = |it: &WaitingBarrier| it.barrier == CLUSTER_BARRIER;
    let whose = match waiting.iter().any(of_cluster) {
        true => "cluster",
        false => "CTA",
    };
    format!(
        "deadlock: not all threads of the {whose} reach the barriers that others wait at: {}",
        barriers.join("; ")
    )
}

/// What to say of those that wait for ever: the first of them, and how many more there are.
fn hang(waiting: &[Waiting]) -> String {
    let shown: Vec<String> = waiting
        .iter()
        .take(SHOWN)
        .map(ToString::to_string)
        .collect();
    let shown = shown.join("; ");
    let more = match waiting.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("the launch hangs: no thread can go on; they wait: {shown}{more}")
}

/// What to say of CTAs that wait for each other while races are looked for.
const TOGETHER: &str = "the CTA waits for another one: data races are looked for only in launches whose CTAs can run one after the other";

/// How many of those that wait a message names.
const SHOWN: usize = 8;

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::UnknownEntry { name, known } => {
                write!(
                    f,
                    "the module has no entry `{name}`; it has {}",
                    known.join(", ")
                )
            }
            ExecError::Unsupported { kernel, problems } => write!(
                f,
                "`{kernel}` cannot run: {} unsupported instructions, first: {}",
                problems.len(),
                problems.first().map_or("", |problem| &problem.message)
            ),
            ExecError::Launch { kernel, message } => write!(f, "`{kernel}`: {message}"),
            ExecError::Limit {
                kernel,
                ctas,
                limit,
            } => write!(
                f,
                "`{kernel}`: a grid of {ctas} blocks executes more than the limit of {limit} warp instructions"
            ),
            ExecError::Store { kernel, error } => write!(f, "`{kernel}`: {error}"),
            ExecError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for ExecError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [cx, cy, cz] = self.cta;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            "{} in `{}` at PTX line {}, CTA ({cx}, {cy}, {cz}), thread ({tx}, {ty}, {tz})",
            self.cause, self.kernel, self.line
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::OutOfBounds {
                space,
                address,
                bytes,
                near,
            } => write!(
                f,
                "access of {bytes} bytes at {address:#x} lies outside {} memory ({near})",
                name(*space)
            ),
            Cause::Misaligned {
                space,
                address,
                bytes,
            } => write!(
                f,
                "misaligned access to {} memory: {address:#x} is no multiple of {bytes}",
                name(*space)
            ),
            Cause::ReadOnly { space } => {
                write!(f, "store to {} memory, which is read-only", name(*space))
            }
            Cause::DivergentBarrier => f.write_str(DIVERGENT),
            Cause::BarrierNumber(number) => {
                write!(f, "there is no barrier {number}: a CTA has 0 to 15")
            }
            Cause::BarrierMismatch {
                barrier,
                difference,
            } => write!(
                f,
                "barrier {barrier} is used in ways that do not go together: {difference}"
            ),
            Cause::MissedBarrier { barrier, warps } => write!(
                f,
                "not all threads of the CTA reach barrier {barrier}: {} went past it and exited",
                named("warp", warps)
            ),
            Cause::Deadlock { barriers } => f.write_str(&deadlock(barriers)),
            Cause::Hang { waiting } => f.write_str(&hang(waiting)),
            Cause::Together => f.write_str(TOGETHER),
            Cause::Interrupted => f.write_str("is interrupted"),
            Cause::NotMember { mask } => write!(
                f,
                "the thread executes a collective whose member mask {mask:#x} does not name it"
            ),
            Cause::StackOverflow { depth } => {
                write!(f, "stack overflow: {depth} calls are open")
            }
            Cause::NoTexture(handle) => write!(
                f,
                "no texture is bound to handle {handle:#x}: give the buffer a `texture` table in the launch file"
            ),
            Cause::BadFree(address) => {
                write!(f, "`free` of {address:#x}, at which nothing is allocated")
            }
            Cause::OutsideSurface {
                position: [x, y, z],
            } => write!(
                f,
                "an access outside of the surface, at x = {x}, y = {y}, z = {z}"
            ),
            Cause::CallTarget(address) => write!(
                f,
                "an indirect call of {address:#x}, at which no function of the call's shape begins"
            ),
            Cause::PartialWarp => f.write_str(PARTIAL),
            Cause::TensorMemory(why) => write!(f, "tensor memory: {why}"),
            Cause::TensorMap(why) => write!(f, "the tensor map cannot be used: {why}"),
            Cause::Trap => f.write_str("the kernel executed `trap`"),
            Cause::Assertion(what) => f.write_str(what),
            Cause::BadFormat(address) => write!(f, "{UNREADABLE} {address:#x}"),
            Cause::BranchIndex(index) => write!(f, "branch index {index} lies beyond its targets"),
            Cause::BeyondCode => f.write_str("the program ran past its last instruction"),
            Cause::Limit(limit) => write!(f, "the limit of {limit} warp instructions was reached"),
            Cause::NoProgress(instructions) => write!(f, "{instructions} {NO_PROGRESS}"),
        }
    }
}

const DIVERGENT: &str = "barrier under divergence: only a part of the warp's threads reaches it";
const PARTIAL: &str =
    "an instruction of a warpgroup under divergence: all threads of the warp must execute it";
const UNREADABLE: &str = "`printf` of a format, string or argument that cannot be read, at";
const NO_PROGRESS: &str =
    "warp instructions have changed nothing in memory: an endless loop, it seems";

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Generic => "generic",
    }
}
