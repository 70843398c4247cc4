//! What lies between the SMs and memory: network and second-level cache.

use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_circuit::{CamSpec, Ports, Spec};
use warpwatt_gpu::{GpuSpec, SECTOR_BYTES, Topology};

use super::sm::{RANDOM, crossbar};
use super::{ADDRESS_BITS, sectors, tags};
use crate::{Charge, Group, Region, Structure};

/// Share of the die's side that lies between a port and the network, in percent: from anywhere on a square to its middle, along both sides, is half of it
/// on the mean.
const TO_THE_MIDDLE: u32 = 50;
/// The same from the middle of one half of a square to that of the other.
const BETWEEN_HALVES: u32 = 50;
/// Flits of a router's buffer. Assumed.
const BUFFER_FLITS: u64 = 8;

/// Network and second-level cache of the whole GPU.
pub(super) fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let mut found = network(gpu);
    if gpu.has_l2() {
        found.extend(l2(gpu));
    }
    if gpu.has_l2() && gpu.l2.partitions > 1 {
        found.push(partition_links(gpu));
    }
    found
}

fn uncore(name: &'static str, spec: Spec, count: u32) -> Structure {
    Structure::new(name, Group::Uncore, spec).per_gpu(count)
}

/// Packets of requests: a header each, and what is stored.
const REQUESTS: [&str; 6] = [
    "load_transactions",
    "store_transactions",
    "atomic_transactions",
    "code_transactions",
    "constant_transactions",
    "texture_transactions",
];

/// What crosses the network, in flits of its wires.
fn flits(gpu: &GpuSpec, bytes: &'static str, crossings: u32) -> Charge {
    let headers = REQUESTS.iter();
    let headers = headers.map(|packets| (*packets, gpu.noc.header_bytes * crossings));
    Charge::weighted("read", headers.chain([(bytes, crossings)])).at_once(gpu.chip.link_bytes)
}

/// Both directions: a crossbar each, or a mesh of routers; and wires to it from each port and slice.
fn network(gpu: &GpuSpec) -> Vec<Structure> {
    // A port that moves several flits at once has wires for each.
    let (ports, slices) = (gpu.noc_ports() * gpu.noc.port_flits, gpu.slices());
    let bits = 8 * gpu.chip.link_bytes;
    let (switch, count, hops) = match gpu.noc.topology {
        Topology::Crossbar => (crossbar(u64::from(ports), u64::from(slices), bits), 1, 1),
        Topology::Mesh => (router(bits), ports, mean_hops(ports)),
    };
    let link = Spec::Noc(NocSpec {
        block: NocBlock::Link {
            bits: u64::from(bits),
            micrometres: 1,
        },
        activity: RANDOM,
    });
    let link =
        |name| uncore(name, link.clone(), ports + slices).spanning(Region::Die, TO_THE_MIDDLE);
    vec![
        uncore("network.request", switch.clone(), count).charged(flits(gpu, "store_bytes", hops)),
        uncore("network.reply", switch, count).charged(flits(gpu, "load_bytes", hops)),
        link("network.request_links").charged(flits(gpu, "store_bytes", 1)),
        link("network.reply_links").charged(flits(gpu, "load_bytes", 1)),
    ]
}

fn router(bits: u32) -> Spec {
    Spec::Noc(NocSpec {
        block: NocBlock::Router {
            ports: 5,
            bits: u64::from(bits),
            channels: 1,
            depth: BUFFER_FLITS,
        },
        activity: RANDOM,
    })
}

/// Between two random nodes of a square mesh: a third of its side in each direction, and the first router.
fn mean_hops(nodes: u32) -> u32 {
    (2 * nodes.isqrt()).div_ceil(3) + 1
}

fn l2(gpu: &GpuSpec) -> [Structure; 3] {
    let slices = gpu.slices();
    let bytes = 1024 * u64::from(gpu.l2.kb) / u64::from(slices);
    let misses = Spec::Cam(CamSpec {
        entries: u64::from(gpu.l2.mshrs),
        bits: u64::from(ADDRESS_BITS - gpu.l2.line_bytes.ilog2()),
        ports: Ports::ONE,
        banks: 1,
    });
    [
        uncore(
            "l2.tag",
            tags(bytes, gpu.l2.line_bytes, gpu.l2.ways),
            slices,
        )
        .charged(Charge::any("read", &["l2_reads", "l2_writes"]))
        .charged(Charge::any("write", &FILLS)),
        uncore("l2.data", sectors(bytes), slices)
            .charged(Charge::any("read", &["l2_read_hits", "l2_write_backs"]))
            .charged(Charge::any("write", &["l2_writes", FILLS[0], FILLS[1]])),
        uncore("l2.mshr", misses, slices)
            .charged(Charge::any(
                "search",
                &[FILLS[0], FILLS[1], "l2_read_merges"],
            ))
            .charged(Charge::any("write", &FILLS)),
    ]
}

/// Sectors that come to the second level: from DRAM, and from its other partition.
const FILLS: [&str; 2] = ["l2_read_misses", "l2_crossings"];

/// Wires between the partitions of the second level, from each slice to the one that keeps its sectors: requests one way, sectors the other. How wide they are is
/// not published: as a port of the network, assumed.
fn partition_links(gpu: &GpuSpec) -> Structure {
    let link = Spec::Noc(NocSpec {
        block: NocBlock::Link {
            bits: 8 * u64::from(gpu.chip.link_bytes),
            micrometres: 1,
        },
        activity: RANDOM,
    });
    let bytes = gpu.noc.header_bytes + SECTOR_BYTES;
    uncore("l2.partition_links", link, gpu.slices())
        .spanning(Region::Die, BETWEEN_HALVES)
        .charged(Charge::weighted("read", [("l2_crossings", bytes)]).at_once(gpu.chip.link_bytes))
}
