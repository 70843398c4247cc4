//! What an organisation costs at least: so that the search need not evaluate most of them.
//!
//! A bound is drawn tighter in steps, each dearer than the one before: from the geometry and the row decoder, then with the predecoder, then with the trees
//! over mats of the least size, then for each member of a family with its mat. No step gives a figure above that of the organisation itself.

use std::borrow::Cow;

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Time};
use warpwatt_techlib::rules;

use super::choice::Figures;
use super::mat::{self, Mat};
use super::shape::{Limits, MOST_MUX, MOST_SPLITS, MOST_SPREAD, Need, Shape, Split};
use super::shared::{Rows, Shared};
use super::tree::{Direction, Gates, Larger, Leaves, Level, Tree};
use super::{Face, bits};
use crate::Profile;
use crate::gate;
use crate::process::Process;
use crate::repeater::Channel;
use crate::slices::{Bus, Slices};

/// Subarrays of fewer rows are so low that the decoders in the middle of a mat widen it out of all proportion: gates of trees are left out there, and in
/// the mended profile, whose rule for their sizes does not let them be bounded so.
const FLAT: u64 = 16;
/// Bounds and figures round differently.
pub(super) const ROUNDING: f64 = 1.0 - 1e-12;

/// One organisation or many that differ only in how a degree of multiplexing is spread over the three multiplexers, with what they cost at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) split: Split,
    /// Log of the degree.
    mux: u32,
    /// Which of the wires between mats, and of the numbers of slices.
    pub(super) wire: usize,
    pub(super) step: Step,
    pub(super) least: Least,
}

impl Node {
    /// The organisations of a family, some of which may not work.
    pub(super) fn members(&self, need: &Need) -> impl Iterator<Item = Split> + use<> {
        let family = self.split;
        spreads(need, self.mux).map(move |(ndcm, ndsam1, ndsam2)| Split {
            ndcm,
            ndsam1,
            ndsam2,
            ..family
        })
    }
}

/// Least figures: of the whole that the search looks at, and of the array alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub(super) whole: Figures,
    pub(super) delay: Time,
    pub(super) energy: Energy,
}

/// How tight a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Geometry and row decoder.
    Geometry,
    /// With the predecoder.
    Rows,
    /// With the trees, whose gates are kept at an index.
    Trees(usize),
    /// One organisation without its column selects, under trees with the gates of its family's.
    Member(usize),
    /// With its column selects.
    Selects,
    /// Evaluated, or broken up into its members.
    Done,
}

/// Trees over mats of the least size, and between banks of them.
#[derive(Clone, Copy, Debug)]
struct Trees {
    width: Length,
    height: Length,
    area: Area,
    into: Tree,
    out: Tree,
}

/// What a mat costs at least.
#[derive(Clone, Copy, Debug)]
struct Inside {
    width: Length,
    height: Length,
    /// In its middle, beside width times height.
    centre: Area,
    /// How much larger it may be.
    larger: Larger,
    before: Time,
    output: Time,
    cycle: Time,
    /// Of all active mats.
    energy: Energy,
    /// Of all mats.
    leakage: Power,
}

/// Delays and energies that no organisation goes below.
#[derive(Clone, Copy, Debug)]
struct Floor {
    /// Gate of a node between mats, into the mats and out of them.
    node_in: Time,
    node_out: Time,
    /// Multiplexers and buffers behind the sense amplifiers.
    output: Time,
    /// Capacitance of the buffers of one output.
    buffers: Capacitance,
    /// Gates of a sense amplifier.
    latch: Capacitance,
    /// Height of amplifiers that are not folded.
    strip: Length,
}

