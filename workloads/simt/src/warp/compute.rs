//! Instructions that only change registers.

use warpwatt_ptx::program::{
    BoolOp, Carry, Compare, Convert, HalfCompare, Inst, Op, PredicateOp, Slot, SlotKind,
};

use super::Warp;
use crate::lanes::{self, flushed, map1, map2, map3};
use crate::registers::{DOUBLES, Registers, WORDS};
use crate::trace::LaneMask;

/// The operands of an instruction, in the `part`-th `N` lanes.
#[derive(Clone, Copy)]
struct Sources<'r, const W: usize, const N: usize> {
    registers: &'r Registers<W>,
    inst: &'r Inst,
    part: usize,
}

impl<'r, const W: usize, const N: usize> Sources<'r, W, N> {
    #[inline(always)]
    fn word(self, at: usize) -> &'r [u32; N] {
        self.registers.word_part(self.inst.src[at], self.part)
    }

    #[inline(always)]
    fn double(self, at: usize) -> &'r [u64; N] {
        self.registers.double_part(self.inst.src[at], self.part)
    }

    /// A word or a double, as 64 bits.
    #[inline(always)]
    fn extended(self, slot: Slot) -> [u64; N] {
        match slot.kind {
            SlotKind::Double => *self.registers.double_part(slot, self.part),
            _ => self.registers.word_part(slot, self.part).map(u64::from),
        }
    }

    /// The first words, of which an operation on words reads as many as it has sources.
    fn words(self) -> [&'r [u32; N]; 3] {
        [0, 1, 2].map(|at| self.word(at))
    }

    fn count(self) -> usize {
        self.inst.src.as_slice().len()
    }

    /// A lane mask's bits of this part.
    #[inline(always)]
    fn bits(self, mask: LaneMask) -> LaneMask {
        mask >> (N * self.part)
    }

    /// A predicate in the lanes of this part, negated if asked for.
    #[inline(always)]
    fn predicate(self, at: usize, negated: bool) -> LaneMask {
        let value = self.registers.predicate(self.inst.src[at]);
        self.bits(value ^ all_if(negated))
    }
}

/// All lanes or none.
#[inline(always)]
fn all_if(holds: bool) -> LaneMask {
    if holds { LaneMask::MAX } else { 0 }
}

/// Of each lane the first value where its bit is set, else the second.
#[inline(always)]
fn choose<T: Copy, const N: usize>(first: LaneMask, a: &[T; N], b: &[T; N]) -> [T; N] {
    std::array::from_fn(|lane| {
        if first & 1 << lane != 0 {
            a[lane]
        } else {
            b[lane]
        }
    })
}

