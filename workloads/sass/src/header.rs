//! The lines before the first thread block: what was launched, on what, by which tracer.

use warpwatt_simt::trace::LaunchShape;

use crate::fault::{Fault, no_value};

/// Newest version of the tracer whose traces are read.
const NEWEST: u32 = 6;
/// Threads of a warp on every GPU of NVIDIA's.
const WARP_WIDTH: u32 = 32;

/// What a trace says of its launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The kernel's mangled name.
    pub kernel: String,
    /// Thread blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Registers a thread.
    pub registers: u32,
    /// Compute capability that the machine code is for, such as 70.
    pub binary: u32,
    /// Version of the tracer.
    pub version: u32,
    /// Whether lines begin with the line of the source.
    pub has_lines: bool,
    /// First generic address of shared memory; 0 if it is not told.
    pub shared_base: u64,
    /// First generic address of local memory; 0 if it is not told.
    pub local_base: u64,
}

impl Header {
    /// Takes a line that begins with `-`.
    pub(crate) fn take(&mut self, line: &str) -> Result<(), Fault> {
        let wrong = || no_value(line);
        let Some((key, value)) = line.split_once('=') else {
            return Err(wrong());
        };
        let value = value.trim();
        match key.trim_start_matches('-').trim() {
            "kernel name" => self.kernel = value.to_owned(),
            "grid dim" => self.grid = extents(value).ok_or_else(wrong)?,
            "block dim" => self.block = extents(value).ok_or_else(wrong)?,
            "shmem" => self.shared_bytes = value.parse().map_err(|_| wrong())?,
            "nregs" => self.registers = registers(value).ok_or_else(wrong)?,
            "binary version" => self.binary = value.parse().map_err(|_| wrong())?,
            "accelsim tracer version" => self.version = value.parse().map_err(|_| wrong())?,
            "enable lineinfo" => self.has_lines = value != "0",
            "shmem base_addr" => self.shared_base = address(value).ok_or_else(wrong)?,
            "local mem base_addr" => self.local_base = address(value).ok_or_else(wrong)?,
            // Kernel's and stream's number, NVBit's version, and what later tracers add.
            _ => {}
        }
        Ok(())
    }

    /// The launch, once all lines were taken.
    pub(crate) fn shape(&self) -> Result<LaunchShape, Fault> {
        if self.version > NEWEST {
            let message = format!(
                "tracer version {} is not known; the newest that is read is {NEWEST}",
                self.version
            );
            return Err(Fault::new(message));
        }
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Err(Fault::new("there is no `-grid dim` or no `-block dim`"));
        }
        Ok(LaunchShape {
            grid: self.grid,
            block: self.block,
            warp_width: WARP_WIDTH,
            shared_bytes: self.shared_bytes,
            registers: self.registers.max(1),
        })
    }

    /// Bytes from an instruction to the next: 16 with their control fields since Volta; 8 before, where control words stand among them since Maxwell.
    pub(crate) fn instruction_bytes(&self) -> u32 {
        if self.binary >= 70 { 16 } else { 8 }
    }
}

/// `(16,1,1)`.
fn extents(text: &str) -> Option<[u32; 3]> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = inner.split(',').map(|number| number.trim().parse().ok());
    let extents = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(extents)
}

/// Registers of a thread: what a compiler makes has at least one.
fn registers(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&registers| registers > 0)
}

/// `0x00007f8125000000`.
pub(crate) fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_header() {
        let mut header = Header::default();
        for line in [
            "-kernel name = _Z6vecAddPdS_S_i",
            "-kernel id = 1",
            "-grid dim = (98,1,1)",
            "-block dim = (32,32,1)",
            "-shmem = 2048",
            "-nregs = 16",
            "-binary version = 70",
            "-cuda stream id = 0",
            "-shmem base_addr = 0x00007f5d53000000",
            "-local mem base_addr = 0x00007f5d51000000",
            "-nvbit version = 1.5.2",
            "-accelsim tracer version = 3",
        ] {
            header.take(line).unwrap();
        }
        assert_eq!(header.kernel, "_Z6vecAddPdS_S_i");
        assert_eq!(header.shared_base, 0x7f5d_5300_0000);
        let shape = header.shape().unwrap();
        assert_eq!((shape.grid, shape.block), ([98, 1, 1], [32, 32, 1]));
        assert_eq!((shape.shared_bytes, shape.registers), (2048, 16));
        assert_eq!(header.instruction_bytes(), 16);
    }

    #[test]
    fn what_has_no_value_is_told() {
        for line in [
            "-grid dim = 98",
            "-nregs = many",
            "-nregs = 0",
            "-shmem",
            "-grid dim = (1,2)",
        ] {
            assert!(Header::default().take(line).is_err(), "{line}");
        }
        let mut header = Header::default();
        assert!(header.shape().is_err(), "nothing was launched");
        (header.grid, header.block, header.version) = ([1; 3], [1; 3], 7);
        assert!(header.shape().is_err(), "a tracer that is not known");
    }
}