/// Draws bounds.
pub(super) struct Bounds<'a> {
    /// With one of the wires between mats, and one of the numbers of slices.
    pub(super) process: Cow<'a, Process>,
    wire: usize,
    pub(super) slices: Slices,
    /// Of one slice.
    pub(super) need: Need,
    pub(super) limits: Limits,
    pub(super) shared: Shared,
    floor: Floor,
    /// Of the trees of families, into the mats and out of them.
    gates: Vec<[Gates; 2]>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(
        process: Cow<'a, Process>,
        wire: usize,
        slices: Slices,
        need: &Need,
        limits: Limits,
    ) -> Self {
        Self {
            floor: Floor::new(&process),
            wire,
            process,
            slices,
            need: need.slice(slices),
            limits,
            shared: Shared::default(),
            gates: Vec::new(),
        }
    }

    /// Figures of one organisation; leakage only if it is asked for.
    pub(super) fn face(&mut self, split: Split, leaks: bool) -> Option<Face> {
        let shape = self.shape(split)?;
        let face = super::face(&self.process, &self.need, shape, &mut self.shared, leaks);
        Some(self.together(&shape, &face))
    }

    /// All slices of a word.
    fn together(&self, shape: &Shape, slice: &Face) -> Face {
        let lines = super::along(&self.need, shape);
        let size = (slice.width, slice.height);
        Bus::new(&self.process, self.slices, lines, size).face(slice)
    }

    pub(super) fn shape(&self, split: Split) -> Option<Shape> {
        Shape::new(&self.process, &self.need, split, self.limits)
    }

    /// Every family that works.
    pub(super) fn families(&mut self, whole: &impl Fn(&Face) -> Figures) -> Vec<Node> {
        /// Families of a large array, so that the list need not grow often.
        const MANY: usize = 1024;
        let mut found = Vec::with_capacity(MANY);
        let powers = |most: u32| (0..=most.ilog2()).map(|i| 1_u32 << i);
        let mut nspd = self.need.least_spread();
        while nspd <= MOST_SPREAD {
            for ndwl in powers(MOST_SPLITS) {
                for ndbl in powers(MOST_SPLITS) {
                    let divided = f64::from(ndbl) * nspd;
                    // More subarrays than sets are never the best.
                    if self.need.sets < divided && divided > 1.0 {
                        break;
                    }
                    let split = Split {
                        ndwl,
                        ndbl,
                        nspd,
                        ndcm: 1,
                        ndsam1: 1,
                        ndsam2: 1,
                    };
                    self.of_split(split, whole, &mut found);
                }
            }
            nspd *= 2.0;
        }
        found
    }

    fn of_split(&mut self, split: Split, whole: &impl Fn(&Face) -> Figures, found: &mut Vec<Node>) {
        if Shape::lines(&self.process, &self.need, &split, self.limits).is_none() {
            return;
        }
        let least = Shape::least_mux(&self.need, &split);
        let mut seen = false;
        for mux in least..=3 * MOST_MUX {
            let Some((ndcm, ndsam1, ndsam2)) = spreads(&self.need, mux).next() else {
                return;
            };
            let split = Split {
                ndcm,
                ndsam1,
                ndsam2,
                ..split
            };
            match self.shape(split) {
                Some(shape) => {
                    seen = true;
                    let inside = self.inside(&shape, mux, None);
                    let trees = self.wires(&shape, &inside);
                    found.push(Node {
                        split,
                        mux,
                        wire: self.wire,
                        step: Step::Geometry,
                        least: self.least(&shape, &inside, &trees, whole),
                    });
                }
                // Beyond the first that works, none that is larger does.
                None if seen || mux > least + 2 => return,
                None => {}
            }
        }
    }

    /// Takes the bound of a family one step on. Broken up, its members are added to `nodes`, with leakage if it is asked for.
    pub(super) fn tighten(
        &mut self,
        index: usize,
        nodes: &mut Vec<Node>,
        leaks: bool,
        whole: &impl Fn(&Face) -> Figures,
    ) {
        let node = nodes[index];
        let Some(shape) = self.shape(node.split) else {
            nodes[index].step = Step::Done;
            return;
        };
        match node.step {
            Step::Geometry | Step::Rows => {
                let rows = self.shared.rows(&self.process, &shape);
                let inside = self.inside(&shape, node.mux, Some(&rows));
                let last = node.step == Step::Rows;
                let trees = if last {
                    self.least_trees(&shape, &inside)
                } else {
                    self.wires(&shape, &inside)
                };
                nodes[index].least = self.least(&shape, &inside, &trees, whole);
                nodes[index].step = Step::Rows;
                if last {
                    nodes[index].step = Step::Trees(self.gates.len());
                    self.gates.push([trees.into.gates(), trees.out.gates()]);
                }
            }
            Step::Trees(at) => {
                nodes[index].step = Step::Done;
                for split in node.members(&self.need) {
                    let Some(shape) = self.shape(split) else {
                        continue;
                    };
                    let mat = Mat::least(&self.process, &self.need, &shape, &mut self.shared);
                    nodes.push(Node {
                        split,
                        step: Step::Member(at),
                        least: self.member(shape, mat, at, leaks, whole),
                        ..node
                    });
                }
            }
            Step::Member(at) => {
                let mat = Mat::new(&self.process, &self.need, &shape, &mut self.shared);
                nodes[index].step = Step::Selects;
                nodes[index].least = self.member(shape, mat, at, leaks, whole);
            }
            Step::Selects | Step::Done => {}
        }
    }

    /// An organisation of a mat, with the gates of its family's trees.
    fn member(
        &self,
        shape: Shape,
        mat: Mat,
        gates: usize,
        leaks: bool,
        whole: &impl Fn(&Face) -> Figures,
    ) -> Least {
        let gates = &self.gates[gates];
        let face = super::outline(&self.process, &self.need, shape, mat, gates, leaks);
        Least::new(&self.together(&shape, &face), whole)
    }

    fn least(
        &self,
        shape: &Shape,
        inside: &Inside,
        trees: &Trees,
        whole: &impl Fn(&Face) -> Figures,
    ) -> Least {
        let bits = bits(&self.process, &self.need, shape);
        let before = trees.into.delay + inside.before;
        let after = inside.output + trees.out.delay;
        let energy =
            inside.energy + trees.into.energy * bits.address + trees.out.energy * bits.data_out;
        let banks = f64::from(self.need.banks);
        let area = trees.area + inside.centre * (shape.mats() * banks);
        let face = Face {
            width: trees.width,
            height: trees.height,
            area,
            access_time: before + after,
            cycle_time: inside.cycle,
            read: energy,
            leakage: inside.leakage,
            before_output: before,
            select: trees.into.delay,
            after_output: after,
        };
        Least::new(&self.together(shape, &face), whole)
    }
}

