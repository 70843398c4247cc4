//! What an organisation costs at least, without sizing a gate: so that the search need not evaluate most of them.

use warpwatt_techlib::quantity::{Area, Energy, Length, Time};
use warpwatt_techlib::rules;

use super::mat;
use super::shape::{Limits, MOST_MUX, MOST_SPLITS, MOST_SPREAD, Need, Shape, Split};
use super::shared::Shared;
use super::tree::{Bits, Direction, Leaves, Level, Tree};
use crate::Profile;
use crate::gate;
use crate::process::Process;

/// All organisations that differ only in how a degree of multiplexing is spread over the three multiplexers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// One member.
    pub(super) shape: Shape,
    /// Log of the degree.
    pub(super) mux: u32,
    /// Lower bounds.
    pub(super) delay: Time,
    pub(super) energy: Energy,
    pub(super) area: Area,
    pub(super) cycle: Time,
    /// Of which the trees between mats account for this much, until they are refined.
    tree: Option<(Time, Energy)>,
    leaves: Leaves,
}

/// What the bounds of all families are made from.
struct Bounds<'a> {
    process: &'a Process,
    need: &'a Need,
    limits: Limits,
    shared: &'a mut Shared,
    floor: Floor,
    found: Vec<Family>,
}

/// Every family that works, in CACTI's order.
pub(super) fn families(
    process: &Process,
    need: &Need,
    limits: Limits,
    shared: &mut Shared,
) -> Vec<Family> {
    let floor = Floor::new(process);
    let mut bounds = Bounds {
        process,
        need,
        limits,
        shared,
        floor,
        found: Vec::new(),
    };
    let powers = |most: u32| (0..=most.ilog2()).map(|i| 1_u32 << i);
    let mut spread = need.least_spread();
    while spread <= MOST_SPREAD {
        for ndwl in powers(MOST_SPLITS) {
            for ndbl in powers(MOST_SPLITS) {
                let divided = f64::from(ndbl) * spread;
                // More subarrays than sets are never the best.
                if need.sets < divided && divided > 1.0 {
                    break;
                }
                bounds.of_split(Split {
                    ndwl,
                    ndbl,
                    nspd: spread,
                    ndcm: 1,
                    ndsam1: 1,
                    ndsam2: 1,
                });
            }
        }
        spread *= 2.0;
    }
    bounds.found
}

impl Bounds<'_> {
    fn of_split(&mut self, split: Split) {
        let least = Shape::least_mux(self.need, &split);
        let mut seen = false;
        for mux in least..=3 * MOST_MUX {
            let Some((ndcm, ndsam1, ndsam2)) = spreads(self.need, mux).next() else {
                return;
            };
            let member = Split {
                ndcm,
                ndsam1,
                ndsam2,
                ..split
            };
            match Shape::new(self.process, self.need, member, self.limits) {
                Some(shape) => {
                    seen = true;
                    let family = Family::new(self, shape, mux);
                    self.found.push(family);
                }
                // Beyond the first that works, none that is larger does.
                None if seen || mux > least + 2 => return,
                None => {}
            }
        }
    }
}

/// The ways to spread a degree of `2^mux`: bitline multiplexer, first and second sense amplifier multiplexer.
pub(super) fn spreads(need: &Need, mux: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    let ways = if need.selects_ways() {
        need.ways().ilog2()
    } else {
        0
    };
    (0..=MOST_MUX.min(mux)).flat_map(move |dcm| {
        (0..=MOST_MUX.min(mux - dcm)).filter_map(move |first| {
            let second = mux - dcm - first;
            (second <= MOST_MUX && first >= ways).then(|| (1 << dcm, 1 << first, 1 << second))
        })
    })
}

/// Delays that no organisation goes below.
#[derive(Clone, Copy, Debug)]
struct Floor {
    /// Both gates of a node between mats: into the mats and out of them.
    node: Time,
    /// Multiplexers and buffers behind the sense amplifiers.
    output: Time,
}

impl Floor {
    fn new(p: &Process) -> Self {
        let tall = p.f(rules::CELL_HEIGHT);
        let (n, pm) = (p.min_nmos(), p.min_pmos());
        let (drain_n, drain_p) = (gate::drain_n(p, n, 1, tall), gate::drain_p(p, pm, tall));
        let inverter = gate::gate_c(p, n + pm);
        let threshold = -libm::log(p.tree_threshold());
        // Smallest gates that drive nothing but themselves; larger ones drive in proportion.
        let nand = gate::r_n(p, n, 2) * drain_n * 2.0;
        let buffer = gate::r_p(p, pm) * 2.0 * (drain_n + drain_p * 2.0);
        let mux = gate::r_n(p, n * rules::MUX, 1);
        let driver = match p.profile {
            Profile::Cacti65 => p.repeaters.chosen.size(),
            Profile::Cacti7 | Profile::Silicon => 0.0,
        };
        let own = drain_n + drain_p;
        let path = mux * inverter
            + gate::r_n(p, n, 1) * (own * 2.0 + inverter)
            + mux * (inverter * driver);
        Self {
            node: (nand + buffer) * threshold,
            output: path * least_step(p),
        }
    }
}

/// Least time of a stage in time constants.
fn least_step(p: &Process) -> f64 {
    match p.profile {
        Profile::Silicon => rules::LN_2 * rules::RAMPED,
        Profile::Cacti65 | Profile::Cacti7 => rules::LN_2,
    }
}

