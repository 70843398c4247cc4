//! Device memory as a stretch of a grid sees it that runs before the stretches in front of it have come to their end: what it was when all of them began, and the
//! stretch's own writes. It notes which words were read before they were written, and which were written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use crate::memory::DeviceMemory;

/// Bytes that are copied together, counted from the beginning of a buffer.
pub(crate) const PAGE: usize = 4096;

/// Bytes of what is noted: an access to a part of a word both reads and writes it.
const WORD: usize = 4;

/// A bit a word of a page.
type Words = [u64; PAGE / WORD / 64];

/// A page that was touched.
#[derive(Clone, Debug)]
struct Page {
    bytes: Vec<u8>,
    read: Words,
    written: Words,
}

/// What a stretch of a grid sees.
#[derive(Clone, Debug)]
pub(crate) struct View {
    base: Arc<DeviceMemory>,
    /// By the address of their first byte.
    pages: FxHashMap<u64, Page>,
    /// How many pages all stretches may touch together.
    budget: Arc<AtomicUsize>,
}

/// Words that stretches have written, by page.
#[derive(Debug, Default)]
pub(super) struct Written(FxHashMap<u64, Words>);

impl View {
    pub fn new(base: Arc<DeviceMemory>, budget: Arc<AtomicUsize>) -> Self {
        Self {
            base,
            pages: FxHashMap::default(),
            budget,
        }
    }

    /// The page that an address lies in: where it begins, and its bytes. None if no buffer holds the address, or too many pages were touched.
    pub fn range_of(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let (start, bytes) = page_of(&self.base, address)?;
        if !self.pages.contains_key(&start) {
            let taken = |left: usize| left.checked_sub(1);
            let budget = &self.budget;
            budget
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
                .ok()?;
            let page = Page {
                bytes: bytes.to_vec(),
                read: Words::default(),
                written: Words::default(),
            };
            self.pages.insert(start, page);
        }
        let page = self.pages.get_mut(&start)?;
        Some((start, &mut page.bytes))
    }

    /// Notes that bytes from `start` to `end` were read, or else written, in pages that were touched.
    pub fn note(&mut self, start: u64, end: u64, written: bool) {
        let mut at = start;
        while at < end {
            let Some((first, bytes)) = page_of(&self.base, at) else {
                // A lane that copies nothing may have any address.
                at += WORD as u64;
                continue;
            };
            let next = end.min(first + bytes.len() as u64);
            if let Some(page) = self.pages.get_mut(&first) {
                page.note((at - first) as usize, (next - first) as usize, written);
            }
            at = next;
        }
    }

    /// Whether it read nothing that others wrote; what it wrote itself joins that.
    pub(super) fn is_apart(&self, others: &mut Written) -> bool {
        let meet = |start: &u64, page: &Page| {
            let others = others.0.get(start);
            others.is_some_and(|others| others.iter().zip(&page.read).any(|(w, r)| w & r != 0))
        };
        if self.pages.iter().any(|(start, page)| meet(start, page)) {
            return false;
        }
        for (&start, page) in &self.pages {
            if page.written != Words::default() {
                let all = others.0.entry(start).or_default();
                all.iter_mut()
                    .zip(page.written)
                    .for_each(|(all, own)| *all |= own);
            }
        }
        true
    }

    /// The pages with what was written, without the memory behind them.
    pub(super) fn into_writes(self) -> Writes {
        let written = |page: &Page| page.written != Words::default();
        let mut pages = self.pages;
        pages.retain(|_, page| written(page));
        Writes(pages)
    }
}

/// What a stretch wrote.
pub(super) struct Writes(FxHashMap<u64, Page>);

impl Writes {
    /// Writes it to the memory that all stretches began with.
    pub fn apply(&self, memory: &mut DeviceMemory) {
        for (&start, page) in &self.0 {
            let Some((base, bytes)) = memory.range_of(start) else {
                continue;
            };
            let to = &mut bytes[(start - base) as usize..];
            for (number, &words) in page.written.iter().enumerate() {
                let mut left = words;
                while left != 0 {
                    let word = 64 * number + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let range = word * WORD..((word + 1) * WORD).min(page.bytes.len());
                    to[range.clone()].copy_from_slice(&page.bytes[range]);
                }
            }
        }
    }
}

