//! What an instruction of machine code does, by its name and modifiers.
//!
//! Names: NVIDIA, CUDA Binary Utilities, "Instruction Set Reference" (Maxwell and Pascal, Volta, Turing, Ampere and Ada, Hopper).

use warpwatt_simt::trace::{Flow, LatencyClass, MemoryOpKind, Results, Space, Unit};

/// What is known of an opcode's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Lanes compute.
    Computes(Unit, LatencyClass),
    /// The warp computes once, beside its lanes.
    Uniform(LatencyClass),
    /// A special register, of the lane or of the warp, or an exchange between lanes.
    PerLane(LatencyClass),
    /// A vote: all lanes get the same.
    Vote,
    /// An access to memory.
    Accesses(MemoryOpKind, Space),
    /// It accesses a texture or a surface: the tracer writes no addresses down.
    Texture,
    /// A product of matrices.
    Product,
    /// It goes elsewhere.
    Goes(Flow),
    /// It only guides: where lanes meet, pauses, hints.
    Guides,
    /// It waits for the warp's accesses.
    Fence,
    /// The barrier of a thread block.
    Barrier,
}

/// An opcode and what stands behind its dots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opcode<'t> {
    /// Its name.
    pub name: &'t str,
    modifiers: &'t str,
}

impl<'t> Opcode<'t> {
    pub fn new(text: &'t str) -> Self {
        let (name, modifiers) = text.split_once('.').unwrap_or((text, ""));
        Self { name, modifiers }
    }

