//! A launch as thread-block compaction executes it: the same threads, each with the same instructions, in warps that are formed anew at branches.
//!
//! Warps of a CTA that execute a branch wait behind it for the others of their entry, and again where the entry of the stack changes. Each of these meetings is an
//! instruction that issues (`fork` and `join` of the MIAOW implementation): it takes no unit and lets all go on together. Where a thread goes on in another warp than
//! before, it also waits until nothing of its warp is under way, since another warp is about to read its lanes' registers.

use std::sync::Arc;

use warpwatt_gpu::trace::{
    Asynchronous, BarrierUse, Flow, KernelTrace, LaneMask, Outstanding, StaticInst, Unit,
    WarpRecorder,
};

use super::block::{Entry, Formed, NOWHERE, compacted};
use super::threads::Threads;

/// The first barrier that warps meet at, behind those that programs have.
const FIRST_BARRIER: usize = 16;
/// Whatever the lanes, meeting is one thing.
const ONE_LANE: LaneMask = 1;
/// Entries of the stack of a CTA at the most: barriers are numbered by eight bits.
const DEEPEST: usize = u8::MAX as usize - FIRST_BARRIER;

/// Instructions behind those of the program: where warps meet, and where they meet with nothing under way.
pub(super) const MEETINGS: usize = 2;

/// The launch with regrouped warps. Its last instructions, behind those of the program, are where warps [meet](MEETINGS).
///
/// # Errors
/// Why the launch cannot be regrouped.
pub(super) fn regrouped(trace: &KernelTrace) -> Result<KernelTrace, String> {
    let splits = trace.code.iter().any(|inst| inst.split.is_some());
    let branches = trace
        .code
        .iter()
        .any(|inst| inst.flow == Some(Flow::Branch));
    if branches && !splits {
        return Err("none of its branches says where its lanes meet again: machine code switches lanes off by masks instead, and warps are not formed anew".to_owned());
    }
    let mut code: Vec<StaticInst> = trace.code.to_vec();
    code.push(meeting(None));
    code.push(meeting(Some(Outstanding { vector: 0, near: 0 })));
    let mut regrouped = trace.another(Arc::from(code));
    let mut recorders = vec![WarpRecorder::default(); trace.launch.warps_per_cta()];
    for cta in 0..trace.launch.ctas() {
        recorders.iter_mut().for_each(WarpRecorder::clear);
        let mut block = Block {
            code: &trace.code,
            width: trace.launch.warp_width,
            threads: Threads::new(trace, cta)?,
            stack: Vec::new(),
            recorders: &mut recorders,
        };
        block.run()?;
        recorders
            .iter()
            .try_for_each(|recorder| regrouped.push_warp(recorder))?;
    }
    Ok(regrouped)
}

/// Whether a branch of the launch may part lanes.
fn is_conditional(inst: &StaticInst) -> bool {
    inst.split.is_some() && !inst.sources.is_empty()
}

/// Whether there is a branch at which warps may be formed anew.
pub(super) fn may_regroup(trace: &KernelTrace) -> bool {
    trace.code.iter().any(is_conditional)
}

/// Where warps meet, once no more than these accesses are under way.
fn meeting(outstanding: Option<Outstanding>) -> StaticInst {
    StaticInst {
        uniform: true,
        asynchronous: outstanding.map(Asynchronous::Outstanding),
        ..StaticInst::bare(Unit::Barrier)
    }
}

/// Why a warp of an entry stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// All its threads have ended.
    Ended,
    /// It is where the entry's warps meet.
    Met,
    /// It has executed the branch.
    Branch(u32),
}

struct Block<'t, 'r> {
    code: &'t [StaticInst],
    width: u32,
    threads: Threads,
    stack: Vec<Entry>,
    /// One a slot.
    recorders: &'r mut [WarpRecorder],
}

impl Block<'_, '_> {
    fn run(&mut self) -> Result<(), String> {
        let warps = self.threads.warps();
        self.stack.push(Entry {
            warps,
            meets: NOWHERE,
        });
        let mut before: u64 = 0;
        while let Some(mut entry) = self.stack.pop() {
            let place = self.stack.len();
            for warp in &mut entry.warps {
                self.threads.drop_ended(warp);
            }
            entry.warps.retain(|warp| warp.lanes() != 0);
            let slots = entry.slots();
            if slots == 0 {
                continue;
            }
            if before & slots != 0 {
                self.meet(before | slots, place, &entry.warps);
            }
            let stops = self.run_entry(&entry)?;
            // Who has met behind a branch need not meet again before its side.
            let branched = stops.iter().any(|stop| matches!(stop, Stop::Branch(_)));
            before = if branched { 0 } else { slots };
            self.branch(entry, stops, place)?;
        }
        Ok(())
    }

    /// The warps of these slots meet, and threads go on in these.
    fn meet(&mut self, slots: u64, place: usize, then: &[Formed]) {
        let moves = self.threads.move_to(then, slots);
        if slots.count_ones() < 2 {
            return;
        }
        let at = BarrierUse {
            number: (FIRST_BARRIER + place) as u8,
            threads: Some(slots.count_ones() * self.width),
            waits: true,
        };
        let inst = self.code.len() as u32 + u32::from(moves);
        for slot in warpwatt_gpu::trace::lanes(slots) {
            self.recorders[slot as usize].barrier(inst, ONE_LANE, at);
        }
    }

