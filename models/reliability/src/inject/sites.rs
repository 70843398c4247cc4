//! All bits of a structure in all cycles of a run, and who holds which.

use warpwatt_gpu::{GpuSpec, Run};

use super::{LaunchLine, Target, Timeline};

/// Every bit of a structure, in every cycle: the population that flips are drawn from.
pub struct Sites<'t> {
    timeline: &'t Timeline,
    target: Target,
    /// Bits of one SM, and SMs.
    bits: u64,
    sms: u64,
    cycles: u64,
    lanes: u64,
    /// Of the instruction buffer: entries of a warp, bits of an entry; of the latches how many there are.
    entries: u64,
    entry_bits: u64,
    /// What each slot of each SM held, by time: warps, or CTAs for shared memory.
    stays: Vec<Vec<Stay>>,
    slots: u64,
    /// When the first warp of each launch was placed.
    begins: Vec<u64>,
    /// Instructions by SM, scheduler and time, for the latches.
    issues: Vec<Vec<Issue>>,
}

#[derive(Clone, Copy, Debug)]
struct Stay {
    from: u64,
    to: u64,
    launch: usize,
    /// Number of the warp or of the CTA in its launch.
    number: usize,
}

#[derive(Clone, Copy, Debug)]
struct Issue {
    cycle: u64,
    launch: u32,
    warp: u32,
    step: u32,
}

/// What a bit is at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The launch, counted from zero.
    pub launch: usize,
    /// The CTA's number in its grid.
    pub cta: usize,
    /// The cycle.
    pub cycle: u64,
    /// Of whom.
    pub holder: Holder,
}

/// Whose bit it is; warps are numbered in their CTA, steps in their warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as everywhere")]
pub enum Holder {
    /// A 32-bit register of a lane.
    Register {
        warp: usize,
        word: u32,
        lane: u32,
        bit: u32,
    },
    /// A bit of the CTA's shared memory.
    Shared { bit: u64 },
    /// An instruction that waits for issue.
    Instruction { warp: usize, step: u32, bit: u32 },
    /// The result of an instruction, if it has one of that many bits.
    Result {
        warp: usize,
        step: u32,
        lane: u32,
        bit: u32,
    },
}

/// Bits of a latch of one lane: a double.
const LATCH_BITS: u64 = 64;

impl<'t> Sites<'t> {
    /// The sites of `target` in a run on `spec`.
    pub fn new(spec: &GpuSpec, run: &Run, timeline: &'t Timeline, target: Target) -> Self {
        let lanes = u64::from(spec.sm.warp_width);
        let warps = u64::from(spec.warps_per_sm());
        let (mut entries, mut entry_bits) = (0, 0);
        let bits = match target {
            Target::RegisterFile => u64::from(spec.sm.registers_bytes) * 8,
            Target::SharedMemory => u64::from(spec.sm.shared_bytes) * 8,
            Target::InstructionBuffer => {
                entries = u64::from(spec.fetch.buffer_entries);
                entry_bits = u64::from(spec.fetch.instruction_bytes) * 8;
                warps * entries * entry_bits
            }
            Target::PipelineLatch => {
                entries = u64::from(spec.scheduler.count);
                entries * lanes * LATCH_BITS
            }
        };
        let mut sites = Self {
            timeline,
            target,
            bits,
            sms: u64::from(spec.sm.count),
            cycles: run.cycles,
            lanes,
            entries,
            entry_bits,
            stays: Vec::new(),
            slots: warps.max(u64::from(spec.sm.ctas)),
            begins: timeline.launches.iter().map(LaunchLine::begin).collect(),
            issues: Vec::new(),
        };
        match target {
            Target::PipelineLatch => sites.list_issues(),
            _ => sites.list_stays(),
        }
        sites
    }

    fn list_stays(&mut self) {
        let mut stays = vec![Vec::new(); (self.sms * self.slots) as usize];
        for (launch, line) in self.timeline.launches.iter().enumerate() {
            let of = |sm: u32, slot: u32| (u64::from(sm) * self.slots + u64::from(slot)) as usize;
            if self.target == Target::SharedMemory {
                for (number, cta) in line.ctas.iter().enumerate() {
                    stays[of(cta.sm, cta.slot)].push(Stay {
                        from: cta.from,
                        to: cta.to,
                        launch,
                        number,
                    });
                }
            } else {
                for (number, warp) in line.warps.iter().enumerate() {
                    stays[of(warp.sm, u32::from(warp.slot))].push(Stay {
                        from: warp.from,
                        to: warp.to,
                        launch,
                        number,
                    });
                }
            }
        }
        for of_slot in &mut stays {
            of_slot.sort_unstable_by_key(|stay| stay.from);
        }
        self.stays = stays;
    }

    fn list_issues(&mut self) {
        let mut issues = vec![Vec::new(); (self.sms * self.entries) as usize];
        for (launch, line) in self.timeline.launches.iter().enumerate() {
            for (number, warp) in line.warps.iter().enumerate() {
                let scheduler = u64::from(warp.slot) % self.entries;
                let of_scheduler =
                    &mut issues[(u64::from(warp.sm) * self.entries + scheduler) as usize];
                for (step, moments) in warp.steps.iter().enumerate() {
                    of_scheduler.push(Issue {
                        cycle: moments.issued,
                        launch: launch as u32,
                        warp: number as u32,
                        step: step as u32,
                    });
                }
            }
        }
        for of_scheduler in &mut issues {
            of_scheduler.sort_unstable_by_key(|issue| issue.cycle);
        }
        self.issues = issues;
    }

