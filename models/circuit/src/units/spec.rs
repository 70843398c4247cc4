//! Which functional unit.

use serde::{Deserialize, Serialize};

/// An operation on one lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSpec {
    /// What it does.
    pub operation: Operation,
    /// On what.
    pub precision: Precision,
    /// Multiply-adds of a matrix operation; 64 for a 4 x 4 x 4 step.
    #[serde(default = "step")]
    pub macs: u32,
}

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Addition, also subtraction, comparison, logic.
    Add,
    /// Multiplication.
    Mul,
    /// Multiplication and addition of whole numbers.
    Mad,
    /// Fused multiply-add of floating-point numbers.
    Fma,
    /// Special function: reciprocal, root, exponential, sine.
    Sfu,
    /// Matrix multiply-add of a tensor core.
    Mma,
    /// Address of a load or store.
    Address,
}

/// Of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Whole numbers of 8 bits.
    Int8,
    /// Of 16 bits.
    Int16,
    /// Of 32 bits.
    Int32,
    /// Of 64 bits.
    Int64,
    /// Half precision.
    Fp16,
    /// Half precision with the range of single.
    Bf16,
    /// Single precision.
    Fp32,
    /// Double precision.
    Fp64,
}

impl UnitSpec {
    pub(crate) fn name(&self) -> String {
        let operation = match self.operation {
            Operation::Add => "addition",
            Operation::Mul => "multiplication",
            Operation::Mad => "multiply-add",
            Operation::Fma => "fused multiply-add",
            Operation::Sfu => "special function",
            Operation::Mma => "matrix multiply-add",
            Operation::Address => "address",
        };
        format!("{operation}, {}", self.precision.name())
    }
}

impl Precision {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp32 => "fp32",
            Self::Fp64 => "fp64",
        }
    }

    /// Of an operand.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Int8 => 8,
            Self::Int16 | Self::Fp16 | Self::Bf16 => 16,
            Self::Int32 | Self::Fp32 => 32,
            Self::Int64 | Self::Fp64 => 64,
        }
    }

    /// Names of the published adders and multipliers.
    pub(crate) const fn families(self) -> (&'static str, &'static str) {
        match self {
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => ("int_add", "int_mul"),
            Self::Bf16 => ("bf_add", "bf_mul"),
            Self::Fp16 | Self::Fp32 | Self::Fp64 => ("fp_add", "fp_mul"),
        }
    }

    pub(crate) const fn fused(self) -> Option<&'static str> {
        match self {
            Self::Fp16 | Self::Fp32 | Self::Fp64 => Some("fp_fma"),
            _ => None,
        }
    }

    pub(crate) const fn matrix(self) -> Option<&'static str> {
        match self {
            Self::Fp16 | Self::Bf16 => Some("fp_mma"),
            Self::Int8 => Some("int_mma"),
            _ => None,
        }
    }
}

const fn step() -> u32 {
    64
}