    /// Runs every warp of an entry until it stops.
    fn run_entry(&mut self, entry: &Entry) -> Result<Vec<Stop>, String> {
        let is_whole = self.stack.is_empty();
        let warps = entry.warps.iter();
        let stops = warps.map(|warp| self.run_warp(warp.clone(), entry.meets, is_whole));
        stops.collect()
    }

    fn run_warp(&mut self, mut warp: Formed, meets: u32, is_whole: bool) -> Result<Stop, String> {
        loop {
            self.threads.drop_ended(&mut warp);
            let Some(inst) = self.next(&warp)? else {
                return Ok(Stop::Ended);
            };
            if inst == meets {
                return Ok(Stop::Met);
            }
            let Some(known) = self.code.get(inst as usize) else {
                return Err("it executes what its code does not have".to_owned());
            };
            if known.unit == Unit::Barrier && !is_whole {
                return Err(
                    "a barrier stands where the threads of a CTA go different ways".to_owned(),
                );
            }
            let forks = is_conditional(known) && (!known.uniform || warp.is_mixed());
            let recorder = &mut self.recorders[usize::from(warp.slot)];
            self.threads.execute(&warp, recorder)?;
            if forks {
                return Ok(Stop::Branch(inst));
            }
        }
    }

    /// The next instruction of a warp's threads, which must be one.
    fn next(&self, warp: &Formed) -> Result<Option<u32>, String> {
        let mut found = None;
        for lane in warpwatt_gpu::trace::lanes(warp.lanes()) {
            let inst = warp
                .origin(lane)
                .and_then(|origin| self.threads.inst(origin, lane));
            match (found, inst) {
                (None, inst) => found = inst,
                (Some(one), Some(other)) if one != other => {
                    return Err("lanes part elsewhere than at a branch: at a call, a return, or a branch through a table".to_owned());
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// What comes after an entry whose warps have stopped: an entry for each side of each branch that they came to.
    fn branch(&mut self, entry: Entry, stops: Vec<Stop>, place: usize) -> Result<(), String> {
        let mut branches: Vec<u32> = Vec::new();
        for stop in &stops {
            if let Stop::Branch(inst) = stop
                && !branches.contains(inst)
            {
                branches.push(*inst);
            }
        }
        let warps = entry.warps.into_iter().zip(stops);
        let mut groups: Vec<(u32, Vec<Formed>)> =
            branches.iter().map(|&inst| (inst, Vec::new())).collect();
        for (warp, stop) in warps {
            if let Stop::Branch(inst) = stop
                && let Some((_, group)) = groups.iter_mut().find(|(of, _)| *of == inst)
            {
                group.push(warp);
            }
        }
        for (inst, mut group) in groups {
            for warp in &mut group {
                self.threads.drop_ended(warp);
            }
            group.retain(|warp| warp.lanes() != 0);
            self.sides(inst, group, (entry.meets, place))?;
        }
        if self.stack.len() > DEEPEST {
            return Err(format!(
                "branches lie within each other more than {DEEPEST} deep"
            ));
        }
        Ok(())
    }

    /// Puts the sides of a branch on the stack, and below them the warps that met before it where the sides meet.
    fn sides(
        &mut self,
        inst: u32,
        group: Vec<Formed>,
        (meets, place): (u32, usize),
    ) -> Result<(), String> {
        let Some(split) = self.code[inst as usize].split else {
            return Ok(());
        };
        let slots = group.iter().fold(0, |slots, warp| slots | 1 << warp.slot);
        let mut places: Vec<u32> = Vec::new();
        for warp in &group {
            for lane in warpwatt_gpu::trace::lanes(warp.lanes()) {
                let next = warp
                    .origin(lane)
                    .and_then(|origin| self.threads.inst(origin, lane));
                if let Some(next) = next.filter(|next| !places.contains(next)) {
                    places.push(next);
                }
            }
        }
        if places.len() < 2 {
            self.meet(slots, place, &[]);
            self.stack.push(Entry {
                warps: group,
                meets,
            });
            return Ok(());
        }
        let sides: Vec<Entry> = places
            .iter()
            .filter(|&&begin| begin != split.meets)
            .map(|&begin| Entry {
                warps: compacted(&group, |origin, lane| {
                    self.threads.inst(origin, lane) == Some(begin)
                }),
                meets: split.meets,
            })
            .collect();
        let formed: Vec<Formed> = sides.iter().flat_map(|side| side.warps.clone()).collect();
        self.meet(slots, place, &formed);
        // Warps that wait where those below them already wait are done; so are those whose sides never meet.
        if split.meets != NOWHERE && split.meets != meets {
            self.stack.push(Entry {
                warps: group,
                meets,
            });
        }
        // What the branch leads to runs first, as without compaction.
        let (target, others): (Vec<Entry>, Vec<Entry>) = sides
            .into_iter()
            .partition(|side| self.starts_at(side) == Some(split.target));
        self.stack.extend(others);
        self.stack.extend(target);
        Ok(())
    }

    fn starts_at(&self, entry: &Entry) -> Option<u32> {
        let warp = entry.warps.first()?;
        let lane = warp.lanes().trailing_zeros();
        self.threads.inst(warp.origin(lane)?, lane)
    }
}
