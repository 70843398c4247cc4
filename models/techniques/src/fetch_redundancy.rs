//! How often an instruction is fetched again soon: statistics without a cost.
//!
//! A. Lashgar, A. Baniasadi, A. Khonsari, "Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs", section 3.2 and Figure 2: "the percentage
//! of instructions already fetched by other currently active warps recently". Made precise here: of all fetches of an SM, the share for which one of the
//! SM's last N fetches was of the same instruction by another warp that still runs. The same share with the fetching warp itself counted is reported
//! beside it. Section 1 counts in cycles ("82 %"): the share of fetches of an instruction that any warp of the SM fetched in the last 64. Section 3.3 ("42 %") is the share of fetches whose instruction lies decoded in some other warp's instruction buffer.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use warpwatt_activity::Activity;
use warpwatt_gpu::{FetchEvent, FetchObserver, GpuSpec, Hooks, Run};

use crate::parameter::{Counts, counts};
use crate::{Definition, Judged, Metric, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "fetch_redundancy",
    summary: "statistics: how many fetches repeat a recent fetch of another warp",
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", section 3.2 and Figure 2",
    parameters: &[WINDOWS.declared(), CYCLES.declared()],
    counters: &[
        ("fetch_redundancy_fetches", "fetches looked at: all"),
        (
            "fetch_redundancy_other_warp_N",
            "fetches whose instruction another running warp fetched among the last N fetches of the SM",
        ),
        (
            "fetch_redundancy_any_warp_N",
            "the same with the fetching warp counted, and warps that have finished",
        ),
        (
            "fetch_redundancy_within_cycles_N",
            "fetches whose instruction some warp of the SM fetched in the last N cycles",
        ),
        (
            "fetch_redundancy_buffered",
            "fetches whose instruction lay decoded in another warp's instruction buffer",
        ),
    ],
    metrics: &[Judged::headline("buffered")],
    configure: |values| {
        Ok(Box::new(FetchRedundancy {
            windows: values.get(&WINDOWS),
            cycles: values.get(&CYCLES),
            label: values.label(),
        }))
    },
};

const WINDOWS: Counts = counts(
    "windows",
    &[16, 32, 64],
    1..=4096,
    "recency windows, in fetches of the SM",
)
.labelled();

const CYCLES: Counts = counts(
    "cycles",
    &[64],
    1..=65536,
    "recency windows, in cycles of the SM",
);

/// The configured statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRedundancy {
    /// Ascending.
    windows: Vec<u32>,
    cycles: Vec<u32>,
    label: String,
}

impl Technique for FetchRedundancy {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn adds_up(&self) -> bool {
        true
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        let (windows, cycles) = (self.windows.clone(), self.cycles.clone());
        hooks
            .fetch_observers
            .push(Box::new(move |_| Box::new(Recent::new(&windows, &cycles))));
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let fetches = run.activity.get("fetch_redundancy_fetches");
        let share = |metric: String, counter: String| {
            Metric::ratio(metric, run.activity.get(&counter), fetches)
        };
        let mut metrics = Vec::new();
        for window in &self.windows {
            metrics.push(share(
                format!("fetch_redundancy.other_warp.{window}"),
                other_warp(*window),
            ));
            metrics.push(share(
                format!("fetch_redundancy.any_warp.{window}"),
                any_warp(*window),
            ));
        }
        for cycles in &self.cycles {
            metrics.push(share(
                format!("fetch_redundancy.within_cycles.{cycles}"),
                within_cycles(*cycles),
            ));
        }
        metrics.push(share(
            "fetch_redundancy.buffered".to_owned(),
            BUFFERED.to_owned(),
        ));
        metrics
    }
}

const BUFFERED: &str = "fetch_redundancy_buffered";

fn other_warp(window: u32) -> String {
    format!("fetch_redundancy_other_warp_{window}")
}

fn any_warp(window: u32) -> String {
    format!("fetch_redundancy_any_warp_{window}")
}

fn within_cycles(cycles: u32) -> String {
    format!("fetch_redundancy_within_cycles_{cycles}")
}

/// The recent fetches of one SM.
struct Recent {
    windows: Vec<Window>,
    /// Newest first.
    fetches: VecDeque<Fetch>,
    longest: usize,
    total: u64,
    buffered: u64,
    decoded: Decoded,
    /// The newest fetch of each instruction, by its cycle.
    newest: FxHashMap<u64, u64>,
    /// Windows in cycles, and the fetches within each.
    within: Vec<(u32, u64)>,
}

struct Window {
    length: usize,
    other_warp: u64,
    any_warp: u64,
}

#[derive(Clone, Copy)]
struct Fetch {
    pc: u64,
    warp: u8,
    running: bool,
}

