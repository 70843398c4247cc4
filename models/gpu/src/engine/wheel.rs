//! The event queue: a timing wheel for the near future and a heap for the rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slots of the wheel, one a time step: events less than this far ahead need no heap. A word of bits has one bit for each word of slots.
const SLOTS: usize = 64 * 64;
const WORDS: usize = SLOTS / 64;

/// No node.
const NONE: u32 = u32::MAX;

/// Events in the total order (time, sequence): of two events for one time, the one that was scheduled first comes first.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    now: u64,
    sequence: u64,
    /// Events of time t in `[now, now + SLOTS)` lie in slot t mod SLOTS, in the order of their sequence.
    slots: Box<[Slot; SLOTS]>,
    /// The events of all slots: what one left is what the next takes, so that few events take little of the cache whatever the time.
    nodes: Vec<Node<E>>,
    /// First of the nodes that hold no event.
    free: u32,
    /// One bit a slot: whether it holds an event; and one bit a word of these: whether it has one.
    occupied: [u64; WORDS],
    words: u64,
    far: BinaryHeap<Reverse<Far<E>>>,
    len: usize,
}

/// The events of one time: a list of nodes.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    event: E,
    next: u32,
}

/// An event beyond the wheel's horizon, ordered by (time, sequence).
#[derive(Clone, Debug)]
struct Far<E> {
    key: (u64, u64),
    event: E,
}

/// An event was scheduled for a time that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event was scheduled for time {time}, but it is {now} already")]
pub struct Past {
    /// When the event should have been.
    pub time: u64,
    /// What time it was.
    pub now: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self {
            now: 0,
            sequence: 0,
            slots: Box::new(
                [Slot {
                    first: NONE,
                    last: NONE,
                }; SLOTS],
            ),
            nodes: Vec::new(),
            free: NONE,
            occupied: [0; WORDS],
            words: 0,
            far: BinaryHeap::new(),
            len: 0,
        }
    }

    /// The time of the event taken last, or that [`advance`](Self::advance) reached.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Events not taken yet.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Schedules `event` for `time`, which may be now.
    ///
    /// # Errors
    /// If `time` has passed.
    #[inline]
    pub fn schedule(&mut self, time: u64, event: E) -> Result<(), Past> {
        if time < self.now {
            return Err(Past {
                time,
                now: self.now,
            });
        }
        self.len += 1;
        if time - self.now < SLOTS as u64 {
            self.put(time, event);
        } else {
            self.far.push(Reverse(Far {
                key: (time, self.sequence),
                event,
            }));
            self.sequence += 1;
        }
        Ok(())
    }

    /// When the next event happens.
    #[inline]
    pub fn next_time(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        self.next_slot_time()
            .or_else(|| self.far.peek().map(|Reverse(far)| far.key.0))
    }

    /// Takes the next event if its time is at most `time`, and moves to its time.
    #[inline]
    pub fn pop_until(&mut self, time: u64) -> Option<(u64, E)>
    where
        E: Copy,
    {
        let next = self.next_time().filter(|&next| next <= time)?;
        if next != self.now {
            self.move_to(next);
        }
        self.pop_now().map(|event| (next, event))
    }

    /// Takes the next event of the present time.
    #[inline]
    pub fn pop_now(&mut self) -> Option<E>
    where
        E: Copy,
    {
        let index = self.now as usize % SLOTS;
        let slot = &mut self.slots[index];
        let first = slot.first;
        let node = self.nodes.get_mut(first as usize)?;
        let event = node.event;
        slot.first = node.next;
        node.next = self.free;
        self.free = first;
        self.len -= 1;
        if slot.first == NONE {
            self.occupied[index / 64] &= !(1 << (index % 64));
            if self.occupied[index / 64] == 0 {
                self.words &= !(1 << (index / 64));
            }
        }
        Some(event)
    }

    /// Moves to `time`, which no event may precede.
    pub fn advance(&mut self, time: u64) {
        debug_assert!(self.next_time().is_none_or(|next| next >= time));
        if time > self.now {
            self.move_to(time);
        }
    }

    #[inline]
    fn put(&mut self, time: u64, event: E) {
        let node = Node { event, next: NONE };
        let mut number = self.free;
        if let Some(free) = self.nodes.get_mut(number as usize) {
            self.free = free.next;
            *free = node;
        } else {
            number = self.nodes.len() as u32;
            self.nodes.push(node);
        }
        let index = time as usize % SLOTS;
        let slot = &mut self.slots[index];
        if slot.first == NONE {
            slot.first = number;
            self.occupied[index / 64] |= 1 << (index % 64);
            self.words |= 1 << (index / 64);
        } else {
            self.nodes[slot.last as usize].next = number;
        }
        slot.last = number;
    }

    /// Far events enter the wheel as soon as the horizon reaches their time, before any later-scheduled event can: so a slot stays in the order of sequence.
    fn move_to(&mut self, time: u64) {
        self.now = time;
        while let Some(Reverse(far)) = self.far.peek() {
            if far.key.0 - time >= SLOTS as u64 {
                break;
            }
            if let Some(Reverse(far)) = self.far.pop() {
                self.put(far.key.0, far.event);
            }
        }
    }

    /// The time of the first occupied slot from now on.
    #[inline]
    fn next_slot_time(&self) -> Option<u64> {
        let start = self.now as usize % SLOTS;
        let (word, bit) = (start / 64, start % 64);
        let here = self.occupied[word] >> bit;
        if here != 0 {
            return Some(self.now + u64::from(here.trailing_zeros()));
        }
        // The words behind this one, and around the end this one again.
        let ahead = self.words.rotate_right(word as u32 + 1);
        if ahead == 0 {
            return None;
        }
        let step = ahead.trailing_zeros() as usize + 1;
        let bits = self.occupied[(word + step) % WORDS];
        let distance = 64 * step - bit + bits.trailing_zeros() as usize;
        Some(self.now + distance as u64)
    }
}

