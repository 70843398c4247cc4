//! SRAM arrays: one organisation evaluated, and the search for the best one (CACTI 5.1 TR, HPL-2008-20; CACTI 6.0 TR, HPL-2009-85).

mod bound;
mod cam;
mod choice;
mod decode;
#[cfg(test)]
mod list;
mod mat;
mod search;
#[cfg(test)]
mod search_tests;
mod shape;
mod shared;
#[cfg(test)]
mod slips;
mod tree;

pub(crate) use cam::{CamArray, CamNeed, again as cam_again, best as best_cam};
pub(crate) use choice::Figures;
pub(crate) use mat::Stage;
pub(crate) use search::{best, best_data, best_tags};
pub(crate) use shape::{Limits, Need, Shape, Side, Split};

use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};

use crate::process::Process;
use crate::slices::{Bus, Lines, Slices};
use crate::{Profile, Signalling};
use mat::Mat;
use shared::Shared;
use tree::{Bits, Direction, Gates, Leaves, Level, Tree};

/// One organisation with all its figures: of one slice of a word, where it has several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    /// Along the slices.
    pub(crate) bus: Bus,
    pub(crate) shape: Shape,
    /// Wires between its mats.
    pub(crate) wires: Signalling,
    pub(crate) width: Length,
    pub(crate) height: Length,
    pub(crate) access_time: Time,
    pub(crate) cycle_time: Time,
    pub(crate) read: Energy,
    pub(crate) write: Energy,
    pub(crate) leakage: Power,
    /// Of one bank with the routing between banks.
    pub(crate) bank_leakage: Power,
    pub(crate) gate_leakage: Power,
    /// Until the data are at the subarray outputs; until the select lines of the sense multiplexers are; from there to the edge.
    pub(crate) before_output: Time,
    pub(crate) select: Time,
    pub(crate) after_output: Time,
    pub(crate) parts: Parts,
}

/// What a search and its surroundings look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) width: Length,
    pub(crate) height: Length,
    /// Of all banks; of a bound not always width times height.
    pub(crate) area: Area,
    pub(crate) access_time: Time,
    pub(crate) cycle_time: Time,
    pub(crate) read: Energy,
    /// Of one bank, with the routing between banks.
    pub(crate) leakage: Power,
    pub(crate) before_output: Time,
    pub(crate) select: Time,
    pub(crate) after_output: Time,
}

/// The contributions, of one bank unless it says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) tree_in: Stage,
    pub(crate) predecode: Stage,
    pub(crate) row: Stage,
    pub(crate) selects: Stage,
    pub(crate) precharge: Stage,
    pub(crate) bitlines: Stage,
    pub(crate) sense: Stage,
    pub(crate) output: Stage,
    pub(crate) tree_out: Stage,
    pub(crate) compare: Stage,
    /// Leakage alone.
    pub(crate) tree_write: Stage,
    /// Between banks, all of them.
    pub(crate) route: Stage,
    /// All banks.
    pub(crate) cells_area: Area,
    pub(crate) periphery_area: Area,
    pub(crate) tree_area: Area,
}

/// Bits that run over the trees. CACTI 6.5 takes read ports for write ports there and the other way round.
fn bits(process: &Process, need: &Need, shape: &Shape) -> Bits {
    let ports = need.ports;
    let (writers, readers) = match process.profile {
        Profile::Cacti65 => (ports.readers(), ports.writers()),
        Profile::Cacti7 | Profile::Silicon => (ports.writers(), ports.readers()),
    };
    Bits {
        address: f64::from((shape.address_bits + shape.subbank_bits) * ports.total()),
        data_in: shape.in_bits_bank as f64 * f64::from(writers),
        data_out: shape.out_bits_bank as f64 * f64::from(readers),
    }
}

/// The trees of one bank or between banks.
#[derive(Clone, Copy, Debug)]
struct Trees {
    width: Length,
    height: Length,
    address: Tree,
    input: Tree,
    output: Tree,
}

