//! How much of a GPU's register file there is.

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::GpuSpec;

use crate::Structure;
use crate::parameter::{CountOr, Handle, Values, count_or};
use warpwatt_structures::inventory;

/// The size of a register file that is smaller than what programs see.
pub const REGISTER_FILE_KB: CountOr = count_or(
    "register_file_kb",
    None,
    1..=4096,
    "half",
    "size of the physical register file of an SM, rounded down to whole registers in each of its arrays; \"half\": half of the GPU's",
);

/// How much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All that the GPU has.
    Whole,
    /// Half of it.
    Half,
    /// So many kilobytes.
    Kb(u32),
}

impl Size {
    /// As [`REGISTER_FILE_KB`] says.
    pub fn of(values: &Values) -> Self {
        values.get(&REGISTER_FILE_KB).map_or(Self::Half, Self::Kb)
    }

    /// Bytes of the file of `gpu`: as many arrays as it has, with fewer rows each.
    pub fn bytes(self, gpu: &GpuSpec) -> u32 {
        let whole = gpu.sm.registers_bytes;
        let wanted = match self {
            Self::Whole => return whole,
            Self::Half => whole / 2,
            Self::Kb(kb) => kb.saturating_mul(1024).min(whole),
        };
        let row = 4 * gpu.sm.warp_width;
        let arrays = arrays(gpu);
        (wanted / arrays / row).max(1) * arrays * row
    }

    /// The GPU with so much.
    pub fn applied(self, gpu: &GpuSpec) -> GpuSpec {
        let mut small = gpu.clone();
        small.sm.registers_bytes = self.bytes(gpu);
        let words = u64::from(gpu.operands.bank_words) * u64::from(small.sm.registers_bytes);
        small.operands.bank_words = (words / u64::from(gpu.sm.registers_bytes)).max(1) as u32;
        small
    }

    /// Gives the register file, among structures of `gpu`, this size.
    pub fn resize(self, gpu: &GpuSpec, structures: &mut [Structure]) {
        if self == Self::Whole {
            return;
        }
        let small = self.applied(gpu);
        let resized = inventory(&small);
        for structure in structures {
            let same = resized.iter().find(|other| other.name == structure.name);
            if let (true, Some(other)) = (structure.name.starts_with("register_"), same) {
                structure.spec = other.spec.clone();
            }
        }
    }

    /// A file cannot be larger than the one that it stands for.
    ///
    /// # Errors
    /// If it is.
    pub fn check(self, gpu: &GpuSpec) -> Result<(), CircuitError> {
        let whole = u64::from(gpu.sm.registers_bytes) / 1024;
        match self {
            Self::Kb(kb) if u64::from(kb) > whole => Err(CircuitError::Size {
                what: REGISTER_FILE_KB.name(),
                got: u64::from(kb),
                constraint: "must not be more than the GPU's register file has",
                nearest: whole,
            }),
            _ => Ok(()),
        }
    }
}

fn arrays(gpu: &GpuSpec) -> u32 {
    let bank_bytes = gpu.operands.bank_words * gpu.operands.bank_bits / 8;
    (gpu.sm.registers_bytes / bank_bytes.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_get_fewer_rows() {
        let gpu = GpuSpec::preset("fermi-16sm").unwrap();
        let sizes = [
            Size::Whole,
            Size::Half,
            Size::Kb(64),
            Size::Kb(77),
            Size::Kb(90),
        ];
        let kb = sizes.map(|size| size.bytes(&gpu) / 1024);
        assert_eq!(kb, [128, 64, 64, 76, 88]);
        let small = Size::Half.applied(&gpu);
        assert_eq!(small.operands.bank_words, 128);
        let mut structures = inventory(&gpu);
        let arrays = |structures: &[Structure]| {
            let file = structures.iter().find(|s| s.name == "register_file");
            file.map(|file| (file.count, file.spec.clone())).unwrap()
        };
        let (count, whole) = arrays(&structures);
        Size::Half.resize(&gpu, &mut structures);
        let (same, half) = arrays(&structures);
        assert_eq!(count, same);
        assert_ne!(whole, half);
        assert!(Size::Kb(129).check(&gpu).is_err() && Size::Kb(128).check(&gpu).is_ok());
    }
}
