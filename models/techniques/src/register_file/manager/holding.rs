//! Instructions that wait for registers, and warps that make room, where the file is smaller than what programs see.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::Step;
use warpwatt_gpu::{Move, PlaceEvent, Throttle};

use super::super::spiller::Spiller;
use super::super::throttle::Throttle as Counters;
use super::super::{Allocation, Inst};
use super::{Manager, NONE};

/// Who may take registers.
pub(super) struct Hold {
    pub throttle: Counters,
    spiller: Spiller,
    /// Slots with a warp.
    live: u64,
    preferred: u64,
    /// By slot: since when its next instruction has been held back, and the registers that it wants.
    waits: Vec<Option<(u64, u64)>>,
    asked: u64,
    instructions: u64,
    cycles: u64,
}

impl Hold {
    pub fn new(registers: u32, warps: u32) -> Self {
        Self {
            throttle: Counters::new(registers),
            spiller: Spiller::new(warps),
            live: 0,
            preferred: 0,
            waits: vec![None; warps as usize],
            asked: 0,
            instructions: 0,
            cycles: 0,
        }
    }

    /// A warp starts.
    pub fn places(&mut self, event: PlaceEvent) {
        self.live |= 1 << event.warp;
        self.throttle.starts(event.cta, event.warp);
    }

    /// An instruction issues.
    pub fn issues(&mut self, cycle: u64, warp: u8) {
        if let Some((since, _)) = self.waits[usize::from(warp)].take() {
            self.instructions += 1;
            self.cycles += cycle - since;
        }
    }

    /// A warp has finished.
    pub fn retires(&mut self, cta: u32, warp: u8) {
        self.live &= !(1 << warp);
        self.throttle.ends(cta, warp);
        self.spiller.ends(warp);
    }

    /// Adds the counts of a file that gave out and took back so many registers.
    pub fn report(&self, moved: u64, activity: &mut Activity) {
        activity.add("register_balance.read", self.asked);
        activity.add("register_balance.write", 2 * moved);
        activity.add("throttled_instructions", self.instructions);
        activity.add("throttled_cycles", self.cycles);
        activity.add("spilled_warps", self.spiller.spills);
        activity.add("spilled_registers", self.spiller.stores);
        activity.add("restored_registers", self.spiller.loads);
    }
}

impl Manager {
    /// Registers that a warp has.
    fn held(&self, warp: u8) -> u64 {
        let map = self.warps[usize::from(warp)].map.iter();
        map.filter(|&&register| register != NONE).count() as u64
    }

    /// Registers that an instruction takes when it issues.
    fn wants(&self, warp: u8, inst: &Inst, saved: &[u16]) -> u64 {
        let slot = &self.warps[usize::from(warp)];
        let is_new = |word: &u16| slot.map[usize::from(*word)] == NONE && !saved.contains(word);
        let first = match slot.started {
            true => 0,
            false => self.code.exempt(),
        };
        let exempt = |word: &u16| !slot.started && self.code.is_exempt(*word);
        let mut wanted: Vec<u16> = inst.writes.clone();
        wanted.retain(|word| is_new(word) && !exempt(word));
        wanted.sort_unstable();
        wanted.dedup();
        first + wanted.len() as u64
    }

    /// Whether a warp may take so many registers; the warp that leads may take all.
    fn may_take(&self, hold: &Hold, warp: u8, wanted: u64) -> bool {
        let free = u64::from(self.file.free()).saturating_sub(hold.spiller.expected());
        if wanted > free {
            return false;
        }
        match hold.spiller.leader() {
            Some(leader) if leader == warp => true,
            Some(leader) => free - wanted >= hold.throttle.rest_of_warp(self.held(leader)),
            None => hold
                .throttle
                .allows(self.warps[usize::from(warp)].cta, wanted, free),
        }
    }

    /// Whether an instruction of a warp may issue, given what holds warps back.
    fn consider(&mut self, hold: &mut Hold, cycle: u64, warp: u8, inst: &Inst) -> bool {
        let slot = usize::from(warp);
        if !std::mem::replace(&mut self.warps[slot].met, true) {
            self.meet(cycle, slot, inst);
        }
        let wanted = self.wants(warp, inst, hold.spiller.saved(warp));
        hold.asked += u64::from(wanted > 0);
        if hold.spiller.is_away(warp) {
            let all = hold.spiller.saved(warp).len() as u64 + wanted;
            if !hold.spiller.is_busy() && self.may_take(hold, warp, all) {
                hold.spiller.fetch(warp);
            }
        } else if wanted == 0 {
            return true;
        } else if self.may_take(hold, warp, wanted) {
            // Who may take besides the one with the most is no longer short of them.
            if hold.throttle.first() >> warp & 1 == 0 {
                hold.preferred = 0;
            }
            return true;
        }
        hold.preferred = match hold.spiller.leader() {
            Some(leader) => 1 << leader,
            None => hold.throttle.first(),
        };
        hold.waits[slot] = Some(match hold.waits[slot] {
            Some((since, _)) => (since, wanted),
            None => (cycle, wanted),
        });
        false
    }

