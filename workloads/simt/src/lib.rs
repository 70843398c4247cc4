//! Functional SIMT execution of lowered PTX, and the warp traces it leaves.
//!
//! Execution happens once per kernel and input; every timing run replays the [`trace`].

mod barrier;
mod barrier_word;
mod cta;
mod error;
mod execute;
mod heap;
mod lanes;
mod memory;
mod nature;
mod needs;
pub mod races;
mod registers;
mod span;
mod stack;
mod statics;
mod texture;
pub mod trace;
mod warp;

pub use error::{Cause, ExecError, Fault, WaitingBarrier};
pub use execute::{Execution, Launch, Options, execute};
pub use memory::DeviceMemory;
pub use texture::{Border, Filter, Texture};
