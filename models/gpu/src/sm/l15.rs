//! The second level of instructions and constants: one cache for both, behind those of the first level. NVIDIA's GPUs have had one since GT200 (Wong et al.,
//! ISPASS 2010); measurements call it the L1.5 (Jia et al., arXiv:1804.06826).
//!
//! A line of the first level may be several of this one; it hits if all of them are there. Lines come in when the first level's line has come from below.

use super::icache::Icache;
use crate::GpuSpec;
use crate::counters::{Counter, Counts};

/// The cache, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct L15 {
    tags: Option<Icache>,
    line: u64,
    latency: u64,
}

/// What the second level says to a missing line of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It comes in so many cycles.
    Comes(u64),
    /// Those below are asked so many cycles later.
    Below(u64),
}

impl L15 {
    pub fn new(spec: &GpuSpec) -> Self {
        let tags = (spec.l15.bytes > 0).then(|| Icache::new(spec.l15_sets(), spec.l15.ways));
        Self {
            tags,
            line: u64::from(spec.l15.line_bytes),
            latency: u64::from(spec.l15.latency),
        }
    }

    /// Looks up the `bytes` at `address`, which a first-level cache lacks.
    pub fn look_up(&mut self, address: u64, bytes: u32, counts: &mut Counts) -> Answer {
        let Some(tags) = &mut self.tags else {
            return Answer::Below(0);
        };
        let lines = lines(address, bytes, self.line);
        counts.add(Counter::SecondTagRead, lines.end - lines.start);
        let there = lines.clone().filter(|&line| tags.lookup(line)).count() as u64;
        if there < lines.end - lines.start {
            counts.add(Counter::SecondMisses, 1);
            return Answer::Below(self.latency);
        }
        counts.add(Counter::SecondDataRead, there);
        Answer::Comes(self.latency)
    }

    /// The `bytes` at `address` have come to the first level, from here or from below.
    pub fn fill(&mut self, address: u64, bytes: u32, counts: &mut Counts) {
        let Some(tags) = &mut self.tags else {
            return;
        };
        for line in lines(address, bytes, self.line) {
            if !tags.lookup(line) {
                tags.fill(line);
                counts.add(Counter::SecondTagWrite, 1);
                counts.add(Counter::SecondDataWrite, 1);
            }
        }
    }
}

/// The numbers of the lines that hold the `bytes` at `address`.
fn lines(address: u64, bytes: u32, line: u64) -> std::ops::Range<u64> {
    address / line..(address + u64::from(bytes)).div_ceil(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_first_level_is_there_if_all_its_parts_are() {
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        (spec.l15.bytes, spec.l15.ways) = (1024, 2);
        (spec.l15.line_bytes, spec.l15.latency) = (64, 30);
        let mut counts = Counts::new();
        let mut second = L15::new(&spec);
        let mut look =
            |second: &mut L15, address, bytes| second.look_up(address, bytes, &mut counts);
        assert_eq!(look(&mut second, 128, 128), Answer::Below(30));
        let mut filled = Counts::new();
        second.fill(128, 64, &mut filled);
        assert_eq!(look(&mut second, 128, 128), Answer::Below(30), "half of it");
        assert_eq!(look(&mut second, 128, 64), Answer::Comes(30));
        second.fill(128, 128, &mut filled);
        assert_eq!(look(&mut second, 128, 128), Answer::Comes(30));
        assert_eq!(counts.get(Counter::SecondTagRead), 2 + 2 + 1 + 2);
        assert_eq!(counts.get(Counter::SecondDataRead), 1 + 2);
        assert_eq!(counts.get(Counter::SecondMisses), 2);
        assert_eq!(filled.get(Counter::SecondTagWrite), 2);
    }
}
