//! The SMs of a GPU, dealt out to those who tick them.

use crate::sm::{Attached, Sm};
use crate::{GpuSpec, Hooks};

/// SMs by number, each with what is attached to it.
pub(crate) struct Sms {
    /// Number n is in part n modulo their count, so that the SMs that are placed on first are in different ones. They are as many as a power of two.
    parts: Vec<Vec<Sm>>,
    /// The bits of a number that are its place in its part lie behind so many that are the part.
    shift: u32,
    attached: Vec<Attached>,
}

impl Sms {
    /// In at most so many parts, each with as many or one less.
    pub fn new(spec: &GpuSpec, hooks: &Hooks, parts: usize) -> Self {
        let count = spec.sm.count as usize;
        let shift = parts.clamp(1, count).ilog2();
        let parts = 1 << shift;
        let mut all = Self {
            parts: (0..parts).map(|_| Vec::new()).collect(),
            shift,
            attached: Vec::with_capacity(count),
        };
        for number in 0..count {
            let mut attached = Attached::new(number as u32, hooks);
            all.parts[number % parts].push(Sm::new(number as u16, spec, &mut attached));
            all.attached.push(attached);
        }
        all
    }

    /// How many SMs there are.
    pub fn len(&self) -> usize {
        self.attached.len()
    }

    /// The part of an SM, and its place there.
    #[inline]
    pub fn place(&self, number: usize) -> (usize, usize) {
        (number & !(usize::MAX << self.shift), number >> self.shift)
    }

    /// An SM and what is attached to it.
    #[inline]
    pub fn at(&mut self, number: usize) -> (&mut Sm, &mut Attached) {
        let (part, place) = self.place(number);
        (&mut self.parts[part][place], &mut self.attached[number])
    }

    /// An SM.
    #[inline]
    pub fn get(&self, number: usize) -> &Sm {
        let (part, place) = self.place(number);
        &self.parts[part][place]
    }

    /// All, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&Sm, &Attached)> {
        let attached = self.attached.iter().enumerate();
        attached.map(|(number, attached)| (self.get(number), attached))
    }

    /// Calls `each` with all, in their order.
    pub fn for_each(&mut self, mut each: impl FnMut(&mut Sm, &mut Attached)) {
        for number in 0..self.len() {
            let (sm, attached) = self.at(number);
            each(sm, attached);
        }
    }

    /// What is attached to each.
    pub fn attached(&mut self) -> &mut [Attached] {
        &mut self.attached
    }

    /// The parts, which may be given away for a time.
    pub fn parts(&mut self) -> &mut [Vec<Sm>] {
        &mut self.parts
    }
}
