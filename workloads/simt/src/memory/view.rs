//! Device memory as a stretch of a grid sees it that runs before the stretches in front of it have come to their end: what it was when all of them began, and the
//! stretch's own writes. It notes which words were read before they were written, and which were written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::DeviceMemory;

/// Bytes that are copied together, counted from the beginning of a buffer.
pub(crate) const PAGE: usize = 4096;

/// Bytes of what is noted: an access to a part of a word both reads and writes it.
const WORD: usize = 4;

/// A bit a word of a page.
type Words = [u64; PAGE / WORD / 64];

/// Entries of the table of pages that were touched lately; those of a warp's rows and arrays are found there.
const RECENT: usize = 64;

/// A page that was touched.
#[derive(Clone, Debug)]
struct Page {
    /// The address of its first byte.
    start: u64,
    bytes: Vec<u8>,
    read: Words,
    written: Words,
}

/// What a stretch of a grid sees.
#[derive(Clone, Debug)]
pub(crate) struct View {
    base: Arc<DeviceMemory>,
    pages: Vec<Page>,
    /// Their numbers, by the address of their first byte.
    numbers: FxHashMap<u64, u32>,
    /// Numbers of pages, by bits of an address in them.
    recent: [u32; RECENT],
    /// How many pages all stretches may touch together.
    budget: Arc<AtomicUsize>,
}

/// Words that stretches have written, by page.
#[derive(Debug, Default)]
pub(crate) struct Written(FxHashMap<u64, Words>);

impl View {
    pub fn new(base: Arc<DeviceMemory>, budget: Arc<AtomicUsize>) -> Self {
        Self {
            base,
            pages: Vec::new(),
            numbers: FxHashMap::default(),
            recent: [0; RECENT],
            budget,
        }
    }

    /// The page that an address lies in: where it begins, and its bytes. None if no buffer holds the address, or too many pages were touched.
    #[inline]
    pub fn range_of(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let number = self.number(address, true)?;
        let page = &mut self.pages[number];
        Some((page.start, &mut page.bytes))
    }

    /// The number of the page that an address lies in, if it was touched or is to be.
    #[inline]
    fn number(&mut self, address: u64, touch: bool) -> Option<usize> {
        let recent = self.recent[(address / PAGE as u64) as usize % RECENT] as usize;
        match self.pages.get(recent) {
            Some(page) if page.holds(address) => Some(recent),
            _ => self.look_up(address, touch),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, address: u64, touch: bool) -> Option<usize> {
        let (start, bytes) = page_of(&self.base, address)?;
        let number = match self.numbers.get(&start) {
            Some(&number) => number,
            None if !touch => return None,
            None => {
                let taken = |left: usize| left.checked_sub(1);
                let budget = &self.budget;
                budget
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
                    .ok()?;
                let number = self.pages.len() as u32;
                self.pages.push(Page {
                    start,
                    bytes: bytes.to_vec(),
                    read: Words::default(),
                    written: Words::default(),
                });
                self.numbers.insert(start, number);
                number
            }
        };
        self.recent[(address / PAGE as u64) as usize % RECENT] = number;
        Some(number as usize)
    }

    /// Notes that bytes from `start` to `end` were read, or else written, in pages that were touched.
    pub fn note(&mut self, start: u64, end: u64, written: bool) {
        let mut at = start;
        while at < end {
            let Some(number) = self.number(at, false) else {
                // A lane that copies nothing may have any address.
                at += WORD as u64;
                continue;
            };
            let page = &mut self.pages[number];
            let first = at - page.start;
            let last = (end - page.start).min(page.bytes.len() as u64);
            page.note(first as usize, last as usize, written);
            at = page.start + last;
        }
    }

    /// Whether it read nothing that others wrote; what it wrote itself joins that.
    pub(crate) fn is_apart(&self, others: &mut Written) -> bool {
        let meet = |page: &Page| {
            let others = others.0.get(&page.start);
            others.is_some_and(|others| others.iter().zip(&page.read).any(|(w, r)| w & r != 0))
        };
        if self.pages.iter().any(meet) {
            return false;
        }
        for page in self.pages.iter().filter(|page| page.is_written()) {
            let all = others.0.entry(page.start).or_default();
            all.iter_mut()
                .zip(page.written)
                .for_each(|(all, own)| *all |= own);
        }
        true
    }

    /// The pages with what was written, without the memory behind them.
    pub(crate) fn into_writes(self) -> Writes {
        let mut pages = self.pages;
        pages.retain(Page::is_written);
        Writes(pages)
    }
}

/// What a stretch wrote.
pub(crate) struct Writes(Vec<Page>);

impl Writes {
    /// Writes it to the memory that all stretches began with.
    pub fn apply(&self, memory: &mut DeviceMemory) {
        for page in &self.0 {
            let Some((base, bytes)) = memory.range_of(page.start) else {
                continue;
            };
            let to = &mut bytes[(page.start - base) as usize..];
            let all = page.bytes.len().div_ceil(WORD);
            let written = |&word: &usize| page.written[word / 64] >> (word % 64) & 1 == 1;
            let mut word = 0;
            while word < all {
                let run = (word..all).take_while(written).count();
                let range = word * WORD..((word + run) * WORD).min(page.bytes.len());
                to[range.clone()].copy_from_slice(&page.bytes[range]);
                word += run + 1;
            }
        }
    }
}

impl Page {
    #[inline]
    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.bytes.len() as u64
    }

    fn is_written(&self) -> bool {
        self.written != Words::default()
    }

    /// Notes bytes of it. Of a word that is written in part the rest is as if it were read; the last word of a buffer may be short.
    fn note(&mut self, start: usize, end: usize, written: bool) {
        let (first, last) = (start / WORD, end.div_ceil(WORD));
        if written {
            let whole_last = if end == self.bytes.len() {
                last
            } else {
                end / WORD
            };
            self.read_unless_written(first, start.div_ceil(WORD));
            self.read_unless_written(whole_last.max(first), last);
            each(first, last, |number, bits| self.written[number] |= bits);
        } else {
            self.read_unless_written(first, last);
        }
    }

    fn read_unless_written(&mut self, first: usize, last: usize) {
        each(first, last, |number, bits| {
            self.read[number] |= bits & !self.written[number];
        });
    }
}

/// The bits of words from `first` to `last`, by sixty-fours.
#[inline]
fn each(first: usize, last: usize, mut to: impl FnMut(usize, u64)) {
    let mut at = first;
    while at < last {
        let next = last.min((at / 64 + 1) * 64);
        let bits = (u64::MAX >> (64 - (next - at))) << (at % 64);
        to(at / 64, bits);
        at = next;
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
        let mut third = View::new(Arc::clone(&first.base), Arc::clone(&first.budget));
        assert!(third.range_of(base).is_none());
    }
}
