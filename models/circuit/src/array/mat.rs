//! A mat: subarrays around shared predecoders (CACTI 5.1 TR, sections 4.3 to 4.6; CACTI 7, mat.cc and subarray.cc).

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Resistance, Time};
use warpwatt_techlib::rules;

use super::decode::{self, Decoder, Predecode};
use super::shape::{Need, Shape, Split};
use super::shared::{Amplifier, Constants, Lines, Rows, Select, Shared};
use crate::Profile;
use crate::compare;
use crate::gate::{self, Chain, Drive, Kind, Link};
use crate::process::Process;
use crate::repeater::Stretch;

/// Everything about one mat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mat {
    pub(super) width: Length,
    pub(super) height: Length,
    pub(super) predecode: Predecode,
    pub(super) row: Stage,
    pub(super) bit_mux: Stage,
    pub(super) sense_mux: [Stage; 2],
    pub(super) bitline: Bitline,
    pub(super) sense: Stage,
    pub(super) output: Stage,
    pub(super) precharge: Stage,
    pub(super) compare: Stage,
    pub(super) wordline_reset: Time,
    pub(super) bitline_restore: Time,
}

/// Delay, energy of one access and leakage of one part of a mat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stage {
    pub(crate) delay: Time,
    pub(crate) energy: Energy,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
}

/// Bitlines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bitline {
    pub(super) delay: Time,
    pub(super) read: Energy,
    pub(super) write: Energy,
    pub(super) cells: Power,
    pub(super) cells_gate: Power,
}

/// The pieces that area, delay and energy share.
pub(super) struct Build<'a> {
    p: &'a Process,
    need: &'a Need,
    shape: &'a Shape,
    rows: f64,
    cols: f64,
    /// Pitch that one sense amplifier has, for folding.
    sense_pitch: Length,
    sub_width: Length,
    sub_height: Length,
    c_bitline: Capacitance,
    row: Rows,
    amplifier: Amplifier,
    constants: Constants,
    /// Of the bitline multiplexer and of both behind the sense amplifiers, or of none of them.
    selects: [Select; 3],
    out_wire: Stretch,
    out_driver: Capacitance,
}

impl Mat {
    pub(super) fn new(process: &Process, need: &Need, shape: &Shape, shared: &mut Shared) -> Self {
        let mut build = Build::new(process, need, shape, shared);
        build.selects = build.selects(shared);
        Self::of(&build, shared)
    }

    /// The same without the decoders of the column multiplexers: no figure is below these.
    pub(super) fn least(
        process: &Process,
        need: &Need,
        shape: &Shape,
        shared: &mut Shared,
    ) -> Self {
        Self::of(&Build::new(process, need, shape, shared), shared)
    }

    fn of(build: &Build, shared: &mut Shared) -> Self {
        let (process, need, shape) = (build.p, build.need, build.shape);
        let (width, height) = build.size();
        let precharge = times(build.row.precharge, f64::from(shape.subs));
        let row = build.row.end;
        let subs = f64::from(shape.subs);
        let decoder = &build.row.decoder;
        // Every port has its row decoders, and every port that reads its precharge; CACTI counts their area so but the leakage of one.
        let (each, readers) = match process.profile {
            Profile::Silicon => (
                f64::from(need.ports.total()),
                f64::from(need.ports.readers()),
            ),
            Profile::Cacti65 | Profile::Cacti7 => (1.0, 1.0),
        };
        let precharge = idle(precharge, readers);
        Self {
            width,
            height,
            predecode: Predecode {
                leakage: build.row.predecode.leakage * each,
                gate_leakage: build.row.predecode.gate_leakage * each,
                ..build.row.predecode
            },
            row: Stage {
                delay: row.delay,
                energy: row.energy * subs,
                leakage: decoder.leakage * (build.rows * subs * each),
                gate_leakage: decoder.gate_leakage * (build.rows * subs * each),
            },
            bit_mux: idle(build.selects[0].stage, each),
            sense_mux: [
                idle(build.selects[1].stage, each),
                idle(build.selects[2].stage, each),
            ],
            bitline: build.bitline(row.ramp),
            sense: build.sense(),
            output: build.output(),
            precharge,
            compare: build.compare(shared),
            wordline_reset: decoder.reset.unwrap_or(build.row.predecode.ramp),
            bitline_restore: build.restore(precharge.delay),
        }
    }
}

