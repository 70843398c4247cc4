//! Register files whose registers are given out, released and switched off: what the techniques that manage registers share.

mod code;
pub mod costs;
mod flags;
mod frames;
mod management;
mod manager;
pub mod parameters;
mod physical;
mod size;
mod spiller;
pub mod stage;
mod throttle;
mod traffic;
mod wear;

pub(crate) use code::words;
pub use code::{Code, Inst};
pub use flags::FlagCache;
pub(crate) use frames::Frames;
pub use management::{Allocation, Management};
pub use physical::{Domain, Geometry, Physical, Selection, Taken, Usage};
pub use size::{REGISTER_FILE_KB, Size};
pub use wear::ACCESSES;
