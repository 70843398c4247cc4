//! From an SM's load-store unit through the network to the second-level cache, DRAM and back.

pub(crate) mod cache;
pub(crate) mod coalesce;
mod controller;
mod dram;
mod map;
mod mesh;
mod network;
mod partitions;
mod ports;
mod slice;
mod space;
mod tags;
pub(crate) mod warm;

use warpwatt_simt::trace::KernelTrace;

pub(crate) use ports::request_flits;
pub(crate) use space::space_of;

use crate::counters::Counts;
use crate::engine::ClockRatio;
use crate::event::Queue;
use crate::request::{Kind, Reply, Request};
use crate::{GpuError, GpuSpec, Hooks, SECTOR_BYTES, SharedObserver, Topology};
use dram::{Channel, DramRequest};
use map::Map;
use mesh::Mesh;
use network::{Sides, Switch};
use slice::Slice;

/// Networks, slices and memory controllers of the whole GPU.
///
/// Queues are finite, and what a full one holds up holds up what is behind it: DRAM's credits the slices' queues for it, these and the slices' replies their
/// look-ups, stalled look-ups the ends of the network and these their inputs; the load-store units wait at the inputs. Replies and fills are always taken, so
/// that everything moves on in the end.
pub(crate) struct Memory {
    spec: GpuSpec,
    map: Map,
    noc: ClockRatio,
    dram: ClockRatio,
    /// From the ports of SMs to slices or controllers, and back.
    to_slices: Switch<Request>,
    to_sms: Switch<Reply>,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    /// Requests at DRAM, by number.
    requests: Vec<DramRequest>,
    free: Vec<u32>,
    /// What banks begin; kept from call to call.
    begun: Vec<dram::Begun>,
    pub counts: Counts,
    observers: Vec<Box<dyn SharedObserver>>,
}

impl Memory {
    pub fn new(spec: &GpuSpec, hooks: &Hooks) -> Self {
        let noc = ClockRatio::new(spec.sm.clock_mhz, spec.noc.clock_mhz);
        let (ports, slices) = (spec.noc_ports() as usize, spec.slices() as usize);
        let mesh = (spec.noc.topology == Topology::Mesh).then(|| Mesh::new(spec));
        let count = Sides {
            inputs: ports,
            outputs: slices,
        };
        let width = Sides {
            inputs: u64::from(spec.noc.port_flits),
            outputs: 1,
        };
        Self {
            map: Map::new(spec),
            noc,
            dram: ClockRatio::new(spec.sm.clock_mhz, spec.dram.clock_mhz),
            to_sms: Switch::new(
                noc,
                &spec.noc,
                mesh.as_ref().map(Mesh::reversed),
                (count.reversed(), width.reversed()),
            ),
            to_slices: Switch::new(noc, &spec.noc, mesh, (count, width)),
            slices: (0..slices).map(|_| Slice::new(spec)).collect(),
            channels: (0..spec.dram.controllers)
                .map(|number| Channel::new(&spec.dram, number))
                .collect(),
            requests: Vec::new(),
            free: Vec::new(),
            begun: Vec::new(),
            counts: Counts::new(),
            observers: hooks.shared.iter().map(|make| make()).collect(),
            spec: spec.clone(),
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, trace: &KernelTrace, now: u64) {
        for observer in &mut self.observers {
            observer.begin(now, trace);
        }
    }

    /// The launch has ended.
    pub fn has_ended(&mut self, now: u64) {
        for observer in &mut self.observers {
            observer.end(now);
        }
    }

    /// A request reaches its slice at SM cycle `now`, or its controller where there is no second-level cache.
    pub fn arrive(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        if self.spec.has_l2() {
            self.look_up(now, request, queue)
        } else {
            self.serve_directly(now, request, queue)
        }
    }
}

/// The first byte of the first sector.
fn first_byte(mask: u8) -> u64 {
    u64::from(SECTOR_BYTES) * u64::from(mask.trailing_zeros())
}
