//! A work-group: its wavefronts take turns until all have ended.

use std::ops::{Deref, DerefMut};

use warpwatt_simt::Interrupt;

use crate::decode::Place;
use crate::error::Cause;
use crate::exec::float::Mode;
use crate::exec::{ARGUMENTS_BASE, PACKET_BASE, SCRATCH_BASE, World};
use crate::launch::Launch;
use crate::object::{Kernel, UserValue};
use crate::program::Program;
use crate::wave::{Counts, LANES, Stop, Wave, WaveFault, Words};

/// Instructions that a wavefront executes before the next one has its turn, so that one that spins on another's store sees it.
const SLICE: u64 = 1 << 14;

/// The wavefronts of a group, and its memories.
pub(crate) struct Group {
    waves: Waves,
    share: Vec<u8>,
    scratch: Vec<u8>,
    /// Scratch of a wavefront.
    wave_scratch: u64,
    /// Of each wavefront its work-items.
    items: Vec<Items>,
}

/// The work-items of a wavefront.
struct Items {
    count: u32,
    /// Where they are in the work-group, in x, y and z; zero behind the last.
    ids: [Words; 3],
}

impl Items {
    fn new(block: [u32; 3], wave: usize) -> Self {
        let all: u32 = block.iter().product();
        let first = (wave * LANES) as u32;
        let count = (all - first).min(LANES as u32);
        let [x, y, _] = block;
        let mut ids = [[0; LANES]; 3];
        for lane in 0..count {
            let item = first + lane;
            let id = [item % x, item / x % y, item / x / y];
            for (ids, id) in ids.iter_mut().zip(id) {
                ids[lane as usize] = id;
            }
        }
        Self { count, ids }
    }
}

/// The wavefronts, and what they do.
pub(crate) struct Waves {
    waves: Vec<Wave>,
    states: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
    Done,
}

/// Where wavefronts of a kernel begin, and with what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub mode: Mode,
    /// The first instruction.
    pub entry: u32,
    /// Vector registers that the code can reach, from the first one on.
    pub vectors: usize,
}

/// A fault and where it happened.
#[derive(Debug)]
pub(crate) struct GroupFault {
    pub wave: usize,
    /// The instruction.
    pub at: u32,
    pub fault: WaveFault,
}

impl Deref for Waves {
    type Target = [Wave];

    fn deref(&self) -> &[Wave] {
        &self.waves
    }
}

impl DerefMut for Waves {
    fn deref_mut(&mut self) -> &mut [Wave] {
        &mut self.waves
    }
}

impl Group {
    pub fn new(kernel: &Kernel, launch: &Launch<'_>, waves: Vec<Wave>) -> Self {
        let descriptor = &kernel.descriptor;
        let wave_scratch =
            (u64::from(descriptor.scratch_bytes) * LANES as u64).next_multiple_of(1024);
        let share = descriptor.lds_bytes as usize + launch.dynamic_share as usize;
        Self {
            share: vec![0; share],
            scratch: vec![0; wave_scratch as usize * waves.len()],
            wave_scratch,
            items: (0..waves.len())
                .map(|wave| Items::new(launch.block, wave))
                .collect(),
            waves: Waves {
                states: vec![State::Done; waves.len()],
                waves,
            },
        }
    }

    pub fn share_bytes(&self) -> u32 {
        self.share.len() as u32
    }

    /// Scratch memory, local data share and wavefronts.
    pub fn parts(&mut self) -> (&mut [u8], &mut [u8], &mut Waves) {
        (&mut self.scratch, &mut self.share, &mut self.waves)
    }

    /// Puts every wavefront at the kernel's entry.
    pub fn start(&mut self, kernel: &Kernel, place: [u32; 3], start: Start) {
        self.share.fill(0);
        self.scratch.fill(0);
        self.waves.states.fill(State::Running);
        for (number, (wave, items)) in self.waves.iter_mut().zip(&self.items).enumerate() {
            let scratch = number as u64 * self.wave_scratch;
            wave.scalars = [0; 128];
            wave.clear_vectors(start.vectors);
            wave.scc = false;
            wave.mode = start.mode;
            wave.at = start.entry;
            wave.counts = Counts::default();
            wave.scratch = scratch;
            if let Some(recorder) = &mut wave.recorder {
                recorder.clear();
            }
            wave.set_exec(u64::MAX >> (LANES as u32 - items.count));
            scalars(wave, kernel, place, scratch);
            let wanted = kernel.descriptor.local_ids() as usize;
            wave.vectors[..wanted].copy_from_slice(&items.ids[..wanted]);
        }
    }
}

