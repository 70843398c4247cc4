//! From words to instructions: one total function over the table of operations.

use std::fmt;

use crate::compare::Compare;
use crate::op::{Form, Op};

/// How an instruction is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A scalar instruction or a vector one of 32 bits, and perhaps a literal.
    Short,
    /// A vector instruction of 64 bits.
    Long,
    /// Scalar memory read, local data share or buffer access.
    Memory,
}

/// Where a source comes from: 0 to 127 scalar registers, 128 to 208 and 240 to 247 constants, 251 to 253 flags, 255 the literal, from 256 on vector registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place(pub u16);

impl Place {
    /// Half of the vector condition code.
    pub const VCC: Self = Self(106);
    /// Memory register.
    pub const M0: Self = Self(124);
    /// Half of the execution mask.
    pub const EXEC: Self = Self(126);
    /// The literal behind the instruction.
    pub const LITERAL: Self = Self(255);

    /// The vector register, if it is one.
    pub fn vector(self) -> Option<u8> {
        (self.0 >= 256).then_some(self.0 as u8)
    }

    /// The scalar register, if it is one.
    pub fn scalar(self) -> Option<u8> {
        (self.0 < 128).then_some(self.0 as u8)
    }

    /// Why so many registers from here on, or this constant, cannot be.
    fn objection(self, width: u8) -> Option<&'static str> {
        let end = self.0 + u16::from(width);
        match self.0 {
            104 | 105 | 125 | 209..=239 | 248..=250 => {
                Some("an instruction with a reserved operand")
            }
            254 => Some("an operand from the local data share, which is not supported"),
            0..128 if end > 128 => Some("an instruction with registers beyond the scalar ones"),
            256.. if end > 512 => Some("an instruction with registers beyond the vector ones"),
            _ => None,
        }
    }

    /// A vector register.
    pub fn of_vector(number: u32) -> Self {
        Self(256 + (number & 0xff) as u16)
    }
}

/// What is added to a buffer or data-share access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Offset in bytes; of data-share accesses in elements, if there are two.
    pub offset: u16,
    /// Second offset of data-share accesses.
    pub offset1: u8,
    /// The offset of a scalar read is a constant of words.
    pub immediate: bool,
    /// The vector address is an offset.
    pub offen: bool,
    /// The vector address is an index.
    pub idxen: bool,
    /// The vector address is an address of 64 bits.
    pub addr64: bool,
    /// An atomic returns what was there; loads miss the first cache.
    pub glc: bool,
    /// Streaming.
    pub slc: bool,
    /// Says whether texels are resident.
    pub tfe: bool,
    /// Loads go to the local data share.
    pub lds: bool,
    /// The global data share is meant.
    pub gds: bool,
    /// Format of typed accesses: data format and number format.
    pub format: (u8, u8),
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Its comparison, if it is one.
    pub compare: Option<Compare>,
    /// How it is encoded.
    pub encoding: Encoding,
    /// Its first words: one or two.
    pub words: u8,
    /// The register that it writes, or the data of a memory access.
    pub result: Place,
    /// The scalar pair that takes carries and the like.
    pub carry: Place,
    /// Where sources come from; the first [`Op::row`] `sources` of them count.
    pub sources: [Place; 3],
    /// 32-bit registers of each source.
    pub widths: [u8; 3],
    /// The literal, or the constant of 16 bits.
    pub literal: u32,
    /// Sources whose magnitude is taken, a bit each.
    pub magnitude: u8,
    /// Sources that are negated, a bit each.
    pub negate: u8,
    /// Multiplies the result: 1 by 2, 2 by 4, 3 by a half.
    pub scale: u8,
    /// Clamps the result to 0 to 1.
    pub clamp: bool,
    /// The rest of memory accesses.
    pub access: Access,
}

/// Words that are no instruction which is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The words that were looked at.
    pub words: [u32; 2],
    /// How many of them.
    pub count: u8,
    /// What they seem to be.
    pub what: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, bytes", self.what)?;
        for byte in self.words[..usize::from(self.count)]
            .iter()
            .flat_map(|word| word.to_le_bytes())
        {
            write!(f, " {byte:02x}")?;
        }
        Ok(())
    }
}

/// The words of an instruction, as far as there are any.
struct Words {
    first: u32,
    second: Option<u32>,
}

