//! What the suite's cases execute: recorded, so that nobody has to run them to know.

use crate::kernels::Kernel;

/// What a case executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Launches.
    pub launches: u64,
    /// Warp instructions of all launches, for warps of 32.
    pub warp_instructions: u64,
    /// Thread instructions of all launches.
    pub thread_instructions: u64,
    /// Sectors of 32 bytes of global and local memory that its warps touch, each access by itself.
    pub sectors: u64,
    /// Lines of 128 bytes, likewise.
    pub lines: u64,
}

/// One line a case: kernel, case, and the fields of [`Counts`]. Tests execute the cases and compare.
const RECORDED: &str = include_str!("../../kernels/counts.csv");

impl Kernel {
    /// What a case executes, with the kernel's own PTX; `None` if it was not recorded.
    pub fn counts(&self, case: &str) -> Option<Counts> {
        RECORDED.lines().find_map(|line| {
            let mut fields = line.split(',');
            let mut number = match (fields.next(), fields.next()) {
                (Some(kernel), Some(name)) if kernel == self.name && name == case => {
                    || fields.next()?.parse().ok()
                }
                _ => return None,
            };
            Some(Counts {
                launches: number()?,
                warp_instructions: number()?,
                thread_instructions: number()?,
                sectors: number()?,
                lines: number()?,
            })
        })
    }
}
