//! The threads of a CTA: what each executes next, out of the traces of the warps that they were in.

use warpwatt_gpu::trace::{
    Addresses, KernelTrace, LaneMask, Step, StoreError, WarpRecorder, lanes,
};

use super::block::Formed;

/// The steps of the warps of a CTA, and how far each thread is.
pub(super) struct Threads {
    steps: Vec<Vec<Step>>,
    /// One entry a warp: the next step of each lane.
    next: Vec<[u32; LaneMask::BITS as usize]>,
    /// Likewise the slot of the warp in which a thread has executed something that may be under way.
    slots: Vec<[u8; LaneMask::BITS as usize]>,
}

/// No slot.
const NO_SLOT: u8 = u8::MAX;

/// What a formed warp executes: the lanes with a step each.
struct Gathered {
    active: LaneMask,
    executed: LaneMask,
    addresses: Option<[u64; LaneMask::BITS as usize]>,
}

impl Threads {
    /// All threads before their first instruction.
    ///
    /// # Errors
    /// The trace cannot be read where it is kept.
    pub fn new(trace: &KernelTrace, cta: usize) -> Result<Self, StoreError> {
        let warps = 0..trace.launch.warps_per_cta();
        let steps = warps.map(|warp| Ok(trace.warp(cta, warp)?.collect()));
        let steps: Vec<Vec<Step>> = steps.collect::<Result<_, StoreError>>()?;
        let mut threads = Self {
            next: vec![[0; LaneMask::BITS as usize]; steps.len()],
            slots: vec![[NO_SLOT; LaneMask::BITS as usize]; steps.len()],
            steps,
        };
        for warp in 0..threads.steps.len() {
            for lane in 0..LaneMask::BITS {
                threads.settle(warp, lane);
            }
        }
        Ok(threads)
    }

    /// Moves a thread on to a step that it takes part in.
    fn settle(&mut self, warp: usize, lane: u32) {
        let steps = &self.steps[warp];
        let next = &mut self.next[warp][lane as usize];
        while steps
            .get(*next as usize)
            .is_some_and(|step| step.active >> lane & 1 == 0)
        {
            *next += 1;
        }
    }

    /// The step that a thread executes next; none if it has ended.
    pub fn step(&self, origin: u8, lane: u32) -> Option<&Step> {
        let warp = usize::from(origin);
        self.steps[warp].get(self.next[warp][lane as usize] as usize)
    }

    /// The next instruction of a thread.
    pub fn inst(&self, origin: u8, lane: u32) -> Option<u32> {
        self.step(origin, lane).map(|step| step.inst)
    }

    /// The CTA's warps as the program has them, with the threads that execute anything.
    pub fn warps(&self) -> Vec<Formed> {
        let all = (0..self.steps.len()).map(|warp| {
            let mut formed = Formed::empty(warp as u8);
            for lane in 0..LaneMask::BITS {
                if self.step(warp as u8, lane).is_some() {
                    formed.put(lane, warp as u8);
                }
            }
            formed
        });
        all.filter(|warp| warp.lanes() != 0).collect()
    }

    /// Lanes of a warp whose threads have ended leave it.
    pub fn drop_ended(&self, warp: &mut Formed) {
        for lane in lanes(warp.lanes()) {
            let ended = warp
                .origin(lane)
                .is_some_and(|origin| self.step(origin, lane).is_none());
            if ended {
                warp.take(lane);
            }
        }
    }

    /// Whether a thread of `then` has something under way in another slot than it goes on in. If so, the warps in `slots` wait for all of it.
    pub fn move_to(&mut self, then: &[Formed], slots: u64) -> bool {
        let moves = then.iter().any(|warp| {
            lanes(warp.lanes()).any(|lane| {
                let origin = warp.origin(lane);
                let slot = origin.map_or(NO_SLOT, |it| self.slots[usize::from(it)][lane as usize]);
                slot != NO_SLOT && slot != warp.slot
            })
        });
        if moves {
            let waits = |slot: u8| slot != NO_SLOT && slots >> slot & 1 != 0;
            let all = self.slots.iter_mut().flatten();
            all.filter(|slot| waits(**slot))
                .for_each(|slot| *slot = NO_SLOT);
        }
        moves
    }

