use super::ranges::{MB, RANGES, setting};
use super::*;

fn changed(change: impl FnOnce(&mut GpuSpec)) -> Vec<String> {
    let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
    change(&mut spec);
    problems(&spec)
        .into_iter()
        .map(|problem| problem.path)
        .collect()
}

#[test]
fn zero_and_absurd_sizes_are_refused_together() {
    let paths = changed(|spec| {
        spec.sm.count = 0;
        spec.sm.warp_width = 128;
        spec.icache.ways = 0;
    });
    assert_eq!(paths, ["sm.count", "sm.warp_width", "icache.ways"]);
}

#[test]
fn every_number_has_a_range_and_every_range_a_number() {
    let table = crate::presets()[0].table();
    let numbers: usize = table.values().map(count).sum();
    let timing = count(&table["timing"]);
    assert_eq!(numbers, RANGES.len() + timing);
    for (path, ..) in RANGES {
        assert!(
            setting(&toml::Value::Table(table.clone()), path).is_some(),
            "{path}"
        );
    }
}

fn count(value: &toml::Value) -> usize {
    match value {
        toml::Value::Table(table) => table.values().map(count).sum(),
        other => usize::from(other.is_integer()),
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    assert_eq!(changed(|spec| spec.sm.threads = 1000), ["sm.threads"]);
    assert_eq!(changed(|spec| spec.sm.threads = 4096), ["sm.threads"]);
    assert_eq!(changed(|spec| spec.icache.bytes = 1000), ["icache.bytes"]);
    assert_eq!(
        changed(|spec| spec.icache.word_bytes = 24),
        ["icache.word_bytes"]
    );
    assert_eq!(
        changed(|spec| spec.dram.interleave_bytes = 64),
        ["dram.interleave_bytes"]
    );
    let wide_mesh = |spec: &mut GpuSpec| {
        spec.noc.port_flits = 2;
        spec.noc.topology = crate::Topology::Mesh;
    };
    assert_eq!(changed(wide_mesh), ["noc.port_flits"]);
    assert_eq!(changed(|spec| spec.l1.latency = 2), [] as [&str; 0]);
    assert_eq!(
        changed(|spec| spec.operands.collect_cycles = 64),
        ["l1.latency", "shared.latency", "constant.latency"]
    );
    assert_eq!(changed(|spec| spec.l2.kb = 4 * MB), ["l2.kb"]);
    assert!(changed(|_| ()).is_empty());
}

#[test]
fn lines_that_come_from_memory_come_in_one_segment() {
    let mut spec = GpuSpec::preset("gtx480").unwrap();
    spec.icache.line_bytes = 256;
    spec.constant.cache_line_bytes = 48;
    spec.constant.cache_bytes = 48 * spec.constant.cache_ways;
    let paths: Vec<String> = problems(&spec)
        .into_iter()
        .map(|problem| problem.path)
        .collect();
    assert_eq!(paths, ["icache.line_bytes", "constant.cache_line_bytes"]);
}
