//! Copies and memset.

use super::{Extent, Pitched, entries};
use crate::error::{Code, Outcome};
use crate::foreign::In;
use crate::gpu::Gpu;
use crate::graph::{Copying, Filling, Op, Side};

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    from_array: u64,
    from_at: [u64; 3],
    from: Pitched,
    to_array: u64,
    to_at: [u64; 3],
    to: Pitched,
    extent: Extent,
    kind: i32,
}

/// Rows: addresses with their pitches, and bytes and rows.
fn rows(to: (u64, u64), from: (u64, u64), [bytes, rows]: [u64; 2], kind: i32) -> Outcome<Op> {
    if rows > 1 && (to.1 < bytes || from.1 < bytes) {
        return Err(Code::INVALID_PITCH);
    }
    Ok(Op::Copy(Copying {
        to: Side::rows(to.0, to.1),
        from: Side::rows(from.0, from.1),
        extent: [bytes, rows, 1],
        kind,
    }))
}

impl Copy3D {
    /// What it copies. Extents and positions count texels where an array takes part, and bytes elsewhere.
    pub(super) fn copying(&self, gpu: &Gpu) -> Outcome<Copying> {
        let [width, height, depth] = self.extent.0;
        let arrays = [self.from_array, self.to_array];
        let mut texel = 1;
        for array in arrays.into_iter().filter(|&array| array != 0) {
            texel = gpu.memory.array(array)?.format.bytes();
        }
        let side = |array: u64, at: [u64; 3], memory: Pitched| -> Outcome<Side> {
            if array != 0 {
                let array = gpu.memory.array(array)?;
                let [x, y, z] = at;
                return Ok(Side {
                    address: array.at([x * array.format.bytes(), y, z]),
                    pitch: array.pitch(),
                    plane: array.pitch() * array.extent[1],
                });
            }
            let plane = memory.pitch.checked_mul(memory.height);
            let plane = plane.ok_or(Code::INVALID_VALUE)?;
            let [x, y, z] = at;
            let offset = z.checked_mul(plane).and_then(|planes| {
                planes
                    .checked_add(y.checked_mul(memory.pitch)?)?
                    .checked_add(x)
            });
            let address = offset.and_then(|offset| memory.address.checked_add(offset));
            Ok(Side {
                address: address.ok_or(Code::INVALID_VALUE)?,
                pitch: memory.pitch,
                plane,
            })
        };
        Ok(Copying {
            to: side(self.to_array, self.to_at, self.to)?,
            from: side(self.from_array, self.from_at, self.from)?,
            extent: [
                width.checked_mul(texel).ok_or(Code::INVALID_VALUE)?,
                height,
                depth,
            ],
            kind: self.kind,
        })
    }
}

fn copy_3d(gpu: &mut Gpu, how: In<Copy3D>, stream: u64) -> Outcome {
    let copying = how.get()?.copying(gpu)?;
    gpu.submit(stream, Op::Copy(copying))
}

fn fill(gpu: &mut Gpu, to: Side, value: i32, extent: [u64; 3], stream: u64) -> Outcome {
    let filling = Filling {
        to,
        extent,
        value: value as u32,
        size: 1,
    };
    gpu.submit(stream, Op::Fill(filling))
}

fn fill_3d(gpu: &mut Gpu, to: Pitched, value: i32, extent: Extent, stream: u64) -> Outcome {
    let side = Side {
        address: to.address,
        pitch: to.pitch,
        plane: to.pitch.checked_mul(to.height).ok_or(Code::INVALID_VALUE)?,
    };
    fill(gpu, side, value, extent.0, stream)
}