    /// Records the next instruction of a warp, whose threads are all before the same one, and moves them on.
    ///
    /// # Errors
    /// What cannot be done by other warps than those of the program.
    pub fn execute(&mut self, warp: &Formed, recorder: &mut WarpRecorder) -> Result<(), String> {
        let mine = warp.lanes();
        let mut left = mine;
        let mut gathered = Gathered {
            active: 0,
            executed: 0,
            addresses: None,
        };
        while left != 0 {
            let lane = left.trailing_zeros();
            let Some(origin) = warp.origin(lane) else {
                break;
            };
            let row = usize::from(origin);
            let at = self.next[row][lane as usize];
            let alike = |lane: &u32| {
                warp.origin(*lane) == Some(origin) && self.next[row][*lane as usize] == at
            };
            let group = lanes(left)
                .filter(alike)
                .fold(0, |all, lane| all | 1 << lane);
            let step = &self.steps[row][at as usize];
            if group == mine && step.active == mine {
                forward(step, recorder);
                self.advance(warp);
                return Ok(());
            }
            gathered.add(step, group)?;
            left &= !group;
        }
        gathered.record(self.inst_of(warp), recorder);
        self.advance(warp);
        Ok(())
    }

    fn inst_of(&self, warp: &Formed) -> u32 {
        let lane = warp.lanes().trailing_zeros();
        let origin = warp.origin(lane);
        origin
            .and_then(|origin| self.inst(origin, lane))
            .unwrap_or(0)
    }

    fn advance(&mut self, warp: &Formed) {
        for lane in lanes(warp.lanes()) {
            if let Some(origin) = warp.origin(lane) {
                self.next[usize::from(origin)][lane as usize] += 1;
                self.slots[usize::from(origin)][lane as usize] = warp.slot;
                self.settle(usize::from(origin), lane);
            }
        }
    }
}

/// Records a step as it is.
fn forward(step: &Step, recorder: &mut WarpRecorder) {
    let Step {
        inst,
        active,
        executed,
        ..
    } = *step;
    match (&step.addresses, step.beyond()) {
        (None, _) => recorder.computed(inst, active, executed, step.values),
        (Some(at), Some(beyond)) => {
            recorder.asynchronous(inst, active, executed, at.first(), &beyond);
        }
        (Some(at), None) => {
            let mut addresses = [0; LaneMask::BITS as usize];
            fill(&mut addresses, at, executed, executed);
            recorder.access(inst, active, executed, &addresses);
        }
    }
}

/// The addresses of the lanes in `wanted`.
fn fill(
    addresses: &mut [u64; LaneMask::BITS as usize],
    at: &Addresses,
    executed: LaneMask,
    wanted: LaneMask,
) {
    at.for_each(executed, |lane, address| {
        if wanted >> lane & 1 != 0 {
            addresses[lane as usize] = address;
        }
    });
}

impl Gathered {
    /// Some lanes of a step.
    fn add(&mut self, step: &Step, group: LaneMask) -> Result<(), String> {
        if step.beyond().is_some() {
            return Err("an asynchronous copy in divergent code is of one warp".to_owned());
        }
        self.active |= group;
        self.executed |= step.executed & group;
        if let Some(at) = &step.addresses {
            let addresses = self.addresses.get_or_insert([0; LaneMask::BITS as usize]);
            fill(addresses, at, step.executed, group);
        }
        Ok(())
    }

    fn record(&self, inst: u32, recorder: &mut WarpRecorder) {
        match &self.addresses {
            Some(addresses) => recorder.access(inst, self.active, self.executed, addresses),
            None => recorder.step(inst, self.active, self.executed),
        }
    }
}
