//! A run on a page: a trace file that Perfetto and Chrome's tracing page open, with a process an SM and a row a warp slot. A cycle is a microsecond there.

pub(crate) mod events;
mod extent;
mod gauge;
mod gpu;
mod power;
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

/// Watches runs, one after the other, and writes their timeline as they go.
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
    /// Events before this run.
    before: u64,
    /// The name of this run, if it has one, and what is known of those before it.
    name: Option<String>,
    over: Vec<Value>,
}

/// What a timeline holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Events in the file.
    pub events: u64,
    /// The cycle from which on there was no room, of the first run that was cut.
    pub cut: Option<u64>,
}

impl<W: Write> Recorder<W> {
    /// Begins a timeline of a run on `spec`.
    pub fn new(spec: &GpuSpec, extent: Extent, out: W) -> Self {
        Self::on(spec, extent, Events::new(out))
    }

    /// Begins a timeline of several runs, the first of them called `name` and on `spec`.
    pub fn of_several(name: &str, spec: &GpuSpec, extent: Extent, out: W) -> Self {
        let mut events = Events::new(out);
        events.begin_run(0, name);
        Self {
            name: Some(name.to_owned()),
            ..Self::on(spec, extent, events)
        }
    }

    /// Goes on with the next run.
    pub fn next(&mut self, name: &str, spec: &GpuSpec) {
        self.close_run();
        self.events.begin_run(self.over.len() as u32, name);
        self.before = self.events.written();
        self.gpu = GpuPage::new(spec, &mut self.events);
        self.sms = no_pages(spec);
        (self.cut, self.closed, self.cycles) = (None, false, 0);
        self.name = Some(name.to_owned());
    }

    fn on(spec: &GpuSpec, extent: Extent, mut events: Events<W>) -> Self {
        let before = events.written();
        Self {
            gpu: GpuPage::new(spec, &mut events),
            events,
            extent,
            kernel: String::new(),
            sms: no_pages(spec),
            cut: None,
            closed: false,
            cycles: 0,
            before,
            name: None,
            over: Vec::new(),
        }
    }

    /// Notes what a run of several was.
    fn close_run(&mut self) {
        if let Some(name) = self.name.take() {
            let run = json!({ "name": name, "run_cycles": self.cycles, "cut_at_cycle": self.cut });
            self.over.push(run);
        }
    }

    /// Ends the timeline; gives what it was written to.
    pub fn finish(mut self) -> (W, Summary) {
        self.close_run();
        let cuts = self
            .over
            .iter()
            .filter_map(|run| run["cut_at_cycle"].as_u64());
        let summary = Summary {
            events: self.events.written(),
            cut: cuts.chain(self.cut).next(),
        };
        let mut about = about(&self.extent);
        if self.over.is_empty() {
            about["run_cycles"] = self.cycles.into();
            about["cut_at_cycle"] = self.cut.into();
        } else {
            about["runs"] = self.over.into();
        }
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
        } else if self.events.written() - self.before >= self.extent.events && !self.closed {
            self.cut = Some(cycle);
            self.close(cycle);
        }
        !self.closed
    }
}

/// SMs get their pages when something happens to them.
fn no_pages(spec: &GpuSpec) -> Vec<Option<SmPage>> {
    let pages = std::iter::repeat_with(|| None);
    pages.take(spec.sm.count as usize).collect()
}

/// What the file says about itself.
fn about(extent: &Extent) -> Value {
    json!({
        "producer": concat!("warpwatt ", env!("CARGO_PKG_VERSION")), "time": "one microsecond is one cycle of the SM clock",
        "sms": extent.sms.to_string(), "cycles": extent.cycles.to_string(), "detail_cycles": extent.detail, "event_limit": extent.events,
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