entries! {
    cudaMemcpy | cudaMemcpy_ptds: (to: u64, from: u64, bytes: u64, kind: i32) |gpu| gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, kind)));
    cudaMemcpyAsync | cudaMemcpyAsync_ptsz: (to: u64, from: u64, bytes: u64, kind: i32, stream: u64) |gpu|
        gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, kind)));
    cudaMemcpyPeer: (to: u64, device: i32, from: u64, other: i32, bytes: u64) |gpu| {
        only_device(device, other)?;
        gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, 3)))
    };
    cudaMemcpyPeerAsync: (to: u64, device: i32, from: u64, other: i32, bytes: u64, stream: u64) |gpu| {
        only_device(device, other)?;
        gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, 3)))
    };
    cudaMemcpy2D: (to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32) |gpu|
        gpu.submit(0, rows((to, to_pitch), (from, from_pitch), [width, height], kind)?);
    cudaMemcpy2DAsync: (to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32, stream: u64) |gpu|
        gpu.submit(stream, rows((to, to_pitch), (from, from_pitch), [width, height], kind)?);
    cudaMemcpy2DToArray: (array: u64, x: u64, y: u64, from: u64, pitch: u64, width: u64, height: u64, kind: i32) |gpu| {
        let array = gpu.memory.array(array)?;
        gpu.submit(0, rows((array.at([x, y, 0]), array.pitch()), (from, pitch), [width, height], kind)?)
    };
    cudaMemcpy2DToArrayAsync: (array: u64, x: u64, y: u64, from: u64, pitch: u64, width: u64, height: u64, kind: i32, stream: u64) |gpu| {
        let array = gpu.memory.array(array)?;
        gpu.submit(stream, rows((array.at([x, y, 0]), array.pitch()), (from, pitch), [width, height], kind)?)
    };
    cudaMemcpy2DFromArray: (to: u64, pitch: u64, array: u64, x: u64, y: u64, width: u64, height: u64, kind: i32) |gpu| {
        let array = gpu.memory.array(array)?;
        gpu.submit(0, rows((to, pitch), (array.at([x, y, 0]), array.pitch()), [width, height], kind)?)
    };
    cudaMemcpy2DFromArrayAsync: (to: u64, pitch: u64, array: u64, x: u64, y: u64, width: u64, height: u64, kind: i32, stream: u64) |gpu| {
        let array = gpu.memory.array(array)?;
        gpu.submit(stream, rows((to, pitch), (array.at([x, y, 0]), array.pitch()), [width, height], kind)?)
    };
    cudaMemcpyToArray: (array: u64, x: u64, y: u64, from: u64, bytes: u64, kind: i32) |gpu| {
        let to = gpu.memory.array(array)?.at([x, y, 0]);
        gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, kind)))
    };
    cudaMemcpyFromArray: (to: u64, array: u64, x: u64, y: u64, bytes: u64, kind: i32) |gpu| {
        let from = gpu.memory.array(array)?.at([x, y, 0]);
        gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, kind)))
    };
    cudaMemcpy3D: (how: In<Copy3D>) |gpu| copy_3d(gpu, how, 0);
    cudaMemcpy3DAsync: (how: In<Copy3D>, stream: u64) |gpu| copy_3d(gpu, how, stream);
    cudaMemset | cudaMemset_ptds: (to: u64, value: i32, bytes: u64) |gpu| fill(gpu, Side::plain(to), value, [bytes, 1, 1], 0);
    cudaMemsetAsync | cudaMemsetAsync_ptsz:
        (to: u64, value: i32, bytes: u64, stream: u64) |gpu| fill(gpu, Side::plain(to), value, [bytes, 1, 1], stream);
    cudaMemset2D: (to: u64, pitch: u64, value: i32, width: u64, height: u64) |gpu|
        fill(gpu, Side::rows(to, pitch), value, [width, height, 1], 0);
    cudaMemset2DAsync: (to: u64, pitch: u64, value: i32, width: u64, height: u64, stream: u64) |gpu|
        fill(gpu, Side::rows(to, pitch), value, [width, height, 1], stream);
    cudaMemset3D: (to: Pitched, value: i32, extent: Extent) |gpu| fill_3d(gpu, to, value, extent, 0);
    cudaMemset3DAsync: (to: Pitched, value: i32, extent: Extent, stream: u64) |gpu| fill_3d(gpu, to, value, extent, stream);
}

fn only_device(one: i32, other: i32) -> Outcome {
    match (one, other) {
        (0, 0) => Ok(()),
        _ => Err(Code::INVALID_DEVICE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::memory::{cudaFree, cudaMalloc};
    use crate::foreign::Out;

    fn device(bytes: u64) -> u64 {
        let mut address = 0;
        assert_eq!(
            cudaMalloc(Out::at_address(&raw mut address as u64), bytes),
            0
        );
        address
    }

    #[test]
    fn bytes_go_there_and_back() {
        let (first, second) = (device(8), device(8));
        let there = *b"12345678";
        let mut back = [0u8; 8];
        assert_eq!(cudaMemcpy(first, there.as_ptr() as u64, 8, 1), 0);
        assert_eq!(cudaMemset(second, i32::from(b'.'), 8), 0);
        assert_eq!(cudaMemcpy2D(second, 4, first, 4, 2, 2, 3), 0);
        assert_eq!(cudaMemcpy(back.as_mut_ptr() as u64, second, 8, 4), 0);
        assert_eq!(&back, b"12..56..");
        // Overlapping ranges of one buffer.
        assert_eq!(cudaMemcpy(first + 1, first, 7, 3), 0);
        assert_eq!(cudaMemcpy(back.as_mut_ptr() as u64, first, 8, 2), 0);
        assert_eq!(&back, b"11234567");
        cudaFree(first);
        cudaFree(second);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let buffer = device(16);
        let mut host = [0u8; 32];
        let host = host.as_mut_ptr() as u64;
        assert_eq!(Code(cudaMemcpy(buffer, host, 17, 1)), Code::INVALID_VALUE);
        assert_eq!(Code(cudaMemcpy(0, host, 1, 1)), Code::INVALID_VALUE);
        assert_eq!(
            Code(cudaMemcpy(buffer, host, 1, 9)),
            Code::INVALID_DIRECTION
        );
        assert_eq!(
            Code(cudaMemcpy2D(buffer, 1, host, 4, 2, 2, 1)),
            Code::INVALID_PITCH
        );
        assert_eq!(Code(cudaMemset(host, 0, 4)), Code::INVALID_VALUE);
        assert_eq!(
            Code(cudaMemcpyAsync(buffer, host, 4, 1, 0x777)),
            Code::INVALID_HANDLE
        );
        assert_eq!(
            Code(cudaMemcpy(buffer, host, u64::MAX, 1)),
            Code::INVALID_VALUE
        );
        cudaFree(buffer);
        assert_eq!(Code(cudaMemcpy(buffer, host, 4, 1)), Code::INVALID_VALUE);
    }
}
