//! What instructions do.

pub(crate) mod convert;
mod divide;
pub(crate) mod float;
mod memory;
pub(crate) mod scalar;
mod share;
mod space;
mod vector;

pub(crate) use memory::{Act as BufferAct, Shape as BufferShape};
pub(crate) use share::{Act as ShareAct, shape as share_shape};
pub(crate) use space::{ARGUMENTS_BASE, PACKET_BASE, SCRATCH_BASE, World};
