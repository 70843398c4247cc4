//! Work that a stream does, at once or as a node of a graph.

use crate::error::{Code, Outcome};
use crate::foreign::{copy, fill};
use crate::gpu::Gpu;
use crate::graph::{Capture, Copying, Filling, Op, Side};
use crate::memory::Kind;
use crate::protocol::{Message, Way};

impl Gpu {
    /// Does work, or writes it down if the stream is captured.
    ///
    /// # Errors
    /// There is no such stream, or the work does not fit.
    pub fn submit(&mut self, stream: u64, op: Op) -> Outcome {
        self.check_stream(stream)?;
        let handle = self.registry.handle();
        let captured = |capture: &&mut Capture| capture.streams.contains(&stream);
        if let Some(capture) = self.captures.iter_mut().find(captured) {
            capture.push(handle, op);
            return Ok(());
        }
        self.perform(op)
    }

    /// Does work.
    ///
    /// # Errors
    /// It does not fit.
    pub fn perform(&mut self, op: Op) -> Outcome {
        match op {
            Op::Launch(request) => self.launch(request),
            Op::Copy(copying) => self.copy(&copying),
            Op::Fill(filling) => self.fill(&filling),
            Op::Call(callback) => {
                self.calls.push(callback);
                Ok(())
            }
            Op::Record(event) => self.record(event),
            Op::Free(address) => self.memory.free(address),
            Op::Graph(graph) => self.run_graph(graph),
            Op::Nothing => Ok(()),
        }
    }

    /// Does all that a graph has.
    ///
    /// # Errors
    /// There is none, or something of it does not fit.
    pub fn run_graph(&mut self, handle: u64) -> Outcome {
        let graph = self.graphs.get(&handle).ok_or(Code::INVALID_HANDLE)?;
        let order = graph.order()?;
        let ops = order.iter().map(|node| graph.nodes[node].op.clone());
        let ops: Vec<Op> = ops.collect();
        ops.into_iter().try_for_each(|op| self.perform(op))
    }

    fn copy(&mut self, copying: &Copying) -> Outcome {
        let [bytes, rows, planes] = copying.extent;
        if !(0..=4).contains(&copying.kind) {
            return Err(Code::INVALID_DIRECTION);
        }
        if bytes == 0 || rows == 0 || planes == 0 {
            return Ok(());
        }
        for z in 0..planes {
            for y in 0..rows {
                let (to, from) = (copying.to.row(y, z)?, copying.from.row(y, z)?);
                let to = self.side(to, bytes, matches!(copying.kind, 1 | 3))?;
                let from = self.side(from, bytes, matches!(copying.kind, 2 | 3))?;
                copy(to, from, bytes as usize);
            }
        }
        self.flush();
        let on_device = |memory: &mut Self, side: &Side| {
            matches!(memory.memory.kind(side.address), Kind::Device)
        };
        let way = match (on_device(self, &copying.from), on_device(self, &copying.to)) {
            (true, true) => Way::Within,
            (true, false) => Way::ToHost,
            (false, true) => Way::ToDevice,
            (false, false) => return Ok(()),
        };
        self.tell_copy(way, bytes * rows * planes);
        Ok(())
    }

    fn side(&mut self, address: u64, bytes: u64, on_device: bool) -> Outcome<*mut u8> {
        match on_device {
            true => self.memory.device_place(address, bytes),
            false => self.memory.place(address, bytes),
        }
    }

    fn fill(&mut self, filling: &Filling) -> Outcome {
        let [bytes, rows, planes] = filling.extent;
        if bytes == 0 || rows == 0 || planes == 0 {
            return Ok(());
        }
        let pattern = filling.value.to_le_bytes();
        let pattern = pattern
            .get(..filling.size as usize)
            .filter(|it| !it.is_empty());
        let pattern = pattern.ok_or(Code::INVALID_VALUE)?;
        for z in 0..planes {
            for y in 0..rows {
                let row = filling.to.row(y, z)?;
                let place = self.memory.device_place(row, bytes)?;
                if let [value] = pattern {
                    fill(place, *value, bytes as usize);
                } else {
                    let whole = pattern.repeat(bytes as usize / pattern.len());
                    copy(place, whole.as_ptr(), whole.len());
                }
            }
        }
        self.tell_copy(Way::Set, bytes * rows * planes);
        Ok(())
    }

    /// Tells of bytes that were copied.
    pub fn tell_copy(&mut self, way: Way, bytes: u64) {
        self.channel.tell(&Message::Copy { way, bytes }, &[]);
    }
}