impl Least {
    fn new(face: &Face, whole: &impl Fn(&Face) -> Figures) -> Self {
        let face = Face {
            width: face.width * ROUNDING,
            height: face.height * ROUNDING,
            area: face.area * ROUNDING,
            access_time: face.access_time * ROUNDING,
            cycle_time: face.cycle_time * ROUNDING,
            read: face.read * ROUNDING,
            leakage: face.leakage * ROUNDING,
            before_output: face.before_output * ROUNDING,
            select: face.select * ROUNDING,
            after_output: face.after_output * ROUNDING,
        };
        Self {
            whole: whole(&face),
            delay: face.access_time,
            energy: face.read,
        }
    }
}

/// The ways to spread a degree of `2^mux`, as many ways as there are counted as a power of two: bitline multiplexer, first and second sense amplifier
/// multiplexer.
pub(super) fn spreads(need: &Need, mux: u32) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
    let need = *need;
    (0..=MOST_MUX.min(mux)).flat_map(move |dcm| {
        (0..=MOST_MUX.min(mux - dcm)).filter_map(move |first| {
            let second = mux - dcm - first;
            (second <= MOST_MUX && first >= need.way_bits())
                .then(|| (1 << dcm, need.sense_degree(first), 1 << second))
        })
    })
}

impl Floor {
    fn new(p: &Process) -> Self {
        let tall = p.f(rules::CELL_HEIGHT);
        let (n, pm) = (p.min_nmos(), p.min_pmos());
        let (drain_n, drain_p) = (gate::drain_n(p, n, 1, tall), gate::drain_p(p, pm, tall));
        let inverter = gate::gate_c(p, n + pm);
        // Folding leaves the larger ones less than half the drain in proportion.
        let threshold = -libm::log(p.tree_threshold()) * 0.4;
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
            node_in: nand * threshold,
            node_out: buffer * threshold,
            output: path * rules::LN_2,
            buffers: inverter * (2.0 + driver) + own * 2.0,
            latch: gate::gate_c(p, p.wide(rules::SENSE_N) + p.wide(rules::SENSE_P)),
            // Two of each latch transistor, isolation, enable, and the gaps between them.
            strip: p.f(6.0 * 7.0 + 2.0 * 7.0 + 4.0 * rules::GAP_SAME_TYPE + rules::GAP_P_TO_N),
        }
    }
}

