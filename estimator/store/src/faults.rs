//! What disks do to a store, for tests: calls that fail, a process that stops in the middle of one, and files whose bytes have changed.

mod damage;
mod disk;

pub use damage::{Damage, PAGE, damages};
pub use disk::{Disk, Fault};