impl Mat {
    /// The column selects together; their delay is on no common path.
    pub(super) fn selects(&self) -> Stage {
        let all = [self.bit_mux, self.sense_mux[0], self.sense_mux[1]];
        Stage {
            delay: Time::ZERO,
            energy: all.iter().map(|stage| stage.energy).sum(),
            leakage: all.iter().map(|stage| stage.leakage).sum(),
            gate_leakage: all.iter().map(|stage| stage.gate_leakage).sum(),
        }
    }
}

impl Bitline {
    pub(super) fn stage(&self) -> Stage {
        Stage {
            delay: self.delay,
            energy: self.read,
            leakage: self.cells,
            gate_leakage: self.cells_gate,
        }
    }
}

impl<'a> Build<'a> {
    fn new(p: &'a Process, need: &'a Need, shape: &'a Shape, shared: &mut Shared) -> Self {
        let (rows, cols) = (shape.rows as f64, shape.cols as f64);
        let readers = f64::from(need.ports.readers());
        let stitches = (shape.laid_cols / rules::STITCH_CELLS as u64) as f64;
        let sub_width = shape.cell_width * shape.laid_cols as f64 + p.f(rules::STITCH) * stitches;
        let sub_height = shape.cell_height * rows;
        let constants = shared.constants(p, need, shape);
        let c_bitline = (constants.access_drain + p.wire_local.c * shape.cell_height) * rows;
        let out_length = match p.profile {
            Profile::Cacti65 => sub_height,
            Profile::Cacti7 | Profile::Silicon => sub_width,
        };
        let wire = p.repeaters.chosen;
        let driver = match p.profile {
            Profile::Cacti65 => wire.size(),
            Profile::Cacti7 | Profile::Silicon => {
                wire.size() * (out_length / wire.spacing(out_length))
            }
        };
        Self {
            p,
            need,
            shape,
            rows,
            cols,
            sense_pitch: shape.cell_width * (f64::from(shape.split.ndcm) / readers),
            sub_width,
            sub_height,
            c_bitline,
            row: shared.rows(p, shape),
            amplifier: shared.amplifier(p, need, shape),
            constants,
            selects: [Select::default(); 3],
            out_wire: wire.stretch(p, out_length),
            out_driver: gate::gate_c(p, (p.min_nmos() + p.min_pmos()) * driver),
        }
    }

    /// Decoders of the bitline multiplexer and of the two sense amplifier multiplexers.
    fn selects(&self, shared: &mut Shared) -> [Select; 3] {
        let (p, shape) = (self.p, self.shape);
        let split = shape.split;
        let subs = u64::from(shape.subs);
        let amplifiers = shape.cols / u64::from(split.ndcm);
        let (sam1, sam2) = (u64::from(split.ndsam1), u64::from(split.ndsam2));
        let lines = |count, decoded, gates, gated| Lines {
            count,
            decoded,
            gates,
            gated,
        };
        [
            lines(
                split.ndcm,
                split.ndcm,
                2 * subs * shape.cols / u64::from(split.ndcm),
                false,
            ),
            lines(
                split.ndsam1,
                shape.ndsam1_address,
                subs * amplifiers / sam1,
                shape.way_selects > 0,
            ),
            lines(
                split.ndsam2,
                split.ndsam2,
                subs * amplifiers / (sam1 * sam2),
                false,
            ),
        ]
        .map(|lines| shared.select(p, shape, lines))
    }

    /// Area that the select decoders of a mat and all predecoders take in its middle.
    fn centre(&self) -> Area {
        let select: Area = self.selects.iter().map(|select| select.area).sum();
        (select + self.row.predecode.area + self.way_driver()) * f64::from(self.need.ports.total())
    }

    /// Buffers that bring the way-select signals to their decoders.
    fn way_driver(&self) -> Area {
        let ways = self.shape.way_selects;
        if ways > 1 {
            self.selects[1].way_buffer * f64::from(ways)
        } else {
            Area::ZERO
        }
    }

