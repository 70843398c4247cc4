//! Fetch, wavepool, decode and issue: what their flip-flops hold of which wavefront, and what a flip does.
//!
//! Words and program counters are executed as they are after the flip. Declared are:
//!
//! - What an instruction's address, its wavefront's number or the bases of its registers are changed to is another place: the state that it changes is not the one that it should,
//!   as soon as an instruction that uses it issues.
//! - A bit that keeps a wavefront from issuing and that nothing takes away stops it at its next instruction. One that lets an instruction go before its operands are there gives it wrong ones.
//! - A wavefront whose work-group is not what it was does not pass its next barrier, and its end is not told to the right place.
//! - What is clocked in every cycle is right again in the next; what is written when something comes holds a flip until then.

use warpwatt_gcn::Flip;
use warpwatt_gpu::trace::{RegisterKind, Space, StaticInst, Unit};
use warpwatt_structures::compute_unit::Holds;

use super::lines::{At, Wave, scalar, vector};
use super::{Fate, Outcome, Site, Strike, Struck};

/// Bits of an address.
const ADDRESS: u64 = 32;
/// Entries of a queue, and bits of one: a word and its address.
const ENTRIES: usize = 8;
const ENTRY: u64 = 64;
/// Bits of a wavefront in the other fields, as the RTL declares them (`models/structures/src/compute_unit/flip_flops.rs`): its work-group's tag and size, bases of its local data share, vector and scalar
/// registers, pointers of its queue, reasons not to issue, members of its work-group.
const GROUP_TAG: u64 = 22;
const BASES: u64 = 16 + 10 + 9;
const POINTERS: u64 = 9;
const FLAGS: u64 = 14;
const GROUPS: u64 = 40 + 16;
/// Where the base of the local data share ends among the bases, and that of vector registers.
const SHARE_BASE: u64 = 16;
const VECTOR_BASE: u64 = SHARE_BASE + 10;

