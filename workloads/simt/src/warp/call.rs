//! Calls of device functions: frames in local memory. What lives across a call has registers that the callee leaves alone, or is in the frame.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{Call, Inst, Move, Op, Target};

use super::{Step, Warp};
use crate::error::Cause;
use crate::memory::LocalMemory;
use crate::trace::{LaneMask, lanes};

/// Calls that may be open at once.
const MAX_DEPTH: usize = 1024;

/// Bytes of local memory that a thread's frames may take. CUDA's default stack has 1 KiB.
const MAX_STACK: u64 = 64 * 1024;

/// Frames begin at multiples of this: the largest vector access.
const ALIGNMENT: u64 = 16;

/// An open call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Where the callee's frame begins in local memory.
    base: u64,
    /// The call instruction.
    call: u32,
    /// Index of the function.
    function: u32,
}

impl<const W: usize> Warp<W> {
    /// Where the running function's frame begins; the entry's begins at zero.
    #[inline]
    pub(super) fn frame_base(&self) -> u64 {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    pub(super) fn call(
        &mut self,
        entry: &Entry,
        call: &Call,
        step: Step,
        local: &mut LocalMemory,
    ) -> Result<(), Cause> {
        if step.executed == 0 {
            self.stack.go(step.at + 1);
            return Ok(());
        }
        let called = match &call.target {
            Target::Function(function) => *function,
            Target::Address(functions) => {
                let paths = self.callees(&entry.code[step.at as usize], functions, step)?;
                match paths[..] {
                    [(function, _)] => function,
                    // Lanes that call different functions execute the call again, one function after the other.
                    _ => {
                        let paths = paths.iter().map(|&(_, lanes)| (step.at, lanes));
                        let others = (step.at + 1, step.active & !step.executed);
                        let paths: Vec<_> = paths.chain([others]).collect();
                        self.stack.split(&paths, step.at + 1);
                        return Ok(());
                    }
                }
            }
        };
        let own = match self.frames.last() {
            Some(frame) => entry.functions[frame.function as usize].frame_bytes,
            None => u64::from(entry.local_bytes),
        };
        let function = &entry.functions[called as usize];
        let from = self.frame_base();
        let base = (from + own).next_multiple_of(ALIGNMENT);
        let depth = self.frames.len();
        if depth >= MAX_DEPTH
            || base + function.frame_bytes > u64::from(entry.local_bytes) + MAX_STACK
        {
            return Err(Cause::StackOverflow { depth });
        }
        local.grow(base + function.frame_bytes);
        pass(local, &call.arguments, [from, base], step);
        let frame = Frame {
            base,
            call: step.at,
            function: called,
        };
        self.frames.push(frame);
        self.stack.call(function.start, step.at + 1, step.executed);
        Ok(())
    }

    /// The functions that the lanes call, and which lanes do.
    fn callees(
        &self,
        inst: &Inst,
        functions: &[(u64, u32)],
        step: Step,
    ) -> Result<Vec<(u32, LaneMask)>, Cause> {
        let addresses = self.registers.extended(inst.src[0]);
        let mut found: Vec<(u32, LaneMask)> = Vec::new();
        for lane in lanes(step.executed) {
            let address = addresses[lane as usize];
            let known = functions.iter().find(|(known, _)| *known == address);
            let &(_, function) = known.ok_or(Cause::CallTarget(address))?;
            match found.iter_mut().find(|(known, _)| *known == function) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => found.push((function, 1 << lane)),
            }
        }
        Ok(found)
    }

    pub(super) fn ret(&mut self, entry: &Entry, step: Step, local: &mut LocalMemory) {
        self.stack.go(step.at + 1);
        let Some(frame) = self.frames.last() else {
            return self.stack.exit(step.executed);
        };
        let caller = match self.frames.len() {
            1 => 0,
            open => self.frames[open - 2].base,
        };
        if let Op::Call(call) = &entry.code[frame.call as usize].op {
            pass(local, &call.results, [frame.base, caller], step);
        }
        self.stack.ret(step.executed);
    }
}

/// Moves values from the frame at `from` to the frame at `to`, for the executed lanes.
fn pass(local: &mut LocalMemory, moves: &[Move], [from, to]: [u64; 2], step: Step) {
    for lane in lanes(step.executed) {
        let memory = local.of(lane);
        for passed in moves {
            let start = (from + passed.from) as usize;
            let end = start + passed.bytes as usize;
            memory.copy_within(start..end, (to + passed.to) as usize);
        }
    }
}