impl Bounds<'_> {
    /// A mat without column multiplexers; without its predecoder too if `known` is not.
    fn inside(&mut self, shape: &Shape, mux: u32, known: Option<&Rows>) -> Inside {
        let (p, need) = (&*self.process, &self.need);
        let constants = self.shared.constants(p, need, shape);
        let (decoder, precharge) = self.shared.column(p, shape);
        let floor = &self.floor;
        let (rows, cols) = (shape.rows as f64, shape.cols as f64);
        let (subs, active) = (f64::from(shape.subs), shape.active_mats as f64);
        let sub_width = shape.cell_width * shape.laid_cols as f64
            + p.f(rules::STITCH) * (shape.laid_cols / rules::STITCH_CELLS as u64) as f64;
        let sub_height = shape.cell_height * rows;
        let out = match p.profile {
            Profile::Cacti65 => sub_height,
            Profile::Cacti7 | Profile::Silicon => sub_width,
        };
        let out_wire = p.repeaters.chosen.stretch(p, out);
        let end = known.map_or(decoder.least, |rows| rows.end);
        let c_bitline = (constants.access_drain + p.wire_local.c * shape.cell_height) * rows;
        let r_bitline = p.wire_local.r * sub_height;
        let cells = p.cells();
        let r_cell = gate::r_n(cells, p.cell.nmos, 1) + gate::r_n(cells, p.cell.access, 1);
        let step =
            (r_cell * (c_bitline + floor.latch) + r_bitline * c_bitline / 2.0) * constants.swing;
        let sense = Time::from_si(floor.latch.si() / p.sense_gm * constants.gain);
        let within = end.delay + mat::with_ramp(cells, step, end.ramp) + sense;
        let restore =
            gate::r_p(p, p.min_pmos() * rules::PRECHARGE) * c_bitline + r_bitline * c_bitline / 2.0;
        let (predecode, predecode_energy, centre) =
            known.map_or((Time::ZERO, Energy::ZERO, Area::ZERO), |rows| {
                let predecode = &rows.predecode;
                (predecode.delay, predecode.energy, predecode.area)
            });
        let amplifiers = (shape.cols >> mux.min(MOST_MUX)) as f64;
        let each = end.energy
            + precharge.energy
            + c_bitline * p.sense_swing() * cells.vdd * (2.0 * cols)
            + p.full_swing(floor.latch) * amplifiers;
        let output = p.full_swing(floor.buffers) * 0.5 + out_wire.energy;
        let drivers = out_wire.area * (shape.cols >> mux) as f64 / sub_width
            * f64::from(need.ports.readers());
        let total = f64::from(need.ports.total());
        let decoders = decoder.area * (rows * total) / sub_height;
        let (width, height) = self.mat_at_least(shape, (sub_width, sub_height), decoders, drivers);
        let stacked = f64::from(shape.subs / shape.subs_in_row);
        let lines = f64::from(1_u32 << mux.min(MOST_MUX)) * 3.0 * f64::from(need.ports.readers());
        let more = (constants.strip - floor.strip) * stacked + p.wire_inside.pitch * lines;
        let leakage = constants.cell.0 * (rows * cols) + decoder.leakage * rows + precharge.leakage;
        Inside {
            width,
            height,
            centre: centre * total,
            larger: Larger {
                // Beside the predecoders of the rows stand the select decoders, a few times as large where a mat is low and wide.
                wider: if shape.rows < FLAT || p.profile == Profile::Silicon {
                    f64::INFINITY
                } else {
                    1.0 + centre * (8.0 * total) / (width * height)
                },
                taller: (height + more) / height,
            },
            before: predecode + within,
            output: self.floor.output + out_wire.delay,
            cycle: (within
                + decoder.reset.unwrap_or(Time::ZERO)
                + precharge.delay
                + restore * constants.restore)
                .max(predecode),
            energy: (each * subs + predecode_energy + output * shape.out_bits_mat as f64) * active,
            leakage: leakage * (subs * shape.mats()),
        }
    }

    /// Width and height of a mat without its centre and with amplifiers that are not folded.
    fn mat_at_least(
        &self,
        shape: &Shape,
        (sub_width, sub_height): (Length, Length),
        decoders: Length,
        drivers: Length,
    ) -> (Length, Length) {
        let total = f64::from(self.need.ports.total());
        let pitch = self.process.wire_inside.pitch;
        let lines = |bits: u32| f64::from(1_u32 << bits);
        let predecoded = if shape.row_bits < 4 {
            lines(shape.row_bits) + 1.0
        } else {
            lines(shape.row_bits.div_ceil(2)) + lines(shape.row_bits / 2)
        };
        let across = f64::from(shape.subs_in_row);
        let wide = (pitch * (predecoded * total)).max(decoders * across);
        let data = (shape.in_bits_mat + shape.out_bits_mat) / u64::from(shape.subs_in_row);
        let signals = f64::from(shape.address_bits + shape.way_selects) + data as f64;
        let stacked = f64::from(shape.subs / shape.subs_in_row);
        (
            sub_width * across + wide,
            (sub_height + self.floor.strip + drivers) * stacked + pitch * (signals * total),
        )
    }

    /// The wires of the trees alone.
    fn wires(&self, shape: &Shape, inside: &Inside) -> Trees {
        let p = &*self.process;
        let bits = bits(p, &self.need, shape);
        let leaves = Self::leaves(shape, inside);
        let size = leaves.around(p, bits, Level::Mats);
        let wires = match &p.repeaters.chosen {
            Channel::Repeated(_) => Tree::wires(p, &leaves, size),
            // Their cost is not in proportion to their length: wires between larger mats need not be dearer.
            Channel::LowSwing(_) => (Time::ZERO, Energy::ZERO),
        };
        let nodes = f64::from(shape.mats_h.ilog2() + shape.mats_v.ilog2());
        let tree = |node: Time| Tree {
            delay: wires.0 + node * nodes,
            energy: wires.1,
            ..Tree::default()
        };
        let (width, height, area) = self.around(shape, inside);
        Trees {
            width,
            height,
            area,
            into: tree(self.floor.node_in),
            out: tree(self.floor.node_out),
        }
    }

    fn leaves(shape: &Shape, inside: &Inside) -> Leaves {
        Leaves {
            width: inside.width,
            height: inside.height,
            across: shape.mats_h,
            down: shape.mats_v,
        }
    }

    /// As many banks as make a square, of the least size.
    fn square(&self, width: Length, height: Length) -> Leaves {
        let side = 1 << (self.need.banks.max(1).ilog2() / 2);
        Leaves {
            width,
            height,
            across: side,
            down: side,
        }
    }

    /// Width, height and area with the wires of the trees.
    fn around(&self, shape: &Shape, inside: &Inside) -> (Length, Length, Area) {
        let p = &*self.process;
        let bits = bits(p, &self.need, shape);
        let bank = Self::leaves(shape, inside).around(p, bits, Level::Mats);
        if self.need.banks == 1 {
            return (bank.width, bank.height, bank.width * bank.height);
        }
        let square = self.square(bank.width, bank.height);
        let all = square.around(p, bits, Level::Banks);
        let without = bank.width * bank.height * f64::from(self.need.banks);
        (all.width, all.height, (all.width * all.height).max(without))
    }

    fn least_trees(&self, shape: &Shape, inside: &Inside) -> Trees {
        let p = &*self.process;
        let bits = bits(p, &self.need, shape);
        let leaves = Self::leaves(shape, inside);
        let size = leaves.around(p, bits, Level::Mats);
        let tree = |way| Tree::least(p, &leaves, size, inside.larger, way);
        let (mut into, mut out) = (tree(Direction::In), tree(Direction::Out));
        if self.need.banks > 1 {
            let square = self.square(size.width, size.height);
            let all = square.around(p, bits, Level::Banks);
            let route = Tree::new(p, &square, all, 0.0, Level::Banks, Direction::In);
            for tree in [&mut into, &mut out] {
                tree.delay += route.delay;
                tree.energy += route.energy;
                tree.wires.0 += route.delay;
                tree.wires.1 += route.energy;
            }
        }
        let (width, height, area) = self.around(shape, inside);
        Trees {
            width,
            height,
            area,
            into,
            out,
        }
    }
}
