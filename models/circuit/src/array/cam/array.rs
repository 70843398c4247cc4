//! One organisation of an associative array with all its figures (CACTI 7, bank.cc and uca.cc).

use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};

use super::super::tree::{Bits, Leaves, Level};
use super::super::{ROUTE, Trees, banks};
use super::leakage::Leak;
use super::mat::{Build, mended};
use super::matching::{Drivers, Search};
use super::shape::{CamNeed, CamShape};
use crate::gate::{Drive, Kind};
use crate::process::Process;

/// One organisation with all its figures.
#[derive(Clone, Debug)]
pub(crate) struct CamArray {
    pub(crate) shape: CamShape,
    /// Wires between its mats.
    pub(crate) wires: crate::Signalling,
    pub(crate) width: Length,
    pub(crate) height: Length,
    pub(crate) access_time: Time,
    pub(crate) cycle_time: Time,
    pub(crate) read: Energy,
    pub(crate) write: Energy,
    pub(crate) search: Energy,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
    pub(crate) parts: Vec<CamPart>,
    /// All banks.
    pub(crate) cells_area: Area,
    pub(crate) mats_area: Area,
}

/// One contribution: energies of one access, leakage of all banks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CamPart {
    pub(crate) name: &'static str,
    pub(crate) delay: Time,
    pub(crate) read: Energy,
    pub(crate) search: Energy,
    pub(crate) leakage: Power,
    gate_leakage: Power,
}

/// The pieces of an organisation.
struct Whole<'a> {
    p: &'a Process,
    need: &'a CamNeed,
    mat: Build<'a>,
    drivers: Drivers,
    search: Search,
    bank: Trees,
    route: Trees,
    bits: Bits,
    /// With those of the search beside the address's.
    wires: Bits,
}

impl CamArray {
    pub(super) fn new(p: &Process, need: &CamNeed, shape: &CamShape) -> Self {
        Whole::new(p, need, shape).array()
    }

    pub(crate) fn area(&self) -> Area {
        self.width * self.height
    }
}

impl<'a> Whole<'a> {
    fn new(p: &'a Process, need: &'a CamNeed, shape: &'a CamShape) -> Self {
        let mat = Build::new(p, need, shape);
        let drivers = mat.drivers();
        let search = mat.search(&drivers);
        let ports = need.ports;
        let cols = need.cols() as f64;
        let searched = (need.tag_bits + shape.found_bits) as f64 * f64::from(ports.search);
        let bits = Bits {
            address: f64::from((shape.address_bits + shape.mat_bits) * ports.total()),
            data_in: cols * f64::from(ports.writers()),
            data_out: cols * f64::from(ports.readers()),
        };
        let wires = Bits {
            address: bits.address + searched,
            ..bits
        };
        let (width, height) = mat.size();
        let leaves = Leaves {
            width,
            height,
            across: shape.mats_h,
            down: shape.mats_v,
        };
        let bank = Trees::new(p, leaves, wires, Level::Mats);
        let route = Trees::new(
            p,
            banks(need.banks, bank.width, bank.height),
            wires,
            Level::Banks,
        );
        Self {
            p,
            need,
            search,
            drivers,
            mat,
            bank,
            route,
            bits,
            wires,
        }
    }

    fn array(&self) -> CamArray {
        let (mat, shape) = (&self.mat, self.mat.shape);
        let parts = self.parts();
        let banks = f64::from(self.need.banks);
        let subs = f64::from(shape.subs) * shape.mats() * banks;
        let rows = shape.rows as f64;
        let cells = shape.cell_height * mat.ram_cols + shape.cam_height * mat.cam_cols;
        let (access_time, cycle_time) = self.times();
        let read = parts.iter().map(|part| part.read).sum();
        CamArray {
            shape: *shape,
            wires: self.p.repeaters.kind,
            width: self.route.width,
            height: self.route.height,
            access_time,
            cycle_time,
            read,
            write: self.write(read, &parts),
            search: parts.iter().map(|part| part.search).sum(),
            leakage: parts.iter().map(|part| part.leakage).sum(),
            gate_leakage: parts.iter().map(|part| part.gate_leakage).sum(),
            cells_area: shape.cell_width * cells * (rows * subs),
            mats_area: self.mats_area(),
            parts,
        }
    }

    fn mats_area(&self) -> Area {
        let (width, height) = self.mat.size();
        width * height * (self.mat.shape.mats() * f64::from(self.need.banks))
    }

    /// Whether the access time is that of a search. The tool gives the plain read of a pure CAM as its access time (uca.cc:452-470).
    fn searches(&self) -> bool {
        self.need.is_cache() || mended(self.p)
    }

    /// Bitlines behind the wordline that the match drives, or that the decoder drives.
    fn bitline_delay(&self) -> Time {
        let mat = &self.mat;
        let ramp = if self.need.is_cache() {
            self.search.ramp
        } else {
            mat.wordline.ramp
        };
        mat.bitline_delay(&mat.bitlines(), ramp)
    }

