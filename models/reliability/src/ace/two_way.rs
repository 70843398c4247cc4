//! A warp's steps from the last to the first.
//!
//! Records can only be read forwards. Places from which to read on are kept a block apart, and one block at a time is read and held.

use warpwatt_simt::trace::{Step, WarpCursor};

/// Steps of a block.
const BLOCK: usize = 512;

/// Reads the steps of one warp: once forwards, then backwards.
#[derive(Clone, Debug)]
pub(crate) struct TwoWay {
    cursor: WarpCursor,
    read: usize,
    /// Where each block that has not been read backwards begins.
    starts: Vec<WarpCursor>,
    /// The rest of the block at hand, in the order of the trace.
    block: Vec<Step>,
}

impl TwoWay {
    pub fn new(cursor: WarpCursor) -> Self {
        Self {
            cursor,
            read: 0,
            starts: Vec::new(),
            block: Vec::new(),
        }
    }

    /// The next step. All are to be read before the first is read backwards.
    pub fn next(&mut self) -> Option<Step> {
        if self.read.is_multiple_of(BLOCK) {
            self.starts.push(self.cursor.clone());
        }
        self.read += 1;
        self.cursor.next()
    }

    /// The step before.
    pub fn next_back(&mut self) -> Option<Step> {
        while self.block.is_empty() {
            self.block.extend(self.starts.pop()?.take(BLOCK));
        }
        self.block.pop()
    }
}
