//! Functional SIMT execution of lowered PTX, and the warp traces it leaves.
//!
//! Execution happens once per kernel and input; every timing run replays the [`trace`].

mod barrier;
mod barrier_word;
mod cta;
mod device_launch;
mod error;
mod execute;
mod grid;
mod heap;
mod interrupt;
mod lane_watch;
mod lanes;
mod memory;
mod nature;
mod needs;
mod print;
pub mod races;
mod registers;
mod replay;
mod span;
mod speculate;
mod stack;
mod statics;
mod tensor_map;
mod tensor_memory;
mod texture;
mod tile;
pub mod trace;
mod under_way;
mod upset;
mod warp;

pub use device_launch::{DeviceLaunch, Nested};
pub use error::{Cause, ExecError, Fault, Reason, Waiting, WaitingBarrier};
pub use execute::{Execution, Launch, Options, execute};
pub use interrupt::Interrupt;
pub use lane_watch::{LaneResult, LaneResults, LaneWatch};
pub use lanes::{decode_bf16, decode_half, fused_single, gathered as lane_mask};
pub use memory::{BLOCK_BYTES, Behind, DeviceMemory};
pub use replay::Replay;
pub use tensor_map::{Im2col, Swizzle, TensorElement, TensorMap};
pub use texture::{Border, Filter, Texture};
pub use upset::{Flip, Moment, Upset};
