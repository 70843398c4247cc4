//! Memory as a GPU maps it: in pages, so that what lies behind a buffer can be reached up to the end of the buffer's last page. Nothing notices there that a kernel
//! reaches too far, but that the buffer is told of here.

use super::host::Bytes;
use super::{DeviceMemory, HEAP_BASE};

/// Pages, while a kernel runs that a GPU would let reach behind its buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped {
    /// Bytes of a page, a power of two; none if every buffer ends where it ends.
    page: Option<u64>,
    /// What was reached, in that order.
    behind: Vec<Behind>,
}

/// A buffer behind whose end a kernel reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The buffer's address.
    pub base: u64,
    /// Bytes that it was allocated with.
    pub bytes: u64,
    /// The byte that was reached first, counted from the buffer's first.
    pub at: u64,
}

impl DeviceMemory {
    /// From now on kernels reach what lies behind a buffer, up to the end of the last page of so many bytes, a power of two, that the buffer has a part of. It holds
    /// zeros at first, which [`restrict`](Self::restrict) does not take back.
    pub fn map(&mut self, page: u64) {
        self.mapped.page = Some(page);
    }

    /// The next buffer begins with a page of so many bytes.
    pub fn begin_page(&mut self, page: u64) {
        self.next = self.next.next_multiple_of(page);
    }

    /// From now on buffers end where they end. Says behind which of them kernels reached since [`map`](Self::map), each once.
    pub fn restrict(&mut self) -> Vec<Behind> {
        std::mem::take(&mut self.mapped).behind
    }

    /// What a GPU has mapped at an address behind the end of the buffer with number `at`: the buffer, which now ends where its page or the next buffer does.
    #[cold]
    pub(super) fn behind(&mut self, at: usize, address: u64) -> Option<(u64, &mut [u8])> {
        let page = self.mapped.page?;
        let next = self.buffers.get(at + 1).map_or(u64::MAX, |next| next.base);
        let buffer = &mut self.buffers[at];
        let (base, bytes) = (buffer.base, buffer.bytes.len() as u64);
        let end = (base + bytes).next_multiple_of(page).min(next);
        let owned = matches!(buffer.bytes, Bytes::Own(_)) && bytes > 0;
        if base < HEAP_BASE || !owned || address >= end {
            return None;
        }
        let own = buffer.bytes.own();
        own.reserve_exact((end - base - bytes) as usize);
        own.resize((end - base) as usize, 0);
        self.mapped.behind.push(Behind {
            base,
            bytes,
            at: address - base,
        });
        Some((base, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_a_buffer_is_reached_up_to_its_page_or_the_next_buffer() {
        let mut memory = DeviceMemory::default();
        let (first, last) = (memory.alloc("a", vec![1; 8]), memory.alloc("b", vec![2; 8]));
        assert!(memory.range_of(first + 8).is_none());
        memory.map(4096);
        memory.range_of(first + 100).unwrap().1[100] = 3;
        assert_eq!(memory.range_of(last).unwrap().0, last);
        assert!(memory.range_of(last + 4096).is_none());
        assert!(memory.range_of(last + 8).is_some() && memory.range_of(last + 9).is_some());
        let reached = |base, at| Behind { base, bytes: 8, at };
        assert_eq!(memory.restrict(), [reached(first, 100), reached(last, 8)]);
        assert!(memory.range_of(last + 4096).is_none());
        assert_eq!(memory.buffer(first)[..9], [1, 1, 1, 1, 1, 1, 1, 1, 0]);
        assert_eq!(
            (memory.buffer(first).len() as u64, memory.buffer(first)[100]),
            (last - first, 3)
        );
    }
}