    /// Height of the strip under a subarray: precharge, multiplexers, sense amplifiers (CACTI 5.1 TR, section 3.5).
    fn strip(&self) -> Length {
        let (p, split) = (self.p, self.shape.split);
        let ports = f64::from(self.need.ports.readers());
        let cell = self.shape.cell_width;
        let folded = |width: Length, fold: Length| gate::folded_height(p, width, fold);
        let mux = p.min_nmos() * rules::MUX;
        let pitch = self.sense_pitch;
        let mut height = self.amplifier.strip;
        if split.ndsam1 > 1 {
            height += folded(mux, cell * (f64::from(split.ndsam1) / ports));
        }
        if split.ndsam2 > 1 {
            height += folded(mux, pitch * f64::from(split.ndsam1));
            let second = cell * (f64::from(split.ndsam2) / ports);
            height += (folded(p.min_pmos(), second) + folded(p.min_nmos(), second)) * 2.0;
        }
        height
    }

    /// Outputs of one subarray.
    fn outputs(&self) -> u64 {
        let split = self.shape.split;
        self.shape.cols
            / (u64::from(split.ndcm) * u64::from(split.ndsam1) * u64::from(split.ndsam2))
    }

    fn size(&self) -> (Length, Length) {
        let (p, shape, ports) = (self.p, self.shape, self.need.ports);
        let (total, readers) = (f64::from(ports.total()), f64::from(ports.readers()));
        let pitch = p.wire_inside.pitch;
        let decoder_width = self.row.decoder.area * (self.rows * total) / self.sub_height;
        let drivers = self.out_wire.area * self.outputs() as f64 / self.sub_width * readers;
        let (upper, lower) = self.row.predecode.bits;
        let lines = |bits: u32| f64::from(1_u32 << bits);
        let predecoded = pitch * ((lines(upper) + lines(lower)) * total);
        let wide = predecoded.max(decoder_width * f64::from(shape.subs_in_row));
        let select_lines = [shape.split.ndcm, shape.split.ndsam1, shape.split.ndsam2];
        let selects: f64 = select_lines
            .iter()
            .filter(|&&degree| degree > 1)
            .map(|&degree| f64::from(degree))
            .sum();
        let data = (shape.in_bits_mat + shape.out_bits_mat) / u64::from(shape.subs_in_row);
        let signals = f64::from(shape.address_bits + shape.way_selects) + data as f64;
        let stacked = f64::from(shape.subs / shape.subs_in_row);
        let strip = (self.strip() + drivers) * stacked;
        let height = self.sub_height * stacked
            + strip
            + pitch * (signals * total)
            + pitch * (selects * readers);
        let width = self.sub_width * f64::from(shape.subs_in_row) + wide;
        (width + self.centre() / height, height)
    }

    fn r_bitline(&self) -> Resistance {
        self.p.wire_local.r * (self.shape.cell_height * self.rows)
    }

    /// Bitlines (CACTI 5.1 TR, section 4.3): the cell discharges the line by the swing that the amplifier needs; a write swings it in full.
    fn bitline(&self, wordline_ramp: Time) -> Bitline {
        let (p, split) = (self.p, self.shape.split);
        let Amplifier {
            mux,
            isolation,
            sense_mux,
            latch,
            ..
        } = self.amplifier;
        let cells = p.cells();
        let r_cell = gate::r_n(cells, p.cell.nmos, 1) + gate::r_n(cells, p.cell.access, 1);
        let r_isolation = gate::r_n(p, p.wide(rules::SENSE_ISOLATION), 1) * (p.r_p / p.r_n);
        let (c, r) = (self.c_bitline, self.r_bitline());
        let swing = p.sense_swing();
        let amplifier = isolation + latch + sense_mux;
        let two = isolation + amplifier;
        let (tau, read, written);
        if split.ndcm > 1 {
            let behind = mux * 2.0 + two;
            tau = r_cell * (c + behind)
                + r * (c / 2.0 + behind)
                + gate::r_n(p, p.min_nmos() * rules::MUX, 1) * (mux + two)
                + r_isolation * amplifier;
            read = c + mux * 2.0 + two / f64::from(split.ndcm);
            written = c + mux * 2.0;
        } else {
            tau = r_cell * (c + amplifier) + r * c / 2.0 + r_isolation * amplifier;
            read = c + two;
            written = c;
        }
        let step = tau * self.constants.swing;
        let lines = f64::from(self.shape.subs) * self.cols;
        let selected =
            lines / (f64::from(split.ndcm) * f64::from(split.ndsam1) * f64::from(split.ndsam2));
        let (leak, leak_gate) = self.constants.cell;
        let active = self.shape.active_mats as f64;
        // CACTI multiplies writes by the active mats once more than there are (mat.cc:1215 and 1525); its figures are kept in its own profile.
        let repeated = if p.profile == Profile::Cacti7 {
            active
        } else {
            1.0
        };
        Bitline {
            delay: with_ramp(cells, step, wordline_ramp),
            read: read * swing * cells.vdd * (2.0 * lines),
            write: cells.full_swing(written) * (2.0 * selected * repeated),
            cells: leak * (self.rows * lines),
            cells_gate: leak_gate * (self.rows * lines),
        }
    }