impl Trees {
    fn new(process: &Process, leaves: Leaves, bits: Bits, level: Level) -> Self {
        let size = leaves.around(process, bits, level);
        let tree =
            |wires: f64, direction| Tree::new(process, &leaves, size, wires, level, direction);
        Self {
            width: size.width,
            height: size.height,
            address: tree(bits.address, Direction::In),
            input: tree(bits.data_in, Direction::In),
            output: tree(bits.data_out, Direction::Out),
        }
    }

    /// The same without leakage, which only the whole model needs.
    fn quick(process: &Process, leaves: Leaves, bits: Bits, level: Level) -> Self {
        let size = leaves.around(process, bits, level);
        let tree = |direction| Tree::new(process, &leaves, size, 0.0, level, direction);
        let into = tree(Direction::In);
        Self {
            width: size.width,
            height: size.height,
            address: into,
            input: into,
            output: tree(Direction::Out),
        }
    }

    /// Trees of a bank at least: the wires as they are, the gates as `gates` has them for the way into the mats and out of them.
    fn outline(process: &Process, leaves: Leaves, bits: Bits, gates: &[Gates; 2]) -> Self {
        let size = leaves.around(process, bits, Level::Mats);
        let (delay, energy) = Tree::wires(process, &leaves, size);
        let [into, out] = gates.map(|gates| Tree {
            delay: delay + gates.delay,
            energy: energy + gates.energy,
            ..Tree::default()
        });
        Self {
            width: size.width,
            height: size.height,
            address: into,
            input: into,
            output: out,
        }
    }

    fn leakage(&self) -> Power {
        self.address.leakage + self.input.leakage + self.output.leakage
    }

    fn gate_leakage(&self) -> Power {
        self.address.gate_leakage + self.input.gate_leakage + self.output.gate_leakage
    }
}

/// An organisation with its mat and trees.
struct Built<'a> {
    process: &'a Process,
    need: &'a Need,
    shape: Shape,
    mat: Mat,
    bank: Trees,
    route: Trees,
    bits: Bits,
}

impl<'a> Built<'a> {
    fn new(
        process: &'a Process,
        need: &'a Need,
        shape: Shape,
        mat: Mat,
        grow: impl Fn(&Process, Leaves, Bits, Level) -> Trees,
    ) -> Self {
        let bits = bits(process, need, &shape);
        let mats = Leaves {
            width: mat.width,
            height: mat.height,
            across: shape.mats_h,
            down: shape.mats_v,
        };
        let bank = grow(process, mats, bits, Level::Mats);
        let route = grow(
            process,
            banks(need.banks, bank.width, bank.height),
            bits,
            Level::Banks,
        );
        Self {
            process,
            need,
            shape,
            mat,
            bank,
            route,
            bits,
        }
    }

    /// With leakage if it is asked for.
    fn figures(&self, leaks: bool) -> Face {
        let mut face = self.face();
        if leaks {
            let parts = self.parts();
            face.leakage = parts.stages().map(|(_, stage)| stage.leakage).sum();
        }
        face
    }

    /// Figures without leakage.
    fn face(&self) -> Face {
        let (mat, bank, route) = (&self.mat, &self.bank, &self.route);
        let to_mat = route.address.delay + bank.address.delay;
        let inside = mat.row.delay + mat.bitline.delay + mat.sense.delay;
        let select = to_mat + mat.sense_mux[0].delay.max(mat.sense_mux[1].delay);
        let before_output = (to_mat + mat.predecode.delay + inside)
            .max(to_mat + mat.bit_mux.delay + mat.sense.delay)
            .max(select);
        let after_output = mat.output.delay + bank.output.delay + route.output.delay;
        Face {
            width: route.width,
            height: route.height,
            area: route.width * route.height,
            access_time: before_output + after_output,
            cycle_time: (inside + mat.wordline_reset + mat.bitline_restore)
                .max(mat.predecode.delay),
            read: self.energies().into_iter().sum(),
            leakage: Power::ZERO,
            before_output,
            select,
            after_output,
        }
    }