    /// Delay from the last match line or sense amplifier to the edge of the mat. The outputs of a CAM are those of its match lines.
    fn output_delay(&self) -> Time {
        let ramp = if self.need.is_cache() {
            Time::ZERO
        } else {
            self.search.ramp
        };
        self.mat.output(ramp).delay
    }

    fn times(&self) -> (Time, Time) {
        let (mat, search) = (&self.mat, &self.search);
        let matched = search.search_lines + search.match_lines;
        let bitline = self.bitline_delay();
        let sense = mat.sense().delay;
        let plain = mat.wordline.delay + bitline + sense;
        let inside = match (self.need.is_cache(), self.searches()) {
            (true, _) => matched + bitline,
            (false, true) => matched,
            (false, false) => mat.predecode.delay + plain,
        };
        let trees = self.route.address.delay
            + self.bank.address.delay
            + self.bank.output.delay
            + self.route.output.delay;
        let cycle = if self.need.is_cache() {
            let driver = mat.precharge(mat.ram_cols).drive(self.p, Drive::default());
            let restored = search.wordline_reset + mat.restore(driver.delay);
            // Below 1 V the tool's restore times are negative, which never leaves less than the access itself.
            (matched + bitline + restored + search.restore).max(matched)
        } else if mended(self.p) {
            let driver = mat.precharge(mat.cam_cols).drive(self.p, Drive::default());
            (matched + search.restore).max(plain + mat.restore(driver.delay))
        } else {
            plain
        };
        (
            trees + inside + self.output_delay(),
            cycle.max(mat.predecode.delay),
        )
    }

    /// A write pays no bitline read and no sensing, but the full swing; mended, it pays the way in and not the way out.
    fn write(&self, read: Energy, parts: &[CamPart]) -> Energy {
        let cols = self.need.cols() as f64;
        let of = |name: &str| -> Energy {
            let named = parts.iter().filter(|part| part.name == name);
            named.map(|part| part.read).sum()
        };
        let trees = if mended(self.p) {
            (self.route.input.energy + self.bank.input.energy - self.route.output.energy) * cols
                - of(OUTPUT_TREE)
                - of(OUTPUTS)
        } else {
            Energy::ZERO
        };
        read - of(CELLS) - of(SENSE) + self.mat.bitlines().write * cols + trees
    }

    fn parts(&self) -> Vec<CamPart> {
        let mut parts = self.row_parts().to_vec();
        parts.extend(self.column_parts());
        parts.extend(self.search_parts());
        parts.extend(self.tree_parts());
        parts
    }

    /// What a mat has of a part, times the mats of all banks.
    fn leaking(&self, part: CamPart, leak: Leak) -> CamPart {
        let all = leak.times(self.mat.shape.mats() * f64::from(self.need.banks));
        CamPart {
            leakage: all.sub,
            gate_leakage: all.gate,
            ..part
        }
    }

    /// Predecoders, decoders with their wordlines, and precharge.
    fn row_parts(&self) -> [CamPart; 3] {
        let (p, mat, shape) = (self.p, &self.mat, self.mat.shape);
        let subs = f64::from(shape.subs);
        let plain = |time: Time| if self.searches() { Time::ZERO } else { time };
        // Row decoders of a CAM leak for every port, those of a cache once (mat.cc:1713 and 1897).
        let decoders = if self.need.is_cache() && !mended(p) {
            1.0
        } else {
            f64::from(self.need.ports.total())
        };
        let row = Leak::of(mat.decoder.leakage(p)).times(subs * shape.rows as f64 * decoders);
        let predecode = Leak {
            sub: mat.predecode.leakage,
            gate: mat.predecode.gate_leakage,
        };
        let predecoders = CamPart {
            name: "predecoders",
            delay: plain(mat.predecode.delay),
            read: mat.predecode.energy,
            ..CamPart::default()
        };
        let decoded = CamPart {
            name: "row decoders and wordlines",
            delay: plain(mat.wordline.delay),
            read: mat.wordline.energy,
            ..CamPart::default()
        };
        [
            self.leaking(predecoders, predecode),
            self.leaking(decoded, row),
            self.precharge_part(),
        ]
    }

    /// The tool forgets the precharge of CAM cells' bitlines.
    fn precharge_part(&self) -> CamPart {
        let (p, mat) = (self.p, &self.mat);
        let part = CamPart {
            name: "precharge",
            ..CamPart::default()
        };
        let cols = if mended(p) {
            self.need.cols() as f64
        } else {
            mat.ram_cols
        };
        if cols <= 0.0 {
            return part;
        }
        let chain = mat.precharge(cols);
        let energy = chain.drive(p, Drive::default()).energy;
        let leak = Leak::of(chain.leakage(p, Kind::Inverter));
        let charged = CamPart {
            read: energy,
            search: energy * (mat.ram_cols / cols),
            ..part
        };
        self.leaking(charged, leak.times(f64::from(mat.shape.subs)))
    }

