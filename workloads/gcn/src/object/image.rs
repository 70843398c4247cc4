//! An object's bytes as they lie in memory.

use std::ops::Range;

use object::read::elf::{ProgramHeader as _, SectionHeader as _};
use object::{
    Object as _, ObjectKind, ObjectSection as _, ObjectSymbol, Relocation, RelocationFlags,
    RelocationTarget, SectionIndex, elf,
};

use super::{Elf, IMAGE_BASE, ObjectError};

/// No object of a kernel is larger.
const MOST_BYTES: u64 = 64 << 20;

/// No kernel has more code.
const MOST_CODE: u64 = 4 << 20;

/// Sections of a relocatable file lie at multiples of this at the least.
const ALIGNMENT: u64 = 256;

/// Relocations of the AMDGPU backend: numbers from LLVM's page on it.
mod kinds {
    pub const NONE: u32 = 0;
    pub const ABS32_LO: u32 = 1;
    pub const ABS32_HI: u32 = 2;
    pub const ABS64: u32 = 3;
    pub const REL32: u32 = 4;
    pub const REL64: u32 = 5;
    pub const ABS32: u32 = 6;
    pub const REL32_LO: u32 = 10;
    pub const REL32_HI: u32 = 11;
    pub const RELATIVE64: u32 = 13;
}

/// An object in memory.
#[derive(Debug, Default)]
pub struct Image {
    pub bytes: Vec<u8>,
    /// Where code lies.
    pub code: Range<u64>,
    /// Where the sections of a relocatable file lie.
    sections: Vec<(SectionIndex, u64)>,
    pub relocated: Vec<(u64, u64)>,
}

impl Image {
    pub fn load(elf: &Elf<'_>) -> Result<Self, ObjectError> {
        let mut image = Self::default();
        match elf.kind() {
            ObjectKind::Relocatable => image.sections(elf)?,
            _ => image.segments(elf)?,
        }
        if image.code.end.saturating_sub(image.code.start) > MOST_CODE {
            return Err(ObjectError::Unsupported(
                "it has more than 4 MiB of code".to_owned(),
            ));
        }
        if image.code.is_empty()
            || image.code.end > image.bytes.len() as u64
            || image.code.start % 4 != 0
        {
            return Err(ObjectError::Damaged("it has no code".to_owned()));
        }
        Ok(image)
    }

    /// Puts `bytes` at `at`, and zeroes behind them.
    fn put(&mut self, at: u64, bytes: &[u8], size: u64) -> Result<(), ObjectError> {
        let end = at.checked_add(size.max(bytes.len() as u64));
        let end = end.filter(|end| *end <= MOST_BYTES);
        let end =
            end.ok_or_else(|| ObjectError::Damaged("its parts take more than 64 MiB".to_owned()))?;
        if self.bytes.len() < end as usize {
            self.bytes.resize(end as usize, 0);
        }
        self.bytes[at as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sections(&mut self, elf: &Elf<'_>) -> Result<(), ObjectError> {
        for section in elf.sections() {
            let header = section.elf_section_header();
            let flags = header.sh_flags(elf.endian());
            if flags & u64::from(elf::SHF_ALLOC) == 0 {
                continue;
            }
            let at = (self.bytes.len() as u64).next_multiple_of(ALIGNMENT);
            self.put(at, section.data()?, section.size())?;
            self.sections.push((section.index(), at));
            if flags & u64::from(elf::SHF_EXECINSTR) != 0 && section.size() > 0 {
                if !self.code.is_empty() {
                    return Err(ObjectError::Unsupported(
                        "the object has several sections of code: link it first".to_owned(),
                    ));
                }
                self.code = at..at + section.size();
            }
        }
        for section in elf.sections() {
            let Some(start) = self.start(section.index()) else {
                continue;
            };
            for (offset, relocation) in section.relocations() {
                let at = start.checked_add(offset);
                let at =
                    at.ok_or_else(|| ObjectError::Damaged("a relocation lies nowhere".to_owned()))?;
                self.relocate(elf, at, &relocation)?;
            }
        }
        Ok(())
    }

    fn segments(&mut self, elf: &Elf<'_>) -> Result<(), ObjectError> {
        let endian = elf.endian();
        for segment in elf.elf_program_headers() {
            if segment.p_type(endian) != elf::PT_LOAD {
                continue;
            }
            let bytes = segment.data(endian, elf.data());
            let bytes = bytes
                .map_err(|()| ObjectError::Damaged("a segment lies beyond the file".to_owned()))?;
            let (at, size) = (segment.p_vaddr(endian), segment.p_memsz(endian));
            self.put(at, bytes, size)?;
            if segment.p_flags(endian) & elf::PF_X != 0 {
                self.code = at..at + bytes.len() as u64;
            }
        }
        if let Some(relocations) = elf.dynamic_relocations() {
            for (at, relocation) in relocations {
                self.relocate(elf, at, &relocation)?;
            }
        }
        Ok(())
    }

    /// Where a section lies, if it is in memory.
    fn start(&self, section: SectionIndex) -> Option<u64> {
        let found = self.sections.iter().find(|(index, _)| *index == section);
        found.map(|(_, at)| *at)
    }

    /// Where a symbol lies.
    pub fn place<'d>(&self, symbol: &impl ObjectSymbol<'d>) -> Option<u64> {
        let value = symbol.address();
        let at = if self.sections.is_empty() {
            value
        } else {
            self.start(symbol.section_index()?)?.checked_add(value)?
        };
        (at < self.bytes.len() as u64).then_some(at)
    }

    fn relocate(
        &mut self,
        elf: &Elf<'_>,
        at: u64,
        relocation: &Relocation,
    ) -> Result<(), ObjectError> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            return Ok(());
        };
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = elf.symbol_by_index(index)?;
                let name = || symbol.name().unwrap_or("").to_owned();
                let place = self.place(&symbol);
                place.ok_or_else(|| {
                    ObjectError::Unsupported(format!("`{}` is not defined in the object", name()))
                })?
            }
            RelocationTarget::Section(index) => self.start(index).unwrap_or(0),
            _ => 0,
        };
        let target = IMAGE_BASE
            .wrapping_add(symbol)
            .wrapping_add_signed(relocation.addend());
        let relative = target.wrapping_sub(IMAGE_BASE.wrapping_add(at));
        let (value, size) = match r_type {
            kinds::NONE => return Ok(()),
            kinds::ABS32_LO | kinds::ABS32 => (target, 4),
            kinds::ABS32_HI => (target >> 32, 4),
            kinds::ABS64 | kinds::RELATIVE64 => (target, 8),
            kinds::REL32 | kinds::REL32_LO => (relative, 4),
            kinds::REL32_HI => (relative >> 32, 4),
            kinds::REL64 => (relative, 8),
            other => {
                let message = format!(
                    "relocation {other} at {at:#x} is not supported: link the object first"
                );
                return Err(ObjectError::Unsupported(message));
            }
        };
        let place = self
            .bytes
            .get_mut(at as usize..)
            .and_then(|bytes| bytes.get_mut(..size));
        let place = place.ok_or_else(|| {
            ObjectError::Damaged("a relocation lies beyond its section".to_owned())
        })?;
        place.copy_from_slice(&value.to_le_bytes()[..size]);
        self.relocated.push((at, target.wrapping_sub(IMAGE_BASE)));
        Ok(())
    }
}