    /// Energies of a read, in the order of [`Parts::stages`].
    fn energies(&self) -> [Energy; 12] {
        let (mat, bank, route, bits) = (&self.mat, &self.bank, &self.route, &self.bits);
        let active = self.shape.active_mats as f64;
        [
            bank.address.energy * bits.address,
            mat.predecode.energy * active,
            mat.row.energy * active,
            mat.selects().energy * active,
            mat.precharge.energy * active,
            mat.bitline.read * active,
            mat.sense.energy * active,
            mat.output.energy * active,
            bank.output.energy * bits.data_out,
            mat.compare.energy * active,
            Energy::ZERO,
            route.address.energy * bits.address + route.output.energy * bits.data_out,
        ]
    }

    fn array(&self) -> Array {
        let parts = self.parts();
        let face = self.face();
        let banks = f64::from(self.need.banks);
        let read = face.read;
        let leaks = |(name, stage): (&str, Stage)| {
            if name == ROUTE {
                stage.leakage
            } else {
                stage.leakage * banks
            }
        };
        // CACTI's search looks at one bank with the routing.
        let bank_leakage = parts.stages().map(|(_, stage)| stage.leakage).sum();
        Array {
            bus: Bus::NONE,
            shape: self.shape,
            wires: self.process.repeaters.kind,
            width: face.width,
            height: face.height,
            access_time: face.access_time,
            cycle_time: face.cycle_time,
            read,
            write: self.write(read, &parts),
            leakage: parts.stages().map(leaks).sum(),
            bank_leakage,
            gate_leakage: parts
                .stages()
                .map(|(_, stage)| stage.gate_leakage * banks)
                .sum(),
            before_output: face.before_output,
            select: face.select,
            after_output: face.after_output,
            parts,
        }
    }

    /// A write pays no bitline read and no sensing, but the full swing. CACTI 7 lets data pay the output tree instead of that
    /// towards the cells (uca.cc:771), but not tags.
    fn write(&self, read: Energy, parts: &Parts) -> Energy {
        let (bank, route) = (&self.bank, &self.route);
        let bits = &self.bits;
        let slip = self.process.profile == Profile::Cacti7 && !self.need.is_tags();
        let trees = if slip {
            Energy::ZERO
        } else {
            route.input.energy * bits.data_in + bank.input.energy * bits.data_in
                - route.output.energy * bits.data_out
                - bank.output.energy * bits.data_out
        };
        let swing = self.mat.bitline.write * self.shape.active_mats as f64;
        read - parts.bitlines.energy - parts.sense.energy + swing + trees
    }

    fn parts(&self) -> Parts {
        let (shape, mat, bank, route, bits) =
            (&self.shape, &self.mat, &self.bank, &self.route, &self.bits);
        let (active, mats) = (shape.active_mats as f64, shape.mats());
        let all = |stage: Stage| Stage {
            delay: stage.delay,
            energy: stage.energy * active,
            leakage: stage.leakage * mats,
            gate_leakage: stage.gate_leakage * mats,
        };
        // CACTI 7 drops the leakage of the trees within a bank.
        let counted = |leakage: Power| {
            if self.process.profile != Profile::Cacti7 {
                leakage
            } else {
                Power::ZERO
            }
        };
        let tree = |tree: &Tree, bits: f64| Stage {
            delay: tree.delay,
            energy: tree.energy * bits,
            leakage: counted(tree.leakage),
            gate_leakage: Power::ZERO,
        };
        let banks = f64::from(self.need.banks);
        let cell = shape.cell_width * shape.cell_height;
        let cells_area =
            cell * (shape.rows as f64 * shape.cols as f64 * f64::from(shape.subs) * mats * banks);
        let mats_area = mat.width * mat.height * (mats * banks);
        Parts {
            tree_in: tree(&bank.address, bits.address),
            predecode: all(mat.predecode.stage()),
            row: all(mat.row),
            selects: all(mat.selects()),
            precharge: all(Stage {
                delay: Time::ZERO,
                ..mat.precharge
            }),
            bitlines: all(mat.bitline.stage()),
            sense: all(mat.sense),
            output: all(mat.output),
            tree_out: tree(&bank.output, bits.data_out),
            compare: all(mat.compare),
            tree_write: Stage {
                leakage: counted(bank.input.leakage),
                ..Stage::default()
            },
            route: Stage {
                delay: route.address.delay + route.output.delay,
                energy: route.address.energy * bits.address + route.output.energy * bits.data_out,
                leakage: route.leakage(),
                gate_leakage: route.gate_leakage(),
            },
            cells_area,
            periphery_area: mats_area - cells_area,
            tree_area: route.width * route.height - mats_area,
        }
    }
}

