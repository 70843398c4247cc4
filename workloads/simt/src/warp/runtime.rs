//! What the CUDA runtime does on the device: its heap, launches by kernels, and what kernels tell the host.

use warpwatt_ptx::program::{Inst, RuntimeCall};
use warpwatt_ptx::types::Space;

use super::Warp;
use crate::device_launch::Shape;
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::print::{Arguments, LONGEST, text};
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Performs the call, lowest lane first.
    pub(super) fn runtime(
        &mut self,
        how: RuntimeCall,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let firsts = *self.registers.double(inst.src[0]);
        let mut results = [0; W];
        for lane in lanes(executed) {
            let at = lane as usize;
            let first = firsts[at];
            let fault = |cause| BadAccess { lane, cause };
            let double = |source: usize| self.registers.double(inst.src[source])[at];
            let word = |source: usize| self.registers.word(inst.src[source])[at];
            let device = &mut *memories.device;
            match how {
                RuntimeCall::Allocate => results[at] = device.allocate(first),
                RuntimeCall::Free => device.release(first).map_err(fault)?,
                RuntimeCall::Prepare => {
                    let shape = Shape {
                        entry: first,
                        grid: [1, 2, 3].map(word),
                        block: [4, 5, 6].map(word),
                        dynamic_shared: word(7),
                    };
                    results[at] = device.prepare(shape);
                }
                RuntimeCall::Launch => {
                    let from = (inst.src.as_slice().len() > 2).then(|| double(2));
                    results[at] = u64::from(device.launch(first, double(1), from));
                }
                RuntimeCall::Print => {
                    let count = print(memories, lane, (first, double(1)));
                    results[at] = count.map_err(fault)?.into();
                }
                RuntimeCall::Assert => {
                    let texts = [first, double(1), double(2)];
                    return Err(fault(assertion(memories, lane, texts, word(3))));
                }
            }
        }
        if let Some(&slot) = inst.dst.as_slice().first() {
            self.registers.set_extended(slot, executed, &results);
        }
        Ok(())
    }
}

/// What a lane prints; how many arguments the format has.
fn print(memories: &mut Memories<'_>, lane: u32, at: (u64, u64)) -> Result<u32, Cause> {
    // Beside other CTAs nothing can be told to the host, in which order would that be: the stretch is not apart from others.
    if memories.device.view().is_some() {
        return Err(Cause::Together);
    }
    let (format, values) = at;
    let mut read = Read {
        memories: &mut *memories,
        lane,
        values,
        bad: format,
    };
    let printed = read
        .string(format, LONGEST)
        .and_then(|format| text(&format, &mut read));
    let (text, count) = printed.ok_or(Cause::BadFormat(read.bad))?;
    memories.device.printed.keep(text);
    Ok(count)
}

/// What an assertion says that does not hold, as CUDA writes it.
fn assertion(memories: &mut Memories<'_>, lane: u32, at: [u64; 3], line: u32) -> Cause {
    let mut read = Read {
        memories,
        lane,
        values: 0,
        bad: 0,
    };
    let [asserted, file, function] = at.map(|address| {
        let text = read.string(address, LONGEST).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    });
    Cause::Assertion(format!(
        "{file}:{line}: {function}: Assertion `{asserted}` failed"
    ))
}

/// Memory as a lane sees it.
struct Read<'r, 'm> {
    memories: &'r mut Memories<'m>,
    lane: u32,
    /// Where arguments lie.
    values: u64,
    /// What was read last, which may be what could not be.
    bad: u64,
}

impl Read<'_, '_> {
    /// What lies from an address on, to the end of its range.
    fn behind(&mut self, address: u64) -> Option<&[u8]> {
        self.bad = address;
        let (start, range) = self.memories.range(Space::Generic, self.lane, address)?;
        range.get(usize::try_from(address - start).ok()?..)
    }
}

impl Arguments for Read<'_, '_> {
    fn number(&mut self, offset: u64, bytes: u64) -> Option<u64> {
        let found = self.behind(self.values.checked_add(offset)?)?;
        let mut whole = [0; 8];
        whole[..bytes as usize].copy_from_slice(found.get(..bytes as usize)?);
        Some(u64::from_le_bytes(whole))
    }

    fn string(&mut self, address: u64, most: usize) -> Option<Vec<u8>> {
        let found = self.behind(address)?;
        let found = &found[..found.len().min(most)];
        let end = found.iter().position(|&byte| byte == 0);
        Some(found[..end.unwrap_or(found.len())].to_vec())
    }
}
