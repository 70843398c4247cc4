//! Puts a trace together, warp after warp.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_simt::trace::{KernelTrace, LaneMask, LaunchShape, Space, Store, WarpRecorder};

use crate::code::{Code, Ordered};
use crate::fault::Fault;
use crate::header::Header;
use crate::instruction::{barrier, space, within};
use crate::line::{LANES, Line};
use crate::opcode::{Does, Opcode};

/// What reading may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Warp instructions.
    pub instructions: u64,
    /// What keeps the trace.
    pub store: Store,
}

impl Limits {
    /// So many warp instructions, in memory.
    pub fn of(instructions: u64) -> Self {
        Self {
            instructions,
            store: Store::default(),
        }
    }
}

/// A launch that was read.
#[derive(Debug)]
pub struct Recorded {
    /// What its file says of it.
    pub header: Header,
    /// Its trace.
    pub trace: KernelTrace,
    /// Its instructions, a line each; a [static instruction](warpwatt_simt::trace::StaticInst) has the number of its line, counted from 1.
    pub listing: Vec<String>,
}

/// A trace that is being read.
pub(crate) struct Collector {
    header: Header,
    code: Code,
    trace: KernelTrace,
    /// Thread blocks that came before their turn.
    early: BTreeMap<usize, Vec<WarpRecorder>>,
    block: Option<Block>,
    left: u64,
}

/// The thread block at hand.
struct Block {
    number: usize,
    warps: Vec<WarpRecorder>,
    warp: Option<usize>,
    /// What the warp executed last, and with which lanes.
    last: Option<u32>,
    active: LaneMask,
}

impl Collector {
    pub fn new(header: Header, limits: Limits) -> Result<Self, Fault> {
        let shape = header.shape()?;
        let threads = shape.block.iter().map(|&n| u64::from(n)).product::<u64>();
        if threads > 1024 {
            return Err(Fault::new(format!(
                "a thread block of {threads} threads is none"
            )));
        }
        let blocks = shape.grid.iter().map(|&n| u128::from(n)).product::<u128>();
        if blocks > u128::from(u32::MAX) {
            return Err(Fault::new(format!(
                "a grid of {blocks} thread blocks is none"
            )));
        }
        Ok(Self {
            trace: KernelTrace::kept_in(limits.store, header.kernel.clone(), Arc::from([]), shape),
            header,
            code: Code::default(),
            early: BTreeMap::new(),
            block: None,
            left: limits.instructions,
        })
    }

    fn shape(&self) -> &LaunchShape {
        &self.trace.launch
    }

    /// A thread block begins.
    pub fn begin(&mut self, at: [u32; 3]) -> Result<(), Fault> {
        if self.block.is_some() {
            return Err(Fault::new("a thread block begins within another one"));
        }
        let grid = self.shape().grid;
        if (0..3).any(|axis| at[axis] >= grid[axis]) {
            return Err(Fault::new(format!(
                "there is no thread block {at:?} in {grid:?}"
            )));
        }
        let [x, y, z] = at.map(|n| n as usize);
        let number = x + grid[0] as usize * (y + grid[1] as usize * z);
        if number < self.done() || self.early.contains_key(&number) {
            return Err(Fault::new(format!("thread block {at:?} comes twice")));
        }
        self.block = Some(Block {
            number,
            warps: vec![WarpRecorder::default(); self.shape().warps_per_cta()],
            warp: None,
            last: None,
            active: 0,
        });
        Ok(())
    }

    /// A warp of the thread block begins.
    pub fn warp(&mut self, number: usize) -> Result<(), Fault> {
        let lanes = self.shape().threads_per_cta();
        let block = self.block.as_mut();
        let block = block.ok_or_else(|| Fault::new("a warp stands outside of thread blocks"))?;
        let warps = block.warps.len();
        let warp = block.warps.get(number);
        let warp = warp.ok_or_else(|| {
            Fault::new(format!("there is no warp {number} in a block of {warps}"))
        })?;
        if warp.steps() > 0 {
            return Err(Fault::new(format!("warp {number} comes twice")));
        }
        block.warp = Some(number);
        block.last = None;
        // Its lanes that exist, until one executes.
        let exist = lanes - number as u32 * LANES as u32;
        block.active = LaneMask::MAX >> (LaneMask::BITS - exist.min(LANES as u32));
        Ok(())
    }

    /// The warp's next instruction.
    pub fn line(&mut self, text: &str) -> Result<(), Fault> {
        let line = Line::parse(text, &self.header)?;
        let block = self.block.as_mut();
        let place = block.and_then(|block| block.warp.map(|warp| (block, warp)));
        let (block, warp) =
            place.ok_or_else(|| Fault::new("an instruction stands outside of warps"))?;
        self.left = (self.left.checked_sub(1)).ok_or_else(|| {
            Fault::new("it has more warp instructions than are allowed").help("raise `--limit`")
        })?;
        let space = space(&line, &self.header);
        let number = self.code.number(&line, space, &self.header)?;
        self.code.entered(number, block.last);
        block.last = Some(number);
        let executed = LaneMask::from(line.executed);
        if executed != 0 {
            block.active = executed;
        }
        let active = block.active;
        let recorder = &mut block.warps[warp];
        let does = Opcode::new(line.opcode).does();
        match (does, line.addresses, space) {
            (Some(Does::Barrier), ..) if executed != 0 => {
                recorder.barrier(number, active, barrier(&line, &self.header)?);
            }
            (_, Some(mut addresses), Some(space)) => {
                if matches!(space, Space::Shared | Space::Local) {
                    for address in &mut addresses {
                        *address = within(space, *address, &self.header);
                    }
                }
                recorder.access(number, active, executed, &addresses);
            }
            _ => recorder.step(number, active, executed),
        }
        Ok(())
    }

