//! When the warps of a run were where, and when each of their instructions came, issued, read and wrote.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::take;
use std::rc::Rc;

use warpwatt_gpu::trace::{Addresses, KernelTrace, LaneMask};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssuePlan, PlaceEvent, StorageObserver};

/// The moments of a dynamic instruction, in cycles from the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Index of the static instruction.
    pub inst: u32,
    /// Decoded in the buffer from this cycle on.
    pub delivered: u64,
    /// It left the buffer.
    pub issued: u64,
    /// Its operands were read before this cycle.
    pub read: u64,
    /// Its results are in their registers from this cycle on; the cycle of the issue if it has none.
    pub written: u64,
    /// It accesses shared memory in this cycle; that of the issue if it does not.
    pub accessed: u64,
}

/// A warp's stay on an SM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpLine {
    /// The SM and the slot there.
    pub sm: u32,
    /// The slot.
    pub slot: u8,
    /// Its first cycle there, and the first in which it was not there any more.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Its instructions, in order.
    pub steps: Vec<Moments>,
}

/// A CTA's stay on an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CtaLine {
    /// The SM.
    pub sm: u32,
    /// The lowest number that no other CTA of the SM had then: where its shared memory lies.
    pub slot: u32,
    /// From its first warp's placement to its last one's retirement.
    pub from: u64,
    /// See `from`.
    pub to: u64,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchLine {
    /// CTAs by number.
    pub ctas: Vec<CtaLine>,
    /// Warps, CTA after CTA.
    pub warps: Vec<WarpLine>,
    /// Warps of a CTA.
    pub warps_per_cta: usize,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a CTA, as the SM allocates them.
    pub shared_bytes: u32,
}

impl LaunchLine {
    /// The cycle in which its first warp was placed; never, if it has none.
    pub fn begin(&self) -> u64 {
        let placed = self.warps.iter().map(|warp| warp.from);
        placed.min().unwrap_or(u64::MAX)
    }

    /// The warps of a CTA.
    pub fn warps_of(&self, cta: usize) -> &[WarpLine] {
        &self.warps[cta * self.warps_per_cta..][..self.warps_per_cta]
    }
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Its launches, in order.
    pub launches: Vec<LaunchLine>,
}

/// Takes the timeline of a run.
#[derive(Clone, Default)]
pub struct Recorder(Rc<RefCell<Recording>>);

#[derive(Default)]
struct Recording {
    timeline: Timeline,
    sms: Vec<Sm>,
    shared_granule: u32,
}

#[derive(Clone, Default)]
struct Sm {
    slots: Vec<Slot>,
    /// The CTA in each place of shared memory, and how many of its warps have not retired.
    ctas: Vec<(u32, usize)>,
}

/// A slot of an SM.
#[derive(Clone, Default)]
struct Slot {
    /// The warp of the launch that it holds, and its CTA.
    warp: usize,
    cta: u32,
    /// When the instructions came that wait for issue.
    buffered: VecDeque<u64>,
}

impl Recorder {
    /// A recorder for a run on `spec`.
    pub fn new(spec: &GpuSpec) -> Self {
        let sm = Sm {
            slots: vec![Slot::default(); spec.warps_per_sm() as usize],
            ctas: Vec::new(),
        };
        Self(Rc::new(RefCell::new(Recording {
            timeline: Timeline::default(),
            sms: vec![sm; spec.sm.count as usize],
            shared_granule: spec.sm.shared_granule.max(1),
        })))
    }

    /// What to attach to the run.
    pub fn hooks(&self) -> Hooks {
        let recording = self.0.clone();
        let mut hooks = Hooks::default();
        hooks.storage.push(Box::new(move |sm| {
            let recording = recording.clone();
            Box::new(Watch { sm, recording })
        }));
        hooks
    }

    /// The timeline, once the run is over.
    pub fn finish(self) -> Timeline {
        take(&mut self.0.borrow_mut().timeline)
    }
}

/// Watches one SM.
struct Watch {
    sm: u32,
    recording: Rc<RefCell<Recording>>,
}

impl Recording {
    fn begin(&mut self, trace: &KernelTrace) {
        let shape = &trace.launch;
        let warps_per_cta = shape.warps_per_cta();
        self.timeline.launches.push(LaunchLine {
            ctas: vec![CtaLine::default(); shape.ctas()],
            warps: vec![WarpLine::default(); shape.ctas() * warps_per_cta],
            warps_per_cta,
            registers: shape.registers,
            shared_bytes: shape.shared_bytes.next_multiple_of(self.shared_granule),
        });
    }