impl Words {
    fn refused(&self, what: &'static str, long: bool) -> Refused {
        Refused {
            words: [self.first, self.second.unwrap_or(0)],
            count: if long && self.second.is_some() { 2 } else { 1 },
            what,
        }
    }

    /// Bits of the first word, then of the second one.
    fn bits(&self, low: u32, count: u32) -> u32 {
        let both = u64::from(self.second.unwrap_or(0)) << 32 | u64::from(self.first);
        (both >> low) as u32 & ((1u64 << count) - 1) as u32
    }

    fn bit(&self, at: u32) -> bool {
        self.bits(at, 1) != 0
    }

    fn place(&self, low: u32, count: u32) -> Place {
        Place(self.bits(low, count) as u16)
    }

    fn vector(&self, low: u32) -> Place {
        Place::of_vector(self.bits(low, 8))
    }
}

/// Decodes the instruction at the start of `words`.
///
/// # Errors
/// What is no instruction, or none that is supported; two words that end after one.
pub fn decode(words: &[u32]) -> Result<Inst, Refused> {
    let words = Words {
        first: words.first().copied().unwrap_or(0),
        second: words.get(1).copied(),
    };
    let first = words.first;
    let inst = match first >> 26 {
        0..0x20 => match first >> 25 {
            0x3e => vopc(&words, Encoding::Short),
            0x3f => vop1(&words),
            _ => vop2(&words),
        },
        0x20..0x30 => scalar(&words),
        0x30 | 0x31 => smrd(&words),
        0x32 => return Err(words.refused("interpolation (VINTRP), which is not supported", false)),
        0x34 => vop3(&words),
        0x36 => ds(&words),
        0x38 => mubuf(&words),
        0x3a => mtbuf(&words),
        0x3c => return Err(words.refused("an image access (MIMG), which is not supported", true)),
        0x3e => return Err(words.refused("an export (EXP), which is not supported", true)),
        _ => return Err(words.refused("no instruction of Southern Islands", false)),
    };
    let inst = inst
        .ok_or_else(|| words.refused("an opcode that is not supported", (first >> 26) >= 0x34))?;
    complete(inst, &words)
}

/// Adds the literal, if one is used, and checks that no word is missing.
fn complete(mut inst: Inst, words: &Words) -> Result<Inst, Refused> {
    let uses = |inst: &Inst| {
        let sources = inst.sources.iter().zip(inst.widths);
        sources
            .into_iter()
            .any(|(&place, width)| width > 0 && place == Place::LITERAL)
    };
    let extra = matches!(inst.op, Op::VMadmkF32 | Op::VMadakF32 | Op::SSetregImm32B32)
        && inst.encoding == Encoding::Short;
    if inst.encoding != Encoding::Short {
        if inst.encoding == Encoding::Long && uses(&inst) {
            return Err(words.refused(
                "a long vector instruction with a literal, which Southern Islands does not have",
                true,
            ));
        }
    } else if extra || uses(&inst) {
        inst.words = 2;
        let keep = inst.op == Op::SSetregImm32B32;
        // The number of the hardware register stays beside the value.
        inst.access.offset = if keep { inst.literal as u16 } else { 0 };
        inst.literal = words.second.unwrap_or(0);
    }
    if let Some(objection) = inst.objection() {
        return Err(words.refused(objection, inst.words == 2));
    }
    if inst.words == 2 && words.second.is_none() {
        return Err(words.refused("an instruction whose second word is missing", false));
    }
    Ok(inst)
}

impl Inst {
    fn new(op: Op, encoding: Encoding) -> Self {
        Self {
            op,
            compare: None,
            encoding,
            words: 1,
            result: Place(0),
            carry: Place::VCC,
            sources: [Place(0); 3],
            widths: op.row().sources,
            literal: 0,
            magnitude: 0,
            negate: 0,
            scale: 0,
            clamp: false,
            access: Access::default(),
        }
    }

    /// What is wrong with its operands.
    fn objection(&self) -> Option<&'static str> {
        let sources = self.sources.into_iter().zip(self.widths);
        let result = (self.result, self.op.row().result);
        let carry = (self.carry, if self.writes_carry() { 2 } else { 0 });
        let mut written = [result, carry].into_iter().filter(|(_, width)| *width > 0);
        if written.any(|(place, _)| place.scalar().is_none() && place.vector().is_none()) {
            return Some("an instruction that writes to a constant");
        }
        let named = sources.chain([result, carry]);
        named
            .filter(|(_, width)| *width > 0)
            .find_map(|(place, width)| place.objection(width))
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u32 {
        4 * u32::from(self.words)
    }
}

