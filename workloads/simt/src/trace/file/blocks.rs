//! The compressed part of a trace file: blocks of LZ4, each independent of the others.

use super::TraceFileError;
use crate::trace::Malformed;

/// Bytes of a block before compression, at the most.
const BLOCK: usize = 1 << 20;

/// How many bytes a byte of LZ4 can stand for: the longest run of a match is told in steps of 255.
const EXPANSION: u64 = 255;

const CUT_SHORT: Malformed = Malformed("it ends too early");

/// Collects bytes and compresses a block whenever one is full.
pub(super) struct BlockWriter {
    done: Vec<u8>,
    pending: Vec<u8>,
}

impl BlockWriter {
    /// A writer that appends to `done`.
    pub fn new(done: Vec<u8>) -> Self {
        Self {
            done,
            pending: Vec::new(),
        }
    }

    pub fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == BLOCK {
                self.flush();
            }
        }
    }

    pub fn unsigned(&mut self, mut value: u64) {
        let mut number = [0; 10];
        let mut length = 0;
        while value >= 0x80 {
            number[length] = value as u8 | 0x80;
            value >>= 7;
            length += 1;
        }
        number[length] = value as u8;
        self.bytes(&number[..=length]);
    }

    pub fn text(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn flush(&mut self) {
        let compressed = lz4_flex::block::compress(&self.pending);
        self.done.extend((self.pending.len() as u32).to_le_bytes());
        self.done.extend((compressed.len() as u32).to_le_bytes());
        self.done.extend(compressed);
        self.pending.clear();
    }

    /// What was appended to, with all blocks.
    pub fn finish(mut self) -> Vec<u8> {
        if !self.pending.is_empty() {
            self.flush();
        }
        self.done
    }
}

/// Reads what a [`BlockWriter`] wrote, a block at a time, within a budget of memory.
pub(super) struct BlockReader<'b> {
    rest: &'b [u8],
    block: Vec<u8>,
    /// Bytes of `block` that were read.
    at: usize,
    /// Bytes of memory that may still be taken.
    left: u64,
    limit: u64,
}

impl<'b> BlockReader<'b> {
    pub fn new(blocks: &'b [u8], limit: u64) -> Self {
        Self {
            rest: blocks,
            block: Vec::new(),
            at: 0,
            left: limit,
            limit,
        }
    }

    /// Says that so much memory is about to be taken.
    fn spend(&mut self, bytes: usize) -> Result<(), TraceFileError> {
        let left = self.left.checked_sub(bytes as u64);
        self.left = left.ok_or(TraceFileError::TooLarge { limit: self.limit })?;
        Ok(())
    }

    pub fn unsigned(&mut self) -> Result<u64, TraceFileError> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed("a number is too long").into())
    }

    /// A number of at most 32 bits.
    pub fn number(&mut self) -> Result<u32, TraceFileError> {
        let value = u32::try_from(self.unsigned()?);
        value.map_err(|_| Malformed("a number is too large").into())
    }

    pub fn byte(&mut self) -> Result<u8, TraceFileError> {
        if self.at == self.block.len() {
            self.next_block()?;
        }
        let byte = self.block[self.at];
        self.at += 1;
        Ok(byte)
    }

    pub fn text(&mut self) -> Result<String, TraceFileError> {
        let length = self.unsigned()?;
        let bytes = self.bytes(length)?;
        String::from_utf8(bytes).map_err(|_| Malformed("a name is no text").into())
    }

    /// An empty list for `count` items, of which each takes `least` bytes of the file or more. A count that the file cannot hold is refused before
    /// memory is taken.
    pub fn list<T>(&mut self, count: u64, least: u64) -> Result<Vec<T>, TraceFileError> {
        let here = (self.block.len() - self.at) as u64;
        let possible = here + EXPANSION * self.rest.len() as u64;
        if count.saturating_mul(least) > possible {
            return Err(CUT_SHORT.into());
        }
        let sizes = usize::try_from(count).ok();
        let sizes = sizes.and_then(|count| Some((count, count.checked_mul(size_of::<T>())?)));
        let too_large = TraceFileError::TooLarge { limit: self.limit };
        let (count, bytes) = sizes.ok_or(too_large)?;
        self.spend(bytes)?;
        Ok(Vec::with_capacity(count))
    }

    /// The next `length` bytes.
    pub fn bytes(&mut self, length: u64) -> Result<Vec<u8>, TraceFileError> {
        let mut bytes = self.list(length, 1)?;
        let length = length as usize;
        while bytes.len() < length {
            if self.at == self.block.len() {
                self.next_block()?;
            }
            let here = &self.block[self.at..];
            let here = &here[..here.len().min(length - bytes.len())];
            bytes.extend_from_slice(here);
            self.at += here.len();
        }
        Ok(bytes)
    }

    /// Decompresses the next block, which holds at least one byte.
    fn next_block(&mut self) -> Result<(), TraceFileError> {
        let raw = self.length()?;
        let compressed = self.length()?;
        let split = self.rest.split_at_checked(compressed);
        let (compressed, rest) = split.ok_or(CUT_SHORT)?;
        if raw == 0 || raw > BLOCK {
            return Err(Malformed("a block has an impossible size").into());
        }
        self.rest = rest;
        self.at = 0;
        self.block.resize(raw, 0);
        match lz4_flex::block::decompress_into(compressed, &mut self.block) {
            Ok(length) if length == raw => Ok(()),
            _ => Err(Malformed("a block cannot be decompressed").into()),
        }
    }

    fn length(&mut self) -> Result<usize, TraceFileError> {
        let (length, rest) = self.rest.split_first_chunk().ok_or(CUT_SHORT)?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*length) as usize)
    }

    /// That there is nothing more.
    pub fn finish(self) -> Result<(), TraceFileError> {
        if self.at == self.block.len() && self.rest.is_empty() {
            Ok(())
        } else {
            Err(Malformed("something follows it").into())
        }
    }
}
