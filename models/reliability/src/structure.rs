//! The storage structures of the model, by the names that studies, commands and reports use.

use std::fmt;

/// A structure that holds bits a particle can flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Structure {
    /// Decoded instructions of each warp that wait for issue.
    InstructionBuffer,
    /// The vector registers of all warps.
    RegisterFile,
    /// Scratch memory of the resident CTAs.
    SharedMemory,
    /// The reconvergence stacks of all warps.
    SimtStack,
    /// Operands between the register banks and the execution units.
    OperandCollector,
    /// Data of the instruction cache.
    InstructionCache,
    /// Data of the constant cache.
    ConstantCache,
    /// Data of the texture cache.
    TextureCache,
    /// Data of the first-level data cache.
    L1Data,
    /// Data of the second-level cache.
    L2,
    /// The instruction reuse buffer of `uniform_vector`.
    InstructionReuseBuffer,
    /// The scalar register file of `uniform_vector` and `static_scalarization`.
    ScalarRegisterFile,
    /// The renaming table of `register_virtualization`.
    RenamingTable,
}

/// A name that no structure has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStructure(pub String);

impl fmt::Display for UnknownStructure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no structure `{}`", self.0)
    }
}

impl std::error::Error for UnknownStructure {}

impl Structure {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All structures, in the order in which reports show them.
    pub const ALL: [Self; 13] = [
        Self::InstructionBuffer,
        Self::RegisterFile,
        Self::SharedMemory,
        Self::SimtStack,
        Self::OperandCollector,
        Self::InstructionCache,
        Self::ConstantCache,
        Self::TextureCache,
        Self::L1Data,
        Self::L2,
        Self::InstructionReuseBuffer,
        Self::ScalarRegisterFile,
        Self::RenamingTable,
    ];

    /// Its name in studies, commands and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InstructionBuffer => "instruction_buffer",
            Self::RegisterFile => "register_file",
            Self::SharedMemory => "shared_memory",
            Self::SimtStack => "simt_stack",
            Self::OperandCollector => "operand_collector",
            Self::InstructionCache => "instruction_cache",
            Self::ConstantCache => "constant_cache",
            Self::TextureCache => "texture_cache",
            Self::L1Data => "l1_data",
            Self::L2 => "l2",
            Self::InstructionReuseBuffer => "instruction_reuse_buffer",
            Self::ScalarRegisterFile => "scalar_register_file",
            Self::RenamingTable => "renaming_table",
        }
    }

    /// The structure called `name`.
    ///
    /// # Errors
    /// If none is called that.
    pub fn of(name: &str) -> Result<Self, UnknownStructure> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| UnknownStructure(name.to_owned()))
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_is_found_by_its_name() {
        for (place, structure) in Structure::ALL.into_iter().enumerate() {
            assert_eq!(structure as usize, place, "{structure}");
            assert_eq!(Structure::of(structure.name()), Ok(structure));
        }
        let unknown = Structure::of("register file").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no structure `register file`");
    }
}