    /// The thread block ends.
    pub fn end(&mut self) -> Result<(), Fault> {
        let block = self.block.take();
        let block = block.ok_or_else(|| Fault::new("a thread block ends that did not begin"))?;
        if let Some(idle) = block.warps.iter().position(|warp| warp.steps() == 0) {
            return Err(Fault::new(format!(
                "warp {idle} of the thread block has no instruction"
            )));
        }
        self.early.insert(block.number, block.warps);
        while let Some(warps) = self.early.remove(&self.done()) {
            for warp in &warps {
                self.trace.push_warp(warp)?;
            }
        }
        Ok(())
    }

    /// Thread blocks whose turn has come.
    fn done(&self) -> usize {
        self.trace.ctas()
    }

    /// The trace, once all thread blocks were read.
    pub fn finish(self) -> Result<Recorded, Fault> {
        if self.block.is_some() {
            return Err(Fault::new("it ends within a thread block"));
        }
        let (all, read) = (self.shape().ctas(), self.done() + self.early.len());
        if self.done() < all {
            let message = format!("it has {read} of the grid's {all} thread blocks");
            return Err(Fault::new(message).help("trace the launch to its end"));
        }
        let Ordered {
            code,
            listing,
            numbers,
        } = self.code.ordered();
        Ok(Recorded {
            trace: self.trace.renumbered(code.into(), &numbers)?,
            header: self.header,
            listing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let mut header = Header::default();
        (header.grid, header.block, header.version) = ([2, 1, 1], [40, 1, 1], 4);
        header.binary = 70;
        header
    }

    fn collector() -> Collector {
        Collector::new(header(), Limits::of(100)).unwrap()
    }

    fn block(collector: &mut Collector, at: u32) {
        collector.begin([at, 0, 0]).unwrap();
        for warp in 0..2 {
            collector.warp(warp).unwrap();
            let lanes = if warp == 0 { "ffffffff" } else { "000000ff" };
            for line in [
                "0000 LANES 1 R1 MOV 1 R2 0 0",
                "0010 00000000 1 R0 LDG.E.SYS 1 R2 4 1 0x0 0",
                "0020 LANES 0 BAR.SYNC 0 0 0",
                "0030 LANES 0 EXIT 0 0 0",
            ] {
                collector.line(&line.replace("LANES", lanes)).unwrap();
            }
        }
        collector.end().unwrap();
    }

    #[test]
    fn thread_blocks_in_any_order_are_one_trace() {
        let mut in_order = collector();
        block(&mut in_order, 0);
        block(&mut in_order, 1);
        let mut turned = collector();
        block(&mut turned, 1);
        block(&mut turned, 0);
        let (one, two) = (in_order.finish().unwrap(), turned.finish().unwrap());
        let counts = one.trace.counts().unwrap();
        assert_eq!(counts, two.trace.counts().unwrap());
        assert_eq!(counts.warp_instructions, 16);
        // 32 and 8 lanes a block, four instructions, one of them for no lane.
        assert_eq!(counts.thread_instructions, 2 * 40 * 4);
        assert_eq!(counts.predicated_off, 2 * 40);
        let last = one.trace.warp(1, 1).unwrap().last().unwrap();
        assert_eq!((last.inst, last.active), (3, 0xff));
    }

    #[test]
    fn what_is_missing_or_comes_twice_is_told() {
        let mut short = collector();
        block(&mut short, 1);
        let fault = short.finish().unwrap_err();
        assert_eq!(fault.message, "it has 1 of the grid's 2 thread blocks");
        let mut twice = collector();
        block(&mut twice, 0);
        assert!(twice.begin([0, 0, 0]).is_err());
        assert!(twice.begin([2, 0, 0]).is_err());
        twice.begin([1, 0, 0]).unwrap();
        assert!(twice.warp(2).is_err());
        assert!(twice.line("0000 1 0 NOP 0 0 0").is_err(), "no warp");
        assert!(twice.end().is_err(), "no instruction");
    }

    #[test]
    fn instructions_are_limited() {
        let mut few = Collector::new(header(), Limits::of(1)).unwrap();
        few.begin([0, 0, 0]).unwrap();
        few.warp(0).unwrap();
        few.line("0000 1 0 NOP 0 0 0").unwrap();
        let fault = few.line("0010 1 0 NOP 0 0 0").unwrap_err();
        assert_eq!(fault.help, Some("raise `--limit`"));
    }
}