impl Struck<'_> {
    /// Who has so many bits each, and which of them it is.
    fn slot(&self, site: &Site, bits: u64) -> (usize, u64, Option<Wave>) {
        let (slot, bit) = ((site.bit / bits) as usize, site.bit % bits);
        (slot, bit, self.lines.stay(site.sm, slot, site.cycle))
    }

    /// Whether a wavefront issues anything more in the window.
    fn goes_on(&self, wave: Wave, site: &Site) -> bool {
        !self.lines.issuing(wave, site.window()).is_empty()
    }

    /// What a wavefront of `bits` flip-flops has changed shows as `outcome` if it still uses it.
    fn if_used(
        &self,
        (site, bits): (&Site, u64),
        outcome: Outcome,
        uses: impl Fn(Wave) -> bool,
    ) -> Outcome {
        let (slot, _, wave) = self.slot(site, bits);
        match wave {
            Some(wave) if uses(wave) => outcome,
            Some(_) => Outcome::Gray,
            None => self.unless_placed(site.sm, slot, site),
        }
    }

    fn issues(&self, wave: Wave, site: &Site, is: impl Fn(&StaticInst) -> bool) -> bool {
        let range = self.lines.issuing(wave, site.window());
        self.lines.any(wave, range, is)
    }

    /// An instruction of which something flips before it issues, if it does in the window.
    fn struck_word(&self, at: At, bit: u64, site: &Site) -> Fate {
        if at.issued > site.end {
            return Fate::Known(Outcome::Gray);
        }
        let until = self.lines.issuing(at.wave, site.window()).end;
        Fate::Struck(Strike {
            wave: at.wave,
            from: at.step,
            until: until.max(at.step + 1),
            flip: Flip::Word { bit: bit as u8 },
            // The word is gone with its instruction.
            rewritten: true,
        })
    }

    /// A changed something of an instruction that waits: seen when it issues.
    fn wrong_if_issued(at: At, site: &Site) -> Outcome {
        match at.issued <= site.end {
            true => Outcome::Sdc,
            false => Outcome::Gray,
        }
    }

    pub(super) fn counter(&self, site: &Site) -> Fate {
        let (slot, bit, wave) = self.slot(site, ADDRESS + 1);
        let Some(wave) = wave else {
            return Fate::Known(self.unless_placed(site.sm, slot, site));
        };
        let steps = &self.lines.line(wave).steps;
        let next = steps.partition_point(|step| step.delivered <= site.cycle);
        let until = self.lines.issuing(wave, site.window()).end;
        // The two lowest bits address bytes of a word, and the mark of the first fetch is of no use behind it.
        if next >= until || !(2..ADDRESS).contains(&bit) {
            return Fate::Known(Outcome::Gray);
        }
        Fate::Struck(Strike {
            wave,
            from: next,
            until,
            flip: Flip::Counter { bit: bit as u8 },
            rewritten: true,
        })
    }

    pub(super) fn group_tag(&self, site: &Site) -> Outcome {
        self.if_used((site, GROUP_TAG), Outcome::Terminated, |wave| {
            self.lines.line(wave).to <= site.end || self.issues(wave, site, is_barrier)
        })
    }

    /// A wavefront that is taken for none is not fetched any more; none that is taken for one is.
    pub(super) fn vacancy(&self, site: &Site) -> Outcome {
        let (_, _, wave) = self.slot(site, 1);
        match wave {
            Some(wave) if self.goes_on(wave, site) => Outcome::Terminated,
            Some(wave) => Site::rewritten(self.lines.line(wave).to <= site.end),
            None => Outcome::Sdc,
        }
    }

    pub(super) fn dispatch(&self, site: &Site) -> Outcome {
        let slots = 0..self.spec.warps_per_sm() as usize;
        let next = (site.cycle, site.cycle + 1);
        let mut placed = slots.flat_map(|slot| self.lines.stays((site.sm, slot), next, true));
        match placed.next() {
            Some(_) => Outcome::Sdc,
            None => Outcome::Match,
        }
    }

    /// Another wavefront's turn: the order of fetches is none of the architectural state, and right again after the next.
    pub(super) fn turn(&self, site: &Site) -> Outcome {
        let slots = 0..self.spec.warps_per_sm() as usize;
        let fetched = |wave: Wave| {
            let mut steps = self.lines.line(wave).steps.iter();
            steps.any(|step| site.cycle < step.delivered && step.delivered <= site.end)
        };
        let mut waves =
            slots.flat_map(|slot| self.lines.stays((site.sm, slot), site.window(), false));
        Site::rewritten(waves.any(fetched))
    }

    /// Words are put into the entries in turns.
    pub(super) fn queue(&self, site: &Site) -> Fate {
        let (slot, bit, wave) = self.slot(site, ENTRIES as u64 * ENTRY);
        let (entry, bit) = ((bit / ENTRY) as usize, bit % ENTRY);
        let placed = || Fate::Known(self.unless_placed(site.sm, slot, site));
        let Some(wave) = wave else { return placed() };
        let mut first = 0;
        for (step, moments) in self.lines.line(wave).steps.iter().enumerate() {
            let at = At {
                issued: moments.issued,
                wave,
                step,
            };
            let words = usize::from(self.lines.inst(at).bytes).div_ceil(4);
            let word = (first..first + words).find(|word| word % ENTRIES == entry);
            let word = word.map(|word| (word - first) as u64);
            first += words;
            let Some(word) = word else { continue };
            if moments.delivered > site.cycle {
                let in_time = moments.delivered <= site.end;
                return Fate::Known(Site::rewritten(in_time));
            }
            if moments.issued > site.cycle {
                return match bit < 32 {
                    true => self.struck_word(at, 32 * word + bit, site),
                    false => Fate::Known(Self::wrong_if_issued(at, site)),
                };
            }
        }
        placed()
    }

    pub(super) fn base(&self, site: &Site) -> Outcome {
        let bit = site.bit % BASES;
        let uses = |inst: &StaticInst| match bit {
            0..SHARE_BASE => uses_share(inst),
            SHARE_BASE..VECTOR_BASE => has(inst, |kind, _| kind == RegisterKind::Word),
            _ => has(inst, |kind, number| {
                kind == RegisterKind::Predicate && number < VCC
            }),
        };
        self.if_used((site, BASES), Outcome::Sdc, |wave| {
            self.issues(wave, site, uses)
        })
    }

    pub(super) fn pointer(&self, site: &Site) -> Outcome {
        self.if_used((site, POINTERS), Outcome::Sdc, |wave| {
            self.goes_on(wave, site)
        })
    }

    /// The first of two words, while the second is awaited.
    pub(super) fn half(&self, site: &Site) -> Fate {
        let (slot, bit, wave) = self.slot(site, 65);
        let Some(wave) = wave else {
            return Fate::Known(self.unless_placed(site.sm, slot, site));
        };
        let is_long = |at: At| self.lines.inst(at).bytes > 4;
        let steps = self.lines.line(wave).steps.iter().enumerate();
        let mut later = steps.filter(|(_, moments)| moments.delivered > site.cycle);
        let next = later.find_map(|(step, moments)| {
            let at = At {
                issued: moments.issued,
                wave,
                step,
            };
            is_long(at).then_some((at, moments.delivered))
        });
        match next {
            Some((at, delivered)) if delivered == site.cycle + 1 => match bit {
                0..32 => self.struck_word(at, bit, site),
                _ => Fate::Known(Self::wrong_if_issued(at, site)),
            },
            Some((_, delivered)) => Fate::Known(Site::rewritten(delivered <= site.end)),
            None => Fate::Known(Outcome::Gray),
        }
    }

    /// Of a stage the first 32 bits are the word, the next ones its address and its wavefront, and what is behind those follows from other flip-flops.
    pub(super) fn stage(&self, site: &Site) -> Fate {
        match self.lines.decoded(site.sm, site.cycle + 1) {
            Some(at) if site.bit < 32 => self.struck_word(at, site.bit, site),
            Some(at) if site.bit < 106 => Fate::Known(Self::wrong_if_issued(at, site)),
            _ => Fate::Known(Outcome::Match),
        }
    }

    /// The fields are those of the RTL, from the lowest: two results, four operands, a literal of 32 bits and one of 16, opcode, address, five marks, base of the local data share.
    pub(super) fn decoded(&self, site: &Site) -> Fate {
        let (slot, bit, wave) = self.slot(site, 214);
        let Some(wave) = wave else {
            return Fate::Known(self.unless_placed(site.sm, slot, site));
        };
        let Some(at) = self.lines.waiting(wave, site.cycle) else {
            let steps = &self.lines.line(wave).steps;
            let next = steps.partition_point(|step| step.delivered <= site.cycle);
            let comes = steps.get(next).is_some_and(|it| it.delivered <= site.end);
            return Fate::Known(Site::rewritten(comes));
        };
        let inst = self.lines.inst(at);
        let is_used = match bit {
            0..13 => inst.destinations.len() > 1,
            13..27 => !inst.destinations.is_empty(),
            27..41 => inst.sources.len() > 3,
            41..54 => inst.sources.len() > 2,
            54..67 => inst.sources.len() > 1,
            67..81 => !inst.sources.is_empty(),
            81..113 if inst.bytes > 4 => return self.struck_word(at, 32 + bit - 81, site),
            81..129 => false,
            129..161 => return self.struck_word(at, bit - 129, site),
            161..193 => true,
            193..198 => {
                return Fate::Known(match at.issued <= site.end && self.goes_on(wave, site) {
                    true => Outcome::Terminated,
                    false => Outcome::Gray,
                });
            }
            _ => uses_share(inst),
        };
        Fate::Known(match is_used {
            true => Self::wrong_if_issued(at, site),
            // The next instruction comes into its place.
            false => Site::rewritten(self.lines.issuing(wave, site.window()).len() > 1),
        })
    }

    pub(super) fn ready(&self, site: &Site) -> Outcome {
        let (slot, _, wave) = self.slot(site, 23);
        let Some(wave) = wave else {
            return self.unless_placed(site.sm, slot, site);
        };
        let Some(at) = self.lines.waiting(wave, site.cycle) else {
            return Site::rewritten(self.goes_on(wave, site));
        };
        let awaited = |register| {
            self.lines
                .writer(wave, site.cycle, (register, None))
                .is_some()
        };
        let waits = self.lines.inst(at).sources.iter().any(|it| awaited(*it));
        match (at.issued <= site.end, waits) {
            (false, _) => Outcome::Gray,
            (true, true) => Outcome::Sdc,
            (true, false) => Outcome::Terminated,
        }
    }

    pub(super) fn busy(&self, holds: Holds, site: &Site) -> Outcome {
        let holder = match holds {
            Holds::BusyVector => self
                .of_row(site, site.bit)
                .map(|(wave, word)| (wave, vector(word))),
            Holds::BusyScalar => {
                let of = self.of_scalar_row(site.sm, site.bit, site.cycle);
                of.map(|(wave, number)| (wave, scalar(number)))
            }
            _ => {
                let (_, bit, wave) = self.slot(site, 4);
                let number = [126, 124, 128, 106][bit as usize];
                wave.map(|wave| (wave, scalar(number)))
            }
        };
        let Some((wave, register)) = holder else {
            return Outcome::Gray;
        };
        let names = |inst: &StaticInst| {
            inst.sources.contains(&register) || inst.destinations.contains(&register)
        };
        let under_way = self.lines.writer(wave, site.cycle, (register, None));
        match (self.issues(wave, site, names), under_way) {
            // It is taken for there before it is.
            (true, Some(_)) => Outcome::Sdc,
            (true, None) => Outcome::Terminated,
            (false, Some(writer)) => {
                Site::rewritten(self.lines.moments(writer).written <= site.end)
            }
            (false, None) => Outcome::Gray,
        }
    }

    pub(super) fn flag(&self, site: &Site) -> Outcome {
        self.if_used((site, FLAGS), Outcome::Terminated, |wave| {
            self.goes_on(wave, site)
        })
    }

    pub(super) fn group(&self, site: &Site) -> Outcome {
        self.if_used((site, GROUPS), Outcome::Terminated, |wave| {
            self.issues(wave, site, is_barrier)
        })
    }
}

/// The first scalar register that is none of a wavefront's in the file.
const VCC: u16 = 106;

fn is_barrier(inst: &StaticInst) -> bool {
    inst.unit == Unit::Barrier
}

fn uses_share(inst: &StaticInst) -> bool {
    inst.memory
        .is_some_and(|memory| memory.space == Space::Shared)
}

fn has(inst: &StaticInst, is: impl Fn(RegisterKind, u16) -> bool) -> bool {
    let mut registers = inst.sources.iter().chain(&inst.destinations);
    registers.any(|register| is(register.kind, register.number))
}
