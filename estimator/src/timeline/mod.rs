//! A run on a page: a trace file that Perfetto and Chrome's tracing page open, with a process an SM and a row a warp slot. A cycle is a microsecond there.

mod events;
mod extent;
mod gauge;
mod gpu;
mod sm;
#[cfg(test)]
mod tests;
mod track;

pub use extent::{Cycles, Extent, SmSet};

use std::io::Write;

use serde_json::{Value, json};
use warpwatt_gpu::{GpuSpec, MemoryView, SmView, Watcher};

use events::Events;
use gpu::GpuPage;
use sm::SmPage;

/// Watches a run and writes its timeline as it goes.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    events: Events<W>,
    extent: Extent,
    kernel: String,
    gpu: GpuPage,
    sms: Vec<Option<SmPage>>,
    /// No room for more events: the cycle at which that was.
    cut: Option<u64>,
    /// Nothing more is written.
    closed: bool,
    cycles: u64,
}

/// What a timeline holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Events in the file.
    pub events: u64,
    /// The cycle from which on there was no room.
    pub cut: Option<u64>,
}

impl<W: Write> Recorder<W> {
    /// Begins a timeline of a run on `spec`.
    pub fn new(spec: &GpuSpec, extent: Extent, out: W) -> Self {
        let mut events = Events::new(out);
        Self {
            gpu: GpuPage::new(spec, &mut events),
            events,
            extent,
            kernel: String::new(),
            sms: std::iter::repeat_with(|| None)
                .take(spec.sm.count as usize)
                .collect(),
            cut: None,
            closed: false,
            cycles: 0,
        }
    }

    /// Ends the timeline; gives what it was written to.
    pub fn finish(self) -> (W, Summary) {
        let summary = Summary {
            events: self.events.written(),
            cut: self.cut,
        };
        let about = about(&self.extent, self.cycles, &summary);
        (self.events.finish(&about), summary)
    }

    /// Ends all rows before cycle `at`.
    fn close(&mut self, at: u64) {
        if self.closed {
            return;
        }
        self.closed = true;
        for page in self.sms.iter_mut().flatten() {
            page.close(at, &self.extent, &mut self.events);
        }
        self.gpu.close(at, &self.extent, &mut self.events);
    }

    /// Whether there is still something to write at `cycle`; if not, all rows are ended.
    fn goes_on(&mut self, cycle: u64) -> bool {
        if cycle >= self.extent.cycles.to {
            self.close(self.extent.cycles.to);
        } else if self.events.written() >= self.extent.events && !self.closed {
            self.cut = Some(cycle);
            self.close(cycle);
        }
        !self.closed
    }
}

/// What the file says about itself.
fn about(extent: &Extent, cycles: u64, summary: &Summary) -> Value {
    json!({
        "producer": concat!("warpwatt ", env!("CARGO_PKG_VERSION")), "time": "one microsecond is one cycle of the SM clock",
        "run_cycles": cycles, "sms": extent.sms.to_string(), "cycles": extent.cycles.to_string(), "detail_cycles": extent.detail,
        "event_limit": extent.events, "cut_at_cycle": summary.cut,
    })
}

impl<W: Write> Watcher for Recorder<W> {
    fn launch(&mut self, cycle: u64, kernel: &str) {
        kernel.clone_into(&mut self.kernel);
        if self.goes_on(cycle) {
            self.gpu
                .launch(cycle, kernel, &self.extent, &mut self.events);
        }
    }

    fn watches(&self, sm: u16) -> bool {
        !self.closed && self.extent.sms.contains(sm)
    }

    fn sm(&mut self, cycle: u64, view: &SmView<'_>) {
        if !self.goes_on(cycle) {
            return;
        }
        let Self {
            events,
            extent,
            kernel,
            sms,
            ..
        } = self;
        let page = sms[usize::from(view.number())]
            .get_or_insert_with(|| SmPage::new(view.number(), extent, events));
        page.show(cycle, view, kernel, extent, events);
    }

    fn memory(&mut self, cycle: u64, view: &MemoryView<'_>) -> u64 {
        if !self.goes_on(cycle) {
            return u64::MAX;
        }
        self.gpu.show(cycle, view, &self.extent, &mut self.events)
    }

    fn end(&mut self, cycle: u64, view: &MemoryView<'_>) {
        self.cycles = cycle;
        if self.goes_on(cycle) {
            self.gpu.show(cycle, view, &self.extent, &mut self.events);
            self.close(cycle);
        }
    }
}