fn scalar(words: &Words) -> Option<Inst> {
    let first = words.first;
    let literal = first & 0xffff;
    let sources = [words.place(0, 8), words.place(8, 8), Place(0)];
    let result = words.place(16, 7);
    let (form, code) = match first >> 23 {
        0x17d => (Form::Sop1, words.bits(8, 8)),
        0x17e => (Form::Sopc, words.bits(16, 7)),
        0x17f => (Form::Sopp, words.bits(16, 7)),
        _ if first >> 28 == 0xb => (Form::Sopk, words.bits(23, 5)),
        _ => (Form::Sop2, words.bits(23, 7)),
    };
    let op = Op::find(form, code as u16)?;
    let sources = match form {
        Form::Sopk => [result, Place(0), Place(0)],
        _ => sources,
    };
    Some(Inst {
        result,
        sources,
        literal: if matches!(form, Form::Sopk | Form::Sopp) {
            literal
        } else {
            0
        },
        ..Inst::new(op, Encoding::Short)
    })
}

fn smrd(words: &Words) -> Option<Inst> {
    let op = Op::find(Form::Smrd, words.bits(22, 5) as u16)?;
    let immediate = words.bit(8);
    let mut inst = Inst::new(op, Encoding::Memory);
    inst.result = words.place(15, 7);
    inst.sources = [
        Place(words.bits(9, 6) as u16 * 2),
        words.place(0, 8),
        Place(0),
    ];
    inst.access.immediate = immediate;
    inst.literal = words.bits(0, 8);
    if immediate {
        inst.widths[1] = 0;
    }
    Some(inst)
}

fn vop2(words: &Words) -> Option<Inst> {
    let op = Op::find(Form::Vop2, words.bits(25, 6) as u16)?;
    let second = match op {
        // A lane is a scalar's number.
        Op::VReadlaneB32 | Op::VWritelaneB32 => words.place(9, 8),
        _ => words.vector(9),
    };
    let result = words.vector(17);
    let mut inst = Inst::new(op, Encoding::Short);
    inst.sources = match op {
        Op::VMadmkF32 => [words.place(0, 9), Place::LITERAL, second],
        Op::VMadakF32 => [words.place(0, 9), second, Place::LITERAL],
        _ => [words.place(0, 9), second, Place::VCC],
    };
    inst.result = match op {
        Op::VReadlaneB32 => words.place(17, 8),
        _ => result,
    };
    Some(inst)
}

fn vop1(words: &Words) -> Option<Inst> {
    let op = Op::find(Form::Vop1, words.bits(9, 8) as u16)?;
    Some(Inst {
        result: match op {
            Op::VReadfirstlaneB32 => words.place(17, 8),
            _ => words.vector(17),
        },
        sources: [words.place(0, 9), Place(0), Place(0)],
        ..Inst::new(op, Encoding::Short)
    })
}

fn vopc(words: &Words, encoding: Encoding) -> Option<Inst> {
    let mut inst = Inst::new(Op::VCmp, encoding);
    let compare = Compare::of(match encoding {
        Encoding::Long => words.bits(17, 9) as u16,
        _ => words.bits(17, 8) as u16,
    })?;
    inst.compare = Some(compare);
    inst.widths = compare.widths();
    if encoding == Encoding::Short {
        inst.result = Place::VCC;
        inst.sources = [words.place(0, 9), words.vector(9), Place(0)];
    }
    Some(inst)
}

fn vop3(words: &Words) -> Option<Inst> {
    let code = words.bits(17, 9) as u16;
    let mut inst = match code {
        0..0x100 => vopc(words, Encoding::Long)?,
        0x100..0x140 => Inst::new(Op::find(Form::Vop2, code - 0x100)?, Encoding::Long),
        0x180.. => Inst::new(Op::find(Form::Vop1, code - 0x180)?, Encoding::Long),
        _ => Inst::new(Op::find(Form::Vop3, code)?, Encoding::Long),
    };
    if matches!(
        inst.op,
        Op::VMadmkF32
            | Op::VMadakF32
            | Op::VReadlaneB32
            | Op::VWritelaneB32
            | Op::VReadfirstlaneB32
    ) {
        return None;
    }
    inst.words = 2;
    inst.result = match inst.op {
        Op::VCmp => words.place(0, 8),
        _ => words.vector(0),
    };
    inst.sources = [words.place(32, 9), words.place(41, 9), words.place(50, 9)];
    inst.scale = words.bits(59, 2) as u8;
    inst.negate = words.bits(61, 3) as u8;
    if inst.writes_carry() && inst.op != Op::VCmp {
        inst.carry = words.place(8, 7);
    } else {
        inst.magnitude = words.bits(8, 3) as u8;
        inst.clamp = words.bit(11);
    }
    Some(inst)
}