    pub fn modifiers(self) -> impl Iterator<Item = &'t str> {
        self.modifiers.split('.').filter(|part| !part.is_empty())
    }

    pub fn has(self, modifier: &str) -> bool {
        self.modifiers().any(|part| part == modifier)
    }

    /// Bytes that a lane moves: by `.U8`, `.S16`, `.64`, `.U.128` and their kin; a word where nothing is said. NVBit's own width is wrong for some.
    pub fn bytes(self) -> u8 {
        let bits = |part: &str| part.trim_start_matches(['U', 'S']).parse::<u16>().ok();
        let bits = self.modifiers().find_map(bits);
        let bits = bits.filter(|bits| matches!(bits, 8 | 16 | 32 | 64 | 128 | 256));
        bits.map_or(4, |bits| (bits / 8) as u8)
    }

    /// What it does; none if it is not known.
    pub fn does(self) -> Option<Does> {
        self.computes().or_else(|| self.moves_or_goes())
    }

    fn computes(self) -> Option<Does> {
        use Does::{Computes, PerLane, Uniform, Vote};
        use LatencyClass::{Add, Mad, MinMax, Mul, Shuffle, Simple, Special};
        use Unit::{Fp32, Fp64, Int, Sfu};
        Some(match self.name {
            "FADD" | "FADD2" | "FADD32I" | "FSWZADD" | "HADD2" | "HADD2_32I" => Computes(Fp32, Add),
            "FMUL" | "FMUL2" | "FMUL32I" | "HMUL2" | "HMUL2_32I" => Computes(Fp32, Mul),
            "FFMA" | "FFMA2" | "FFMA32I" | "HFMA2" | "HFMA2_32I" => Computes(Fp32, Mad),
            "FMNMX" | "FMNMX3" | "HMNMX2" | "VHMNMX" => Computes(Fp32, MinMax),
            "FSEL" | "FSET" | "FSETP" | "FCMP" | "FCHK" | "HSET2" | "HSETP2" => {
                Computes(Fp32, Simple)
            }
            "MUFU" | "RRO" => Computes(Sfu, Special),
            "DADD" => Computes(Fp64, Add),
            "DMUL" => Computes(Fp64, Mul),
            "DFMA" => Computes(Fp64, Mad),
            "DMNMX" => Computes(Fp64, MinMax),
            "DSET" | "DSETP" => Computes(Fp64, Simple),
            "IADD" | "IADD3" | "IADD32I" | "ISCADD" | "ISCADD32I" | "LEA" | "IABS" | "VADD"
            | "VIADD" | "VABSDIFF" | "VABSDIFF4" | "ISAD" | "ISUB" => Computes(Int, Add),
            "IMUL" | "IMUL32I" => Computes(Int, Mul),
            "IMAD" | "IMAD32I" | "IMADSP" | "XMAD" | "IDP" | "IDP4A" | "VMAD" => Computes(Int, Mad),
            "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" | "VMNMX" => Computes(Int, MinMax),
            "BFE" | "BFI" | "BMSK" | "BREV" | "FLO" | "POPC" | "ICMP" | "ISET" | "ISETP"
            | "LOP" | "LOP3" | "LOP32I" | "SHF" | "SHL" | "SHR" | "PRMT" | "SEL" | "SGXT"
            | "MOV" | "MOV32I" | "MOVM" | "PLOP3" | "PSET" | "PSETP" | "CSET" | "CSETP" | "P2R"
            | "R2P" | "F2F" | "F2FP" | "F2I" | "F2IP" | "I2F" | "I2FP" | "I2I" | "I2IP"
            | "FRND" | "B2R" | "R2B" | "LEPC" | "PEXIT" | "QSPC" | "VSET" | "VSETP" | "VSHL"
            | "VSHR" | "AL2P" | "SCATTER" | "SPMETADATA" | "GENMETADATA" => Computes(Int, Simple),
            "S2R" | "CS2R" | "MATCH" | "ELECT" => PerLane(Simple),
            "SHFL" => PerLane(Shuffle),
            "VOTE" | "VOTEU" | "VOTE_VTG" | "REDUX" => Vote,
            "R2UR" | "S2UR" | "CS2UR" | "UBMSK" | "UBREV" | "UF2FP" | "UFLO" | "ULDC" | "LDCU"
            | "ULOP" | "ULOP3" | "ULOP32I" | "UMOV" | "UP2UR" | "UPLOP3" | "UPOPC" | "UPRMT"
            | "UPSETP" | "UR2UP" | "USEL" | "USGXT" | "USHF" | "USHL" | "USHR" | "UISETP"
            | "UF2F" | "UF2I" | "UI2F" | "UFSETP" | "UFSEL" => Uniform(Simple),
            "UIADD3" | "ULEA" | "UCLEA" | "UIABS" | "UFADD" | "UVIADD" => Uniform(Add),
            "UIMAD" | "UFFMA" => Uniform(Mad),
            "UFMUL" => Uniform(Mul),
            "UIMNMX" | "UVIMNMX" | "UFMNMX" => Uniform(MinMax),
            "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" => Does::Product,
            _ => return None,
        })
    }

    fn moves_or_goes(self) -> Option<Does> {
        use Does::{Accesses, Barrier, Fence, Goes, Guides, Texture};
        use MemoryOpKind::{Atomic, Load, Store};
        Some(match self.name {
            "LDG" | "LDGSTS" => Accesses(Load, Space::Global),
            "STG" => Accesses(Store, Space::Global),
            "ATOMG" | "RED" | "REDG" => Accesses(Atomic, Space::Global),
            "LD" => Accesses(Load, Space::Generic),
            "ST" => Accesses(Store, Space::Generic),
            "ATOM" => Accesses(Atomic, Space::Generic),
            "LDS" | "LDSM" => Accesses(Load, Space::Shared),
            "STS" | "STSM" | "STAS" => Accesses(Store, Space::Shared),
            "ATOMS" | "REDS" => Accesses(Atomic, Space::Shared),
            "LDL" => Accesses(Load, Space::Local),
            "STL" => Accesses(Store, Space::Local),
            "LDC" => Accesses(Load, Space::Const),
            "TEX" | "TEXS" | "TLD" | "TLDS" | "TLD4" | "TLD4S" | "TMML" | "TXD" | "TXQ" | "TXA"
            | "SULD" | "SUST" | "SUATOM" | "SURED" | "SUQUERY" => Texture,
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "BRK" | "SYNC" | "BREAK" | "CONT" => {
                Goes(Flow::Branch)
            }
            "CALL" | "CAL" | "JCAL" => Goes(Flow::Call),
            "RET" => Goes(Flow::Return),
            "EXIT" => Goes(Flow::Exit),
            "BSSY" | "BSYNC" | "BMOV" | "BPT" | "WARPSYNC" | "YIELD" | "NANOSLEEP" | "NOP"
            | "KILL" | "RPCMOV" | "RTT" | "SSY" | "PBK" | "PCNT" | "PRET" | "PMTRIG"
            | "CSMTEST" | "SETCTAID" | "SETLMEMBASE" | "GETLMEMBASE" | "USETMAXREG"
            | "LDGDEPBAR" | "DEPBAR" | "PREEXIT" | "ACQBULK" | "ARRIVES" | "BITEXTRACT"
            | "WARPGROUPSET" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "LONGJMP" | "R2R" => Guides,
            "MEMBAR" | "ERRBAR" | "CGAERRBAR" | "FENCE" | "CCTL" | "CCTLL" | "CCTLT" => Fence,
            "BAR" => Barrier,
            _ => return None,
        })
    }
}

impl Does {
    /// The unit and the row of its table of latencies.
    pub fn unit(self) -> (Unit, LatencyClass) {
        use LatencyClass::Simple;
        match self {
            Self::Computes(unit, class) => (unit, class),
            Self::Uniform(class) => (Unit::Scalar, class),
            Self::PerLane(class) => (Unit::Int, class),
            Self::Vote | Self::Texture | Self::Guides => (Unit::Int, Simple),
            Self::Accesses(..) => (Unit::Memory, Simple),
            Self::Product => (Unit::Matrix, LatencyClass::Mad),
            Self::Goes(_) => (Unit::Control, Simple),
            Self::Fence => (Unit::Fence, Simple),
            Self::Barrier => (Unit::Barrier, Simple),
        }
    }

