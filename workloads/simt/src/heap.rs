//! The heap of a device: what `malloc` gives inside kernels.

use std::collections::BTreeMap;

/// Bytes of the heap: what a CUDA context has unless a host asks for more.
pub(crate) const HEAP_BYTES: u64 = 8 << 20;

/// Addresses are multiples of this.
const ALIGNMENT: u64 = 16;

/// Which parts of the heap are taken. Offsets are from its begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    /// Size of each taken part by its offset.
    taken: BTreeMap<u64, u64>,
    /// Size of each free part below `end` by its offset; neighbours are one part.
    free: BTreeMap<u64, u64>,
    /// What lies behind was never taken.
    end: u64,
}

impl Heap {
    /// The first free place that is large enough.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let fits = self.free.iter().find(|&(_, &size)| size >= bytes);
        let offset = match fits.map(|(&offset, &size)| (offset, size)) {
            Some((offset, size)) => {
                self.free.remove(&offset);
                if size > bytes {
                    self.free.insert(offset + bytes, size - bytes);
                }
                offset
            }
            None => {
                let offset = self.end;
                self.end = offset.checked_add(bytes).filter(|&end| end <= HEAP_BYTES)?;
                offset
            }
        };
        self.taken.insert(offset, bytes);
        Some(offset)
    }

    /// Gives a part back; whether one begins there.
    pub fn release(&mut self, offset: u64) -> bool {
        let Some(mut bytes) = self.taken.remove(&offset) else {
            return false;
        };
        let mut begin = offset;
        if let Some((&before, &size)) = self.free.range(..offset).next_back()
            && before + size == offset
        {
            self.free.remove(&before);
            begin = before;
            bytes += size;
        }
        if let Some(size) = self.free.remove(&(begin + bytes)) {
            bytes += size;
        }
        if begin + bytes == self.end {
            self.end = begin;
        } else {
            self.free.insert(begin, bytes);
        }
        true
    }

    /// Bytes from the begin that were taken and not all given back.
    pub fn bytes(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_given_back_is_taken_again() {
        let mut heap = Heap::default();
        let all: Vec<u64> = (0..4).filter_map(|_| heap.allocate(100)).collect();
        assert_eq!(all, [0, 112, 224, 336]);
        assert!(heap.release(112) && heap.release(224));
        assert_eq!(heap.allocate(200), Some(112), "neighbours are one part");
        assert!(!heap.release(224), "nothing begins there");
        assert_eq!(heap.allocate(HEAP_BYTES), None);
    }

    proptest! {
        #[test]
        fn parts_never_overlap(steps in prop::collection::vec((0u64..3000, any::<prop::sample::Index>()), 1..200)) {
            let mut heap = Heap::default();
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (bytes, index) in steps {
                if bytes % 3 == 0 && !live.is_empty() {
                    let (offset, _) = live.swap_remove(index.index(live.len()));
                    prop_assert!(heap.release(offset));
                } else if let Some(offset) = heap.allocate(bytes) {
                    prop_assert!(live.iter().all(|&(at, size)| offset + bytes <= at || at + size <= offset));
                    prop_assert!(offset + bytes <= heap.bytes());
                    live.push((offset, bytes));
                }
            }
            for (offset, _) in live {
                prop_assert!(heap.release(offset));
            }
            prop_assert_eq!(heap.bytes(), 0);
        }
    }
}
