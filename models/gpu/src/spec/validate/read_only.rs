//! What the values of the caches of instructions, constants and textures say together.

use super::Check;
use crate::{GpuSpec, MissSource, TexturePath};

/// What is read only comes in whole lines, each in one transaction.
pub(super) fn caches(spec: &GpuSpec, check: &mut Check) {
    let (icache, constant) = (&spec.icache, &spec.constant);
    check.require(
        constant.misses == MissSource::Never
            || constant
                .cache_bytes
                .is_multiple_of(constant.cache_ways * constant.cache_line_bytes),
        "constant.cache_bytes",
        || {
            format!(
                "{} bytes are not whole sets of {} lines of {} bytes",
                constant.cache_bytes, constant.cache_ways, constant.cache_line_bytes
            )
        },
        "use a multiple of constant.cache_line_bytes times constant.cache_ways",
    );
    textures(spec, check);
    second_level(spec, check);
    for (path, source, line_path, line) in [
        (
            "icache.misses",
            icache.misses,
            "icache.line_bytes",
            icache.line_bytes,
        ),
        (
            "constant.misses",
            constant.misses,
            "constant.cache_line_bytes",
            constant.cache_line_bytes,
        ),
    ] {
        if source != MissSource::Memory {
            continue;
        }
        check.require(
            spec.has_l2(),
            path,
            || "there is no second-level cache to bring lines from".to_owned(),
            "use \"fixed\", or give l2.kb",
        );
        check.require(
            line.is_power_of_two() && line <= spec.ldst.segment_bytes,
            line_path,
            || {
                format!(
                    "a line of {line} bytes does not come in one segment of {}",
                    spec.ldst.segment_bytes
                )
            },
            "use a power of two of at most ldst.segment_bytes, or take misses from elsewhere",
        );
    }
}

/// The second level of instructions and constants, if there is one.
fn second_level(spec: &GpuSpec, check: &mut Check) {
    let l15 = &spec.l15;
    if l15.bytes == 0 {
        return;
    }
    check.require(
        l15.bytes.is_multiple_of(l15.line_bytes * l15.ways),
        "l15.bytes",
        || {
            format!(
                "{} bytes are not whole sets of {} lines of {} bytes",
                l15.bytes, l15.ways, l15.line_bytes
            )
        },
        "use a multiple of l15.line_bytes times l15.ways, or 0 for none",
    );
    let before = [
        (
            "icache.line_bytes",
            spec.icache.misses,
            spec.icache.line_bytes,
        ),
        (
            "constant.cache_line_bytes",
            spec.constant.misses,
            spec.constant.cache_line_bytes,
        ),
    ];
    let missing = before
        .iter()
        .filter(|(_, misses, _)| *misses != MissSource::Never);
    check.require(
        missing.clone().count() > 0,
        "l15.bytes",
        || {
            "neither the I-cache nor the constant cache ever misses, so nothing reaches it"
                .to_owned()
        },
        "use 0 for none, or set icache.misses or constant.misses",
    );
    for (path, _, line) in missing {
        check.require(
            line.is_multiple_of(l15.line_bytes),
            "l15.line_bytes",
            || {
                format!(
                    "{path} is {line} bytes, not a multiple of {}",
                    l15.line_bytes
                )
            },
            "use a divisor of the lines of the caches before it",
        );
    }
}

fn textures(spec: &GpuSpec, check: &mut Check) {
    let texture = &spec.texture;
    if texture.path == TexturePath::Data {
        return;
    }
    let (bytes, line) = (texture.cache_bytes, texture.cache_line_bytes);
    check.power_of_two("texture.cache_line_bytes", line);
    check.require(
        line <= spec.ldst.segment_bytes,
        "texture.cache_line_bytes",
        || format!("lines of {line} bytes are longer than a segment"),
        "use at most ldst.segment_bytes",
    );
    check.require(
        bytes >= texture.cache_ways * line && bytes.is_multiple_of(texture.cache_ways * line),
        "texture.cache_bytes",
        || {
            format!(
                "{bytes} bytes are not whole sets of {} lines of {line} bytes",
                texture.cache_ways
            )
        },
        "use a multiple of texture.cache_line_bytes times texture.cache_ways",
    );
}