    /// Latch sense amplifiers (CACTI 5.1 TR, section 4.4).
    fn sense(&self) -> Stage {
        let p = self.p;
        let Amplifier {
            isolation,
            sense_mux,
            latch,
            ..
        } = self.amplifier;
        let load = latch + isolation + sense_mux;
        let tau = load.si() / p.sense_gm;
        let count = (self.shape.cols / u64::from(self.shape.split.ndcm)) as f64
            * f64::from(self.shape.subs);
        let leak = p.power(p.i_off * p.wide(rules::SENSE_ENABLE))
            * (count * f64::from(self.need.ports.readers()));
        Stage {
            delay: Time::from_si(tau * self.constants.gain),
            energy: p.full_swing(load) * count,
            leakage: leak,
            gate_leakage: Power::ZERO,
        }
    }

    /// From the sense amplifiers through both multiplexers to the edge of the mat (CACTI 5.1 TR, section 4.5).
    fn output(&self) -> Stage {
        let (p, split) = (self.p, self.shape.split);
        let (min_n, min_p) = (p.min_nmos(), p.min_pmos());
        let mux = min_n * rules::MUX;
        let tall = p.f(rules::CELL_HEIGHT);
        let inverter = gate::gate_c(p, min_n + min_p);
        let own = gate::drain_n(p, min_n, 1, tall) + gate::drain_p(p, min_p, tall);
        let first = self.amplifier.sense_mux;
        let second = gate::drain_pitch(p, mux, self.sense_pitch * f64::from(split.ndsam1));
        let (r_mux, r_inverter) = (gate::r_n(p, mux, 1), gate::r_n(p, min_n, 1));
        let path = [
            (r_mux, first * f64::from(split.ndsam1) + inverter),
            (r_inverter, own + inverter),
            (r_inverter, own + second),
            (r_mux, second * f64::from(split.ndsam2) + self.out_driver),
        ];
        let end = path.iter().fold(Drive::default(), |drive, &(r, c)| {
            let delay = gate::stage(p, drive.ramp, r * c);
            Drive {
                delay: drive.delay + delay,
                ramp: delay * 2.0,
                energy: drive.energy + p.full_swing(c) * 0.5,
            }
        });
        let gates = self.outputs() as f64
            * f64::from(self.shape.subs)
            * f64::from(self.need.ports.readers());
        let buffer = gate::leak(p, Kind::Inverter, min_n, min_p) * 2.0;
        let pass = gate::gate_leak(p, Kind::Inverter, mux, Length::ZERO) * 2.0;
        let buffer_gate = gate::gate_leak(p, Kind::Inverter, min_n, min_p) * 2.0;
        Stage {
            delay: end.delay + self.out_wire.delay,
            energy: (end.energy + self.out_wire.energy) * self.shape.out_bits_mat as f64,
            leakage: (p.power(buffer) + self.out_wire.leakage) * gates,
            gate_leakage: (p.power(pass + buffer_gate) + self.out_wire.gate_leakage) * gates,
        }
    }

    /// Time for the bitlines to come back after a read.
    fn restore(&self, driver: Time) -> Time {
        let p = self.p;
        let r = gate::r_p(p, p.min_pmos() * rules::PRECHARGE);
        let tau = r * self.c_bitline + self.r_bitline() * self.c_bitline / 2.0;
        driver + tau * self.constants.restore
    }

    fn compare(&self, shared: &mut Shared) -> Stage {
        let super::shape::Side::Tags { ways, tag_bits, .. } = self.need.side else {
            return Stage::default();
        };
        let comparators = shared.compare(|| compare::tags(self.p, ways, tag_bits));
        let count = self.shape.out_bits_mat as f64 * f64::from(self.need.ports.readers());
        Stage {
            leakage: comparators.leakage * count,
            gate_leakage: comparators.gate_leakage * count,
            ..comparators
        }
    }
}

