//! What stands in for cuBLAS knows of a program: types of elements, handles, and which kernels there are for them.

use std::collections::BTreeMap;

use warpwatt_simt::{decode_bf16, decode_half};

use crate::error::{Code, Outcome};

/// What is stored: types of `cudaDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `CUDA_R_32F`.
    F32,
    /// `CUDA_R_64F`.
    F64,
    /// `CUDA_R_16F`.
    F16,
    /// `CUDA_R_16BF`.
    Bf16,
}

impl Element {
    /// The type of a number of `cudaDataType`.
    ///
    /// # Errors
    /// It is none of those that have kernels.
    pub fn of(number: i32) -> Outcome<Self> {
        match number {
            0 => Ok(Self::F32),
            1 => Ok(Self::F64),
            2 => Ok(Self::F16),
            14 => Ok(Self::Bf16),
            _ => Err(Code::NOT_SUPPORTED),
        }
    }

    /// Its name in those of kernels.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    /// Bytes of one.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// A value from its bytes.
    pub fn value(self, bytes: &[u8]) -> f64 {
        match self {
            Self::F64 => bytes.try_into().map_or(f64::NAN, f64::from_le_bytes),
            Self::F32 => f64::from(bytes.try_into().map_or(f32::NAN, f32::from_le_bytes)),
            Self::F16 => decode_half(u16::from_le_bytes([bytes[0], bytes[1]])),
            Self::Bf16 => decode_bf16(u16::from_le_bytes([bytes[0], bytes[1]])),
        }
    }

    /// A factor as kernels of this type take it: double for doubles, else single.
    pub fn factor(self, value: f64) -> Vec<u8> {
        match self {
            Self::F64 => value.to_le_bytes().to_vec(),
            _ => (value as f32).to_le_bytes().to_vec(),
        }
    }
}

/// What a program's handle stands for.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// Where its work goes.
    pub stream: u64,
    /// Whether factors and results of a number lie in device memory.
    pub on_device: bool,
    /// As it was set (`cublasMath_t`).
    pub math: i32,
    /// As it was set.
    pub atomics: i32,
    /// Where memory of its own is: parts of a sum, and the sum.
    pub scratch: u64,
}

/// The handles, and the modules with kernels once they are needed.
#[derive(Debug, Default)]
pub struct Blas {
    /// The handles by their numbers.
    pub handles: BTreeMap<u64, Handle>,
    /// The modules that were read.
    pub units: BTreeMap<Kernels, u64>,
}

/// Modules with kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernels {
    /// For every GPU.
    Plain,
    /// Products of halves on tensor cores since Volta.
    Volta,
    /// Products of halves and bfloats on tensor cores since Ampere.
    Ampere,
}

impl Kernels {
    /// Their PTX.
    pub fn text(self) -> &'static str {
        match self {
            Self::Plain => include_str!("../blas/kernels.ptx"),
            Self::Volta => include_str!("../blas/tensor70.ptx"),
            Self::Ampere => include_str!("../blas/tensor80.ptx"),
        }
    }

    /// Those with tensor cores for a type, if a GPU of that compute capability has them.
    pub fn with_tensor_cores(element: Element, capability: u32) -> Option<Self> {
        match (element, capability) {
            (Element::F16 | Element::Bf16, 80..) => Some(Self::Ampere),
            (Element::F16, 70..) => Some(Self::Volta),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_their_bits_say() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 2f64.powi(-24)),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
            (0x03ff, 1023.0 * 2f64.powi(-24)),
        ];
        let half = |bits: u16| Element::F16.value(&bits.to_le_bytes());
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
