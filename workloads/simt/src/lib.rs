//! Functional SIMT execution of lowered PTX, and the warp traces it leaves.
//!
//! Execution happens once per kernel and input; every timing run replays the [`trace`].

pub mod trace;
