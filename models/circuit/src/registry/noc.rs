//! Interconnect, clock and memory.

use super::{Block, Parameter, Values, count, word};
use crate::Spec;
use crate::memory::{MemoryKind, MemoryPart, MemorySpec};
use crate::noc::{NocBlock, NocSpec};

const ACTIVITY: Parameter = count(
    "activity",
    "50",
    0,
    100,
    "percent of the bits that differ from the transfer before",
);
const WIDTH: Parameter = count("width", "128", 1, 4096, "bits of a flit");

fn spec(values: &Values, block: NocBlock) -> Spec {
    Spec::Noc(NocSpec {
        block,
        activity: values.count("activity") as u8,
    })
}

pub(super) const BLOCKS: &[Block] = &[
    Block {
        name: "crossbar",
        summary: "Any input to any output: wires across and down with tri-state buffers where they cross",
        operation: "one flit from an input to an output",
        parameters: &[
            count("inputs", "16", 1, 512, "input ports"),
            count("outputs", "16", 1, 512, "output ports"),
            WIDTH,
            ACTIVITY,
        ],
        make: |v| {
            let (inputs, outputs) = (v.count("inputs"), v.count("outputs"));
            spec(
                v,
                NocBlock::Crossbar {
                    inputs,
                    outputs,
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "link",
        summary: "Repeated wires from one place to another",
        operation: "one flit",
        parameters: &[
            WIDTH,
            count("length", "1000", 1, 100_000, "micrometres"),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                NocBlock::Link {
                    bits: v.count("width"),
                    micrometres: v.count("length"),
                },
            )
        },
    },
    Block {
        name: "router",
        summary: "Router with buffers at its inputs, matrix arbiters and a crossbar",
        operation: "one flit through",
        parameters: &[
            count("ports", "5", 1, 64, "ports, each in and out"),
            WIDTH,
            count("channels", "2", 1, 64, "virtual channels of a port"),
            count("depth", "4", 1, 256, "flits of a channel's buffer"),
            ACTIVITY,
        ],
        make: |v| {
            let (ports, bits) = (v.count("ports"), v.count("width"));
            spec(
                v,
                NocBlock::Router {
                    ports,
                    bits,
                    channels: v.count("channels"),
                    depth: v.count("depth"),
                },
            )
        },
    },
    Block {
        name: "clock",
        summary: "Clock tree over an area, with the clock inputs of its flip-flops; never gated",
        operation: "one cycle",
        parameters: &[
            count("sinks", "100000", 1, 100_000_000, "flip-flops"),
            count(
                "span",
                "10000000",
                1,
                100_000_000_000,
                "area in square micrometres",
            ),
        ],
        make: |v| {
            let block = NocBlock::Clock {
                sinks: v.count("sinks"),
                square_micrometres: v.count("span"),
            };
            Spec::Noc(NocSpec {
                block,
                activity: 50,
            })
        },
    },
    Block {
        name: "dram",
        summary: "Off-chip memory device with its interface: energy of an access, background and refresh power as leakage",
        operation: "one read",
        parameters: &[
            word("type", MemoryKind::NAMES, "kind of memory"),
            count("width", "256", 1, 1 << 20, "bits of an access"),
            count(
                "row_hits",
                "66",
                0,
                100,
                "percent of the accesses that find their row open",
            ),
            word(
                "part",
                &["access", "row"],
                "an access, or a row opened and closed alone",
            ),
        ],
        make: |v| {
            let name = v.word("type");
            let kind = MemoryKind::ALL
                .iter()
                .copied()
                .find(|kind| kind.name() == name)
                .unwrap_or(MemoryKind::Hbm2);
            Spec::Memory(MemorySpec {
                kind,
                bits: v.count("width"),
                row_hits: v.count("row_hits") as u8,
                part: match v.word("part") {
                    "row" => MemoryPart::Row,
                    _ => MemoryPart::Access,
                },
            })
        },
    },
];
