//! What the values of data memories and their caches say together.

use super::Check;
use crate::{DramSpec, GpuSpec, MissSource, SECTOR_BYTES, TexturePath, Topology};

pub(super) fn memory(spec: &GpuSpec, check: &mut Check) {
    let (ldst, dram, l2) = (&spec.ldst, &spec.dram, &spec.l2);
    check.power_of_two("ldst.segment_bytes", ldst.segment_bytes);
    check.power_of_two("dram.interleave_bytes", dram.interleave_bytes);
    check.power_of_two("dram.row_bytes", dram.row_bytes);
    check.power_of_two("shared.banks", spec.shared.banks);
    check.require(
        ldst.segment_bytes >= SECTOR_BYTES,
        "ldst.segment_bytes",
        || {
            format!(
                "a segment of {} bytes holds no sector of {SECTOR_BYTES}",
                ldst.segment_bytes
            )
        },
        "use at least 32",
    );
    check.require(
        ldst.segment_bytes <= dram.interleave_bytes,
        "dram.interleave_bytes",
        || format!("segments of {} bytes span controllers", ldst.segment_bytes),
        "use at least ldst.segment_bytes",
    );
    check.require(
        dram.row_bytes >= ldst.segment_bytes,
        "dram.row_bytes",
        || format!("a row holds no segment of {} bytes", ldst.segment_bytes),
        "use at least ldst.segment_bytes",
    );
    check.require(
        dram.banks.is_multiple_of(dram.bank_groups),
        "dram.bank_groups",
        || {
            format!(
                "{} banks are not {} equal groups",
                dram.banks, dram.bank_groups
            )
        },
        "use a divisor of dram.banks",
    );
    refresh(dram, check);
    if spec.has_l2() {
        check.power_of_two("l2.slices", l2.slices);
        check.power_of_two("l2.interleave_bytes", l2.interleave_bytes);
        check.require(
            l2.interleave_bytes >= ldst.segment_bytes,
            "l2.interleave_bytes",
            || format!("segments of {} bytes span slices", ldst.segment_bytes),
            "use at least ldst.segment_bytes",
        );
        check.require(
            spec.dram.controllers.is_multiple_of(l2.partitions.max(1)),
            "l2.partitions",
            || {
                format!(
                    "{} controllers are not {} equal parts",
                    dram.controllers, l2.partitions
                )
            },
            "use a divisor of dram.controllers",
        );
        check.require(
            dram.banks.is_multiple_of(l2.slices),
            "l2.slices",
            || {
                format!(
                    "{} banks cannot be divided among {} slices",
                    dram.banks, l2.slices
                )
            },
            "use a divisor of dram.banks",
        );
    }
}

/// Banks have time for requests between refreshes.
fn refresh(dram: &DramSpec, check: &mut Check) {
    check.require(
        dram.refresh_interval == 0 || dram.refresh < dram.refresh_interval,
        "dram.refresh",
        || {
            format!(
                "a refresh of {} cycles every {} leaves a bank no time",
                dram.refresh, dram.refresh_interval
            )
        },
        "use less than dram.refresh_interval, or dram.refresh_interval = 0 for none",
    );
}

/// The links of a mesh are a flit wide.
pub(super) fn network(spec: &GpuSpec, check: &mut Check) {
    let noc = &spec.noc;
    for (path, value) in [
        ("noc.port_flits", noc.port_flits),
        ("noc.lookahead", noc.lookahead),
    ] {
        check.require(
            noc.topology == Topology::Crossbar || value == 1,
            path,
            || format!("{value} is only possible with a crossbar"),
            "use 1, or noc.topology = \"crossbar\"",
        );
    }
}

/// Caches hold whole sets of whole lines, and lines are what the coalescer makes.
pub(super) fn caches(spec: &GpuSpec, check: &mut Check) {
    let (l1, l2) = (&spec.l1, &spec.l2);
    let segment = spec.ldst.segment_bytes;
    for (level, there, line) in [
        ("l1", spec.has_l1(), l1.line_bytes),
        ("l2", spec.has_l2(), l2.line_bytes),
    ] {
        check.require(
            !there || line == segment,
            &format!("{level}.line_bytes"),
            || format!("lines of {line} bytes are no segments of {segment}"),
            "use ldst.segment_bytes: lanes are coalesced into lines",
        );
    }
    let set = u64::from(l1.ways) * u64::from(l1.line_bytes);
    check.require(
        (u64::from(l1.kb) * 1024).is_multiple_of(set),
        "l1.kb",
        || {
            format!(
                "{} KB are not whole sets of {} lines of {} bytes",
                l1.kb, l1.ways, l1.line_bytes
            )
        },
        "use a multiple of l1.line_bytes times l1.ways",
    );
    let sets = u64::from(spec.slices()) * u64::from(l2.ways) * u64::from(l2.line_bytes);
    check.require(
        (u64::from(l2.kb) * 1024).is_multiple_of(sets),
        "l2.kb",
        || {
            format!(
                "{} KB are not whole sets of {} lines of {} bytes in each of {} slices",
                l2.kb,
                l2.ways,
                l2.line_bytes,
                spec.slices()
            )
        },
        "use a multiple of l2.line_bytes times l2.ways times all slices",
    );
}

/// Lines that the model keeps tags of; some forty bytes each.
const MOST_LINES: u64 = 1 << 24;

/// A model of the GPU fits a computer's memory.
pub(super) fn footprint(spec: &GpuSpec, check: &mut Check) {
    let sms = u64::from(spec.sm.count);
    let lines = |bytes: u64, line: u32| bytes / u64::from(line);
    let constants = match spec.constant.misses {
        MissSource::Never => 0,
        _ => lines(
            u64::from(spec.constant.cache_bytes),
            spec.constant.cache_line_bytes,
        ),
    };
    let textures = match spec.texture.path {
        TexturePath::Data => 0,
        TexturePath::Own => lines(
            u64::from(spec.texture.cache_bytes),
            spec.texture.cache_line_bytes,
        ),
    };
    let icache = lines(u64::from(spec.icache.bytes), spec.icache.line_bytes);
    let kb = |kb: u32| 1024 * u64::from(kb);
    let levels = [
        ("icache.bytes", sms * icache),
        ("constant.cache_bytes", sms * constants),
        ("texture.cache_bytes", sms * textures),
        (
            "l15.bytes",
            sms * lines(u64::from(spec.l15.bytes), spec.l15.line_bytes),
        ),
        ("l1.kb", sms * lines(kb(spec.l1.kb), spec.l1.line_bytes)),
        ("l2.kb", lines(kb(spec.l2.kb), spec.l2.line_bytes)),
    ];
    let total: u64 = levels.iter().map(|(_, lines)| lines).sum();
    if let Some(&(path, most)) = levels.iter().max_by_key(|(_, lines)| *lines) {
        check.require(
            total <= MOST_LINES,
            path,
            || format!("the caches of the GPU have {total} lines, {most} of them here"),
            "use smaller caches, longer lines or fewer SMs: the model holds 16777216 lines",
        );
    }
}
