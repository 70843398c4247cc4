//! Operations that are several instructions of the machine. What they are, is in `workloads/kernels/sass/expansions.csv`, from `ptxas` for sm_75.

use super::edit::{fresh, rebuild};
use crate::program::{
    Entry, Float, Inst, Long1, Long2, Long3, Machine, Op, Operands, Slot, SlotKind, Source, Whole,
    Word1, Word2, Word3,
};
use crate::types::{Space, Type};

/// A sequence: a letter an instruction, the last of which has the result. A capital letter waits for the capital before it, a small one for the operands alone.
///
/// | letter | kind |
/// | --- | --- |
/// | `i` | integer |
/// | `m` | `IMAD` |
/// | `f` | single precision |
/// | `d` | double precision |
/// | `s` | `MUFU` |
/// | `c` | conversion |
/// | `b` | branch |
type Sequence = &'static str;

/// Puts the sequences in.
pub(super) fn run(entry: &mut Entry) {
    let near = near(entry);
    let [chain, beside] = [(); 2].map(|()| fresh(entry, SlotKind::Word));
    let words = entry.words.clone();
    let literal = |slot: Slot| match (slot.kind, words.get(slot.index())) {
        (SlotKind::Word, Some(Source::Literal(value))) => Some(*value),
        _ => None,
    };
    rebuild(entry, |code, _, inst| {
        let is_near = inst
            .dst
            .as_slice()
            .first()
            .is_some_and(|slot| slot.kind == SlotKind::Double && near[slot.index()]);
        match sequence(&inst, is_near, literal) {
            Some(sequence) => expand(code, inst, sequence, [chain, beside]),
            None => code.push(inst),
        }
    });
}

fn expand(code: &mut Vec<Inst>, inst: Inst, sequence: Sequence, [chain, beside]: [Slot; 2]) {
    let mut begun = false;
    let last = sequence.len() - 1;
    for letter in sequence[..last].chars() {
        let waits = letter.is_ascii_uppercase();
        let before = (waits && begun).then_some(chain);
        begun |= waits;
        let kind = kind(letter);
        code.push(Inst {
            op: Op::Part(kind),
            guard: inst.guard,
            dst: match kind {
                Machine::Control => Operands::default(),
                _ => Operands::from(if waits { chain } else { beside }),
            },
            src: before.into_iter().chain(inst.reads()).take(3).collect(),
            line: inst.line,
        });
    }
    let mut whole = inst;
    let op = whole.op;
    whole.op = Op::Whole(Box::new(Whole {
        op,
        kind: kind(sequence[last..].chars().next().unwrap_or('i')),
    }));
    if begun {
        whole.src.push(chain);
    }
    code.push(whole);
}

fn kind(letter: char) -> Machine {
    match letter.to_ascii_lowercase() {
        'm' => Machine::IntMad,
        'f' => Machine::Fp32,
        'd' => Machine::Fp64,
        's' => Machine::Special,
        'c' => Machine::Convert,
        'b' => Machine::Control,
        _ => Machine::Int,
    }
}

/// What an instruction takes, if more than itself.
fn sequence(inst: &Inst, near: bool, literal: impl Fn(Slot) -> Option<u32>) -> Option<Sequence> {
    match &inst.op {
        Op::Word1(op) => word1(*op),
        Op::Word2(op) => word2(*op),
        // Position and length as literals need no clamping.
        Op::Word3(Word3::Bfe { .. })
            if literal(inst.src[1]).and(literal(inst.src[2])).is_some() =>
        {
            Some("II")
        }
        Op::Word3(Word3::Bfe { .. }) => Some("iIiII"),
        Op::Word4(_) if literal(inst.src[2]).and(literal(inst.src[3])).is_some() => Some("iI"),
        Op::Word4(_) => Some("iIiIII"),
        // A word that is extended and added: a sum with its carry.
        Op::MadWide { .. } if !near && literal(inst.src[1]) == Some(1) => Some("iI"),
        Op::Long1(op) => long1(*op, near),
        Op::Long2(op) => long2(*op, near),
        Op::Long3(Long3::Mad) => Some("mmMI"),
        Op::LongShift(_) | Op::SelectLong { .. } if !near => Some("iI"),
        Op::SetPredicate(compare)
            if matches!(compare.element, Type::U64 | Type::S64 | Type::B64) =>
        {
            Some("iI")
        }
        _ => None,
    }
}

