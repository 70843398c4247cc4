//! Instructions as text, as LLVM's assembler reads and writes them.

use std::fmt::{self, Display, Write};

use crate::decode::{Encoding, Inst, Place};
use crate::op::{Form, Op};

/// Names that stand for numbers in an instruction's text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Where a branch goes.
    pub target: Option<String>,
    /// What a relocated literal is.
    pub literal: Option<String>,
}

impl Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Names::default()))
    }
}

/// A run of registers or a constant.
struct Operand<'n> {
    place: Place,
    width: u8,
    literal: u32,
    name: Option<&'n str>,
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place(place) = self.place;
        match place {
            0..104 => run(f, "s", place, self.width),
            112..124 => run(f, "ttmp", place - 112, self.width),
            104..128 => special(f, place, self.width),
            128..=192 => write!(f, "{}", place - 128),
            193..=208 => write!(f, "-{}", place - 192),
            240..=247 => f.write_str(FLOATS[usize::from(place - 240)]),
            251 => f.write_str("src_vccz"),
            252 => f.write_str("src_execz"),
            253 => f.write_str("src_scc"),
            254 => f.write_str("src_lds_direct"),
            255 => match self.name {
                Some(name) => f.write_str(name),
                None => write!(f, "{:#x}", self.literal),
            },
            256.. => run(f, "v", place - 256, self.width),
            _ => write!(f, "reserved_{place}"),
        }
    }
}

const FLOATS: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];

fn run(f: &mut fmt::Formatter<'_>, file: &str, first: u16, width: u8) -> fmt::Result {
    match width {
        0 | 1 => write!(f, "{file}{first}"),
        _ => write!(f, "{file}[{first}:{}]", first + u16::from(width) - 1),
    }
}

fn special(f: &mut fmt::Formatter<'_>, place: u16, width: u8) -> fmt::Result {
    let name = match place {
        106 | 107 => "vcc",
        108 | 109 => "tba",
        110 | 111 => "tma",
        124 => return f.write_str("m0"),
        126 | 127 => "exec",
        _ => return write!(f, "reserved_{place}"),
    };
    f.write_str(name)?;
    match (width, place % 2) {
        (2, _) => Ok(()),
        (_, 0) => f.write_str("_lo"),
        _ => f.write_str("_hi"),
    }
}

/// An instruction's text as it grows.
struct Text<'i> {
    inst: &'i Inst,
    names: &'i Names,
    text: String,
    operands: usize,
}

impl Inst {
    /// The mnemonic, with the suffix of its encoding where there are two.
    pub fn mnemonic(&self) -> String {
        let row = self.op.row();
        let one_encoding = matches!(
            self.op,
            Op::VReadlaneB32
                | Op::VWritelaneB32
                | Op::VReadfirstlaneB32
                | Op::VMadmkF32
                | Op::VMadakF32
                | Op::VNop
                | Op::VClrexcp
        );
        let suffix = match (row.form, self.encoding) {
            _ if one_encoding => "",
            (Form::Vop1 | Form::Vop2 | Form::Vopc, Encoding::Long) => "_e64",
            (Form::Vop1 | Form::Vop2 | Form::Vopc, _) => "_e32",
            _ => "",
        };
        match self.compare {
            Some(compare) => format!("{compare}{suffix}"),
            None => format!("{}{suffix}", row.name),
        }
    }

    /// The whole instruction.
    pub fn text(&self, names: &Names) -> String {
        let mut text = Text {
            inst: self,
            names,
            text: self.mnemonic(),
            operands: 0,
        };
        match self.op.row().form {
            Form::Sopp => text.control(),
            Form::Sopk => text.constant(),
            Form::Smrd => text.scalar_read(),
            Form::Ds => text.share(),
            Form::Mubuf | Form::Mtbuf => text.buffer(),
            _ => text.computation(),
        }
        text.text
    }
}

