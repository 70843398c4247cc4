//! Reading of tensor maps: arguments that describe a tensor in a buffer and the tiles that copies move.

use toml::Spanned;
use warpwatt_simt::{Swizzle, TensorElement, TensorMap};

use super::fields::Fields;
use super::im2col;
use crate::launch::form::Constants;
use crate::launch::problem::nearest;
use crate::launch::{
    Access, Argument, Buffer, Contents, ElementType, Home, Problem, Role, Rule, Tolerance,
};

/// Keys that only tensor maps have.
pub(super) const OF_TENSOR_MAPS: [&str; 7] = [
    "sizes", "strides", "box", "im2col", "steps", "swizzle", "fill",
];

/// Keys of buffers that a tensor map has not.
const NOT_ITS: [&str; 9] = [
    "count",
    "init",
    "file",
    "expect_file",
    "expect",
    "tol_abs",
    "tol_rel",
    "variable",
    "fields",
];

/// Bytes of a tensor map.
pub(super) const BYTES: u64 = warpwatt_ptx::program::TENSOR_MAP_BYTES;

/// Most dimensions, and most elements of a tile along each.
const MAX_RANK: usize = warpwatt_ptx::program::MAX_RANK;
const MAX_TILE: i64 = 256;

/// What strides, and rows of tiles, are multiples of.
const PIECE: u64 = 16;

/// A tensor map whose buffer may stand behind it.
pub(super) struct PendingMap {
    pub(super) buffer: Spanned<String>,
    plus: u64,
    /// Without its address; strides and element are missing where the buffer says them.
    map: TensorMap,
    element: Option<TensorElement>,
}

/// Reads a tensor map. It is passed by value, or by address where it lies in global memory.
pub(super) fn read(
    fields: &mut Fields<'_, '_>,
    constants: &Constants,
) -> Option<(Role, PendingMap)> {
    fields.refuse(&NOT_ITS, "a tensor map has a `buffer`, `sizes` and a `box`");
    fields.refuse(
        &["value"],
        "a tensor map has a `buffer`, `sizes` and a `box`",
    );
    let buffer = fields.require_string_at("buffer", "the argument that holds the tensor");
    let plus = match fields.has("plus") {
        true => fields.whole("plus", 0, 1 << 40, constants),
        false => Some(0),
    };
    let element = match fields.has("type") {
        true => Some(element(fields)?),
        false => None,
    };
    let (swizzle, fill_nan) = (swizzle(fields), fill(fields));
    let sizes = list(fields, "sizes", (1, 1 << 32), constants);
    let im2col = im2col::read(fields, sizes.as_ref().map_or(0, Vec::len), constants);
    let tile = match fields.has("im2col") {
        true => {
            fields.refuse(&["box"], "`im2col` says what a copy moves");
            Some(Vec::new())
        }
        false => list(fields, "box", (1, MAX_TILE), constants),
    };
    let strides = match fields.has("strides") {
        true => list(fields, "strides", (1, 1 << 40), constants),
        false => Some(Vec::new()),
    };
    let steps = match fields.has("steps") {
        true => list(fields, "steps", (1, 8), constants),
        false => sizes.as_ref().map(|sizes| vec![1; sizes.len()]),
    };
    let home = match fields
        .string_at("space")
        .map(Spanned::into_inner)
        .as_deref()
    {
        Some("global") => Home::Memory,
        _ => Home::Parameter,
    };
    let map = TensorMap {
        extents: small(sizes?),
        strides: strides?.into_iter().map(|stride| stride as u64).collect(),
        tile: small(tile?),
        steps: small(steps?),
        swizzle: swizzle?,
        fill_nan: fill_nan?,
        im2col: im2col?,
        ..TensorMap::default()
    };
    shape_objections(fields, &map);
    let (buffer, plus) = (buffer?, plus? as u64);
    let role = Role::Buffer(Buffer {
        home,
        count: BYTES,
        access: Access::In,
        before: Contents::Rule(Rule::Zeros),
        expected: None,
        tolerance: Tolerance {
            absolute: 0.0,
            relative: 0.0,
        },
        fields: Vec::new(),
    });
    Some((
        role,
        PendingMap {
            buffer,
            plus,
            map,
            element,
        },
    ))
}

fn small(values: Vec<i64>) -> Vec<u32> {
    values
        .into_iter()
        .map(|value| u32::try_from(value).unwrap_or(u32::MAX))
        .collect()
}

/// Whole numbers, one for each dimension, innermost first.
pub(super) fn list(
    fields: &mut Fields<'_, '_>,
    key: &str,
    bounds: (i64, i64),
    constants: &Constants,
) -> Option<Vec<i64>> {
    let Some(entry) = fields.entry(key) else {
        fields.missing(key, "a number for each dimension, innermost first");
        return None;
    };
    let Some(array) = entry.get_ref().as_array() else {
        fields.mistyped(
            key,
            entry,
            "an array of integers, innermost dimension first",
        );
        return None;
    };
    let values = array
        .iter()
        .map(|entry| fields.whole_of(key, entry, bounds, constants));
    let values: Vec<_> = values.collect();
    values.into_iter().collect()
}

fn element(fields: &mut Fields<'_, '_>) -> Option<TensorElement> {
    let name = fields.string_at("type")?;
    let known = ElementType::ALL
        .iter()
        .map(|(name, _)| *name)
        .chain(["tf32"]);
    let known: Vec<&str> = known.collect();
    match (
        name.get_ref().as_str(),
        ElementType::from_name(name.get_ref()),
    ) {
        ("tf32", _) => Some(TensorElement::Tf32),
        (_, Some(element)) => Some(of_buffer(element)),
        (other, None) => {
            let problem = Problem::new(name.span(), format!("`{other}` is no element type"));
            fields.problem(problem.help(nearest(other, &known)));
            None
        }
    }
}

