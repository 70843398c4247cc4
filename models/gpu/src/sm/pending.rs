//! What goes on while warps do: products of warpgroups, copies that tell barriers in shared memory, and the warps that wait for either.

use std::collections::VecDeque;

use warpwatt_simt::trace::{Asynchronous, Beyond, Copied, Step, TensorWork};

use super::ldst::Wanted;
use super::tally::count_work;
use super::units::{Collected, UnitTimes};
use super::{Sm, World};
use crate::GpuError;
use crate::counters::Counter;
use crate::event::Event;
use crate::program::Inst;

/// Bytes of shared memory's window in the generic address space: addresses may be generic.
const WINDOW: u64 = warpwatt_simt::trace::Space::WINDOW;
/// Bytes that shared memory moves in a pass.
pub(super) const SHARED_PASS_BYTES: u64 = 128;

/// Products of a warp: they end in the order in which they begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    /// When the last one that is in no group ends.
    open: u64,
    /// When each group ends, the latest last.
    groups: VecDeque<u64>,
}

impl Products {
    /// A warp begins.
    pub fn clear(&mut self) {
        self.open = 0;
        self.groups.clear();
    }

    /// When all groups but the latest ones have ended; they are forgotten.
    fn wait(&mut self, latest: u32) -> u64 {
        let mut until = 0;
        while self.groups.len() > latest as usize {
            until = self.groups.pop_front().map_or(until, |end| until.max(end));
        }
        until
    }
}

/// A barrier in shared memory, since the CTA began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    at: u64,
    arrivals: u64,
    bytes: u64,
    /// Warps that wait, and for how many arrivals and bytes.
    waiting: Vec<(u8, [u64; 2])>,
}

/// A copy, or work of tensor units, on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnItsWay {
    cta: u8,
    /// The CTA's number: another one may be in its place when it ends.
    number: u32,
    barrier: Option<u64>,
    arrivals: u64,
    bytes: u64,
}

/// Copies by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    all: Vec<OnItsWay>,
    free: Vec<u32>,
}

impl Copies {
    fn insert(&mut self, copy: OnItsWay) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = copy;
            return place;
        }
        self.all.push(copy);
        (self.all.len() - 1) as u32
    }
}

impl Sm {
    /// A warp has issued an instruction that begins or awaits something; the product that it is ends in cycle `end`.
    pub(super) fn begin_or_wait(
        &mut self,
        index: usize,
        inst: &Inst,
        beyond: Option<(u64, Beyond)>,
        end: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let products = &mut self.products[index];
        match inst.asynchronous {
            Some(Asynchronous::Product { .. } | Asynchronous::Tensor) => {
                products.open = products.open.max(end);
            }
            Some(Asynchronous::Completes) => {
                let until = products.open;
                if let Some((at, Beyond::Arrives(count))) = beyond
                    && until > world.now
                {
                    return self.arrives_later(index, [at % WINDOW, count], until, world);
                }
            }
            Some(Asynchronous::Commit) => products.groups.push_back(products.open),
            Some(Asynchronous::Wait(latest)) => {
                let until = products.wait(latest);
                if until > world.now {
                    self.at_barrier |= 1 << index;
                    let (sm, warp) = (self.id, index as u8);
                    world.schedule(until, Event::Goes { sm, warp })?;
                }
            }
            Some(Asynchronous::Outstanding(_)) => self.wait_for_accesses(index, inst),
            None => {}
        }
        let cta = self.warps[index].cta;
        match beyond {
            None | Some((_, Beyond::Copy(_) | Beyond::Tensor(_))) => Ok(()),
            Some((at, Beyond::Arrives(count))) => {
                let at = at % WINDOW;
                self.told(cta, at).arrivals += count;
                self.let_waiting_go(cta, at, world)
            }
            Some((at, Beyond::Waits { arrivals, bytes })) => {
                let at = at % WINDOW;
                let waits = (index as u8, [arrivals, bytes]);
                self.told(cta, at).waiting.push(waits);
                self.at_barrier |= 1 << index;
                self.let_waiting_go(cta, at, world)
            }
        }
    }