/// Fills the user registers and those behind them.
fn scalars(wave: &mut Wave, kernel: &Kernel, place: [u32; 3], scratch: u64) {
    let descriptor = &kernel.descriptor;
    let mut at = 0u16;
    for (value, registers) in descriptor.user_values() {
        match value {
            UserValue::ScratchBuffer => {
                wave.set_pair(at, SCRATCH_BASE | SWIZZLED);
                wave.set_pair(at + 2, u64::from(SCRATCH_WORD3) << 32 | u64::from(u32::MAX));
            }
            UserValue::DispatchPacket | UserValue::Queue => wave.set_pair(at, PACKET_BASE),
            UserValue::Arguments => wave.set_pair(at, ARGUMENTS_BASE),
            UserValue::DispatchNumber | UserValue::FlatScratch => wave.set_pair(at, 0),
            UserValue::ScratchBytes => wave.scalars[usize::from(at)] = descriptor.scratch_bytes,
        }
        at += registers as u16;
    }
    let mut at = descriptor.user_registers() as usize;
    for (id, _) in place
        .into_iter()
        .zip(descriptor.group_ids())
        .filter(|(_, wanted)| *wanted)
    {
        wave.scalars[at] = id;
        at += 1;
    }
    if descriptor.wants_group_info() {
        at += 1;
    }
    if descriptor.wants_scratch_offset() {
        wave.scalars[at] = scratch as u32;
    }
    debug_assert!(at < usize::from(Place::VCC.0));
}

/// Swizzle bit of a resource's first two words.
const SWIZZLED: u64 = 1 << 63;

/// Elements of 4 bytes, an index stride of 64, the lane added to the index.
const SCRATCH_WORD3: u32 = 1 << 19 | 3 << 21 | 1 << 23;

impl Waves {
    /// Runs the group to its end; what is left of `left` says how many instructions that took.
    pub fn run(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        left: &mut u64,
    ) -> Result<(), GroupFault> {
        self.run_by(|waves, number| waves.turn(number, program, (&mut *world, &mut *left)))
    }

    /// Runs the group until each wavefront has executed as many instructions as `cut` says.
    pub fn run_to(
        &mut self,
        cut: &[u64],
        program: &Program,
        (world, left): (&mut World<'_>, &mut u64),
    ) -> Result<(), GroupFault> {
        let is_there =
            |waves: &Self, number: usize| waves.waves[number].counts.instructions >= cut[number];
        loop {
            let mut all = true;
            for (number, until) in cut.iter().enumerate() {
                if self.states[number] == State::Running && !is_there(self, number) {
                    let rest = until - self.waves[number].counts.instructions;
                    self.turn_of(number, (program, rest), (&mut *world, &mut *left))?;
                    all = false;
                }
            }
            if all {
                let waits = |number: usize| {
                    self.states[number] == State::Waiting && !is_there(self, number)
                };
                if !(0..self.waves.len()).any(waits) {
                    return Ok(());
                }
                self.open();
            }
        }
    }

    /// Wavefronts that have ended are not waited for.
    fn open(&mut self) {
        for state in &mut self.states {
            if *state == State::Waiting {
                *state = State::Running;
            }
        }
    }

    /// Gives each wavefront that can run its turn until all have ended, or until a turn says so.
    pub fn run_by(
        &mut self,
        mut turn: impl FnMut(&mut Self, usize) -> Result<bool, GroupFault>,
    ) -> Result<(), GroupFault> {
        loop {
            for number in 0..self.waves.len() {
                if self.states[number] == State::Running && !turn(self, number)? {
                    return Ok(());
                }
            }
            let is = |state: State| move |it: &State| *it == state;
            if self.states.iter().all(is(State::Done)) {
                return Ok(());
            }
            if !self.states.iter().any(is(State::Running)) {
                self.open();
            }
        }
    }

    /// A wavefront's turn; always true, as nothing ends the group before its time.
    pub fn turn(
        &mut self,
        number: usize,
        program: &Program,
        (world, left): (&mut World<'_>, &mut u64),
    ) -> Result<bool, GroupFault> {
        self.turn_of(number, (program, u64::MAX), (world, left))
    }

    /// A turn of at most `most` instructions.
    pub fn turn_of(
        &mut self,
        number: usize,
        (program, most): (&Program, u64),
        (world, left): (&mut World<'_>, &mut u64),
    ) -> Result<bool, GroupFault> {
        if world.interrupt.is_some_and(Interrupt::is_set) {
            return Err(GroupFault {
                wave: number,
                at: self.waves[number].at,
                fault: Cause::Interrupted.into(),
            });
        }
        let count = SLICE.min(*left).min(most);
        self.stopped(number, left, |wave| wave.run(program, world, count))
    }

    /// What comes of a wavefront that executes for a while.
    pub fn stopped(
        &mut self,
        number: usize,
        left: &mut u64,
        execute: impl FnOnce(&mut Wave) -> Result<Stop, WaveFault>,
    ) -> Result<bool, GroupFault> {
        let wave = &mut self.waves[number];
        let before = wave.counts.instructions;
        let stop = execute(wave);
        let at = wave.at;
        let fault = |fault| GroupFault {
            wave: number,
            at,
            fault,
        };
        let stop = stop.map_err(fault)?;
        *left -= wave.counts.instructions - before;
        self.states[number] = match stop {
            Stop::Exit => State::Done,
            Stop::Barrier => State::Waiting,
            Stop::Slice if *left == 0 => return Err(fault(Cause::Limit(0).into())),
            Stop::Slice => State::Running,
        };
        Ok(true)
    }
}