/// Functions that keep denormals scale their operands and results.
fn word1(op: Word1) -> Option<Sequence> {
    match op {
        Word1::Clz => Some("II"),
        Word1::FRcp(_) => Some("iiibSFFF"),
        Word1::FSqrt(_) => Some("iSibFFFF"),
        Word1::RcpApprox { flush: false } => Some("ffffFSF"),
        Word1::SqrtApprox { flush: false }
        | Word1::RsqrtApprox { flush: false }
        | Word1::Ex2Approx { flush: false }
        | Word1::Lg2Approx { flush: false } => Some("FFSF"),
        Word1::SinApprox { .. } | Word1::CosApprox { .. } => Some("FS"),
        _ => None,
    }
}

fn word2(op: Word2) -> Option<Sequence> {
    match op {
        Word2::Div { signed: false } => Some("CmiSICMMMmMIiIiII"),
        Word2::Rem { signed: false } => Some("CmiSICMMMmMIIIiI"),
        Word2::Div { signed: true } => Some("iICSIiiCimmMmMMMIMiiIImI"),
        Word2::Rem { signed: true } => Some("iIiCiSIiCmmMMMMIMiIMiI"),
        Word2::FDiv(Float { flush: false, .. }) => Some("SfFFFFbF"),
        Word2::FDiv(_) => Some("SfFFFFbF"),
        Word2::FDivApprox {
            flush: false,
            full: true,
        } => Some("ffFFffSF"),
        Word2::FDivApprox {
            flush: false,
            full: false,
        } => Some("fFfSF"),
        Word2::FDivApprox {
            flush: true,
            full: true,
        } => Some("fFFSF"),
        Word2::FDivApprox {
            flush: true,
            full: false,
        } => Some("SF"),
        _ => None,
    }
}

fn long1(op: Long1, near: bool) -> Option<Sequence> {
    match op {
        Long1::Not | Long1::Neg if !near => Some("iI"),
        Long1::Abs => Some("iiiII"),
        Long1::FRcp(_) => Some("SifDDDDbD"),
        Long1::FSqrt(_) => Some("SiiDDDDDDiDbD"),
        _ => None,
    }
}

fn long2(op: Long2, near: bool) -> Option<Sequence> {
    match op {
        Long2::Add | Long2::Sub | Long2::And | Long2::Or | Long2::Xor if !near => Some("iI"),
        Long2::Mul => Some("mmMI"),
        Long2::MulHi { .. } => Some("mMMIiIM"),
        Long2::Min { .. } | Long2::Max { .. } => Some("iIii"),
        Long2::FDiv(_) => Some("SfDDDDDDDffbD"),
        Long2::FMin | Long2::FMax => Some("DFIi"),
        _ => None,
    }
}

/// Of each double, whether it only makes addresses of windows of 16 MiB: machines have those in one word.
fn near(entry: &Entry) -> Vec<bool> {
    let mut near = vec![true; entry.doubles.len()];
    loop {
        let mut changed = false;
        for inst in &entry.code {
            for (place, slot) in inst.reads().enumerate() {
                let fits = slot.kind != SlotKind::Double || fits(inst, place, &near);
                if !fits && std::mem::replace(&mut near[slot.index()], false) {
                    changed = true;
                }
            }
        }
        if !changed {
            return near;
        }
    }
}

fn fits(inst: &Inst, place: usize, near: &[bool]) -> bool {
    let window = |space: Space| !matches!(space, Space::Global | Space::Generic);
    match &inst.op {
        Op::Load(access) | Op::Store(access) => place == 0 && window(access.space),
        Op::Atomic(atomic) => place == 0 && window(atomic.access.space),
        Op::Long2(Long2::Add | Long2::Sub)
        | Op::LongShift(_)
        | Op::MadWide { .. }
        | Op::Long1(Long1::Copy) => {
            let to = inst.dst[0];
            to.kind == SlotKind::Double && near[to.index()]
        }
        _ => false,
    }
}