impl<const W: usize> Warp<W> {
    /// Computes a word, part by part.
    #[inline(always)]
    fn words(
        &mut self,
        inst: &Inst,
        executed: LaneMask,
        values: impl Fn(Sources<'_, W, WORDS>) -> [u32; WORDS],
    ) {
        self.words_to(inst.dst[0], inst, executed, values);
    }

    #[inline(always)]
    fn words_to(
        &mut self,
        slot: Slot,
        inst: &Inst,
        executed: LaneMask,
        values: impl Fn(Sources<'_, W, WORDS>) -> [u32; WORDS],
    ) {
        let registers = &mut self.registers;
        registers.compute_word(slot, executed, |registers, part| {
            values(Sources {
                registers,
                inst,
                part,
            })
        });
    }

    /// Computes a double, part by part.
    #[inline(always)]
    fn doubles(
        &mut self,
        inst: &Inst,
        executed: LaneMask,
        values: impl Fn(Sources<'_, W, DOUBLES>) -> [u64; DOUBLES],
    ) {
        let registers = &mut self.registers;
        registers.compute_long(inst.dst[0], executed, |registers, part| {
            values(Sources {
                registers,
                inst,
                part,
            })
        });
    }

    /// In which lanes something holds.
    #[inline(always)]
    fn test(&self, inst: &Inst, holds: impl Fn(Sources<'_, W, WORDS>) -> LaneMask) -> LaneMask {
        self.registers.test(|registers, part| {
            holds(Sources {
                registers,
                inst,
                part,
            })
        })
    }

    /// Everything that only changes registers.
    pub(super) fn compute(&mut self, inst: &Inst, executed: LaneMask) {
        self.compute_as(&inst.op, inst, executed);
    }

    /// What `op` makes of the instruction's operands.
    fn compute_as(&mut self, op: &Op, inst: &Inst, executed: LaneMask) {
        let lanes = executed;
        match op {
            Op::Word1(op) => self.words(inst, lanes, |s| lanes::word1(*op, s.word(0))),
            Op::Word2(op) => self.words(inst, lanes, |s| lanes::word2(*op, s.word(0), s.word(1))),
            Op::Word3(op) => self.words(inst, lanes, |s| {
                lanes::word3(*op, s.word(0), s.word(1), s.word(2))
            }),
            Op::Long1(op) => self.doubles(inst, lanes, |s| lanes::long1(*op, s.double(0))),
            Op::Long2(op) => {
                self.doubles(inst, lanes, |s| lanes::long2(*op, s.double(0), s.double(1)))
            }
            Op::Long3(op) => self.doubles(inst, lanes, |s| {
                lanes::long3(*op, s.double(0), s.double(1), s.double(2))
            }),
            Op::LongShift(op) => self.doubles(inst, lanes, |s| {
                lanes::long_shift(*op, s.double(0), s.word(1))
            }),
            Op::Convert(how) => self.convert(how, inst, lanes),
            Op::SetPredicate(compare) => self.set_predicate(compare, inst, lanes),
            Op::SelectWord { negated } => self.words(inst, lanes, |s| {
                choose(s.predicate(2, *negated), s.word(0), s.word(1))
            }),
            Op::MulWide { .. } | Op::MadWide { .. } => self.multiply_wide(op, inst, lanes),
            Op::Predicate { op, negated } => self.predicate_logic(*op, *negated, inst, lanes),
            Op::Nothing { .. } | Op::Groups(_) => {}
            Op::Part(_) => {
                if let Some(&slot) = inst.dst.as_slice().first() {
                    self.words_to(slot, inst, lanes, |_| [0; WORDS]);
                }
            }
            Op::Whole(whole) => self.compute_as(&whole.op, inst, lanes),
            _ => self.compute_rarely(op, inst, executed),
        }
    }

    fn compute_rarely(&mut self, op: &Op, inst: &Inst, executed: LaneMask) {
        match op {
            Op::Set { compare, one } => self.set(compare, *one, inst, executed),
            Op::HalfSet { compare, one } => {
                self.set_halves(compare, *one, inst, executed);
            }
            Op::TestFloat(test) => {
                let holds = self.test(inst, |s| match inst.src[0].kind {
                    SlotKind::Double => lanes::test_double(*test, s.double(0)),
                    _ => lanes::test_word(*test, s.word(0)),
                });
                self.registers.set_predicate(inst.dst[0], executed, holds);
            }
            Op::ActiveMask | Op::Clock | Op::IsSpace(_) => self.of_itself(inst, executed),
            Op::HalfCompare(compare) => self.compare_halves(compare, inst, executed),
            Op::Carry(how) => self.carry(*how, inst, executed),
            Op::Pack
            | Op::Unpack
            | Op::ShortPack
            | Op::ShortUnpack
            | Op::SelectLong { .. }
            | Op::SelectBySign { .. }
            | Op::FrameAddress(_) => self.compute_moves(op, inst, executed),
            _ => self.compute_mixed(op, inst, executed),
        }
    }

    fn multiply_wide(&mut self, op: &Op, inst: &Inst, executed: LaneMask) {
        match op {
            Op::MulWide { signed: false } => self.doubles(inst, executed, |s| {
                map2(s.word(0), s.word(1), |a, b| u64::from(a) * u64::from(b))
            }),
            Op::MulWide { signed: true } => {
                self.doubles(inst, executed, |s| map2(s.word(0), s.word(1), wide))
            }
            Op::MadWide { signed: false } => self.doubles(inst, executed, |s| {
                map3(s.word(0), s.word(1), s.double(2), |a, b, c| {
                    (u64::from(a) * u64::from(b)).wrapping_add(c)
                })
            }),
            _ => self.doubles(inst, executed, |s| {
                map3(s.word(0), s.word(1), s.double(2), |a, b, c| {
                    wide(a, b).wrapping_add(c)
                })
            }),
        }
    }

    /// Operations whose operands differ in width, or are parts of words.
    fn compute_mixed(&mut self, op: &Op, inst: &Inst, executed: LaneMask) {
        match op {
            Op::Word4(op) => self.words(inst, executed, |s| {
                lanes::word4(*op, s.word(0), s.word(1), s.word(2), s.word(3))
            }),
            Op::Short { signed, op } => self.words(inst, executed, |s| {
                lanes::short(*op, *signed, &s.words()[..s.count()])
            }),
            Op::Half(how) => self.words(inst, executed, |s| {
                lanes::half(how, &s.words()[..s.count()])
            }),
            Op::Narrow(how) => self.words(inst, executed, |s| {
                lanes::narrow(how, &s.words()[..s.count()])
            }),
            Op::Video(how) => self.words(inst, executed, |s| {
                lanes::video(how, &s.words()[..s.count()])
            }),
            Op::WordFunction(how) => self.words(inst, executed, |s| {
                lanes::word_function(*how, &s.words()[..s.count()])
            }),
            Op::PackParts { bits } => self.pack_parts(u32::from(*bits), inst, executed),
            Op::UnpackParts { bits } => self.unpack_parts(u32::from(*bits), inst, executed),
            Op::ScalarVideo(how) => self.words(inst, executed, |s| {
                lanes::scalar_video(how, &s.words()[..s.count()])
            }),
            Op::ShortMulWide { signed } => self.words(inst, executed, |s| {
                map2(s.word(0), s.word(1), |a, b| {
                    short(a, *signed).wrapping_mul(short(b, *signed))
                })
            }),
            Op::ShortMadWide { signed } => self.words(inst, executed, |s| {
                map3(s.word(0), s.word(1), s.word(2), |a, b, c| {
                    short(a, *signed)
                        .wrapping_mul(short(b, *signed))
                        .wrapping_add(c)
                })
            }),
            Op::LongToWord(op) => {
                self.words(inst, executed, |s| lanes::long_to_word(*op, s.double(0)))
            }
            Op::LongExtract { signed } => self.doubles(inst, executed, |s| {
                lanes::extract(*signed, s.double(0), s.word(1), s.word(2))
            }),
            Op::LongInsert => self.doubles(inst, executed, |s| {
                lanes::insert(s.double(0), s.double(1), s.word(2), s.word(3))
            }),
            other => unreachable!("{other:?} is handled by its own family"),
        }
    }

    fn carry(&mut self, how: Carry, inst: &Inst, executed: LaneMask) {
        let sources = inst.src.as_slice();
        let operand = |at: usize| match sources.get(at) {
            Some(slot) if slot.kind != SlotKind::Predicate => self.registers.extended(*slot),
            _ => [0; W],
        };
        let operands = [operand(0), operand(1), operand(2)];
        let carried = match sources.last() {
            Some(slot) if how.comes_in => self.registers.predicate(*slot),
            _ => 0,
        };
        let (values, out) = lanes::carry(how, operands.each_ref(), carried);
        self.registers.set_extended(inst.dst[0], executed, &values);
        if how.goes_out {
            self.registers.set_predicate(inst.dst[1], executed, out);
        }
    }

    /// Packing, unpacking and selections between doubles.
    fn compute_moves(&mut self, op: &Op, inst: &Inst, executed: LaneMask) {
        match op {
            Op::Pack => self.doubles(inst, executed, |s| {
                map2(s.word(0), s.word(1), |low, high| {
                    u64::from(high) << 32 | u64::from(low)
                })
            }),
            Op::Unpack => {
                for (shift, &slot) in [0, 32].into_iter().zip(inst.dst.as_slice()) {
                    self.words_to(slot, inst, executed, |s| {
                        map1(s.double(0), |whole| (whole >> shift) as u32)
                    });
                }
            }
            Op::ShortPack => self.words(inst, executed, |s| {
                map2(s.word(0), s.word(1), |low, high| high << 16 | low & 0xffff)
            }),
            Op::ShortUnpack => {
                // The source may be the first destination, too.
                let whole = *self.registers.word(inst.src[0]);
                let halves = [
                    whole.map(|whole| whole & 0xffff),
                    whole.map(|whole| whole >> 16),
                ];
                for (half, &slot) in halves.iter().zip(inst.dst.as_slice()) {
                    self.registers.set_word(slot, executed, half);
                }
            }
            Op::SelectLong { negated } => self.doubles(inst, executed, |s| {
                choose(s.predicate(2, *negated), s.double(0), s.double(1))
            }),
            Op::SelectBySign {
                double,
                float,
                flush,
            } => {
                let first = |sign: u32| match *float {
                    true => flushed(f32::from_bits(sign), *flush) >= 0.0,
                    false => sign as i32 >= 0,
                };
                if *double {
                    self.doubles(inst, executed, |s| {
                        map3(s.double(0), s.double(1), s.word(2), |a, b, sign| {
                            if first(sign) { a } else { b }
                        })
                    });
                } else {
                    self.words(inst, executed, |s| {
                        map3(s.word(0), s.word(1), s.word(2), |a, b, sign| {
                            if first(sign) { a } else { b }
                        })
                    });
                }
            }
            Op::FrameAddress(offset) => {
                let address = [self.frame_base() + offset; W];
                self.registers.set_extended(inst.dst[0], executed, &address);
            }
            other => unreachable!("{other:?} is handled by its own family"),
        }
    }

    fn set_predicate(&mut self, compare: &Compare, inst: &Inst, executed: LaneMask) {
        let holds = self.test(inst, |s| part_compare(compare, s));
        let (first, second) = (
            self.combined(holds, compare.combine, inst),
            self.combined(!holds, compare.combine, inst),
        );
        self.registers.set_predicate(inst.dst[0], executed, first);
        if let Some(&complement) = inst.dst.as_slice().get(1) {
            self.registers.set_predicate(complement, executed, second);
        }
    }

    /// A comparison's result, combined with the third source if that is asked for.
    pub(super) fn combined(
        &self,
        holds: LaneMask,
        combine: Option<(BoolOp, bool)>,
        inst: &Inst,
    ) -> LaneMask {
        let Some((op, negated)) = combine else {
            return holds;
        };
        let other = self.registers.predicate(inst.src[2]) ^ all_if(negated);
        match op {
            BoolOp::And => holds & other,
            BoolOp::Or => holds | other,
            BoolOp::Xor => holds ^ other,
        }
    }

    fn compare_halves(&mut self, compare: &HalfCompare, inst: &Inst, executed: LaneMask) {
        let (a, b) = (
            self.registers.word(inst.src[0]),
            self.registers.word(inst.src[1]),
        );
        // The combining predicate may be among the destinations.
        let holds = lanes::compare_halves(compare, a, b)
            .map(|holds| self.combined(holds, compare.combine, inst));
        for (&slot, holds) in inst.dst.as_slice().iter().zip(holds) {
            self.registers.set_predicate(slot, executed, holds);
        }
    }

    fn predicate_logic(&mut self, op: PredicateOp, negated: u8, inst: &Inst, executed: LaneMask) {
        let source =
            |at: usize| self.registers.predicate(inst.src[at]) ^ all_if(negated >> at & 1 == 1);
        let value = match op {
            PredicateOp::Copy => source(0),
            PredicateOp::Not => !source(0),
            PredicateOp::And => source(0) & source(1),
            PredicateOp::Or => source(0) | source(1),
            PredicateOp::Xor => source(0) ^ source(1),
            PredicateOp::Literal(holds) => all_if(holds),
        };
        self.registers.set_predicate(inst.dst[0], executed, value);
    }

    fn convert(&mut self, how: &Convert, inst: &Inst, executed: LaneMask) {
        match inst.dst[0].kind {
            SlotKind::Double => self.doubles(inst, executed, |s| {
                lanes::convert(how, &s.extended(inst.src[0]))
            }),
            _ => self.words(inst, executed, |s| {
                map1(&lanes::convert(how, &s.extended(inst.src[0])), |value| {
                    value as u32
                })
            }),
        }
    }
}

/// Compares the first two operands.
#[inline(always)]
fn part_compare<const W: usize, const N: usize>(
    compare: &Compare,
    s: Sources<'_, W, N>,
) -> LaneMask {
    match s.inst.src[0].kind {
        SlotKind::Double => lanes::compare_double(compare, s.double(0), s.double(1)),
        _ => lanes::compare_word(compare, s.word(0), s.word(1)),
    }
}

#[inline(always)]
fn wide(a: u32, b: u32) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

fn short(word: u32, signed: bool) -> u32 {
    if signed {
        i32::from(word as i16) as u32
    } else {
        word & 0xffff
    }
}