/// Precharge and equalisation of the bitlines of one subarray.
pub(super) fn precharge(p: &Process, shape: &Shape) -> Stage {
    let cols = shape.cols as f64;
    let gates = gate::gate_c(
        p,
        p.min_pmos() * (2.0 * rules::PRECHARGE + rules::EQUALISER),
    ) * cols;
    let along = shape.cell_width * cols;
    let (wire_c, wire_r) = (p.wire_outside.c * along, p.wire_outside.r * along);
    let link = Link {
        load: gates + wire_c,
        wire: wire_r * (wire_c / 2.0 + gates),
    };
    let chain = Chain::new(p, Kind::Inverter, p.f(rules::CELL_HEIGHT), link);
    let drive = chain.drive(p, Drive::default());
    let (sub, gate) = chain.leakage(p, Kind::Inverter);
    Stage {
        delay: drive.delay,
        energy: drive.energy,
        leakage: sub,
        gate_leakage: gate,
    }
}

/// Leakage of one cell with its ports.
pub(super) fn cell_leakage(p: &Process, need: &Need) -> (Power, Power) {
    let (p, ports) = (p.cells(), need.ports);
    let writers = f64::from(ports.writers());
    let inverters = gate::leak(p, Kind::Inverter, p.cell.nmos, p.cell.pmos) * 2.0;
    let access = gate::access_leak(p, p.cell.access) * writers;
    let reads = gate::read_port_leak(p, p.cell.access) * f64::from(ports.read);
    let gate = gate::gate_leak(p, Kind::Inverter, p.cell.nmos, p.cell.pmos)
        + gate::gate_leak(p, Kind::Inverter, p.cell.access, Length::ZERO) * f64::from(ports.read);
    (p.power(inverters + access + reads), p.power(gate))
}

/// The decoder that drives a wordline.
pub(super) fn row_decoder(p: &Process, shape: &Shape) -> Decoder {
    let cols = shape.cols as f64;
    let cell = p.wire_local.c * shape.cell_width + gate::gate_c(p.cells(), p.cell.access) * 2.0;
    let r_wordline = p.wire_local.r * (shape.cell_width * cols);
    let tall = shape.cell_height * rules::DECODER_CELLS;
    Decoder::new(p, shape.row_bits, false, tall, cell * cols, r_wordline)
}

/// The predecoder in front of the row decoders.
pub(super) fn row_predecode(p: &Process, shape: &Shape, decoder: &Decoder) -> Predecode {
    let along = shape.cell_height * (f64::from(shape.subs_in_row) * shape.rows as f64);
    // CACTI 6.5 feeds the predecoded lines from the middle of the mat, 7 from its edge.
    let middle = p.profile == Profile::Cacti65 && shape.subs_in_row >= 2;
    let halves = if middle { 2.0 } else { 1.0 };
    let lines = decode::Lines {
        c: p.wire_inside.c * along,
        r: p.wire_inside.r * along / halves,
        decoders: f64::from(shape.subs),
    };
    Predecode::new(p, shape.row_bits, decoder, lines)
}

/// The decoder of a column multiplexer, whose lines run across the mat.
pub(super) fn select(p: &Process, shape: &Shape, lines: Lines) -> Select {
    let Lines {
        count,
        decoded,
        gates,
        gated,
    } = lines;
    let across = shape.cell_width * (f64::from(shape.subs_in_row) * shape.cols as f64);
    let wire_c = p.wire_inside.c * across;
    // The wire feeds both halves of the mat from its middle.
    let wire_r = p.wire_inside.r * across / if shape.subs_in_row >= 2 { 2.0 } else { 1.0 };
    let mux = gate::gate_c(p, p.min_nmos() * rules::MUX);
    let load = if count > 1 {
        mux * gates as f64 + wire_c
    } else {
        Capacitance::ZERO
    };
    let tall = shape.cell_height * rules::DECODER_CELLS;
    let decoder = Decoder::new(p, decoded.ilog2(), gated, tall, load, wire_r);
    let feed = decode::Lines {
        c: Capacitance::ZERO,
        r: Resistance::ZERO,
        decoders: 1.0,
    };
    let predecode = Predecode::new(p, decoded.ilog2(), &decoder, feed);
    let out = decoder.drive(p, predecode.ramp);
    let (sub, gate) = decoder.leakage(p);
    Select {
        stage: Stage {
            delay: predecode.delay + out.delay,
            energy: predecode.energy + out.energy,
            leakage: predecode.leakage + sub * f64::from(count),
            gate_leakage: predecode.gate_leakage + gate * f64::from(count),
        },
        area: decoder.area(p) + predecode.area,
        way_buffer: decoder.chain.filter(|_| gated).map_or(Area::ZERO, |chain| {
            let link = Link {
                load: chain.input(p),
                wire: Time::ZERO,
            };
            Chain::new(p, Kind::Inverter, p.f(rules::CELL_HEIGHT), link).area(p)
        }),
    }
}

