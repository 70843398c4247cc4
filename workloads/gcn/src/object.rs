//! Code objects: ELF files of LLVM's AMDGPU backend, relocatable or linked, as a loader puts them into memory.

mod descriptor;
mod image;
mod metadata;

use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind, elf};

pub use descriptor::Descriptor;
pub(crate) use descriptor::UserValue;
pub use metadata::Argument;

use image::Image;
use metadata::Metadata;

/// Where an object's first byte lies in the address space of kernels: above all buffers.
pub const IMAGE_BASE: u64 = 0x0100_0000_0000;

/// A file in the format that is read.
type Elf<'d> = ElfFile64<'d, Endianness>;

/// Processors whose code is read, by the number in an object's flags.
const PROCESSORS: [(u32, &str); 2] = [(0x20, "gfx600"), (0x21, "gfx601")];

/// A code object in memory.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its bytes, relocated for [`IMAGE_BASE`].
    pub image: Vec<u8>,
    /// Where code lies in the image.
    pub code: std::ops::Range<u64>,
    /// The kernels, in the order of the metadata.
    pub kernels: Vec<Kernel>,
    /// Every function, by its place.
    pub functions: Vec<Function>,
    /// The processor that it is for.
    pub processor: &'static str,
    /// Places that were relocated, by offset in the image, with the addresses that they stand for.
    pub relocated: Vec<(u64, u64)>,
}

/// A function, kernels among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its first byte in the image.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its first instruction in the image.
    pub entry: u64,
    /// What it needs at its launch.
    pub descriptor: Descriptor,
    /// Its arguments, hidden ones among them.
    pub arguments: Vec<Argument>,
    /// Bytes of its arguments.
    pub argument_bytes: u32,
    /// Work-items of a work-group, if the kernel was compiled for one size.
    pub required_group: Option<[u32; 3]>,
}

/// Why a file is no code object that can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It is no ELF file of 64 bits, or a damaged one.
    #[error("no ELF object: {0}")]
    Elf(String),
    /// It is for another machine.
    #[error("the object is for {found}: only gfx600 and gfx601 (Southern Islands) can run")]
    Machine {
        /// Which.
        found: String,
    },
    /// It does not fit together.
    #[error("the object is damaged: {0}")]
    Damaged(String),
    /// It needs what is not supported.
    #[error("{0}")]
    Unsupported(String),
}

impl From<object::read::Error> for ObjectError {
    fn from(error: object::read::Error) -> Self {
        Self::Elf(error.to_string())
    }
}

impl Object {
    /// Reads a code object.
    ///
    /// # Errors
    /// A file that is no object for Southern Islands, or does not fit together.
    pub fn read(file: &[u8]) -> Result<Self, ObjectError> {
        let elf = Elf::parse(file)?;
        let processor = processor(&elf)?;
        let image = Image::load(&elf)?;
        let metadata = Metadata::of(&elf, file)?;
        let functions = functions(&elf, &image);
        let kernels = metadata.kernels.into_iter();
        let kernels = kernels.map(|kernel| resolve(kernel, &elf, &image));
        let kernels: Vec<Kernel> = kernels.collect::<Result<_, _>>()?;
        Ok(Self {
            kernels,
            functions,
            processor,
            code: image.code,
            image: image.bytes,
            relocated: image.relocated,
        })
    }

    /// The kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The words of the code.
    pub fn words(&self) -> Vec<u32> {
        let code = &self.image[self.code.start as usize..self.code.end as usize];
        let words = code.as_chunks::<4>().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    }
}

fn processor(elf: &Elf<'_>) -> Result<&'static str, ObjectError> {
    let header = elf.elf_header();
    let endian = elf.endian();
    let machine = header.e_machine(endian);
    let other = |found| Err(ObjectError::Machine { found });
    if machine != elf::EM_AMDGPU {
        return other(format!("machine {machine}"));
    }
    let flags = header.e_flags(endian) & 0xff;
    match PROCESSORS.iter().find(|(number, _)| *number == flags) {
        Some((_, name)) => Ok(name),
        None => other(format!(
            "another AMD processor (number {flags:#x} in its flags)"
        )),
    }
}

fn functions(elf: &Elf<'_>, image: &Image) -> Vec<Function> {
    let symbols = elf.symbols().chain(elf.dynamic_symbols());
    let found = symbols.filter(|symbol| symbol.kind() == SymbolKind::Text);
    let mut functions: Vec<Function> = found
        .filter_map(|symbol| {
            Some(Function {
                name: symbol.name().ok()?.to_owned(),
                start: image.place(&symbol)?,
                bytes: symbol.size(),
            })
        })
        .collect();
    functions.sort_by(|one, two| (one.start, &one.name).cmp(&(two.start, &two.name)));
    functions.dedup();
    functions
}

/// Arguments take no more, hidden ones among them.
const MOST_ARGUMENT_BYTES: u32 = 1 << 16;

/// Finds a kernel's descriptor and its first instruction.
fn resolve(kernel: metadata::Kernel, elf: &Elf<'_>, image: &Image) -> Result<Kernel, ObjectError> {
    let damaged = |what: &str| ObjectError::Damaged(format!("kernel `{}`: {what}", kernel.name));
    let mut symbols = elf.symbols().chain(elf.dynamic_symbols());
    let symbol = symbols.find(|symbol| symbol.name() == Ok(kernel.symbol.as_str()));
    let symbol = symbol.ok_or_else(|| damaged("its descriptor's symbol is missing"))?;
    let at = image.place(&symbol);
    let at = at.ok_or_else(|| damaged("its descriptor lies nowhere"))?;
    let bytes = image
        .bytes
        .get(at as usize..)
        .and_then(|bytes| bytes.first_chunk());
    let descriptor = Descriptor::new(bytes.ok_or_else(|| damaged("its descriptor is cut short"))?);
    let entry = at.wrapping_add_signed(descriptor.entry_offset);
    if !image.code.contains(&entry) || !entry.is_multiple_of(4) {
        return Err(damaged("it begins outside of the code"));
    }
    let mut end = 0;
    for argument in &kernel.arguments {
        let next = argument.offset.checked_add(argument.bytes);
        if argument.offset < end || next.is_none_or(|next| next > MOST_ARGUMENT_BYTES) {
            return Err(damaged("its arguments overlap or take too much memory"));
        }
        end = argument.offset + argument.bytes;
    }
    if kernel.argument_bytes.max(descriptor.argument_bytes) > MOST_ARGUMENT_BYTES {
        return Err(damaged("its arguments take too much memory"));
    }
    Ok(Kernel {
        entry,
        argument_bytes: kernel
            .argument_bytes
            .max(descriptor.argument_bytes)
            .max(end),
        arguments: kernel.arguments,
        required_group: kernel.required_group,
        name: kernel.name,
        descriptor,
    })
}
