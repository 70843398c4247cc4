//! Machine code of AMD's Southern Islands (gfx600, gfx601): objects as LLVM writes them, decoding, functional execution, and the traces it leaves.
//!
//! Execution leaves the same kind of trace as that of PTX does ([`warpwatt_simt::trace`]), so that timing and techniques need not know where a trace came from.

mod compare;
mod decode;
mod dispatch;
mod error;
mod exec;
mod execute;
mod group;
mod launch;
mod object;
mod op;
mod print;
mod program;
mod replay;
mod statics;
mod upset;
mod wave;

pub use compare::{Compare, Type};
pub use decode::{Access, Encoding, Inst, Place, Refused, decode};
pub use error::{Cause, ExecError, Fault};
pub use execute::Code;
pub use launch::Launch;
pub use object::{Argument, Descriptor, Function, IMAGE_BASE, Kernel, Object, ObjectError};
pub use op::{Form, Op, ROWS, Row};
pub use print::Names;
pub use replay::Replay;
pub use upset::{Flip, Tape, Upset};