    fn placed(&mut self, number: u32, event: PlaceEvent) {
        let (sm, Some(launch)) = (
            &mut self.sms[number as usize],
            self.timeline.launches.last_mut(),
        ) else {
            return;
        };
        let known = sm
            .ctas
            .iter()
            .position(|(cta, left)| *cta == event.cta && *left > 0);
        let slot = known.unwrap_or_else(|| {
            let free = sm.ctas.iter().position(|(_, left)| *left == 0);
            free.unwrap_or_else(|| {
                sm.ctas.push((0, 0));
                sm.ctas.len() - 1
            })
        });
        let (cta, left) = &mut sm.ctas[slot];
        (*cta, *left) = (event.cta, *left + 1);
        let warp = event.cta as usize * launch.warps_per_cta + *left - 1;
        launch.ctas[event.cta as usize] = CtaLine {
            sm: number,
            slot: slot as u32,
            from: event.cycle,
            to: event.cycle,
        };
        launch.warps[warp] = WarpLine {
            sm: number,
            slot: event.warp,
            from: event.cycle,
            to: event.cycle,
            steps: Vec::new(),
        };
        sm.slots[usize::from(event.warp)] = Slot {
            warp,
            cta: event.cta,
            ..Slot::default()
        };
    }

    fn issued(&mut self, sm: u32, event: &IssueEvent<'_>, read: u64) {
        let slot = &mut self.sms[sm as usize].slots[usize::from(event.warp)];
        let delivered = slot.buffered.pop_front().unwrap_or(event.cycle);
        let warp = slot.warp;
        if let Some(launch) = self.timeline.launches.last_mut() {
            launch.warps[warp].steps.push(Moments {
                inst: event.step.inst,
                delivered: delivered.min(event.cycle),
                issued: event.cycle,
                read,
                written: event.cycle,
                accessed: event.cycle,
            });
        }
    }

    /// The last instruction of that index that a warp issued.
    fn step(&mut self, sm: u32, warp: u8, inst: u32) -> Option<&mut Moments> {
        let warp = self.sms[sm as usize].slots[usize::from(warp)].warp;
        let launch = self.timeline.launches.last_mut()?;
        let mut steps = launch.warps[warp].steps.iter_mut().rev();
        steps.find(|step| step.inst == inst)
    }

    fn retired(&mut self, number: u32, cycle: u64, warp: u8) {
        let sm = &mut self.sms[number as usize];
        let Slot { warp, cta, .. } = sm.slots[usize::from(warp)];
        if let Some((_, left)) = sm
            .ctas
            .iter_mut()
            .find(|(it, left)| *it == cta && *left > 0)
        {
            *left -= 1;
        }
        if let Some(launch) = self.timeline.launches.last_mut() {
            launch.warps[warp].to = cycle;
            let line = &mut launch.ctas[cta as usize];
            line.to = line.to.max(cycle);
        }
    }
}

impl StorageObserver for Watch {
    fn begin(&mut self, _: u64, trace: &KernelTrace) {
        // Each SM is told of a launch; one tells it on.
        if self.sm == 0 {
            self.recording.borrow_mut().begin(trace);
        }
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.recording.borrow_mut().placed(self.sm, event);
    }

    fn buffered(&mut self, cycle: u64, warp: u8, right: u8, _: u8) {
        let mut recording = self.recording.borrow_mut();
        let slot = &mut recording.sms[self.sm as usize].slots[usize::from(warp)];
        let come = std::iter::repeat_n(cycle, usize::from(right));
        slot.buffered.extend(come);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &IssuePlan, read: u64) {
        self.recording.borrow_mut().issued(self.sm, event, read);
    }

    fn written(&mut self, cycle: u64, warp: u8, inst: u32) {
        if let Some(step) = self.recording.borrow_mut().step(self.sm, warp, inst) {
            step.written = cycle;
        }
    }

    fn accesses_shared(&mut self, cycle: u64, warp: u8, inst: u32, _: (&Addresses, LaneMask)) {
        if let Some(step) = self.recording.borrow_mut().step(self.sm, warp, inst) {
            step.accessed = cycle;
        }
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.recording.borrow_mut().retired(self.sm, cycle, warp);
    }
}
