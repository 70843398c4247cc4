//! Streams. What they are asked is done at once, in the order in which the program asks.

use super::{driver_entries, nothing_to_do};
use crate::error::{Code, Outcome};
use crate::foreign::{Callback, In, Out};
use crate::gpu::{Gpu, Stream};
use crate::graph::{Capture, Op};

pub(super) fn make(gpu: &mut Gpu, to: Out<u64>, stream: Stream) -> Outcome {
    let handle = gpu.registry.handle();
    to.put(handle)?;
    gpu.streams.insert(handle, stream);
    Ok(())
}

fn of(gpu: &Gpu, stream: u64) -> Outcome<Stream> {
    gpu.check_stream(stream)?;
    Ok(gpu.streams.get(&stream).copied().unwrap_or_default())
}

/// Capturing (1), or not (0).
fn status(gpu: &Gpu, stream: u64) -> i32 {
    i32::from(gpu.is_captured(stream))
}

driver_entries! {
    cudaStreamCreate: (to: Out<u64>) |gpu| make(gpu, to, Stream::default());
    cudaStreamCreateWithFlags: (to: Out<u64>, flags: u32) |gpu| make(gpu, to, Stream { flags, priority: 0 });
    cudaStreamCreateWithPriority | cuStreamCreateWithPriority: (to: Out<u64>, flags: u32, priority: i32) |gpu| make(gpu, to, Stream { flags, priority });
    cudaStreamDestroy: (stream: u64) |gpu| {
        let known = gpu.streams.remove(&stream);
        known.map(drop).ok_or(Code::INVALID_HANDLE)
    };
    cudaStreamSynchronize | cudaStreamSynchronize_ptsz | cudaStreamQuery: (stream: u64) |gpu| {
        gpu.flush();
        gpu.check_stream(stream)
    };
    cudaStreamGetFlags | cuStreamGetFlags: (stream: u64, to: Out<u32>) |gpu| to.put(of(gpu, stream)?.flags);
    cudaStreamGetPriority | cuStreamGetPriority: (stream: u64, to: Out<i32>) |gpu| to.put(of(gpu, stream)?.priority);
    cudaStreamGetId: (stream: u64, to: Out<u64>) |gpu| {
        gpu.check_stream(stream)?;
        to.put(stream)
    };
    cudaStreamGetDevice: (stream: u64, to: Out<i32>) |gpu| {
        gpu.check_stream(stream)?;
        to.put(0)
    };
    cudaStreamWaitEvent | cudaStreamWaitEvent_ptsz: (stream: u64, event: u64, _flags: u32) |gpu| wait(gpu, stream, event);
    cudaLaunchHostFunc | cudaLaunchHostFunc_ptsz | cuLaunchHostFunc: (stream: u64, function: Option<extern "C" fn(u64)>, data: u64) |gpu| {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        gpu.submit(stream, Op::Call(Callback::Plain(function, data)))
    };
    cudaStreamAddCallback | cuStreamAddCallback: (stream: u64, function: Option<extern "C" fn(u64, i32, u64)>, data: u64, _flags: u32) |gpu| {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        gpu.submit(stream, Op::Call(Callback::Stream(function, stream, data)))
    };
    cudaStreamIsCapturing | cuStreamIsCapturing: (stream: u64, to: Out<i32>) |gpu| {
        gpu.check_stream(stream)?;
        to.put(status(gpu, stream))
    };
    cudaStreamGetCaptureInfo | cudaStreamGetCaptureInfo_v2: (stream: u64, to: Out<i32>, id: Out<u64>) |gpu| {
        gpu.check_stream(stream)?;
        id.put_if(stream);
        to.put(status(gpu, stream))
    };
    cudaStreamBeginCapture: (stream: u64, _mode: i32) |gpu| {
        gpu.check_stream(stream)?;
        if status(gpu, stream) != 0 || stream <= 1 {
            return Err(Code::CAPTURE_UNSUPPORTED);
        }
        gpu.captures.push(Capture::of(stream));
        Ok(())
    };
    cudaStreamEndCapture: (stream: u64, to: Out<u64>) |gpu| {
        let of = gpu.captures.iter().position(|capture| capture.origin == stream);
        let capture = gpu.captures.remove(of.ok_or(Code::CAPTURE_UNMATCHED)?);
        let handle = gpu.registry.handle();
        gpu.graphs.insert(handle, capture.graph);
        to.put(handle)
    };
    cudaStreamGetAttribute: (stream: u64, _what: i32, to: Out<[u64; 8]>) |gpu| {
        gpu.check_stream(stream)?;
        to.put([0; 8])
    };
    cudaThreadExchangeStreamCaptureMode: (mode: In<i32>) |_| mode.get().map(drop);
}

/// A stream that waits for an event of a capture joins it.
pub(super) fn wait(gpu: &mut Gpu, stream: u64, event: u64) -> Outcome {
    gpu.check_stream(stream)?;
    if !gpu.events.contains_key(&event) {
        return Err(Code::INVALID_HANDLE);
    }
    let of = |capture: &&mut Capture| capture.events.contains(&event);
    if let Some(capture) = gpu.captures.iter_mut().find(of) {
        capture.streams.insert(stream);
    }
    Ok(())
}

nothing_to_do! {
    cudaStreamSetAttribute cudaStreamCopyAttributes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_known_until_they_are_destroyed() {
        let mut stream = 0;
        let to = Out::at_address(&raw mut stream as u64);
        assert_eq!(cudaStreamCreate(to), 0);
        assert_eq!(cudaStreamSynchronize(stream), 0);
        assert_eq!(cudaStreamDestroy(stream), 0);
        assert_eq!(Code(cudaStreamDestroy(stream)), Code::INVALID_HANDLE);
        assert_eq!(Code(cudaStreamQuery(stream)), Code::INVALID_HANDLE);
        assert_eq!(
            Code(cudaStreamBeginCapture(0, 0)),
            Code::CAPTURE_UNSUPPORTED
        );
        assert_eq!(Code(cudaLaunchHostFunc(0, None, 0)), Code::INVALID_VALUE);
    }
}