    /// Makes room for a warp that leads, among those that do not wait at a barrier.
    fn make_room(&self, hold: &mut Hold, at_barrier: u64) {
        let slots = |mask: u64| (0..64u8).filter(move |slot| mask >> slot & 1 != 0);
        let waiting = hold.live & !at_barrier;
        let leads = hold.spiller.leader();
        let leads = leads.filter(|&leader| waiting >> leader & 1 != 0);
        // Of those in the file the one that has most, else whoever was first.
        let best = |slot: &u8| (self.held(*slot), std::cmp::Reverse(*slot));
        let Some(leader) = leads.or_else(|| slots(waiting).max_by_key(best)) else {
            return;
        };
        hold.spiller.lead(leader);
        let wanted = hold.waits[usize::from(leader)].map_or(0, |(_, wanted)| wanted);
        let needed = hold.spiller.saved(leader).len() as u64 + wanted;
        let mut room = u64::from(self.file.free());
        let others = hold.live & !(1 << leader);
        let mut victims: Vec<u8> = slots(others).filter(|&slot| self.held(slot) > 0).collect();
        let worth = |slot: u8| (at_barrier >> slot & 1, self.held(slot), slot);
        victims.sort_by_key(|&slot| std::cmp::Reverse(worth(slot)));
        for victim in victims {
            if room >= needed {
                break;
            }
            room += self.held(victim);
            let map = self.warps[usize::from(victim)].map.iter().enumerate();
            let words = map.filter(|(_, register)| **register != NONE);
            hold.spiller
                .send(victim, words.map(|(word, _)| word as u16));
        }
        if hold.spiller.is_away(leader) {
            hold.spiller.fetch(leader);
        }
    }
}

impl Throttle for Manager {
    fn admits(&mut self, cycle: u64, warp: u8, step: &Step) -> bool {
        self.settle(cycle);
        let Some(mut hold) = self.hold.take() else {
            return true;
        };
        let inst = std::mem::take(&mut self.code.insts[step.inst as usize]);
        let admitted = self.consider(&mut hold, cycle, warp, &inst);
        self.code.insts[step.inst as usize] = inst;
        self.hold = Some(hold);
        admitted
    }

    fn preferred(&self) -> u64 {
        self.hold.as_ref().map_or(0, |hold| hold.preferred)
    }

    fn reconsiders(&self) -> Option<u64> {
        self.leaving.peek().map(|leaving| leaving.0.0)
    }

    fn starved(&mut self, cycle: u64, at_barrier: u64) -> bool {
        self.settle(cycle);
        let Some(mut hold) = self.hold.take() else {
            return false;
        };
        let helps = !hold.spiller.is_busy();
        if helps {
            self.make_room(&mut hold, at_barrier);
        }
        self.hold = Some(hold);
        helps
    }

    fn moving(&self) -> u64 {
        self.hold.as_ref().map_or(0, |hold| hold.spiller.moving())
    }

    fn next_move(&mut self, cycle: u64, warps: u64) -> Option<Move> {
        self.settle(cycle);
        let next = self.hold.as_ref()?.spiller.next(warps)?;
        if !next.to_memory && self.file.free() == 0 {
            return None;
        }
        let slot = usize::from(next.warp);
        if let Some(hold) = &mut self.hold {
            hold.spiller.begins();
        }
        if !next.to_memory
            && let Allocation::Renamed(choice) = self.management.allocation
        {
            self.take(cycle, slot, next.word, choice);
        }
        self.access(slot, std::iter::once(next.word));
        Some(next)
    }

    fn moved(&mut self, cycle: u64, register: Move) {
        if !register.to_memory {
            if let Some(hold) = &mut self.hold {
                hold.spiller.returned(register.warp);
            }
        } else if let Some(physical) = self.unmap(cycle, usize::from(register.warp), register.word)
        {
            self.leaving.push(std::cmp::Reverse((cycle, physical)));
        }
    }
}
