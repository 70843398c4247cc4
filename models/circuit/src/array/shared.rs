//! What many organisations of one array share: each piece depends on a few numbers of the split alone and is computed once a search.

use warpwatt_techlib::quantity::{Area, Capacitance, Length, Power, Time};

use super::decode::{Decoder, Predecode};
use super::mat::{self, Stage};
use super::shape::{MOST_SPLITS, Need, Shape, Split};
use crate::gate::Drive;
use crate::process::Process;

/// Pieces that are known so far. Good for one process and one need.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Binary exponent of the first Nspd, from which slots count.
    base: Option<i32>,
    columns: Slots<Box<Column>>,
    predecoders: Slots<Predecode>,
    amplifiers: Slots<Amplifier>,
    compare: Option<Stage>,
    constants: Option<Constants>,
}

/// Row decoder and its predecoder: they depend on the subarray and the mat alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) predecode: Predecode,
    /// Through the decoder to the end of the wordline.
    pub(super) end: Drive,
    pub(super) decoder: RowDecoder,
    /// Precharge of one subarray.
    pub(super) precharge: Stage,
}

/// One output of a row decoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowDecoder {
    pub(super) area: Area,
    pub(super) leakage: Power,
    pub(super) gate_leakage: Power,
    /// Time for the wordline to fall back, where the decoder drives it.
    pub(super) reset: Option<Time>,
    /// With no ramp at its input: the least delay there is.
    pub(super) least: Drive,
}

/// Select lines of a column multiplexer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Lines, and among how many of them the address decodes.
    pub(super) count: u32,
    pub(super) decoded: u32,
    /// Gates on each.
    pub(super) gates: u64,
    /// Whether way-select signals gate them.
    pub(super) gated: bool,
}

/// A select decoder of a column multiplexer with its predecoder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Select {
    pub(super) stage: Stage,
    /// Of both.
    pub(super) area: Area,
    /// Buffer of one way-select signal, where there are such.
    pub(super) way_buffer: Area,
}

/// Column path of one sense amplifier: it depends on the bitlines that share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amplifier {
    /// Drains of the bitline multiplexer, of the isolation transistor and of the multiplexer behind, and the latch.
    pub(super) mux: Capacitance,
    pub(super) isolation: Capacitance,
    pub(super) sense_mux: Capacitance,
    pub(super) latch: Capacitance,
    /// Height of precharge, bitline multiplexer and amplifier.
    pub(super) strip: Length,
}

/// Of the process and the ports alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) access_drain: Capacitance,
    /// Sub-threshold and gate leakage of one cell with its ports.
    pub(super) cell: (Power, Power),
    /// Logarithms of the bitline's swing, of the amplifier's gain, and of the restored bitline.
    pub(super) swing: f64,
    pub(super) gain: f64,
    pub(super) restore: f64,
    /// Height of the highest strip of amplifiers, with all multiplexers.
    pub(super) strip: Length,
}

/// All that depends on the columns of a subarray.
#[derive(Debug)]
struct Column {
    decoder: Decoder,
    row: RowDecoder,
    precharge: Stage,
    ends: Slots<Drive>,
    selects: Vec<((Lines, usize), Select)>,
}

/// Values at small numbers.
#[derive(Debug)]
struct Slots<V>(Vec<Option<V>>);

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Slots<V> {
    fn at(&mut self, slot: usize, make: impl FnOnce() -> V) -> &mut V {
        if slot >= self.0.len() {
            self.0.resize_with(slot + 1, || None);
        }
        self.0[slot].get_or_insert_with(make)
    }
}

/// Within one need the rows follow from Ndbl x Nspd and the columns from Nspd / Ndwl; both are one number times a power of two, counted from the least Nspd.
fn slots(base: &mut Option<i32>, split: &Split) -> (usize, usize) {
    /// Logarithm of the largest Ndwl.
    const MOST: i32 = MOST_SPLITS.ilog2() as i32;
    /// Beyond every slot that counts up.
    const BELOW: i32 = 64;
    let log = |value: u32| value.ilog2() as i32;
    let nspd = libm::ilogb(split.nspd);
    let spread = nspd - *base.get_or_insert(nspd);
    let slot = |count: i32| if count < 0 { BELOW - count } else { count } as usize;
    (
        slot(spread + log(split.ndbl)),
        slot(spread - log(split.ndwl) + MOST),
    )
}

