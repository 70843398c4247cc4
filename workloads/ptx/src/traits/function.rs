//! Traits of the functions of words and doubles, a row a function.

use super::{ALL, Dependence, LatencyClass, Traits, Unit, low_bits};
use crate::program::{Long1, Long2, Long3, LongShift, LongToWord, PairOp, Word1, Word2, Word3};

use LatencyClass::{Add, Div, Mad, MinMax, Mul, Simple, Special};
use Unit::{Fp32, Fp64, Int, Sfu};

const WHOLE: Dependence = Dependence::Whole(ALL);
const BITWISE: Dependence = Dependence::Bitwise(ALL);
const NOT_ABOVE: Dependence = Dependence::NotAbove(ALL);

const fn pure(unit: Unit, latency: LatencyClass, sources: Dependence) -> Traits {
    Traits::pure(unit, latency, sources)
}

impl Word1 {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Copy | Self::Not => pure(Int, Simple, BITWISE).family(),
            Self::Neg => pure(Int, Simple, NOT_ABOVE).family(),
            Self::Abs | Self::Popc | Self::Clz | Self::Brev | Self::Bfind { .. } => {
                pure(Int, Simple, WHOLE).family()
            }
            Self::FNeg { flush: false } => pure(Fp32, Simple, BITWISE).family(),
            Self::FAbs { flush: false } => {
                pure(Fp32, Simple, Dependence::Bitwise(low_bits(31))).family()
            }
            Self::FNeg { flush: true } | Self::FAbs { flush: true } => {
                pure(Fp32, Simple, WHOLE).family()
            }
            Self::FSqrt(_) => pure(Sfu, Special, WHOLE),
            Self::FRcp(_) => pure(Fp32, Div, WHOLE),
            Self::SqrtApprox { .. }
            | Self::RcpApprox { .. }
            | Self::RsqrtApprox { .. }
            | Self::Ex2Approx { .. }
            | Self::Lg2Approx { .. }
            | Self::SinApprox { .. }
            | Self::CosApprox { .. }
            | Self::TanhApprox => pure(Sfu, Special, WHOLE).family(),
        }
    }
}

impl Word2 {
    pub(super) fn traits(self) -> Traits {
        let width = 32;
        match self {
            Self::Add | Self::Sub => pure(Int, Add, NOT_ABOVE).family(),
            Self::AddSaturate | Self::SubSaturate => pure(Int, Add, WHOLE).family(),
            Self::Mul => pure(Int, Mul, NOT_ABOVE).family(),
            Self::MulHi { .. } | Self::Mul24 { .. } => pure(Int, Mul, WHOLE).family(),
            Self::Div { .. } | Self::Rem { .. } => pure(Sfu, Div, WHOLE).family(),
            Self::Min { .. } | Self::Max { .. } => pure(Int, MinMax, WHOLE).family(),
            Self::And => pure(Int, Simple, Dependence::And).family(),
            Self::Or => pure(Int, Simple, Dependence::Or).family(),
            Self::Xor => pure(Int, Simple, BITWISE).family(),
            Self::Shl => pure(Int, Simple, Dependence::ShiftLeft { width }).family(),
            Self::Shr { signed } => {
                pure(Int, Simple, Dependence::ShiftRight { width, signed }).family()
            }
            // It has no number: no flipped bit makes it or changes it.
            Self::Bmsk { .. } => pure(Int, Simple, WHOLE),
            Self::FAdd(_) | Self::FSub(_) => pure(Fp32, Add, WHOLE).family(),
            Self::FMul(_) => pure(Fp32, Mul, WHOLE).family(),
            Self::FDiv(_) => pure(Fp32, Div, WHOLE).family(),
            Self::FDivApprox { .. } => pure(Fp32, Div, WHOLE),
            Self::FMin { .. } | Self::FMax { .. } => pure(Fp32, MinMax, WHOLE).family(),
            Self::CopySign => pure(Fp32, Simple, WHOLE).family(),
        }
    }
}

