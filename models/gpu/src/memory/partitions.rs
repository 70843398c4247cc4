//! The second-level cache in two partitions, each with half of the channels behind it. An SM asks the one that is near. What is read there and lies behind the other
//! one is asked for there, and kept in both; what is written goes to the one that it lies behind (NVIDIA A100 white paper: "each L2 partition caches data for memory
//! accesses from SMs in the GPCs directly connected to the partition", and hardware keeps them coherent). How copies are invalidated is not published: here it takes
//! no time.

use super::dram::{Access, DramRequest};
use super::slice::Target;
use super::{Kind, Memory, Request};
use crate::GpuError;
use crate::counters::Counter;
use crate::event::{Event, Queue};

/// In the numbers of lines that are kept from the other partition.
const COPY: u64 = 1 << 56;

impl Memory {
    /// Where a request looks in the slice that it goes to.
    pub(super) fn target(&self, request: &Request) -> Target {
        self.line(usize::from(request.slice), request.base)
    }

    /// Where an address is in a slice that it lies in or is kept in.
    pub(super) fn line(&self, slice: usize, address: u64) -> Target {
        let (home, local) = self.map.slice(address);
        let line = local / u64::from(self.spec.l2.line_bytes);
        match home == slice {
            true => Target {
                slice,
                line,
                home: None,
            },
            false => Target {
                slice,
                line: line | COPY,
                home: Some(home),
            },
        }
    }

    /// Sectors that are written go on to the other partition if they lie there, whether they do; nothing of them is kept where they do not.
    pub(super) fn crosses(
        &mut self,
        now: u64,
        Target { slice, line, home }: Target,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<bool, GpuError> {
        if self.spec.l2.partitions == 1 {
            return Ok(false);
        }
        let Some(home) = home else {
            let other = self.map.other(slice);
            self.slices[other]
                .cache
                .invalidate(line | COPY, request.mask);
            return Ok(false);
        };
        let there = Request {
            slice: home as u16,
            ..*request
        };
        let at = now + u64::from(self.spec.l2.crossing_cycles);
        queue.schedule(at, Event::Request(there))?;
        Ok(true)
    }

    /// Sectors that a slice misses from SM cycle `at` on are asked for at the slice of the other partition that they lie in.
    pub(super) fn ask_other(
        &mut self,
        at: u64,
        (slice, home): (usize, usize),
        (place, missing): (u32, Request),
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let number = self.new_request(DramRequest {
            slice: slice as u16,
            place,
            mask: missing.mask,
            bank: 0,
            row: 0,
            access: Access::Crossing,
            origin: None,
        });
        let there = Request {
            kind: Kind::Load,
            crossing: true,
            slice: home as u16,
            cookie: number,
            ..missing
        };
        let at = at + u64::from(self.spec.l2.crossing_cycles);
        queue.schedule(at, Event::Request(there))?;
        Ok(())
    }

    /// What had been asked for leaves the other partition at SM cycle `at`.
    pub(super) fn comes_back(
        &mut self,
        at: u64,
        number: u32,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let at = at.max(queue.now()) + u64::from(self.spec.l2.crossing_cycles);
        queue.schedule(at, Event::Filled { request: number })?;
        Ok(())
    }

    /// What has crossed and finds all places of its set waited for comes from DRAM without one.
    pub(super) fn pass_by(
        &mut self,
        now: u64,
        target: Target,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let sectors = u64::from(request.mask.count_ones());
        self.counts.add(Counter::L2Reads, sectors);
        self.counts.add(Counter::L2ReadMisses, sectors);
        let (bank, row) = self.row(target);
        let request = DramRequest {
            slice: request.slice,
            place: 0,
            mask: request.mask,
            bank,
            row,
            access: Access::Read,
            origin: Some(*request),
        };
        self.ask_dram(now, request, queue)
    }
}
