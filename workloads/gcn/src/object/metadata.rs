//! The metadata note: kernels and their arguments, in MessagePack.

use object::Object as _;
use object::read::elf::{ProgramHeader as _, SectionHeader as _};
use serde::Deserialize;

use super::{Elf, ObjectError};

/// Type of the note.
const NT_AMDGPU_METADATA: u32 = 32;

/// What the note holds.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    #[serde(rename = "amdhsa.kernels")]
    pub kernels: Vec<Kernel>,
}

/// A kernel's entry.
#[derive(Debug, Deserialize)]
pub struct Kernel {
    #[serde(rename = ".name")]
    pub name: String,
    #[serde(rename = ".symbol")]
    pub symbol: String,
    #[serde(rename = ".args", default)]
    pub arguments: Vec<Argument>,
    #[serde(rename = ".kernarg_segment_size", default)]
    pub argument_bytes: u32,
    #[serde(rename = ".reqd_workgroup_size", default)]
    pub required_group: Option<[u32; 3]>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Argument {
    /// Its name, if the compiler kept it.
    #[serde(rename = ".name", default)]
    pub name: String,
    /// Its first byte among the arguments.
    #[serde(rename = ".offset")]
    pub offset: u32,
    /// Its bytes.
    #[serde(rename = ".size")]
    pub bytes: u32,
    /// What it is: `global_buffer`, `by_value`, `hidden_*`, ...
    #[serde(rename = ".value_kind")]
    pub kind: String,
    /// Where what it points at lies.
    #[serde(rename = ".address_space", default)]
    pub space: Option<String>,
}

impl Argument {
    /// Whether no launch passes it.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

impl Metadata {
    pub(super) fn of(elf: &Elf<'_>, file: &[u8]) -> Result<Self, ObjectError> {
        let note = note(elf, file)?;
        let note = note.ok_or_else(|| {
            ObjectError::Unsupported(
                "the object has no metadata note: its kernels' arguments are unknown".to_owned(),
            )
        })?;
        rmp_serde::from_slice(note)
            .map_err(|error| ObjectError::Damaged(format!("its metadata note: {error}")))
    }
}

/// The note's contents, from a section of a relocatable file or from a segment of a linked one.
fn note<'d>(elf: &Elf<'d>, file: &'d [u8]) -> Result<Option<&'d [u8]>, ObjectError> {
    let endian = elf.endian();
    for section in elf.sections() {
        if let Some(mut notes) = section.elf_section_header().notes(endian, file)? {
            while let Some(note) = notes.next()? {
                if note.n_type(endian) == NT_AMDGPU_METADATA && note.name() == b"AMDGPU" {
                    return Ok(Some(note.desc()));
                }
            }
        }
    }
    for segment in elf.elf_program_headers() {
        if let Some(mut notes) = segment.notes(endian, file)? {
            while let Some(note) = notes.next()? {
                if note.n_type(endian) == NT_AMDGPU_METADATA && note.name() == b"AMDGPU" {
                    return Ok(Some(note.desc()));
                }
            }
        }
    }
    Ok(None)
}
