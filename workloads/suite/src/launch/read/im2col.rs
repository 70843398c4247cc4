//! Reading of what a tensor map for im2col says besides its tensor (`cuTensorMapEncodeIm2col`).

use warpwatt_simt::Im2col;

use super::fields::{Fields, Unknown};
use super::tensor_map::list;
use crate::launch::Problem;
use crate::launch::form::Constants;

const KEYS: [&str; 5] = ["lower", "upper", "pixels", "channels", "note"];

/// Most pixels, and most channels of each, that a copy moves.
const MAX_PIXELS: i64 = 1024;
const MAX_CHANNELS: i64 = 256;

/// The table `im2col`, if there is one; `None` if it cannot be read. The tensor has `rank` dimensions.
pub(super) fn read(
    fields: &mut Fields<'_, '_>,
    rank: usize,
    constants: &Constants,
) -> Option<Option<Im2col>> {
    if !fields.has("im2col") {
        return Some(None);
    }
    let (span, table) = fields.table("im2col")?;
    let what = format!("`im2col` of {}", fields.what());
    let mut inner = Fields::new(what, span, table, fields.problems());
    inner.check_keys(&KEYS, Unknown::Refused);
    let lower = corner(&mut inner, "lower", rank, constants);
    let upper = corner(&mut inner, "upper", rank, constants);
    let mut count = |key, most, help| {
        if !inner.has(key) {
            inner.missing(key, help);
        }
        inner.whole(key, 1, most, constants)
    };
    let pixels = count("pixels", MAX_PIXELS, "pixels that a copy moves");
    let channels = count("channels", MAX_CHANNELS, "elements of each pixel");
    Some(Some(Im2col {
        lower: lower?,
        upper: upper?,
        pixels: pixels? as u16,
        channels: channels? as u16,
    }))
}

/// A corner of the box that pixels come from: a number for each dimension between the innermost and the outermost.
fn corner(
    fields: &mut Fields<'_, '_>,
    key: &str,
    rank: usize,
    constants: &Constants,
) -> Option<[i16; 3]> {
    // What the field of the map holds depends on how many share it (CUDA driver API, cuTensorMapEncodeIm2col).
    let limit = match rank {
        3 => 1 << 15,
        4 => 1 << 7,
        _ => 1 << 4,
    };
    let values = list(fields, key, (-limit, limit - 1), constants)?;
    if !(3..=5).contains(&rank) || values.len() + 2 != rank {
        let message = format!(
            "`{key}` has a number for each dimension but the innermost and the outermost, of three to five: {} of {rank} are none",
            values.len()
        );
        let span = fields
            .entry(key)
            .map_or(fields.span(), |entry| entry.span());
        fields.problem(Problem::new(span, message));
        return None;
    }
    let mut corner = [0; 3];
    for (place, value) in corner.iter_mut().zip(values) {
        *place = value as i16;
    }
    Some(corner)
}
