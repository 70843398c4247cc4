//! Reading of `[[CASE.texture]]`.

use warpwatt_simt::{Border, Filter};

use super::case::Arguments;
use super::fields::{Fields, Unknown};
use crate::launch::problem::nearest;
use crate::launch::{ElementType, Home, Problem, Role, TextureBinding};

const KEYS: [&str; 11] = [
    "reference",
    "buffer",
    "width",
    "height",
    "depth",
    "channels",
    "border",
    "filter",
    "normalized",
    "fractions",
    "note",
];

/// Texels along an axis (CUDA C Programming Guide, "Technical Specifications per Compute Capability": 1D from linear memory).
const EXTENT_LIMIT: i64 = 1 << 28;

const BORDERS: [(&str, Border); 4] = [
    ("clamp", Border::Clamp),
    ("zero", Border::Zero),
    ("wrap", Border::Wrap),
    ("mirror", Border::Mirror),
];
const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];

/// The textures of a case.
pub(super) fn read_all(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Vec<TextureBinding> {
    let mut textures = Vec::new();
    for (number, (span, table)) in fields.tables("texture").into_iter().enumerate() {
        let what = format!("texture {number} of {}", fields.what());
        let mut inner = Fields::new(what, span, table, fields.problems());
        textures.extend(read(&mut inner, arguments));
    }
    textures
}

fn read(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Option<TextureBinding> {
    fields.check_keys(&KEYS, Unknown::Refused);
    let reference = fields.string_at("reference");
    let buffer = fields.require_string_at("buffer", "the argument that holds the texels");
    if !fields.has("width") {
        fields.missing("width", "the texels of a row");
    }
    let mut extent = |key| match fields.has(key) {
        true => fields.integer(key, 1, EXTENT_LIMIT),
        false => Some(1),
    };
    let extent = [extent("width"), extent("height"), extent("depth")];
    let channels = match fields.has("channels") {
        true => fields.integer("channels", 1, 4)?,
        false => 1,
    };
    let border = one_of(fields, "border", &BORDERS);
    let filter = one_of(fields, "filter", &FILTERS);
    let normalized = fields.boolean("normalized").unwrap_or(false);
    let fractions = fields.boolean("fractions").unwrap_or(false);
    let buffer = buffer?;
    let argument = arguments.position(&buffer, fields.problems())?;
    let [width, height, depth] = [extent[0]? as u32, extent[1]? as u32, extent[2]? as u32];
    let texture = TextureBinding {
        reference,
        argument,
        extent: [width, height, depth],
        channels: channels as u32,
        border: border?,
        filter: filter?,
        normalized,
        fractions,
    };
    match objection(&texture, arguments) {
        None => Some(texture),
        Some(message) => {
            fields.problem(Problem::new(buffer.span(), message));
            None
        }
    }
}

/// One of some names; the first if the key is missing.
fn one_of<T: Copy>(fields: &mut Fields<'_, '_>, key: &str, choices: &[(&str, T)]) -> Option<T> {
    if !fields.has(key) {
        return choices.first().map(|(_, choice)| *choice);
    }
    let name = fields.string_at(key)?;
    let found = choices.iter().find(|(known, _)| known == name.get_ref());
    if found.is_none() {
        let names: Vec<_> = choices.iter().map(|(known, _)| *known).collect();
        let message = format!("`{}` is no `{key}` of a texture", name.get_ref());
        let problem = Problem::new(name.span(), message);
        fields.problem(problem.help(nearest(name.get_ref(), &names)));
    }
    found.map(|(_, choice)| *choice)
}

/// Why a buffer cannot be such a texture.
fn objection(texture: &TextureBinding, arguments: &Arguments) -> Option<String> {
    let argument = &arguments.list[texture.argument];
    let name = argument.name.get_ref();
    let Role::Buffer(buffer) = &argument.role else {
        return Some(format!(
            "`{name}` is a scalar: a texture is read from a buffer"
        ));
    };
    if !matches!(buffer.home, Home::Memory) {
        return Some(format!(
            "`{name}` has no memory of its own: a texture is read from a buffer"
        ));
    }
    let element = argument.element;
    let small = [ElementType::BF16, ElementType::E4M3, ElementType::E5M2];
    if element.bytes() > 4 || small.contains(&element) {
        let element = element.name();
        return Some(format!(
            "channels are integers of up to 32 bits, f16 or f32; `{name}` is of {element}"
        ));
    }
    let texels = texture
        .extent
        .iter()
        .fold(1u64, |all, &n| all.saturating_mul(u64::from(n)));
    let needed = texels.saturating_mul(u64::from(texture.channels));
    (texture.channels == 3)
        .then(|| "a texel has 1, 2 or 4 channels".to_owned())
        .or_else(|| {
            (needed > buffer.count).then(|| {
                format!(
                    "the texture has {needed} channels in all, but `{name}` holds {} elements",
                    buffer.count
                )
            })
        })
}