impl Text<'_> {
    fn operand(&mut self, operand: impl Display) {
        let before = if self.operands == 0 { " " } else { ", " };
        self.operands += 1;
        self.add(format_args!("{before}{operand}"));
    }

    fn add(&mut self, text: impl Display) {
        let _ = write!(self.text, "{text}");
    }

    fn place(&mut self, place: Place, width: u8) {
        let operand = Operand {
            place,
            width,
            literal: self.inst.literal,
            name: self.names.literal.as_deref(),
        };
        self.operand(operand.to_string());
    }

    fn source(&mut self, at: usize) {
        let (place, width) = (self.inst.sources[at], self.inst.widths[at]);
        if width > 0 {
            self.place(place, width);
        }
    }

    fn result(&mut self) {
        let width = self.inst.op.row().result;
        if width > 0 {
            self.place(self.inst.result, width);
        }
    }

    fn computation(&mut self) {
        let inst = self.inst;
        self.result();
        if inst.writes_carry() {
            self.place(inst.carry, 2);
        }
        for at in 0..3 {
            if inst.encoding == Encoding::Long {
                self.modified(at);
            } else {
                self.source(at);
            }
        }
        if inst.clamp {
            self.add(" clamp");
        }
        self.add(["", " mul:2", " mul:4", " div:2"][usize::from(inst.scale & 3)]);
    }

    fn modified(&mut self, at: usize) {
        let inst = self.inst;
        if inst.widths[at] == 0 {
            return;
        }
        let operand = Operand {
            place: inst.sources[at],
            width: inst.widths[at],
            literal: inst.literal,
            name: None,
        };
        let sign = if inst.negate >> at & 1 != 0 { "-" } else { "" };
        let bar = if inst.magnitude >> at & 1 != 0 {
            "|"
        } else {
            ""
        };
        self.operand(format_args!("{sign}{bar}{operand}{bar}"));
    }

    fn control(&mut self) {
        let literal = self.inst.literal;
        match self.inst.op {
            Op::SEndpgm if literal == 0 => {}
            Op::SBarrier | Op::SIcacheInv | Op::STtracedata => {}
            Op::SWaitcnt => self.counters(),
            Op::SSendmsg | Op::SSendmsghalt if literal == 1 => {
                self.operand("sendmsg(MSG_INTERRUPT)")
            }
            op => match &self.names.target {
                Some(target) if op.is_branch() => self.operand(target.clone()),
                _ if op.is_branch() || matches!(op, Op::SSendmsg | Op::SSendmsghalt) => {
                    self.operand(literal)
                }
                _ => self.operand(constant(literal)),
            },
        }
    }

    /// Counters that are not waited for are left out, unless all are.
    fn counters(&mut self) {
        let word = self.inst.literal;
        let counters = [
            ("vmcnt", word & 0xf, 0xf),
            ("expcnt", word >> 4 & 7, 7),
            ("lgkmcnt", word >> 8 & 0xf, 0xf),
        ];
        let none = counters.iter().all(|(_, count, most)| count == most);
        for (name, count, most) in counters {
            if none || count != most {
                self.add(format_args!(" {name}({count})"));
            }
        }
    }

    fn constant(&mut self) {
        let inst = self.inst;
        match inst.op {
            Op::SGetregB32 => {
                self.result();
                self.operand(hardware_register(inst.literal));
            }
            Op::SSetregB32 => {
                self.operand(hardware_register(inst.literal));
                self.source(0);
            }
            Op::SSetregImm32B32 => {
                self.operand(hardware_register(u32::from(inst.access.offset)));
                self.operand(constant(inst.literal));
            }
            Op::SCbranchIFork => {
                self.source(0);
                let target = self.names.target.clone();
                self.operand(target.unwrap_or_else(|| inst.literal.to_string()));
            }
            _ => {
                self.place(inst.result, 1);
                self.operand(format_args!("{:#x}", inst.literal));
            }
        }
    }

    fn scalar_read(&mut self) {
        let inst = self.inst;
        self.result();
        self.source(0);
        if inst.access.immediate {
            self.operand(format_args!("{:#x}", inst.literal));
        } else {
            self.source(1);
        }
    }

    fn share(&mut self) {
        let inst = self.inst;
        let access = inst.access;
        self.result();
        (0..3).for_each(|at| self.source(at));
        if inst.op.is_pair() {
            self.option("offset0", u32::from(access.offset));
            self.option("offset1", u32::from(access.offset1));
        } else if inst.op == Op::DsSwizzleB32 {
            self.swizzle(u32::from(access.offset));
        } else {
            self.option("offset", u32::from(access.offset));
        }
        self.flag("gds", access.gds);
    }

    /// Which lane each one reads, by the pattern's name.
    fn swizzle(&mut self, pattern: u32) {
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        let group = 32 - and;
        let name = if pattern == 0 {
            return;
        } else if pattern >> 8 == 0x80 {
            let of = |lane: u32| pattern >> (2 * lane) & 3;
            format!("QUAD_PERM,{},{},{},{}", of(0), of(1), of(2), of(3))
        } else if pattern >> 15 != 0 {
            return self.option("offset", pattern);
        } else if and == 31 && or == 0 && xor.is_power_of_two() {
            format!("SWAP,{xor}")
        } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            format!("REVERSE,{}", xor + 1)
        } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
            format!("BROADCAST,{group},{or}")
        } else {
            let bit = |at: u32| {
                let of = |lane: u32| (lane & and >> at | or >> at) & 1 ^ xor >> at & 1;
                ["0", "p", "i", "1"][(2 * of(0) + of(1)) as usize]
            };
            let bits: String = (0..5).rev().map(bit).collect();
            format!("BITMASK_PERM,\"{bits}\"")
        };
        self.add(format_args!(" offset:swizzle({name})"));
    }

    fn option(&mut self, name: &str, value: u32) {
        if value != 0 {
            self.add(format_args!(" {name}:{value}"));
        }
    }

    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.add(format_args!(" {name}"));
        }
    }

    fn buffer(&mut self) {
        let inst = self.inst;
        let access = inst.access;
        let row = inst.op.row();
        if row.result == 0 {
            return;
        }
        if !access.lds {
            self.place(inst.result, row.result + u8::from(access.tfe));
        }
        match inst.widths[0] {
            0 => self.operand("off"),
            width => self.place(inst.sources[0], width),
        }
        self.source(1);
        if row.form == Form::Mtbuf {
            self.format();
        }
        self.source(2);
        self.flag("idxen", access.idxen);
        self.flag("offen", access.offen);
        self.flag("addr64", access.addr64);
        self.option("offset", u32::from(access.offset));
        self.flag("glc", access.glc);
        self.flag("slc", access.slc);
        self.flag("tfe", access.tfe);
        self.flag("lds", access.lds);
    }

    /// Left out where it is what the assembler assumes.
    fn format(&mut self) {
        let (data, number) = self.inst.access.format;
        let data = (data != 1)
            .then(|| format!("BUF_DATA_FORMAT_{}", DATA_FORMATS[usize::from(data & 15)]));
        let number = (number != 0)
            .then(|| format!("BUF_NUM_FORMAT_{}", NUMBER_FORMATS[usize::from(number & 7)]));
        let parts: Vec<String> = data.into_iter().chain(number).collect();
        if !parts.is_empty() {
            self.operand(format_args!("format:[{}]", parts.join(",")));
        }
    }
}

