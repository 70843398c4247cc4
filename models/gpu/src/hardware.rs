//! Which plain counters are events in hardware: what whoever prices a run must price, or name as left out.
//!
//! A counter called `structure.action` says so itself. These do not, as what they count happens in more than one part of a structure.

/// A counter of events, and the structure in which they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareEvent {
    /// The counter, one of [`COUNTERS`](crate::COUNTERS).
    pub counter: &'static str,
    /// Where its events happen.
    pub structure: &'static str,
}

/// The events that are not called after their structure.
pub const HARDWARE_EVENTS: &[HardwareEvent] = &[
    event("fetches", "decoder"),
    event("register_words_read", "register_file"),
    event("register_words_written", "register_file"),
    event("issued_tensor", "tensor"),
    event("memory_accesses", "address_generation"),
    event("shared_passes", "shared_memory"),
    event("constant_accesses", "constant_cache"),
    event("texture_reads", "texture_cache"),
    event("l1_reads", "l1"),
    event("l1_writes", "l1"),
    event("noc_request_flits", "network"),
    event("noc_reply_flits", "network"),
    event("l2_reads", "l2"),
    event("l2_writes", "l2"),
    event("l2_write_backs", "l2"),
    event("dram_reads", "dram"),
    event("dram_writes", "dram"),
    event("dram_row_misses", "dram"),
];

const fn event(counter: &'static str, structure: &'static str) -> HardwareEvent {
    HardwareEvent { counter, structure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COUNTERS;

    #[test]
    fn every_event_is_a_plain_counter_that_stands_once() {
        for (place, event) in HARDWARE_EVENTS.iter().enumerate() {
            assert!(
                COUNTERS.iter().any(|info| info.name == event.counter),
                "{event:?}"
            );
            assert!(!event.counter.contains('.'), "{event:?}");
            let later = &HARDWARE_EVENTS[place + 1..];
            assert!(
                later.iter().all(|other| other.counter != event.counter),
                "{event:?}"
            );
        }
    }
}
