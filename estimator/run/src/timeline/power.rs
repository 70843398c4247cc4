//! Power on the page, known when the run is over: of each group of structures and of everything, and of each SM that is shown.

use std::collections::BTreeMap;
use std::io::Write;

use super::events::{Events, Row};
use super::gpu::PID;
use super::{Recorder, sm};
use crate::outcome::PricedStructure;
use crate::plain::PowerOverTime;

impl<W: Write> Recorder<W> {
    /// Adds the power of the run that was watched last, by the windows that were counted, as far as the timeline goes.
    pub fn power(&mut self, power: &PowerOverTime, structures: &[PricedStructure]) {
        let ends = self.cut.unwrap_or(u64::MAX);
        let windows = power.cycles.iter().enumerate();
        let shown: Vec<(usize, u64)> = windows
            .filter_map(|(window, (from, to))| {
                let (from, to) = self.extent.clip(*from, (*to).min(ends));
                (from < to).then_some((window, from))
            })
            .collect();
        for (window, from) in shown {
            let mut groups: BTreeMap<&str, f64> = BTreeMap::new();
            for (structure, watts) in structures.iter().zip(&power.watts[window]) {
                *groups.entry(&structure.group).or_default() += watts;
            }
            let all = ("power, W".to_owned(), groups.values().sum());
            let groups = groups.into_iter();
            let groups = groups.map(|(group, watts)| (format!("power of {group}, W"), watts));
            for (name, watts) in [all].into_iter().chain(groups) {
                show(PID, from, &name, watts, &mut self.events);
            }
            let Some(by_sm) = &power.by_sm else { continue };
            for (place, number) in by_sm.sms().iter().enumerate() {
                if self.extent.sms.contains(*number) {
                    let pid = sm::pid(*number);
                    // Nothing may have happened to it.
                    if self.sms[usize::from(*number)].is_none() && window == 0 {
                        self.events.name(Row { pid, tid: 0 }, &sm::name(*number));
                    }
                    let watts = by_sm.watts(window, place).into_iter().flatten().sum();
                    show(pid, from, "power, W", watts, &mut self.events);
                }
            }
        }
    }
}

fn show<W: Write>(pid: u32, at: u64, name: &str, watts: f64, events: &mut Events<W>) {
    events.counter(pid, at, name, format_args!("{watts:.6}"));
}