const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
const NUMBER_FORMATS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "SNORM_OGL",
    "FLOAT",
];

/// Small numbers as they are, others by their bits.
fn constant(value: u32) -> String {
    match value as i32 {
        value @ -16..=64 => value.to_string(),
        _ => format!("{value:#x}"),
    }
}

fn hardware_register(word: u32) -> String {
    let names = [
        "",
        "MODE",
        "STATUS",
        "TRAPSTS",
        "HW_ID",
        "GPR_ALLOC",
        "LDS_ALLOC",
        "IB_STS",
    ];
    let (id, offset, width) = (word & 0x3f, word >> 6 & 0x1f, (word >> 11 & 0x1f) + 1);
    let name = match names.get(id as usize) {
        Some(name) if !name.is_empty() => format!("HW_REG_{name}"),
        _ => id.to_string(),
    };
    match (offset, width) {
        (0, 32) => format!("hwreg({name})"),
        _ => format!("hwreg({name}, {offset}, {width})"),
    }
}

impl Op {
    /// Whether it may go elsewhere, by a distance in its own word.
    pub fn is_branch(self) -> bool {
        matches!(
            self,
            Op::SBranch
                | Op::SCbranchScc0
                | Op::SCbranchScc1
                | Op::SCbranchVccz
                | Op::SCbranchVccnz
                | Op::SCbranchExecz
                | Op::SCbranchExecnz
        )
    }
}