    /// Bits of the structure on the whole GPU.
    pub fn bits(&self) -> u64 {
        self.bits * self.sms
    }

    /// What it is of.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Bits of an entry of the instruction buffer; none for other structures.
    pub fn entry_bits(&self) -> u32 {
        self.entry_bits as u32
    }

    /// Bits times cycles.
    pub fn population(&self) -> u128 {
        u128::from(self.bits()) * u128::from(self.cycles)
    }

    /// Who holds a site, if anybody does; sites are numbered from zero.
    pub fn holder(&self, site: u128) -> Option<Held> {
        let bits = u128::from(self.bits());
        let (cycle, bit) = ((site / bits) as u64, (site % bits) as u64);
        let (sm, bit) = (bit / self.bits, bit % self.bits);
        match self.target {
            Target::RegisterFile => self.register(sm, bit, cycle),
            Target::SharedMemory => self.shared(sm, bit, cycle),
            Target::InstructionBuffer => self.instruction(sm, bit, cycle),
            Target::PipelineLatch => self.result(sm, bit, cycle),
        }
    }

    /// Who was in a slot.
    fn stay(&self, sm: u64, slot: u64, cycle: u64) -> Option<Stay> {
        if slot >= self.slots {
            return None;
        }
        let stays = &self.stays[(sm * self.slots + slot) as usize];
        let after = stays.partition_point(|stay| stay.from <= cycle);
        let stay = stays.get(after.checked_sub(1)?)?;
        (cycle < stay.to).then_some(*stay)
    }

    /// The launch that runs in a cycle: the last one with a warp placed by then.
    fn launch_at(&self, cycle: u64) -> Option<usize> {
        self.begins.iter().rposition(|begin| *begin <= cycle)
    }

    /// Registers lie warp by warp in the order of slots, register by register, lane by lane.
    fn register(&self, sm: u64, bit: u64, cycle: u64) -> Option<Held> {
        let line = &self.timeline.launches[self.launch_at(cycle)?];
        let of_register = self.lanes * 32;
        let of_warp = u64::from(line.registers) * of_register;
        let stay = self.stay(sm, bit.checked_div(of_warp)?, cycle)?;
        let bit = bit % of_warp;
        let warps = self.timeline.launches[stay.launch].warps_per_cta;
        Some(Held {
            launch: stay.launch,
            cta: stay.number / warps,
            cycle,
            holder: Holder::Register {
                warp: stay.number % warps,
                word: (bit / of_register) as u32,
                lane: (bit % of_register / 32) as u32,
                bit: (bit % 32) as u32,
            },
        })
    }

    fn shared(&self, sm: u64, bit: u64, cycle: u64) -> Option<Held> {
        let line = &self.timeline.launches[self.launch_at(cycle)?];
        let of_cta = u64::from(line.shared_bytes) * 8;
        let stay = self.stay(sm, bit.checked_div(of_cta)?, cycle)?;
        Some(Held {
            launch: stay.launch,
            cta: stay.number,
            cycle,
            holder: Holder::Shared { bit: bit % of_cta },
        })
    }

    /// The instruction in a warp's entry: they are taken in turns.
    fn instruction(&self, sm: u64, bit: u64, cycle: u64) -> Option<Held> {
        let (entry, bit) = (bit / self.entry_bits, bit % self.entry_bits);
        let (slot, entry) = (entry / self.entries, entry % self.entries);
        let stay = self.stay(sm, slot, cycle)?;
        let line = &self.timeline.launches[stay.launch];
        let steps = &line.warps[stay.number].steps;
        let oldest = steps.partition_point(|step| step.issued <= cycle);
        let waiting = (oldest..steps.len()).take(self.entries as usize);
        let mut waiting = waiting.take_while(|&step| steps[step].delivered <= cycle);
        let step = waiting.find(|&step| step as u64 % self.entries == entry)?;
        Some(Held {
            launch: stay.launch,
            cta: stay.number / line.warps_per_cta,
            cycle,
            holder: Holder::Instruction {
                warp: stay.number % line.warps_per_cta,
                step: step as u32,
                bit: bit as u32,
            },
        })
    }

    /// The result of the instruction that a scheduler issued in a cycle.
    fn result(&self, sm: u64, bit: u64, cycle: u64) -> Option<Held> {
        let (latch, bit) = (
            bit / (self.lanes * LATCH_BITS),
            bit % (self.lanes * LATCH_BITS),
        );
        let issues = &self.issues[(sm * self.entries + latch) as usize];
        let at = issues.partition_point(|issue| issue.cycle < cycle);
        let issue = issues.get(at).filter(|issue| issue.cycle == cycle)?;
        let warps = self.timeline.launches[issue.launch as usize].warps_per_cta;
        Some(Held {
            launch: issue.launch as usize,
            cta: issue.warp as usize / warps,
            cycle,
            holder: Holder::Result {
                warp: issue.warp as usize % warps,
                step: issue.step,
                lane: (bit / LATCH_BITS) as u32,
                bit: (bit % LATCH_BITS) as u32,
            },
        })
    }
}
