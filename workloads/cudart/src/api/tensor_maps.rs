//! Tensor maps that the host makes (CUDA Driver API, "Tensor Map Object Management"). Programs ask the runtime for these functions by name.

use warpwatt_simt::{Im2col, Swizzle, TensorElement, TensorMap};

use super::driver_entries;
use crate::error::{Code, Outcome};
use crate::foreign::{In, Out};

/// A map in memory, whose first eight bytes are the tensor's address.
type Bytes = [u8; 128];

/// Dimensions of a tensor, at most.
const MAX_RANK: u32 = 5;
/// Bytes that addresses and distances are multiples of, and that tiles have whole.
const UNIT: u64 = 16;
/// Distances are smaller.
const FAR: u64 = 1 << 40;
/// Most elements of a tile along a dimension, and of an im2col copy along its channels.
const LONGEST: u32 = 256;
/// Most pixels of an im2col copy.
const MOST_PIXELS: u32 = 1024;

/// The tensor that a map is for.
struct Tensor {
    element: u32,
    rank: u32,
    address: u64,
    extents: In<u64>,
    strides: In<u64>,
    steps: In<u32>,
}

/// How its elements lie in shared memory, and what stands for those outside.
struct Form {
    interleave: u32,
    swizzle: u32,
    fill: u32,
}

/// `CUtensorMapDataType`.
fn element(number: u32) -> Outcome<TensorElement> {
    use TensorElement as E;
    const ALL: [TensorElement; 13] = [
        E::U8,
        E::U16,
        E::U32,
        E::S32,
        E::U64,
        E::S64,
        E::F16,
        E::F32,
        E::F64,
        E::Bf16,
        E::F32Ftz,
        E::Tf32,
        E::Tf32Ftz,
    ];
    let known = ALL.get(number as usize).copied();
    // Elements of four and six bits are of later machines.
    known.ok_or(if number <= 15 {
        Code::NOT_SUPPORTED
    } else {
        Code::INVALID_VALUE
    })
}