impl<E> PartialEq for Far<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<E> Eq for Far<E> {}
impl<E> PartialOrd for Far<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Far<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_past_cannot_be_scheduled_but_the_present_can() {
        let mut queue = EventQueue::new();
        queue.schedule(5, 'a').unwrap();
        assert_eq!(queue.pop_until(9), Some((5, 'a')));
        assert_eq!(queue.schedule(4, 'b'), Err(Past { time: 4, now: 5 }));
        queue.schedule(5, 'c').unwrap();
        assert_eq!(queue.pop_until(4), None, "not due at 4");
        assert_eq!(queue.pop_until(5), Some((5, 'c')));
        assert!(queue.is_empty());
    }

    #[test]
    fn a_far_event_precedes_a_near_one_scheduled_later_for_the_same_time() {
        let mut queue = EventQueue::new();
        queue.schedule(9000, 1).unwrap();
        queue.schedule(8990, 0).unwrap();
        assert_eq!(queue.pop_until(u64::MAX), Some((8990, 0)));
        queue.schedule(9000, 2).unwrap();
        assert_eq!(queue.pop_until(u64::MAX), Some((9000, 1)));
        assert_eq!(queue.pop_until(u64::MAX), Some((9000, 2)));
    }

    proptest! {
        /// Any mixture of schedule and pop gives the order of a heap on (time, sequence).
        #[test]
        fn the_order_is_that_of_a_heap(steps in prop::collection::vec((0u64..6, 0u64..4000, any::<bool>()), 1..400)) {
            let mut queue = EventQueue::new();
            let mut heap = BinaryHeap::new();
            for (sequence, (pops, delay, near)) in (0u64..).zip(steps) {
                let time = queue.now() + if near { delay % 40 } else { 3 * delay };
                queue.schedule(time, sequence).unwrap();
                heap.push(Reverse((time, sequence)));
                for _ in 0..pops / 3 {
                    prop_assert_eq!(queue.next_time(), heap.peek().map(|Reverse((time, _))| *time));
                    prop_assert_eq!(queue.pop_until(u64::MAX), heap.pop().map(|Reverse(pair)| pair));
                }
            }
            prop_assert_eq!(queue.len(), heap.len());
            while let Some(Reverse(pair)) = heap.pop() {
                prop_assert_eq!(queue.pop_until(u64::MAX), Some(pair));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