impl Page {
    fn note(&mut self, start: usize, end: usize, written: bool) {
        for word in start / WORD..end.div_ceil(WORD) {
            let (number, bit) = (word / 64, 1 << (word % 64));
            // The last word of a buffer may be a part of one.
            let covers = start <= word * WORD && end >= ((word + 1) * WORD).min(self.bytes.len());
            if !(written && covers) {
                self.read[number] |= bit & !self.written[number];
            }
            if written {
                self.written[number] |= bit;
            }
        }
    }
}

/// The page of memory that an address lies in: where it begins, and its bytes.
fn page_of(memory: &DeviceMemory, address: u64) -> Option<(u64, &[u8])> {
    let (base, bytes) = memory.find(address)?;
    let first = (address - base) as usize / PAGE * PAGE;
    let end = (first + PAGE).min(bytes.len());
    Some((base + first as u64, &bytes[first..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(memory: DeviceMemory) -> [View; 2] {
        let (base, budget) = (Arc::new(memory), Arc::new(AtomicUsize::new(4)));
        [0, 1].map(|_| View::new(Arc::clone(&base), Arc::clone(&budget)))
    }

    fn store(view: &mut View, address: u64, bytes: &[u8]) {
        let (start, page) = view.range_of(address).unwrap();
        page[(address - start) as usize..][..bytes.len()].copy_from_slice(bytes);
        view.note(address, address + bytes.len() as u64, true);
    }

    fn load(view: &mut View, address: u64) -> u8 {
        let (start, page) = view.range_of(address).unwrap();
        let byte = page[(address - start) as usize];
        view.note(address, address + 4, false);
        byte
    }

    fn memory() -> (DeviceMemory, u64) {
        let mut memory = DeviceMemory::default();
        let base = memory.alloc("a", vec![7; 2 * PAGE]);
        (memory, base)
    }

    #[test]
    fn what_another_stretch_writes_must_not_be_read() {
        let (memory, base) = memory();
        let [mut first, mut second] = views(memory);
        store(&mut first, base, &[1; 4]);
        assert_eq!(load(&mut second, base), 7);
        let mut written = Written::default();
        assert!(first.is_apart(&mut written));
        assert!(!second.is_apart(&mut written));
    }

    #[test]
    fn own_writes_may_be_read_and_the_last_stretch_wins() {
        let (memory, base) = memory();
        let mut after = memory.clone();
        let [mut first, mut second] = views(memory);
        store(&mut first, base, &[1; 8]);
        store(&mut second, base + 4, &[2; 4]);
        assert_eq!(load(&mut second, base + 4), 2);
        let mut written = Written::default();
        assert!(first.is_apart(&mut written) && second.is_apart(&mut written));
        first.into_writes().apply(&mut after);
        second.into_writes().apply(&mut after);
        assert_eq!(after.buffer(base)[..9], [1, 1, 1, 1, 2, 2, 2, 2, 7]);
    }

    #[test]
    fn a_part_of_a_word_is_read_and_written() {
        let (memory, base) = memory();
        let [mut first, mut second] = views(memory);
        store(&mut first, base, &[1]);
        store(&mut second, base + 1, &[2]);
        let mut written = Written::default();
        assert!(first.is_apart(&mut written));
        assert!(!second.is_apart(&mut written));
    }

    #[test]
    fn pages_are_bounded_and_so_are_buffers() {
        let (memory, base) = memory();
        let [mut first, mut second] = views(memory);
        assert!(first.range_of(base + 2 * PAGE as u64).is_none());
        for view in [&mut first, &mut second] {
            assert_eq!(load(view, base), 7);
            assert_eq!(load(view, base + PAGE as u64), 7);
        }
        let mut third = first.clone();
        third.pages.clear();
        assert!(third.range_of(base).is_none());
    }
}