fn swizzle(number: u32) -> Outcome<Swizzle> {
    match number {
        0 => Ok(Swizzle::None),
        1 => Ok(Swizzle::Bytes32),
        2 => Ok(Swizzle::Bytes64),
        3 => Ok(Swizzle::Bytes128),
        4..=6 => Err(Code::NOT_SUPPORTED),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn holds(condition: bool) -> Outcome {
    condition.then_some(()).ok_or(Code::INVALID_VALUE)
}

/// The map but for its tile.
fn map(tensor: &Tensor, form: &Form) -> Outcome<TensorMap> {
    holds((1..=MAX_RANK).contains(&tensor.rank))?;
    let rank = tensor.rank as usize;
    let element = element(tensor.element)?;
    let extents = tensor.extents.list(rank)?;
    let strides = tensor.strides.list(rank - 1)?;
    let steps = match tensor.steps.address() {
        0 => vec![1; rank],
        _ => tensor.steps.list(rank)?,
    };
    holds(tensor.address != 0 && tensor.address.is_multiple_of(UNIT))?;
    holds(
        strides
            .iter()
            .all(|it| it.is_multiple_of(UNIT) && *it < FAR),
    )?;
    holds(steps.iter().all(|it| (1..=8).contains(it)))?;
    holds(form.fill <= 1 && form.interleave <= 2)?;
    if form.interleave != 0 {
        return Err(Code::NOT_SUPPORTED);
    }
    let extent = |&extent: &u64| match u32::try_from(extent) {
        Ok(extent) if extent > 0 => Ok(extent),
        _ => Err(Code::INVALID_VALUE),
    };
    Ok(TensorMap {
        address: tensor.address,
        element,
        extents: extents.iter().map(extent).collect::<Outcome<_>>()?,
        strides,
        tile: vec![1; rank],
        steps,
        swizzle: swizzle(form.swizzle)?,
        fill_nan: form.fill == 1,
        im2col: None,
    })
}

/// So many elements along the inner dimension are whole pieces, and fit the pattern in which these change places.
fn inner_fits(map: &TensorMap, elements: u32) -> Outcome {
    let bytes = u64::from(elements) * u64::from(map.element.bytes());
    let most = match map.swizzle {
        Swizzle::None => u64::MAX,
        Swizzle::Bytes32 => 32,
        Swizzle::Bytes64 => 64,
        Swizzle::Bytes128 => 128,
    };
    holds(bytes.is_multiple_of(UNIT) && bytes <= most)
}

fn encode_tiled(to: Out<Bytes>, tensor: &Tensor, tile: In<u32>, form: &Form) -> Outcome {
    let mut map = map(tensor, form)?;
    map.tile = tile.list(map.extents.len())?;
    holds(map.tile.iter().all(|it| (1..=LONGEST).contains(it)))?;
    inner_fits(&map, map.tile[0])?;
    to.put(map.to_bytes())
}

fn encode_im2col(
    to: Out<Bytes>,
    tensor: &Tensor,
    [lower, upper]: [In<i32>; 2],
    [channels, pixels]: [u32; 2],
    form: &Form,
) -> Outcome {
    let mut map = map(tensor, form)?;
    // Between the channels and the images.
    let inner = map.extents.len().checked_sub(2).filter(|it| *it > 0);
    let inner = inner.ok_or(Code::INVALID_VALUE)?;
    holds((1..=LONGEST).contains(&channels) && (1..=MOST_PIXELS).contains(&pixels))?;
    inner_fits(&map, channels)?;
    let corner = |corner: In<i32>| -> Outcome<[i16; 3]> {
        let mut found = [0; 3];
        for (to, at) in found.iter_mut().zip(corner.list(inner)?) {
            *to = i16::try_from(at).map_err(|_| Code::INVALID_VALUE)?;
        }
        Ok(found)
    };
    map.im2col = Some(Im2col {
        lower: corner(lower)?,
        upper: corner(upper)?,
        pixels: pixels as u16,
        channels: channels as u16,
    });
    to.put(map.to_bytes())
}

/// Another address in a map.
fn replace_address(map: Out<[u8; 8]>, address: u64) -> Outcome {
    holds(address != 0 && address.is_multiple_of(UNIT))?;
    map.put(address.to_le_bytes())
}

driver_entries! {
    cuTensorMapEncodeTiled: (
        to: Out<Bytes>, element: u32, rank: u32, address: u64, extents: In<u64>, strides: In<u64>, tile: In<u32>, steps: In<u32>,
        interleave: u32, swizzle: u32, _promotion: u32, fill: u32,
    ) |_| {
        let tensor = Tensor { element, rank, address, extents, strides, steps };
        encode_tiled(to, &tensor, tile, &Form { interleave, swizzle, fill })
    };
    cuTensorMapEncodeIm2col: (
        to: Out<Bytes>, element: u32, rank: u32, address: u64, extents: In<u64>, strides: In<u64>, lower: In<i32>, upper: In<i32>,
        channels: u32, pixels: u32, steps: In<u32>, interleave: u32, swizzle: u32, _promotion: u32, fill: u32,
    ) |_| {
        let tensor = Tensor { element, rank, address, extents, strides, steps };
        encode_im2col(to, &tensor, [lower, upper], [channels, pixels], &Form { interleave, swizzle, fill })
    };
    cuTensorMapReplaceAddress: (map: Out<[u8; 8]>, address: u64) |_| replace_address(map, address);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<T: Copy>(values: &[T]) -> In<T> {
        In::at_address(values.as_ptr() as u64)
    }

    /// A map of bf16 of 100 rows with 64 elements each, in tiles of some extents.
    fn tiled(address: u64, stride: u64, tile: [u32; 2], swizzle: u32) -> Result<Bytes, Code> {
        let mut bytes = [0; 128];
        let to = Out::at_address(&raw mut bytes as u64);
        let (extents, strides) = (at(&[64, 100]), [stride]);
        let strides = at(&strides);
        let (none, tile) = (In::at_address(0), at(&tile));
        match cuTensorMapEncodeTiled(
            to, 9, 2, address, extents, strides, tile, none, 0, swizzle, 0, 0,
        ) {
            0 => Ok(bytes),
            code => Err(Code(code)),
        }
    }

    #[test]
    fn a_map_is_what_a_launch_file_would_have() {
        let map = TensorMap {
            address: 4096,
            element: TensorElement::Bf16,
            extents: vec![64, 100],
            strides: vec![128],
            tile: vec![32, 8],
            steps: vec![1, 1],
            swizzle: Swizzle::Bytes64,
            ..TensorMap::default()
        };
        let mut bytes = tiled(4096, 128, [32, 8], 2).unwrap();
        assert_eq!(bytes, map.to_bytes());
        let place = Out::at_address(&raw mut bytes as u64);
        assert_eq!(cuTensorMapReplaceAddress(place, 8192), 0);
        let moved = TensorMap {
            address: 8192,
            ..map
        };
        assert_eq!(bytes, moved.to_bytes());
        assert_eq!(
            Code(cuTensorMapReplaceAddress(place, 8)),
            Code::INVALID_VALUE
        );
    }

    #[test]
    fn what_no_map_can_be_is_refused() {
        for (address, stride, tile, swizzle, code) in [
            (0, 128, [32, 8], 0, Code::INVALID_VALUE),
            (4104, 128, [32, 8], 0, Code::INVALID_VALUE),
            (4096, 120, [32, 8], 0, Code::INVALID_VALUE),
            (4096, 128, [4, 8], 0, Code::INVALID_VALUE),
            (4096, 128, [32, 257], 0, Code::INVALID_VALUE),
            (4096, 128, [0, 8], 0, Code::INVALID_VALUE),
            // 64 bytes do not fit a pattern of 32.
            (4096, 128, [32, 8], 1, Code::INVALID_VALUE),
            (4096, 128, [32, 8], 4, Code::NOT_SUPPORTED),
            (4096, 128, [32, 8], 9, Code::INVALID_VALUE),
        ] {
            assert_eq!(
                tiled(address, stride, tile, swizzle),
                Err(code),
                "{address} {stride} {tile:?} {swizzle}"
            );
        }
    }

    #[test]
    fn im2col_needs_three_dimensions() {
        let mut bytes = [0; 128];
        let to = Out::at_address(&raw mut bytes as u64);
        let (extents, strides, corner) = ([16, 8, 8, 2], [32, 256, 2048], [-1, -1]);
        let encode = |rank| {
            let none = In::at_address(0);
            let corners = (at(&corner), at(&corner));
            Code(cuTensorMapEncodeIm2col(
                to,
                6,
                rank,
                4096,
                at(&extents),
                at(&strides),
                corners.0,
                corners.1,
                16,
                64,
                none,
                0,
                0,
                0,
                0,
            ))
        };
        assert_eq!(encode(2), Code::INVALID_VALUE);
        assert_eq!(encode(4), Code(0));
        let map = TensorMap {
            address: 4096,
            element: TensorElement::F16,
            extents: vec![16, 8, 8, 2],
            strides: vec![32, 256, 2048],
            tile: vec![1; 4],
            steps: vec![1; 4],
            im2col: Some(Im2col {
                lower: [-1, -1, 0],
                upper: [-1, -1, 0],
                pixels: 64,
                channels: 16,
            }),
            ..TensorMap::default()
        };
        assert_eq!(bytes, map.to_bytes());
    }
}