/// The four kinds of mats: one or two subarrays across, one or two down.
fn kind(shape: &Shape) -> usize {
    usize::from(shape.subs_in_row > 1) * 2 + usize::from(shape.subs > shape.subs_in_row)
}

impl Shared {
    /// The row path of an organisation, and the precharge beside it.
    pub(super) fn rows(&mut self, p: &Process, shape: &Shape) -> Rows {
        let (row, _) = slots(&mut self.base, &shape.split);
        let kind = kind(shape);
        // Without a decoder the predecoder drives the wordline, so that the columns matter to it.
        let decodes = shape.row_bits >= 4;
        let column = column(&mut self.columns, &mut self.base, p, shape);
        let predecode = if decodes {
            let make = || mat::row_predecode(p, shape, &column.decoder);
            *self.predecoders.at(row * 4 + kind, make)
        } else {
            mat::row_predecode(p, shape, &column.decoder)
        };
        let end = *column.ends.at(row * 4 + kind, || {
            column.decoder.wordline(p, predecode.ramp)
        });
        Rows {
            predecode,
            end,
            decoder: column.row,
            precharge: column.precharge,
        }
    }

    /// Row decoder and precharge, without the predecoder.
    pub(super) fn column(&mut self, p: &Process, shape: &Shape) -> (RowDecoder, Stage) {
        let column = column(&mut self.columns, &mut self.base, p, shape);
        (column.row, column.precharge)
    }

    /// Decoder of a column multiplexer.
    pub(super) fn select(&mut self, p: &Process, shape: &Shape, lines: Lines) -> Select {
        if lines.count <= 1 && !lines.gated {
            return Select::default();
        }
        let column = column(&mut self.columns, &mut self.base, p, shape);
        let key = (lines, kind(shape));
        if let Some((_, select)) = column.selects.iter().find(|(known, _)| *known == key) {
            return *select;
        }
        let select = mat::select(p, shape, lines);
        column.selects.push((key, select));
        select
    }

    /// The column path of an organisation.
    pub(super) fn amplifier(&mut self, p: &Process, need: &Need, shape: &Shape) -> Amplifier {
        let slot = shape.split.ndcm.ilog2() as usize;
        *self.amplifiers.at(slot, || mat::amplifier(p, need, shape))
    }

    pub(super) fn constants(&mut self, p: &Process, need: &Need, shape: &Shape) -> Constants {
        *self.constants.get_or_insert_with(|| {
            let swing = p.sense_swing();
            let level = p.cells().precharge;
            Constants {
                access_drain: mat::access_drain(p, shape),
                cell: mat::cell_leakage(p, need),
                swing: libm::log(level / (level - swing)),
                gain: libm::log(p.vdd / swing),
                strip: mat::highest_strip(p, need, shape),
                restore: libm::log((level - swing * 0.1) / (level - swing)),
            }
        })
    }

    /// Comparators of a mat, before they are counted.
    pub(super) fn compare(&mut self, make: impl FnOnce() -> Stage) -> Stage {
        *self.compare.get_or_insert_with(make)
    }
}

fn column<'a>(
    columns: &'a mut Slots<Box<Column>>,
    base: &mut Option<i32>,
    p: &Process,
    shape: &Shape,
) -> &'a mut Column {
    let (_, column) = slots(base, &shape.split);
    let decodes = shape.row_bits >= 4;
    columns.at(column * 2 + usize::from(decodes), || {
        let decoder = mat::row_decoder(p, shape);
        let (leakage, gate_leakage) = decoder.leakage(p);
        Box::new(Column {
            row: RowDecoder {
                area: decoder.area(p),
                leakage,
                gate_leakage,
                reset: decoder.reset(p),
                least: decoder.wordline(p, Time::ZERO),
            },
            decoder,
            precharge: mat::precharge(p, shape),
            ends: Slots::default(),
            selects: Vec::new(),
        })
    })
}
