//! What lies in the instruction buffer of an SM, and who has it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use warpwatt_activity::Activity;
use warpwatt_gpu::{FetchEvent, FetchFilter, FetchObserver, GpuSpec, Hooks};

use super::WRITTEN;
use crate::fetch_store;

/// Attaches it to each SM; `ahead` slots may be taken beyond what each warp is certain of.
pub(super) fn attach(gpu: &GpuSpec, shared: bool, ahead: u32, hooks: &mut Hooks) {
    let settings = Settings {
        shared,
        ahead: if shared { ahead } else { u32::MAX },
        warps: gpu.warps_per_sm() as usize,
        at_once: gpu.fetch.instructions,
        bytes: u64::from(gpu.fetch.instruction_bytes),
    };
    let made: Rc<RefCell<BTreeMap<u32, Rc<RefCell<Buffer>>>>> = Rc::default();
    let of = move |sm: u32| {
        let mut made = made.borrow_mut();
        let buffer = made.entry(sm);
        Rc::clone(buffer.or_insert_with(|| Rc::new(RefCell::new(Buffer::new(settings)))))
    };
    let watch = of.clone();
    hooks.fetch_filter = Some(Box::new(move |sm| Box::new(Held(of(sm)))));
    hooks
        .fetch_observers
        .push(Box::new(move |sm| Box::new(Held(watch(sm)))));
}

/// One buffer as the filter before the I-cache and as what the front end tells of.
struct Held(Rc<RefCell<Buffer>>);

#[derive(Clone, Copy)]
struct Settings {
    shared: bool,
    /// Slots beyond those of each warp's oldest fetch.
    ahead: u32,
    warps: usize,
    /// Instructions of a fetch.
    at_once: u32,
    bytes: u64,
}

/// An instruction in the buffer or on its way there.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Slots that have it.
    slots: u32,
    /// Since when it is decoded.
    decoded: Option<u64>,
}

#[derive(Default)]
struct Counts {
    lookups: u64,
    hits: u64,
    joined: u64,
    came: u64,
    left: u64,
    written: u64,
    most: u64,
}

struct Buffer {
    settings: Settings,
    entries: BTreeMap<u64, Entry>,
    /// What each warp has, oldest first.
    warps: Vec<VecDeque<u64>>,
    now: u64,
    counts: Counts,
}

impl Buffer {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            entries: BTreeMap::new(),
            warps: vec![VecDeque::new(); settings.warps],
            now: 0,
            counts: Counts::default(),
        }
    }

    /// The instructions that a fetch from `pc` on may bring.
    fn brought(&self, pc: u64) -> impl Iterator<Item = u64> + use<> {
        let bytes = self.settings.bytes;
        (0..u64::from(self.settings.at_once)).map(move |number| pc + number * bytes)
    }

    /// All that a fetch brings is decoded and waits in somebody's slot.
    fn holds(&self, pc: u64) -> bool {
        self.brought(pc).all(|pc| {
            let decoded = self.entries.get(&pc).and_then(|it| it.decoded);
            decoded.is_some_and(|since| since <= self.now)
        })
    }

    fn come(&mut self, warp: u8, pc: u64) {
        self.warps[usize::from(warp)].push_back(pc);
        let entry = self.entries.entry(pc).or_default();
        self.counts.joined += u64::from(entry.slots > 0);
        self.counts.written += u64::from(entry.slots == 0);
        entry.slots += 1;
        self.counts.came += 1;
        self.counts.most = self.counts.most.max(self.entries.len() as u64);
    }

    fn leave(&mut self, pc: u64) {
        self.counts.left += 1;
        if let Some(entry) = self.entries.get_mut(&pc) {
            entry.slots -= 1;
            if entry.slots == 0 {
                self.entries.remove(&pc);
            }
        }
    }

    /// Slots in use beyond those of each warp's first fetch.
    fn beyond(&self) -> u32 {
        let each = self.warps.iter();
        each.map(|held| (held.len() as u32).saturating_sub(self.settings.at_once))
            .sum()
    }
}

impl FetchFilter for Held {
    fn lookup(&mut self, pc: u64) -> bool {
        let mut buffer = self.0.borrow_mut();
        buffer.counts.lookups += 1;
        let hit = buffer.holds(pc);
        buffer.counts.hits += u64::from(hit);
        hit
    }

    /// It is there as soon as it is delivered.
    fn fill(&mut self, _: u64) {}

    fn skips_decode(&self) -> bool {
        true
    }

    fn lets_fetch_ahead(&self) -> bool {
        let buffer = self.0.borrow();
        buffer.beyond() < buffer.settings.ahead
    }