/// The element of a tensor in a buffer of a type.
fn of_buffer(element: ElementType) -> TensorElement {
    match element {
        ElementType::I8 | ElementType::U8 | ElementType::E4M3 | ElementType::E5M2 => {
            TensorElement::U8
        }
        ElementType::I16 | ElementType::U16 => TensorElement::U16,
        ElementType::U32 => TensorElement::U32,
        ElementType::I32 => TensorElement::S32,
        ElementType::U64 => TensorElement::U64,
        ElementType::I64 => TensorElement::S64,
        ElementType::F16 => TensorElement::F16,
        ElementType::BF16 => TensorElement::Bf16,
        ElementType::F32 => TensorElement::F32,
        ElementType::F64 => TensorElement::F64,
    }
}

fn swizzle(fields: &mut Fields<'_, '_>) -> Option<Swizzle> {
    let Some(entry) = fields.entry("swizzle") else {
        return Some(Swizzle::None);
    };
    let found = match super::fields::integer(entry.get_ref()) {
        Some(0) => Some(Swizzle::None),
        Some(32) => Some(Swizzle::Bytes32),
        Some(64) => Some(Swizzle::Bytes64),
        Some(128) => Some(Swizzle::Bytes128),
        _ => None,
    };
    if found.is_none() {
        let message = "`swizzle` is 0, 32, 64 or 128 bytes";
        fields.problem(Problem::new(entry.span(), message));
    }
    found
}

/// Whether elements outside are NaN.
fn fill(fields: &mut Fields<'_, '_>) -> Option<bool> {
    let Some(fill) = fields.string_at("fill") else {
        return (!fields.has("fill")).then_some(false);
    };
    match fill.get_ref().as_str() {
        "zero" => Some(false),
        "nan" => Some(true),
        other => {
            let message = format!("`{other}` is nothing that lies outside of a tensor");
            let help = "\"zero\" or \"nan\"";
            fields.problem(Problem::new(fill.span(), message).help(help));
            None
        }
    }
}

/// Lists that do not go together.
fn shape_objections(fields: &mut Fields<'_, '_>, map: &TensorMap) {
    let rank = map.extents.len();
    let mut object = |key: &str, message: String| {
        let span = fields
            .entry(key)
            .map_or(fields.span(), |entry| entry.span());
        fields.problem(Problem::new(span, message));
    };
    if !(1..=MAX_RANK).contains(&rank) {
        object(
            "sizes",
            format!("a tensor has 1 to {MAX_RANK} dimensions, not {rank}"),
        );
    }
    let tile = match map.im2col {
        Some(_) => rank,
        None => map.tile.len(),
    };
    for (key, found) in [("box", tile), ("steps", map.steps.len())] {
        if found != rank {
            object(
                key,
                format!("`{key}` has {found} dimensions, `sizes` {rank}"),
            );
        }
    }
    let strides = map.strides.len();
    if strides != 0 && strides + 1 != rank {
        let message = format!(
            "`strides` are those of all dimensions but the innermost, in bytes: {}, not {strides}",
            rank.saturating_sub(1)
        );
        object("strides", message);
    }
}

impl PendingMap {
    /// The map as far as it is known before the buffer has an address, and the first element that it describes; or why it cannot be.
    pub(super) fn finish(&self, holder: &Argument, count: u64) -> Result<(TensorMap, u64), String> {
        let of_buffer = of_buffer(holder.element);
        let element = self.element.unwrap_or(of_buffer);
        let name = holder.name.get_ref();
        let bytes = u64::from(element.bytes());
        if bytes != u64::from(of_buffer.bytes()) {
            return Err(format!(
                "`{name}` has elements of {} bytes, the tensor map of {bytes}",
                of_buffer.bytes()
            ));
        }
        let mut map = TensorMap {
            element,
            ..self.map.clone()
        };
        if map.strides.is_empty() {
            let mut stride = bytes;
            for extent in &map.extents[..map.extents.len().saturating_sub(1)] {
                stride = stride.saturating_mul(u64::from(*extent));
                map.strides.push(stride);
            }
        }
        if let Some(stride) = map
            .strides
            .iter()
            .find(|stride| !stride.is_multiple_of(PIECE))
        {
            return Err(format!(
                "a stride of {stride} bytes is no multiple of {PIECE}"
            ));
        }
        let row = match map.im2col {
            Some(im2col) => u32::from(im2col.channels),
            None => map.tile.first().copied().unwrap_or(0),
        };
        let row = u64::from(row) * bytes;
        if !row.is_multiple_of(PIECE) {
            return Err(format!(
                "a row of the box has {row} bytes, no multiple of {PIECE}"
            ));
        }
        let span = PIECE << map.swizzle as u32;
        if map.swizzle != Swizzle::None && row > span {
            return Err(format!(
                "a row of the box has {row} bytes, more than the {span} of its swizzle"
            ));
        }
        if !(self.plus * bytes).is_multiple_of(PIECE) {
            return Err(format!(
                "element {} of `{name}` does not lie at a multiple of {PIECE} bytes",
                self.plus
            ));
        }
        let strides = std::iter::once(&bytes).chain(&map.strides);
        let last =
            map.extents
                .iter()
                .zip(strides)
                .fold(self.plus * bytes, |last, (extent, stride)| {
                    last.saturating_add(u64::from(extent - 1).saturating_mul(*stride))
                });
        if last.saturating_add(bytes) > count * bytes {
            return Err(format!(
                "the tensor ends {} bytes behind the beginning of `{name}`, which has {}",
                last.saturating_add(bytes),
                count * bytes
            ));
        }
        Ok((map, self.plus))
    }
}