/// The column path of an amplifier that `ndcm` bitlines share.
pub(super) fn amplifier(p: &Process, need: &Need, shape: &Shape) -> Amplifier {
    let ports = f64::from(need.ports.readers());
    let (cell, ndcm) = (shape.cell_width, shape.split.ndcm);
    let pitch = cell * (f64::from(ndcm) / ports);
    let mux = p.min_nmos() * rules::MUX;
    let pair = cell / (2.0 * ports);
    let at = |width| gate::drain_pitch(p, width, pitch);
    let (n, pm) = (p.wide(rules::SENSE_N), p.wide(rules::SENSE_P));
    let folded = |width: Length, fold: Length| gate::folded_height(p, width, fold);
    let mut height = folded(p.min_pmos() * rules::PRECHARGE, cell / (2.0 * ports))
        + folded(p.min_pmos() * rules::EQUALISER, cell / ports);
    if ndcm > 1 {
        height += folded(mux, cell / (2.0 * ports));
    }
    let gaps = p.f(4.0 * rules::GAP_SAME_TYPE + rules::GAP_P_TO_N);
    height +=
        folded(p.wide(rules::SENSE_P), pitch) * 2.0 + folded(p.wide(rules::SENSE_ISOLATION), pitch);
    height += folded(p.wide(rules::SENSE_N), pitch) * 2.0
        + folded(p.wide(rules::SENSE_ENABLE), pitch)
        + gaps;
    Amplifier {
        mux: gate::drain_pitch(p, mux, pair),
        isolation: at(p.wide(rules::SENSE_ISOLATION)),
        sense_mux: at(mux),
        latch: gate::gate_c(p, n + pm) + at(n) + at(pm),
        strip: height,
    }
}

/// Height of the strip with every multiplexer and the narrowest pitch.
pub(super) fn highest_strip(p: &Process, need: &Need, shape: &Shape) -> Length {
    let one = Split {
        ndcm: 1,
        ..shape.split
    };
    let unshared = amplifier(
        p,
        need,
        &Shape {
            split: one,
            ..*shape
        },
    )
    .strip;
    let narrow = shape.cell_width / (2.0 * f64::from(need.ports.readers()));
    let folded = |width: Length| gate::folded_height(p, width, narrow);
    let inverters = folded(p.min_pmos()) + folded(p.min_nmos());
    unshared + folded(p.min_nmos() * rules::MUX) * 3.0 + inverters * 2.0
}

/// A stage that is there once a port while an access uses one.
fn idle(stage: Stage, ports: f64) -> Stage {
    Stage {
        leakage: stage.leakage * ports,
        gate_leakage: stage.gate_leakage * ports,
        ..stage
    }
}

/// A stage that stands `count` times, side by side.
fn times(stage: Stage, count: f64) -> Stage {
    Stage {
        delay: stage.delay,
        energy: stage.energy * count,
        leakage: stage.leakage * count,
        gate_leakage: stage.gate_leakage * count,
    }
}

/// Half the drain of an access transistor: two cells share the contact.
pub(super) fn access_drain(p: &Process, shape: &Shape) -> Capacitance {
    gate::drain_pitch(p.cells(), p.cell.access, shape.cell_width) / 2.0
}

/// Adds the slope of the wordline to the time that the bitline takes (CACTI 5.1 TR, section 4.3).
pub(super) fn with_ramp(p: &Process, step: Time, ramp: Time) -> Time {
    let rise = ramp * ((p.vdd - p.vth) / p.vdd);
    if step <= rise * 0.5 {
        Time::from_si((2.0 * step.si() * rise.si()).sqrt())
    } else {
        step + rise / 2.0
    }
}
