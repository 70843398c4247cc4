//! How long values live in registers.

use super::super::{LaneMask, RegisterKind, Step};
use super::Statistics;

/// Lives of values, in warp instructions of their own warp.
///
/// A value lives from the instruction that writes it to the last one that reads it. A write to some of the lanes that hold a register's value does not end that value: it
/// becomes a part of it, since the register stays occupied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lives {
    /// Values by length: element 0 counts those that nothing reads, element `n` those of the lengths that [`bucket_range`] gives.
    pub histogram: Vec<u64>,
    /// Values written.
    pub values: u64,
    /// Reads of them.
    pub reads: u64,
    /// Sum of all lengths.
    pub total: u64,
}

/// The shortest and the longest life that element `bucket` of a histogram counts: 1, 2, 3 to 4, 5 to 8 and so on, doubling.
pub fn bucket_range(bucket: usize) -> (u64, u64) {
    match bucket {
        0 => (0, 0),
        1 => (1, 1),
        _ => ((1 << (bucket - 2)) + 1, 1 << (bucket - 1)),
    }
}

fn bucket(length: u64) -> usize {
    match length {
        0 => 0,
        _ => 1 + (u64::BITS - (length - 1).leading_zeros()) as usize,
    }
}

impl Lives {
    fn record(&mut self, length: u64) {
        let bucket = bucket(length);
        if self.histogram.len() <= bucket {
            self.histogram.resize(bucket + 1, 0);
        }
        self.histogram[bucket] += 1;
        self.values += 1;
        self.total += length;
    }

    /// Warp instructions that a value lives, on the average; zero if there is none.
    pub fn mean(&self) -> f64 {
        super::share(self.total, self.values)
    }
}

/// The values in a warp's registers.
pub(super) struct LiveValues {
    registers: Vec<Value>,
    /// Instructions of the warp so far.
    now: u64,
}

#[derive(Clone, Copy, Default)]
struct Value {
    written: u64,
    read: u64,
    /// Lanes that hold it; none if nothing was written yet.
    lanes: LaneMask,
}

impl Value {
    fn length(self) -> u64 {
        self.read.saturating_sub(self.written)
    }
}

impl LiveValues {
    pub fn new(registers: usize) -> Self {
        Self {
            registers: vec![Value::default(); registers],
            now: 0,
        }
    }

    pub fn step(
        &mut self,
        step: &Step,
        (sources, destinations): (&[u32], &[u32]),
        kinds: &[RegisterKind],
        statistics: &mut Statistics,
    ) {
        self.now += 1;
        for register in sources {
            let value = &mut self.registers[*register as usize];
            if value.lanes != 0 {
                value.read = self.now;
                statistics.lives(kinds[*register as usize]).reads += 1;
            }
        }
        for register in destinations.iter().filter(|_| step.executed != 0) {
            let value = &mut self.registers[*register as usize];
            if value.lanes & !step.executed != 0 {
                value.lanes |= step.executed;
                continue;
            }
            if value.lanes != 0 {
                let length = value.length();
                statistics.lives(kinds[*register as usize]).record(length);
            }
            *value = Value {
                written: self.now,
                read: 0,
                lanes: step.executed,
            };
        }
    }

    /// The warp has ended, and all values with it.
    pub fn end(&self, kinds: &[RegisterKind], statistics: &mut Statistics) {
        for (value, kind) in self.registers.iter().zip(kinds) {
            if value.lanes != 0 {
                statistics.lives(*kind).record(value.length());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for length in 1..5000 {
            let (first, last) = bucket_range(bucket(length));
            assert!(first <= length && length <= last, "{length}");
        }
        for bucket in 1..40 {
            assert_eq!(bucket_range(bucket).1 + 1, bucket_range(bucket + 1).0);
        }
        assert_eq!(bucket(0), 0);
    }
}