impl Family {
    fn new(at: &mut Bounds, shape: Shape, mux: u32) -> Self {
        let (p, need) = (at.process, at.need);
        let (rows, cols) = (shape.rows as f64, shape.cols as f64);
        let (sub_width, sub_height) = (shape.cell_width * cols, shape.cell_height * rows);
        let (width, height) = mat_at_least(p, need, &shape, sub_width, sub_height);
        let out = match p.profile {
            Profile::Cacti65 => sub_height,
            Profile::Cacti7 | Profile::Silicon => sub_width,
        };
        let row = at.shared.rows(p, &shape);
        let nodes = f64::from(shape.mats_h.ilog2() + shape.mats_v.ilog2());
        // The wires of a tree halve at every node: together they reach half the way across, less the last.
        let reach = |count: u32, size: Length| size * (f64::from(count) - 1.0) * 0.5;
        let tree = reach(shape.mats_h, width) + reach(shape.mats_v, height);
        let tree_wires = p.repeaters.chosen.stretch(p, tree);
        let out_wire = p.repeaters.chosen.stretch(p, out);
        let c_bitline = (p.wire_local.c * shape.cell_height + mat::access_drain(p, &shape)) * rows;
        let r_bitline = p.wire_local.r * sub_height;
        let cells = p.cells();
        let r_cell = gate::r_n(cells, p.cell.nmos, 1) + gate::r_n(cells, p.cell.access, 1);
        let latch = gate::gate_c(p, p.f(rules::SENSE_N + rules::SENSE_P));
        let swing = p.sense_swing();
        let step = (r_cell * (c_bitline + latch) + r_bitline * c_bitline / 2.0)
            * libm::log(cells.precharge / (cells.precharge - swing));
        let inside = row.end.delay + mat::with_ramp(cells, step, row.end.ramp);
        let lines = f64::from(shape.subs) * cols * shape.active_mats as f64;
        let precharge = gate::gate_c(
            p,
            p.min_pmos() * (2.0 * rules::PRECHARGE + rules::EQUALISER),
        ) * lines;
        let wordlines = (p.wire_local.c * sub_width
            + gate::gate_c(cells, p.cell.access) * (2.0 * cols))
            * (f64::from(shape.subs) * shape.active_mats as f64);
        let out_wires = out_wire.energy * (shape.out_bits_mat as f64 * shape.active_mats as f64);
        let on_tree = tree_wires.energy * shape.out_bits_bank as f64;
        Self {
            shape,
            mux,
            delay: (row.predecode.delay + row.end.delay)
                + (inside - row.end.delay)
                + tree_wires.delay * 2.0
                + out_wire.delay
                + at.floor.output
                + at.floor.node * nodes,
            energy: c_bitline * swing * cells.vdd * (2.0 * lines)
                + p.full_swing(precharge)
                + cells.full_swing(wordlines)
                + out_wires
                + on_tree,
            area: width * height * (shape.mats() * f64::from(need.banks)),
            cycle: inside,
            tree: (nodes > 0.0)
                .then_some((tree_wires.delay * 2.0 + at.floor.node * nodes, on_tree)),
            leaves: Leaves {
                width,
                height,
                across: shape.mats_h,
                down: shape.mats_v,
            },
        }
    }
}

impl Family {
    /// Replaces the bound on the trees by the trees over mats of the least size: dearer to know, and much nearer.
    pub(super) fn refine(&mut self, p: &Process) {
        let Some((delay, energy)) = self.tree.take() else {
            return;
        };
        let bits = Bits {
            address: 0.0,
            data_in: 0.0,
            data_out: self.shape.out_bits_bank as f64,
        };
        let size = self.leaves.around(p, bits, Level::Mats);
        let input = Tree::new(p, &self.leaves, size, 0.0, Level::Mats, Direction::In);
        let output = Tree::new(p, &self.leaves, size, 0.0, Level::Mats, Direction::Out);
        self.delay = self.delay - delay + input.delay + output.delay;
        self.energy = self.energy - energy + output.energy * bits.data_out;
    }
}

/// Width and height of a mat without gates.
fn mat_at_least(
    p: &Process,
    need: &Need,
    shape: &Shape,
    sub_width: Length,
    sub_height: Length,
) -> (Length, Length) {
    let total = f64::from(need.ports.total());
    let pitch = p.wire_inside.pitch;
    let lines = |bits: u32| f64::from(1_u32 << bits);
    let predecoded = if shape.row_bits < 4 {
        lines(shape.row_bits) + 1.0
    } else {
        lines(shape.row_bits.div_ceil(2)) + lines(shape.row_bits / 2)
    };
    let data = (shape.in_bits_mat + shape.out_bits_mat) / u64::from(shape.subs_in_row);
    let signals = f64::from(shape.address_bits + shape.way_selects) + data as f64;
    let stacked = f64::from(shape.subs / shape.subs_in_row);
    // Sense amplifiers that are not folded: two of each latch transistor, isolation, enable, and the gaps between them.
    let strip = p.f(6.0 * 7.0 + 2.0 * 7.0 + 4.0 * rules::GAP_SAME_TYPE + rules::GAP_P_TO_N);
    (
        sub_width * f64::from(shape.subs_in_row) + pitch * (predecoded * total),
        (sub_height + strip) * stacked + pitch * (signals * total),
    )
}
