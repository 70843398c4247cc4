//! One warp, from its last instruction to its first.

use warpwatt_simt::trace::{LaneMask, Role, Step};

use super::code::{Code, Inst, Kind, Place};
use super::demand::demand;
use super::fact::{Fact, Verdict};
use super::memory::Needed;

/// The bits of a warp's registers that are needed after the instruction at hand.
#[derive(Clone, Debug)]
pub(crate) struct Warp<const W: usize> {
    /// Word after word, as [`Place`] says.
    words: Vec<[u32; W]>,
    vector_words: usize,
    fact: Fact,
}

/// All bits of the lanes in a mask.
fn select<const W: usize>(lanes: LaneMask) -> [u32; W] {
    std::array::from_fn(|lane| ((lanes >> lane & 1) as u32).wrapping_neg())
}

/// How many bits are set in all lanes. Mostly all lanes that have any have the same.
#[inline]
fn count<const W: usize>(bits: &[u32; W]) -> u32 {
    let any = bits.iter().fold(0, |any, bits| any | bits);
    if any == 0 {
        return 0;
    }
    let with = |value: u32| -> u32 { bits.iter().map(|&bits| u32::from(bits == value)).sum() };
    let lanes = with(any);
    if lanes + with(0) == W as u32 {
        return lanes * any.count_ones();
    }
    bits.iter().map(|bits| bits.count_ones()).sum()
}

/// Lanes with a bit that is set.
fn lanes_of<const W: usize>(bits: &[u64; W]) -> LaneMask {
    let lanes = bits.iter().enumerate();
    lanes.fold(0, |lanes, (lane, bits)| {
        lanes | u64::from(*bits != 0) << lane
    })
}

impl<const W: usize> Warp<W> {
    /// At the end of a warp nothing in its registers is needed.
    pub fn new(code: &Code) -> Self {
        Self {
            words: vec![[0; W]; code.words],
            vector_words: code.vector_words,
            fact: Fact::default(),
        }
    }

    /// What is to be said of a step; afterwards stands before it.
    pub fn step(&mut self, step: &Step, inst: &Inst, memory: &mut Needed<'_>) -> &Fact {
        self.fact.clear();
        let executed = select::<W>(step.executed);
        let wanted = if inst.guarded { self.wanted(inst) } else { 0 };
        let results = self.results(inst, &executed);
        let lanes = match (inst.kind, inst.memory) {
            (Kind::Root, op) => {
                if let Some(op) = op {
                    memory.load(op, step, step.executed);
                }
                step.executed
            }
            (Kind::Load, Some(op)) => {
                let lanes = lanes_of(&results);
                memory.load(op, step, lanes);
                lanes
            }
            (Kind::Store, Some(op)) => memory.store(op, step),
            _ => lanes_of(&results),
        };
        self.fact.lanes = lanes;
        self.fact.verdict = match inst.kind {
            Kind::Neutral => Verdict::Neutral,
            _ if inst.control => Verdict::Needed,
            _ if step.executed == 0 => Verdict::SwitchedOff,
            _ if lanes == 0 => Verdict::Dead,
            _ => Verdict::Needed,
        };
        // A root acts in lanes that a flipped guard lets in; so does a store.
        let guarded = match inst.kind {
            Kind::Root | Kind::Store => step.active,
            _ => (wanted & step.active) | lanes,
        };
        self.sources(step, inst, (&results, lanes, guarded));
        if inst.keeps {
            self.keep_all(&executed);
        }
        &self.fact
    }

    /// Lanes in which a result is needed, whether or not they execute.
    fn wanted(&self, inst: &Inst) -> LaneMask {
        let mut wanted = 0;
        for place in &inst.results {
            for word in self.of(*place) {
                for (lane, bits) in word.iter().enumerate() {
                    wanted |= u64::from(*bits != 0) << lane;
                }
            }
        }
        wanted
    }

    fn of(&self, place: Place) -> &[[u32; W]] {
        &self.words[place.word as usize..(place.word + place.words) as usize]
    }

    /// Takes what is needed of the results out of the registers; bits of all results together.
    fn results(&mut self, inst: &Inst, executed: &[u32; W]) -> [u64; W] {
        let mut results = [0; W];
        for place in &inst.results {
            for number in 0..place.words {
                let word = &mut self.words[(place.word + number) as usize];
                let mut needed = [0; W];
                for lane in 0..W {
                    needed[lane] = word[lane] & executed[lane];
                    word[lane] &= !executed[lane];
                    results[lane] |= u64::from(needed[lane]) << (32 * number);
                }
                if place.vector {
                    self.fact.written.push(count(&needed));
                }
            }
        }
        results
    }

    /// Puts what is needed of the sources into the registers.
    fn sources(
        &mut self,
        step: &Step,
        inst: &Inst,
        (results, lanes, guarded): (&[u64; W], LaneMask, LaneMask),
    ) {
        let of_lanes = results.iter().fold(0, |all, bits| all | bits);
        for &(place, need) in &inst.sources {
            let (who, matters) = match need.role {
                Role::Guard => (step.active, guarded),
                // The guard of a branch, or of what else always acts.
                Role::Always if !place.vector => (step.active, step.active),
                // Wherever it would store instead may be needed.
                Role::Address if inst.kind == Kind::Store => (step.executed, step.executed),
                _ => (step.executed, lanes),
            };
            let mut bits = [0u64; W];
            for lane in 0..W {
                let is = |mask: LaneMask| mask >> lane & 1 != 0;
                if is(who) {
                    bits[lane] = demand(need, results[lane], of_lanes, is(matters));
                }
            }
            self.need(place, &bits);
        }
    }

    fn need(&mut self, place: Place, bits: &[u64; W]) {
        let width = if place.vector { u32::MAX } else { 1 };
        for number in 0..place.words {
            let word = &mut self.words[(place.word + number) as usize];
            let mut last = [0; W];
            let mut read = [0; W];
            for lane in 0..W {
                read[lane] = (bits[lane] >> (32 * number)) as u32 & width;
                last[lane] = read[lane] & !word[lane];
                word[lane] |= read[lane];
            }
            if place.vector {
                self.fact.read.push(count(&read));
                self.fact.last.push(count(&last));
            }
        }
    }

    /// A function that was running already gets its registers back: which, the trace does not tell.
    fn keep_all(&mut self, executed: &[u32; W]) {
        for (number, word) in self.words.iter_mut().enumerate() {
            let mut last = [0; W];
            for lane in 0..W {
                last[lane] = executed[lane] & !word[lane];
                word[lane] |= executed[lane];
            }
            if number < self.vector_words {
                self.fact.rest.push(count(&last));
            }
        }
    }

    /// Bits of each word of the vector register file that are needed before the first instruction.
    pub fn at_start(&self) -> Vec<u32> {
        self.words[..self.vector_words].iter().map(count).collect()
    }
}