impl Word3 {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Mad => pure(Int, Mad, NOT_ABOVE).family(),
            Self::Add3 => pure(Int, Add, NOT_ABOVE),
            Self::MadHi { .. } => pure(Int, Mad, WHOLE).family(),
            Self::Mad24 { .. } | Self::Dp4a { .. } | Self::Dp2a { .. } => pure(Int, Mad, WHOLE),
            Self::Sad { .. } => pure(Int, Add, WHOLE).family(),
            Self::Fma(_) => pure(Fp32, Mad, WHOLE).family(),
            Self::Lop3(_) => pure(Int, Simple, BITWISE),
            Self::Prmt(_) => pure(Int, Simple, WHOLE),
            Self::FExtreme(_) => pure(Fp32, MinMax, WHOLE),
            Self::FunnelShift { .. } | Self::Bfe { .. } => pure(Int, Simple, WHOLE).family(),
        }
    }
}

impl Long1 {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Copy | Self::Not => pure(Int, Simple, BITWISE).family(),
            Self::Neg | Self::Abs | Self::Brev => pure(Int, Simple, WHOLE).family(),
            Self::FNeg | Self::FAbs => pure(Fp64, Simple, WHOLE).family(),
            Self::FSqrt(_) | Self::RcpGross | Self::RsqrtApprox | Self::RsqrtGross => {
                pure(Fp64, Special, WHOLE)
            }
            Self::FRcp(_) => pure(Fp64, Div, WHOLE),
        }
    }
}

impl Long2 {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Add | Self::Sub => pure(Int, Add, NOT_ABOVE).family(),
            Self::Mul => pure(Int, Mul, NOT_ABOVE).family(),
            Self::MulHi { .. } => pure(Int, Mul, WHOLE).family(),
            Self::Div { .. } | Self::Rem { .. } => pure(Sfu, Div, WHOLE).family(),
            Self::Min { .. } | Self::Max { .. } => pure(Int, MinMax, WHOLE).family(),
            Self::And => pure(Int, Simple, Dependence::And).family(),
            Self::Or => pure(Int, Simple, Dependence::Or).family(),
            Self::Xor => pure(Int, Simple, BITWISE).family(),
            Self::FAdd(_) | Self::FSub(_) => pure(Fp64, Add, WHOLE).family(),
            Self::FMul(_) => pure(Fp64, Mul, WHOLE).family(),
            Self::FDiv(_) => pure(Fp64, Div, WHOLE),
            Self::FMin | Self::FMax => pure(Fp64, MinMax, WHOLE).family(),
            Self::CopySign => pure(Int, Simple, WHOLE),
            Self::Pair(PairOp::Add | PairOp::Sub, _) => pure(Fp32, Add, WHOLE),
            Self::Pair(PairOp::Mul, _) => pure(Fp32, Mul, WHOLE),
        }
    }
}

impl Long3 {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Mad => pure(Int, Mad, NOT_ABOVE).family(),
            Self::Sad { .. } => pure(Int, Add, WHOLE).family(),
            Self::Fma(_) => pure(Fp64, Mad, WHOLE).family(),
            Self::FmaPair(_) => pure(Fp32, Mad, WHOLE),
        }
    }
}

impl LongShift {
    pub(super) fn traits(self) -> Traits {
        let width = 64;
        let sources = match self {
            Self::Shl => Dependence::ShiftLeft { width },
            Self::Shr { signed } => Dependence::ShiftRight { width, signed },
        };
        pure(Int, Simple, sources).family()
    }
}

impl LongToWord {
    pub(super) fn traits(self) -> Traits {
        match self {
            Self::Popc | Self::Clz => pure(Int, Simple, WHOLE).family(),
            Self::Bfind { .. } | Self::PendingCount => pure(Int, Simple, WHOLE),
        }
    }
}