impl Array {
    /// Evaluates one organisation.
    fn new(process: &Process, need: &Need, shape: Shape, shared: &mut Shared) -> Self {
        let mat = Mat::new(process, need, &shape, shared);
        Built::new(process, need, shape, mat, Trees::new).array()
    }

    /// In so many slices.
    fn with(self, process: &Process, slices: Slices, need: &Need) -> Self {
        let lines = along(need, &self.shape);
        let bus = Bus::new(process, slices, lines, (self.width, self.height));
        Self { bus, ..self }
    }

    /// What surrounds it sees, of all slices.
    pub(crate) fn face(&self) -> Face {
        self.bus.face(&Face {
            width: self.width,
            height: self.height,
            area: self.area(),
            access_time: self.access_time,
            cycle_time: self.cycle_time,
            read: self.read,
            leakage: self.bank_leakage,
            before_output: self.before_output,
            select: self.select,
            after_output: self.after_output,
        })
    }

    pub(crate) fn area(&self) -> Area {
        self.width * self.height
    }
}

/// What runs along the slices of a word.
fn along(need: &Need, shape: &Shape) -> Lines {
    Lines {
        address: f64::from(shape.address_bits + shape.subbank_bits),
        selects: f64::from(shape.way_selects),
        ports: f64::from(need.ports.total()),
    }
}

/// The figures that a search compares; leakage only if it is asked for.
fn face(process: &Process, need: &Need, shape: Shape, shared: &mut Shared, leaks: bool) -> Face {
    // The trees of a single bank of CACTI 7 do not leak.
    let trees = leaks && (process.profile != Profile::Cacti7 || need.banks > 1);
    let grow = if trees { Trees::new } else { Trees::quick };
    let mat = Mat::new(process, need, &shape, shared);
    Built::new(process, need, shape, mat, grow).figures(leaks)
}

/// The same at least: of a mat, and of no more of the gates in the trees of a bank than `gates` has.
fn outline(
    process: &Process,
    need: &Need,
    shape: Shape,
    mat: Mat,
    gates: &[Gates; 2],
    leaks: bool,
) -> Face {
    let grow = |process: &Process, leaves, bits, level| match level {
        Level::Mats => Trees::outline(process, leaves, bits, gates),
        Level::Banks if leaks => Trees::new(process, leaves, bits, level),
        Level::Banks => Trees::quick(process, leaves, bits, level),
    };
    Built::new(process, need, shape, mat, grow).figures(leaks)
}

/// The same organisation under another process, with that one's cells.
pub(crate) fn again(process: &Process, need: &Need, array: &Array) -> Array {
    let slices = array.bus.slices();
    let each = need.slice(slices);
    let shape = array.shape.with_cells_of(process, &each);
    Array::new(process, &each, shape, &mut Shared::default()).with(process, slices, &each)
}

/// Name of the part that is there once, not once a bank.
pub(crate) const ROUTE: &str = "bank routing";

impl Parts {
    /// The contributions to energy and leakage by name.
    pub(crate) fn stages(&self) -> impl Iterator<Item = (&'static str, Stage)> {
        [
            ("address tree", self.tree_in),
            ("predecoders", self.predecode),
            ("row decoders and wordlines", self.row),
            ("column selects", self.selects),
            ("precharge", self.precharge),
            ("cells and bitlines", self.bitlines),
            ("sense amplifiers", self.sense),
            ("subarray outputs", self.output),
            ("output tree", self.tree_out),
            ("comparators", self.compare),
            ("write tree", self.tree_write),
            (ROUTE, self.route),
        ]
        .into_iter()
    }
}

/// Banks as near to a square as they go (CACTI 7, uca.cc:48).
fn banks(count: u32, width: Length, height: Length) -> Leaves {
    let all = count.max(1).ilog2();
    let down = if height > width {
        all / 2
    } else {
        all - all / 2
    };
    Leaves {
        width,
        height,
        across: 1 << (all - down),
        down: 1 << down,
    }
}