    /// Whether lanes with the same sources get the same.
    pub fn results(self) -> Results {
        match self {
            Self::Uniform(_) | Self::Vote => Results::Same,
            Self::PerLane(_)
            | Self::Product
            | Self::Texture
            | Self::Accesses(MemoryOpKind::Atomic, _)
            | Self::Accesses(_, Space::Local) => Results::PerLane,
            _ => Results::FromSources,
        }
    }
}

/// The shape of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub rows: u32,
    pub columns: u32,
    pub depth: u32,
    /// Bits of an element of the factors.
    pub bits: u8,
    /// Instructions that a product of this shape takes.
    pub steps: u32,
}

impl Shape {
    /// Multiply-adds of the instruction.
    pub fn multiply_adds(self) -> u32 {
        self.rows * self.columns * self.depth / self.steps
    }
}

/// m, n and k as an opcode writes them, without a sign between them.
const SHAPES: [(&str, [u32; 3]); 12] = [
    ("884", [8, 8, 4]),
    ("1684", [16, 8, 4]),
    ("1688", [16, 8, 8]),
    ("16816", [16, 8, 16]),
    ("16832", [16, 8, 32]),
    ("16864", [16, 8, 64]),
    ("8816", [8, 8, 16]),
    ("8832", [8, 8, 32]),
    ("88128", [8, 8, 128]),
    ("168128", [16, 8, 128]),
    ("168256", [16, 8, 256]),
    ("168816", [16, 8, 16]),
];

impl Opcode<'_> {
    /// The shape of a product, if its modifiers tell one.
    pub fn shape(self) -> Option<Shape> {
        let known = |part: &str| SHAPES.iter().find(|(name, _)| *name == part);
        let (name, [rows, columns, depth]) = *self.modifiers().find_map(known)?;
        let bits = match self.name {
            "DMMA" => 64,
            "BMMA" => 1,
            "QMMA" => 8,
            "IMMA" if self.has("S4") || self.has("U4") => 4,
            "IMMA" => 8,
            _ if self.has("TF32") => 32,
            _ => 16,
        };
        // On Volta a warp computes four products of 8 x 8 x 4 side by side, in four instructions if it adds to 32 bits and in two if it adds to 16: Z. Jia et al.,
        // Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018, section 4.
        let (side_by_side, steps) = match (self.name, name) {
            ("HMMA", "884") if self.has("F16") => (4, 2),
            ("HMMA", "884") => (4, 4),
            _ => (1, 1),
        };
        Some(Shape {
            rows: rows * side_by_side,
            columns,
            depth,
            bits,
            steps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_by_modifiers() {
        for (text, bytes) in [
            ("LDG.E.SYS", 4),
            ("LDG.E.64.SYS", 8),
            ("LDG.E.128.CONSTANT.SYS", 16),
            ("LDG.E.U8.SYS", 1),
            ("LDS.U.128", 16),
            ("STG.E.U16", 2),
            ("LDG.E.S8", 1),
            ("LDG.E.LTC128B.64", 8),
            ("ATOMG.E.ADD.64.STRONG.GPU", 8),
        ] {
            assert_eq!(Opcode::new(text).bytes(), bytes, "{text}");
        }
    }

    #[test]
    fn products_by_their_shapes() {
        let adds = |text| Opcode::new(text).shape().map(Shape::multiply_adds);
        // 16 of them make a product of 16 x 16 x 16 in Jia's section 4.1.
        assert_eq!(adds("HMMA.884.F32.F32.STEP0"), Some(16 * 16 * 16 / 16));
        assert_eq!(adds("HMMA.884.F16.F16.STEP1"), Some(16 * 16 * 16 / 8));
        assert_eq!(adds("HMMA.16816.F32"), Some(2048));
        assert_eq!(adds("IMMA.8816.S8.S8"), Some(1024));
        assert_eq!(adds("DMMA.884"), Some(256));
        assert_eq!(adds("HMMA"), None);
        assert_eq!(Opcode::new("HMMA.1684.F32.TF32").shape().unwrap().bits, 32);
    }

    #[test]
    fn each_name_does_one_thing() {
        for name in ["FFMA", "LDG", "BAR", "HMMA", "EXIT", "UIADD3", "SHFL"] {
            let opcode = Opcode::new(name);
            let found = [opcode.computes(), opcode.moves_or_goes()];
            assert_eq!(found.iter().flatten().count(), 1, "{name}");
        }
        assert_eq!(Opcode::new("FROB").does(), None);
    }
}