impl Recent {
    fn new(windows: &[u32], cycles: &[u32]) -> Self {
        let longest = windows.iter().max().map_or(0, |&length| length as usize);
        let window = |&length: &u32| Window {
            length: length as usize,
            other_warp: 0,
            any_warp: 0,
        };
        Self {
            windows: windows.iter().map(window).collect(),
            fetches: VecDeque::with_capacity(longest + 1),
            longest,
            total: 0,
            buffered: 0,
            decoded: Decoded::default(),
            newest: FxHashMap::default(),
            within: cycles.iter().map(|&cycles| (cycles, 0)).collect(),
        }
    }

    fn count(&mut self, event: FetchEvent) {
        let same = |fetch: &Fetch| fetch.pc == event.pc;
        let other =
            |fetch: &Fetch| fetch.pc == event.pc && fetch.running && fetch.warp != event.warp;
        let newest_same = self.fetches.iter().position(same).unwrap_or(usize::MAX);
        let newest_other = self.fetches.iter().position(other).unwrap_or(usize::MAX);
        for window in &mut self.windows {
            window.any_warp += u64::from(newest_same < window.length);
            window.other_warp += u64::from(newest_other < window.length);
        }
        if let Some(before) = self.newest.insert(event.pc, event.cycle) {
            for (cycles, fetches) in &mut self.within {
                *fetches += u64::from(event.cycle - before <= u64::from(*cycles));
            }
        }
    }
}

impl FetchObserver for Recent {
    fn fetched(&mut self, event: FetchEvent) {
        self.total += 1;
        self.count(event);
        self.buffered += u64::from(self.decoded.by_another_warp(event));
        if self.fetches.len() == self.longest {
            self.fetches.pop_back();
        }
        self.fetches.push_front(Fetch {
            pc: event.pc,
            warp: event.warp,
            running: true,
        });
    }

    fn delivered(&mut self, event: FetchEvent) {
        self.decoded.add(event);
    }

    fn issued(&mut self, event: FetchEvent) {
        self.decoded.remove(event);
    }

    fn retired(&mut self, warp: u8) {
        for fetch in self.fetches.iter_mut().filter(|fetch| fetch.warp == warp) {
            fetch.running = false;
        }
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("fetch_redundancy_fetches", self.total);
        activity.add(BUFFERED, self.buffered);
        for window in &self.windows {
            activity.add(&other_warp(window.length as u32), window.other_warp);
            activity.add(&any_warp(window.length as u32), window.any_warp);
        }
        for (cycles, fetches) in &self.within {
            activity.add(&within_cycles(*cycles), *fetches);
        }
    }
}

/// Which warps have which instruction in their buffers, and since when.
#[derive(Default)]
struct Decoded {
    holders: FxHashMap<u64, Vec<(u8, u64)>>,
}

impl Decoded {
    fn add(&mut self, event: FetchEvent) {
        self.holders
            .entry(event.pc)
            .or_default()
            .push((event.warp, event.cycle));
    }

    fn remove(&mut self, event: FetchEvent) {
        if let Some(holders) = self.holders.get_mut(&event.pc)
            && let Some(index) = holders.iter().position(|&(warp, _)| warp == event.warp)
        {
            holders.swap_remove(index);
        }
    }

    fn by_another_warp(&self, event: FetchEvent) -> bool {
        let holds = |&(warp, since): &(u8, u64)| warp != event.warp && since <= event.cycle;
        self.holders
            .get(&event.pc)
            .is_some_and(|holders| holders.iter().any(holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(cycle: u64, warp: u8, pc: u64) -> FetchEvent {
        FetchEvent { cycle, warp, pc }
    }

    fn counts(recent: &Recent) -> Activity {
        let mut activity = Activity::new();
        recent.report(&mut activity);
        activity
    }

    #[test]
    fn only_other_running_warps_within_the_window_count() {
        let mut recent = Recent::new(&[1, 2], &[64]);
        for (cycle, (warp, pc)) in [(0, 8), (1, 8), (1, 16), (0, 8), (2, 24)]
            .into_iter()
            .enumerate()
        {
            recent.fetched(event(cycle as u64, warp, pc));
        }
        recent.retired(2);
        recent.fetched(event(5, 0, 24));
        let activity = counts(&recent);
        assert_eq!(activity.get("fetch_redundancy_fetches"), 6);
        assert_eq!(
            activity.get("fetch_redundancy_other_warp_1"),
            1,
            "warp 1 after warp 0"
        );
        assert_eq!(
            activity.get("fetch_redundancy_other_warp_2"),
            2,
            "and warp 0 two after warp 1"
        );
        assert_eq!(
            activity.get("fetch_redundancy_any_warp_1"),
            2,
            "the retired warp's fetch counts here"
        );
    }

    #[test]
    fn an_instruction_in_another_warp_s_buffer_is_seen_once_it_is_decoded() {
        let mut recent = Recent::new(&[16], &[64]);
        recent.fetched(event(0, 0, 8));
        recent.delivered(event(2, 0, 8));
        recent.fetched(event(1, 1, 8));
        recent.fetched(event(2, 2, 8));
        recent.issued(event(3, 0, 8));
        recent.fetched(event(4, 3, 8));
        assert_eq!(counts(&recent).get("fetch_redundancy_buffered"), 1);
    }
}
