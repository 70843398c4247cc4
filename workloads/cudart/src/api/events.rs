//! Events. They measure simulated time: that of the launches between them. Copies and the host take none.

use super::entries;
use crate::error::{Code, Outcome};
use crate::foreign::Out;
use crate::gpu::{Event, Gpu};
use crate::graph::Capture;

/// `cudaEventDisableTiming`.
const UNTIMED: u32 = 2;

pub(super) fn make(gpu: &mut Gpu, to: Out<u64>, flags: u32) -> Outcome {
    let handle = gpu.registry.handle();
    to.put(handle)?;
    let event = Event {
        place: None,
        untimed: flags & UNTIMED != 0,
    };
    gpu.events.insert(handle, event);
    Ok(())
}

pub(super) fn record(gpu: &mut Gpu, event: u64, stream: u64) -> Outcome {
    gpu.check_stream(stream)?;
    if !gpu.events.contains_key(&event) {
        return Err(Code::INVALID_HANDLE);
    }
    let captured = |capture: &&mut Capture| capture.streams.contains(&stream);
    match gpu.captures.iter_mut().find(captured) {
        Some(capture) => {
            capture.events.insert(event);
            Ok(())
        }
        None => gpu.record(event),
    }
}

pub(super) fn known(gpu: &Gpu, event: u64) -> Outcome<Event> {
    gpu.events.get(&event).copied().ok_or(Code::INVALID_HANDLE)
}

pub(super) fn elapsed(gpu: &mut Gpu, to: Out<f32>, from: u64, until: u64) -> Outcome {
    let (from, until) = (known(gpu, from)?, known(gpu, until)?);
    let (Some(begins), Some(ends)) = (from.place, until.place) else {
        return Err(Code::INVALID_HANDLE);
    };
    if from.untimed || until.untimed {
        return Err(Code::INVALID_HANDLE);
    }
    let seconds = if begins <= ends {
        gpu.channel.elapsed(begins, ends)
    } else {
        -gpu.channel.elapsed(ends, begins)
    };
    to.put((seconds * 1e3) as f32)
}

entries! {
    cudaEventCreate: (to: Out<u64>) |gpu| make(gpu, to, 0);
    cudaEventCreateWithFlags: (to: Out<u64>, flags: u32) |gpu| make(gpu, to, flags);
    cudaEventDestroy: (event: u64) |gpu| {
        let known = gpu.events.remove(&event);
        known.map(drop).ok_or(Code::INVALID_HANDLE)
    };
    cudaEventRecord | cudaEventRecord_ptsz: (event: u64, stream: u64) |gpu| record(gpu, event, stream);
    cudaEventRecordWithFlags: (event: u64, stream: u64, _flags: u32) |gpu| record(gpu, event, stream);
    cudaEventSynchronize | cudaEventQuery: (event: u64) |gpu| {
        gpu.flush();
        known(gpu, event).map(drop)
    };
    cudaEventElapsedTime | cudaEventElapsedTime_v2: (to: Out<f32>, from: u64, until: u64) |gpu| elapsed(gpu, to, from, until);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_measure_when_both_were_recorded() {
        let mut made = [0u64; 2];
        let mut time = 7.0f32;
        for event in &mut made {
            assert_eq!(
                cudaEventCreate(Out::at_address(event as *mut u64 as u64)),
                0
            );
        }
        let [first, second] = made;
        let to = Out::at_address(&raw mut time as u64);
        assert_eq!(cudaEventRecord(first, 0), 0);
        assert_eq!(
            Code(cudaEventElapsedTime(to, first, second)),
            Code::INVALID_HANDLE
        );
        assert_eq!(cudaEventRecord(second, 0), 0);
        assert_eq!(cudaEventElapsedTime(to, first, second), 0);
        assert_eq!(time, 0.0);
        assert_eq!(cudaEventDestroy(first), 0);
        assert_eq!(Code(cudaEventRecord(first, 0)), Code::INVALID_HANDLE);
    }
}