    /// Bitlines, sense amplifiers and outputs.
    fn column_parts(&self) -> [CamPart; 3] {
        let (mat, shape, ports) = (&self.mat, self.mat.shape, self.need.ports);
        let subs = f64::from(shape.subs);
        let (cols, ram) = (self.need.cols() as f64, mat.ram_cols);
        // Sense amplifiers and outputs stand under every column for every port that reads or searches.
        let columns = f64::from(ports.readers() + ports.search) * subs * cols;
        let when = |on: bool, time: Time| if on { time } else { Time::ZERO };
        let plain = !self.searches();
        let (bitlines, sense) = (mat.bitlines(), mat.sense());
        let output = mat.output(Time::ZERO);
        let cells = CamPart {
            name: CELLS,
            delay: when(plain || self.need.is_cache(), self.bitline_delay()),
            read: bitlines.read * cols,
            search: bitlines.read * ram,
            ..CamPart::default()
        };
        let sensed = CamPart {
            name: SENSE,
            delay: when(plain, sense.delay),
            read: sense.energy * cols,
            search: sense.energy * ram,
            ..CamPart::default()
        };
        let driven = CamPart {
            name: OUTPUTS,
            delay: self.output_delay(),
            read: output.energy * cols,
            search: output.energy * shape.found_bits as f64,
            ..CamPart::default()
        };
        [
            self.leaking(cells, mat.cells().times(subs)),
            self.leaking(sensed, Leak::stage(&sense).times(columns)),
            self.leaking(driven, Leak::stage(&output).times(columns)),
        ]
    }

    fn search_parts(&self) -> [CamPart; 2] {
        let (mat, search) = (&self.mat, &self.search);
        let subs = f64::from(mat.shape.subs);
        let all = subs * mat.shape.mats();
        let on = self.searches();
        let lines = CamPart {
            name: "search lines",
            delay: if on { search.search_lines } else { Time::ZERO },
            search: search.search_energy * all,
            ..CamPart::default()
        };
        let matches = CamPart {
            name: "match lines",
            delay: if on { search.match_lines } else { Time::ZERO },
            search: search.match_energy * all + search.wordline_energy,
            ..CamPart::default()
        };
        [
            self.leaking(lines, mat.searching(&self.drivers).times(subs)),
            self.leaking(matches, mat.matching().times(subs)),
        ]
    }

    /// Trees within a bank leak, unlike those of plain memories (bank.cc:105-112), and those between banks do.
    fn tree_parts(&self) -> [CamPart; 5] {
        let (bank, route, bits) = (&self.bank, &self.route, &self.bits);
        let banks = f64::from(self.need.banks);
        let cols = self.need.cols() as f64;
        // The tool lets the wires of all ports switch.
        let (address, out) = if mended(self.p) {
            (bits.address / f64::from(self.need.ports.total()), cols)
        } else {
            (bits.address, bits.data_out)
        };
        // The tool sends as many bits to a search as to a write.
        let sent = if mended(self.p) {
            self.need.tag_bits as f64
        } else {
            cols
        };
        let found = self.mat.shape.found_bits as f64;
        let part = |name, delay, read, leakage| CamPart {
            name,
            delay,
            read,
            leakage,
            ..CamPart::default()
        };
        // The tool lets the wires of the search leak nothing.
        let addressed = bits.address / self.wires.address;
        let (address_leak, search_leak) = (
            bank.address.leakage * (addressed * banks),
            bank.address.leakage * ((1.0 - addressed) * banks),
        );
        let search = CamPart {
            leakage: if mended(self.p) {
                search_leak
            } else {
                search_leak * (self.need.tag_bits as f64 / (self.need.tag_bits as f64 + found))
            },
            name: "search tree",
            search: bank.address.energy * sent + bank.output.energy * found,
            ..CamPart::default()
        };
        let between = CamPart {
            search: route.address.energy * sent + route.output.energy * found,
            ..part(
                ROUTE,
                route.address.delay + route.output.delay,
                route.address.energy * address + route.output.energy * out,
                route.leakage(),
            )
        };
        [
            part(
                "address tree",
                bank.address.delay,
                bank.address.energy * address,
                address_leak,
            ),
            part(
                OUTPUT_TREE,
                bank.output.delay,
                bank.output.energy * out,
                bank.output.leakage * banks,
            ),
            part(
                "write tree",
                Time::ZERO,
                Energy::ZERO,
                bank.input.leakage * banks,
            ),
            search,
            between,
        ]
    }
}

const CELLS: &str = "cells and bitlines";
const SENSE: &str = "sense amplifiers";
const OUTPUTS: &str = "subarray outputs";
const OUTPUT_TREE: &str = "output tree";
