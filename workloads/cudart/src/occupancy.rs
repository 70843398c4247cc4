//! How many blocks of a kernel an SM holds at once.

use warpwatt_ptx::Entry;

use crate::device::Device;
use crate::request::Request;

/// Registers are given to warps in pieces of so many.
const REGISTER_GRANULE: u32 = 256;
/// Shared memory is given to blocks in pieces of so many bytes.
const SHARED_GRANULE: u64 = 128;

impl Device {
    /// Blocks of so many threads that an SM holds at once, each with so many bytes of dynamic shared memory.
    pub fn blocks_per_sm(&self, entry: &Entry, threads: u32, shared: u64) -> u32 {
        if threads == 0 || threads > 1024 {
            return 0;
        }
        let warps = threads.div_ceil(32);
        let registers = (entry.registers * 32).next_multiple_of(REGISTER_GRANULE) * warps;
        let shared = u64::from(entry.shared_bytes) + shared;
        if shared > self.block_shared_optin() {
            return 0;
        }
        let by_shared = match shared.next_multiple_of(SHARED_GRANULE) {
            0 => u64::from(u32::MAX),
            bytes => self.sm_shared_bytes / bytes,
        };
        let by_registers = self.sm_registers.checked_div(registers);
        let limits = [
            self.sm_blocks,
            self.sm_threads / 32 / warps,
            by_registers.unwrap_or(u32::MAX),
            by_shared.try_into().unwrap_or(u32::MAX),
        ];
        limits.into_iter().min().unwrap_or(0)
    }

    /// Threads of a block with which an SM holds the most warps, and the blocks that fill the GPU then.
    pub fn best_block(&self, entry: &Entry, shared: u64, most: u32) -> (u32, u32) {
        let most = if most == 0 { 1024 } else { most.min(1024) };
        let choices = (1..=most / 32).map(|warps| warps * 32);
        let held = |threads: u32| self.blocks_per_sm(entry, threads, shared) * threads;
        // Of equal ones the largest, as the runtime answers.
        let best = choices.max_by_key(|&threads| held(threads)).unwrap_or(most);
        (best, self.blocks_per_sm(entry, best, shared) * self.sms)
    }

    /// Whether all blocks of a launch run at once.
    pub fn holds(&self, entry: &Entry, request: &Request) -> bool {
        let threads = request.block.iter().product();
        let blocks = self.blocks_per_sm(entry, threads, request.shared);
        let grid = request.grid.map(u64::from).into_iter().product::<u64>();
        grid <= u64::from(blocks) * u64::from(self.sms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_resource_decides() {
        let device = Device::default();
        let entry = |registers, shared_bytes| Entry {
            registers,
            shared_bytes,
            ..Entry::default()
        };
        assert_eq!(device.blocks_per_sm(&entry(16, 0), 32, 0), 32);
        assert_eq!(device.blocks_per_sm(&entry(16, 0), 1024, 0), 2);
        assert_eq!(device.blocks_per_sm(&entry(255, 0), 256, 0), 1);
        assert_eq!(device.blocks_per_sm(&entry(16, 40 << 10), 256, 0), 4);
        assert_eq!(device.blocks_per_sm(&entry(16, 0), 2000, 0), 0);
        assert_eq!(device.best_block(&entry(16, 0), 0, 0), (1024, 216));
    }
}