    /// So many arrive at a barrier of a warp's CTA when work of the tensor units has ended.
    fn arrives_later(
        &mut self,
        index: usize,
        [at, arrivals]: [u64; 2],
        until: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let cta = self.warps[index].cta;
        let copy = self.copies.insert(OnItsWay {
            cta,
            number: self.ctas[usize::from(cta)].number,
            barrier: Some(at),
            arrivals,
            bytes: 0,
        });
        let sm = self.id;
        world.schedule(until, Event::Ended { sm, copy })?;
        Ok(())
    }

    /// Work of all tensor units issues; the cycle in which it is done. It is no faster than shared memory gives what it reads.
    pub(super) fn issue_tensor_work(
        &mut self,
        wanted: Wanted,
        step: &Step,
        collected: &Collected,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let inst = &world.program.insts[step.inst as usize];
        let work = match step.beyond() {
            Some(Beyond::Tensor(work)) => work,
            _ => TensorWork::default(),
        };
        let times = UnitTimes {
            interval: count_work(world.spec, inst.port, &work, &mut self.counts),
            latency: inst.latency,
        };
        let executed = self.units.execute_together(collected, times);
        world.attached.watch_entry(executed.entered, wanted);
        self.results_at(wanted, executed.done, world)?;
        Ok(executed.done)
    }

    /// The barrier of an address.
    fn told(&mut self, cta: u8, at: u64) -> &mut Told {
        let all = &mut self.ctas[usize::from(cta)].told;
        let place = all.iter().position(|told| told.at == at);
        let place = place.unwrap_or_else(|| {
            all.push(Told {
                at,
                ..Told::default()
            });
            all.len() - 1
        });
        &mut all[place]
    }

    /// Those who wait for no more than a barrier has been told go on in the next cycle.
    fn let_waiting_go(&mut self, cta: u8, at: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        let (sm, goes) = (self.id, world.now + 1);
        let told = self.told(cta, at);
        let so_far = [told.arrivals, told.bytes];
        let mut going = Vec::new();
        told.waiting.retain(|&(warp, awaited)| {
            let stays = awaited[0] > so_far[0] || awaited[1] > so_far[1];
            if !stays {
                going.push(warp);
            }
            stays
        });
        for warp in going {
            world.schedule(goes, Event::Goes { sm, warp })?;
        }
        Ok(())
    }

    /// A warp has what it waited for.
    pub fn goes(&mut self, warp: u8, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        self.at_barrier &= !(1 << warp);
        self.let_go();
        self.consider(usize::from(warp), world);
        self.awake = true;
        self.retire_if_done(warp, now, world)
    }

    /// A copy goes through shared memory, as wide as that is.
    pub(super) fn pass_shared(&mut self, copied: &Copied) {
        let passes = copied.bytes.div_ceil(SHARED_PASS_BYTES);
        self.counts
            .add(Counter::SharedWords, copied.bytes.div_ceil(4));
        self.counts.add(Counter::SharedPasses, passes);
    }

    /// A copy sets out that moves so much; its number.
    pub(super) fn set_out(&mut self, warp: u8, copied: &Copied) -> u32 {
        let cta = self.warps[usize::from(warp)].cta;
        self.copies.insert(OnItsWay {
            cta,
            number: self.ctas[usize::from(cta)].number,
            barrier: copied.barrier,
            arrivals: 0,
            bytes: copied.bytes,
        })
    }

    /// A copy, or work of tensor units, is over.
    pub(crate) fn copied(&mut self, number: u32, world: &mut World<'_>) -> Result<(), GpuError> {
        self.copies.free.push(number);
        let copy = self.copies.all[number as usize];
        let slot = &self.ctas[usize::from(copy.cta)];
        match copy.barrier {
            Some(at) if slot.number == copy.number => {
                let told = self.told(copy.cta, at);
                told.arrivals += copy.arrivals;
                told.bytes += copy.bytes;
                self.let_waiting_go(copy.cta, at, world)
            }
            _ => Ok(()),
        }
    }
}