impl Inst {
    /// Whether the operation writes a scalar pair beside its result.
    pub fn writes_carry(&self) -> bool {
        matches!(
            self.op,
            Op::VAddI32
                | Op::VSubI32
                | Op::VSubrevI32
                | Op::VAddcU32
                | Op::VSubbU32
                | Op::VSubbrevU32
                | Op::VDivScaleF32
                | Op::VDivScaleF64
        )
    }
}

fn ds(words: &Words) -> Option<Inst> {
    let mut inst = Inst::new(
        Op::find(Form::Ds, words.bits(18, 8) as u16)?,
        Encoding::Memory,
    );
    inst.words = 2;
    inst.result = words.vector(56);
    inst.sources = [words.vector(32), words.vector(40), words.vector(48)];
    inst.access.gds = words.bit(17);
    if inst.op.is_pair() {
        inst.access.offset = words.bits(0, 8) as u16;
        inst.access.offset1 = words.bits(8, 8) as u8;
    } else {
        inst.access.offset = words.bits(0, 16) as u16;
    }
    Some(inst)
}

impl Op {
    /// Whether a data-share access reaches two places.
    pub fn is_pair(self) -> bool {
        use Op::{
            DsRead2B32, DsRead2B64, DsWrite2B32, DsWrite2B64, DsWrxchg2RtnB32, DsWrxchg2RtnB64,
        };
        self.is_far_pair()
            || matches!(
                self,
                DsRead2B32
                    | DsRead2B64
                    | DsWrite2B32
                    | DsWrite2B64
                    | DsWrxchg2RtnB32
                    | DsWrxchg2RtnB64
            )
    }

    /// Whether it adds M0 to the number of a vector register.
    pub fn is_relative(self) -> bool {
        matches!(self, Op::VMovreldB32 | Op::VMovrelsB32 | Op::VMovrelsdB32)
    }

    /// Whether the offsets of such an access count sixty-four elements.
    pub fn is_far_pair(self) -> bool {
        use Op::{
            DsRead2st64B32, DsRead2st64B64, DsWrite2st64B32, DsWrite2st64B64, DsWrxchg2st64RtnB32,
            DsWrxchg2st64RtnB64,
        };
        matches!(
            self,
            DsRead2st64B32
                | DsRead2st64B64
                | DsWrite2st64B32
                | DsWrite2st64B64
                | DsWrxchg2st64RtnB32
                | DsWrxchg2st64RtnB64
        )
    }
}

fn buffer(words: &Words, op: Op) -> Inst {
    let mut inst = Inst::new(op, Encoding::Memory);
    inst.words = 2;
    inst.result = words.vector(40);
    inst.sources = [
        words.vector(32),
        Place(words.bits(48, 5) as u16 * 4),
        words.place(56, 8),
    ];
    inst.access = Access {
        offset: words.bits(0, 12) as u16,
        offen: words.bit(12),
        idxen: words.bit(13),
        glc: words.bit(14),
        addr64: words.bit(15),
        slc: words.bit(54),
        tfe: words.bit(55),
        ..Access::default()
    };
    if op.row().sources[1] > 0 {
        let Access {
            offen,
            idxen,
            addr64,
            ..
        } = inst.access;
        inst.widths[0] = if addr64 {
            2
        } else {
            u8::from(offen) + u8::from(idxen)
        };
    }
    inst
}

fn mubuf(words: &Words) -> Option<Inst> {
    let mut inst = buffer(words, Op::find(Form::Mubuf, words.bits(18, 7) as u16)?);
    inst.access.lds = words.bit(16);
    Some(inst)
}

fn mtbuf(words: &Words) -> Option<Inst> {
    let mut inst = buffer(words, Op::find(Form::Mtbuf, words.bits(16, 3) as u16)?);
    inst.access.format = (words.bits(19, 4) as u8, words.bits(23, 3) as u8);
    Some(inst)
}