    fn report(&self, activity: &mut Activity) {
        let buffer = self.0.borrow();
        let counts = &buffer.counts;
        activity.add("shared_instruction_buffer.tag.search", counts.lookups);
        activity.add("shared_instruction_buffer.mux.read", counts.lookups);
        activity.add("shared_instruction_buffer_hits", counts.hits);
        activity.add("shared_instruction_buffer_joined", counts.joined);
        if buffer.settings.shared {
            activity.add("shared_instruction_buffer.tag.write", counts.written);
            activity.add("shared_instruction_buffer.links.write", counts.came);
            activity.add("shared_instruction_buffer.links.read", counts.left);
            let counted = counts.came + counts.left;
            activity.add("shared_instruction_buffer.counts.read", counted);
            activity.add("shared_instruction_buffer.counts.write", counted);
            activity.add(WRITTEN, counts.written);
        } else {
            activity.add("shared_instruction_buffer.tag.write", counts.came);
            // What is found is read from another warp's slot.
            activity.add(
                "instruction_buffer.read",
                counts.hits * u64::from(buffer.settings.at_once),
            );
        }
        fetch_store::report_decoded(activity, counts.hits, counts.lookups);
    }

    fn report_levels(&self, activity: &mut Activity) {
        let counts = &self.0.borrow().counts;
        activity.add("shared_instruction_buffer_most", counts.most);
        let works = u64::from(counts.lookups > 0);
        activity.add("shared_instruction_buffer_sms", works);
    }
}

impl FetchObserver for Held {
    /// Said before the look-up: what comes has its slot from now on, and is not decoded unless another warp has it.
    fn fetched(&mut self, event: FetchEvent) {
        let mut buffer = self.0.borrow_mut();
        buffer.now = event.cycle;
        for pc in buffer.brought(event.pc) {
            buffer.come(event.warp, pc);
        }
    }

    fn delivered(&mut self, event: FetchEvent) {
        let mut buffer = self.0.borrow_mut();
        for pc in buffer.brought(event.pc) {
            if let Some(entry) = buffer.entries.get_mut(&pc) {
                entry.decoded = Some(entry.decoded.unwrap_or(event.cycle).min(event.cycle));
            }
        }
    }

    fn issued(&mut self, event: FetchEvent) {
        let mut buffer = self.0.borrow_mut();
        // What was fetched in front of it was metadata, or lay behind a taken branch.
        while let Some(pc) = buffer.warps[usize::from(event.warp)].pop_front() {
            buffer.leave(pc);
            if pc == event.pc {
                break;
            }
        }
    }

    fn retired(&mut self, warp: u8) {
        let mut buffer = self.0.borrow_mut();
        while let Some(pc) = buffer.warps[usize::from(warp)].pop_front() {
            buffer.leave(pc);
        }
    }

    fn report(&self, _: &mut Activity) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(ahead: u32) -> Held {
        Held(Rc::new(RefCell::new(Buffer::new(Settings {
            shared: true,
            ahead,
            warps: 4,
            at_once: 1,
            bytes: 8,
        }))))
    }

    fn event(cycle: u64, warp: u8, pc: u64) -> FetchEvent {
        FetchEvent { cycle, warp, pc }
    }

    /// A fetch with its look-up; decoded two cycles later.
    fn fetch(held: &mut Held, cycle: u64, warp: u8, pc: u64) -> bool {
        held.fetched(event(cycle, warp, pc));
        let hit = held.lookup(pc);
        held.delivered(event(cycle + 2, warp, pc));
        hit
    }

    fn count(held: &Held, name: &str) -> u64 {
        let mut activity = Activity::new();
        FetchFilter::report(held, &mut activity);
        FetchFilter::report_levels(held, &mut activity);
        activity.get(&format!("shared_instruction_buffer{name}"))
    }

    #[test]
    fn a_waiting_instruction_serves_other_warps_until_the_last_has_issued_it() {
        let mut held = buffer(8);
        assert!(!fetch(&mut held, 0, 0, 8));
        assert!(!fetch(&mut held, 1, 1, 8), "not decoded yet");
        assert!(fetch(&mut held, 2, 2, 8));
        for (cycle, warp) in [(3, 0), (4, 1), (5, 2)] {
            held.issued(event(cycle, warp, 8));
        }
        assert!(!fetch(&mut held, 6, 3, 8), "all have gone");
        assert_eq!((count(&held, "_hits"), count(&held, "_joined")), (1, 2));
        assert_eq!((count(&held, "_written"), count(&held, "_most")), (2, 1));
        assert_eq!(count(&held, ".links.write"), 4);
    }

    /// Metadata and what lies behind a taken branch never issue: they go with the next instruction that does.
    #[test]
    fn what_never_issues_leaves_with_what_does() {
        let mut held = buffer(8);
        for pc in [8, 16, 64] {
            fetch(&mut held, 0, 0, pc);
        }
        held.issued(event(4, 0, 8));
        held.issued(event(5, 0, 64));
        assert!(held.0.borrow().entries.is_empty());
    }

    #[test]
    fn no_warp_fetches_ahead_when_the_rest_is_in_use() {
        let mut held = buffer(1);
        fetch(&mut held, 0, 0, 8);
        assert!(held.lets_fetch_ahead());
        fetch(&mut held, 1, 0, 16);
        assert!(!held.lets_fetch_ahead());
        held.issued(event(2, 0, 8));
        assert!(held.lets_fetch_ahead());
    }
}
