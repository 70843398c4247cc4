//! What an organisation costs at least, without sizing a gate: so that the search need not evaluate most of them.

use warpwatt_techlib::quantity::{Area, Energy, Length, Time};
use warpwatt_techlib::rules;

use super::mat;
use super::shape::{Limits, MOST_SPLITS, MOST_SPREAD, Need, Shape, Split};
use crate::Profile;
use crate::gate;
use crate::process::Process;

/// Largest degree of each multiplexer, as a power of two.
pub(super) const MOST_MUX: u32 = 8;

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
}

/// Every family that works, in CACTI's order.
pub(super) fn families(process: &Process, need: &Need, limits: Limits) -> Vec<Family> {
    let mut found = Vec::new();
    let mut decode = Decode::default();
    let powers = |most: u32| (0..=most.ilog2()).map(|i| 1_u32 << i);
    let mut spread = need.least_spread();
    while spread <= f64::from(MOST_SPREAD) {
        // An Nspd below an eighth would need columns of less than a bit.
        if spread >= 1.0 {
            for ndwl in powers(MOST_SPLITS) {
                for ndbl in powers(MOST_SPLITS) {
                    let divided = f64::from(ndbl) * spread / 8.0;
                    // Twice as many rows as sets, or empty subarrays, are never the best.
                    if need.sets < divided && divided > 1.0 {
                        break;
                    }
                    let split = Split {
                        ndwl,
                        ndbl,
                        nspd_eighths: spread as u32,
                        ndcm: 1,
                        ndsam1: 1,
                        ndsam2: 1,
                    };
                    of_split(process, need, limits, split, &mut decode, &mut found);
                }
            }
        }
        spread *= 2.0;
    }
    found
}

fn of_split(
    process: &Process,
    need: &Need,
    limits: Limits,
    split: Split,
    decode: &mut Decode,
    found: &mut Vec<Family>,
) {
    let mut mux = Shape::least_mux(need, &split);
    let mut seen = false;
    while mux <= 3 * MOST_MUX {
        let Some(member) = spreads(need, mux).next() else {
            break;
        };
        let member = Split {
            ndcm: member.0,
            ndsam1: member.1,
            ndsam2: member.2,
            ..split
        };
        match Shape::new(process, need, member, limits) {
            Some(shape) => {
                seen = true;
                found.push(Family::new(process, need, shape, mux, decode));
            }
            // Beyond the first that works, none that is larger does.
            None if seen || mux > Shape::least_mux(need, &split) + 2 => break,
            None => {}
        }
        mux += 1;
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

/// Delay of the fastest decoder by row address bits.
#[derive(Default)]
struct Decode {
    known: [Option<Time>; 32],
}

impl Decode {
    fn at_least(&mut self, process: &Process, shape: &Shape) -> Time {
        let slot = &mut self.known[shape.row_bits as usize % 32];
        *slot.get_or_insert_with(|| {
            // The same rows with hardly a column and short lines.
            let narrow = Shape {
                cols: shape.cols.min(4),
                subs: 1,
                subs_in_row: 1,
                ..*shape
            };
            mat::Rows::new(process, &narrow).delay()
        })
    }
}

impl Family {
    fn new(p: &Process, need: &Need, shape: Shape, mux: u32, decode: &mut Decode) -> Self {
        let (rows, cols) = (shape.rows as f64, shape.cols as f64);
        let sub_height = shape.cell_height * rows;
        let sub_width = shape.cell_width * cols;
        let (width, height) = mat_at_least(p, need, &shape, sub_width, sub_height);
        let mats = shape.mats();
        let tree = (width * (f64::from(shape.mats_h) - 1.0)
            + height * (f64::from(shape.mats_v) - 1.0))
            * 0.5;
        let out = match p.profile {
            Profile::Cacti65 => sub_height,
            Profile::Cacti7 => sub_width,
        };
        let wires = p.repeaters.chosen.stretch(p, tree * 2.0 + out);
        let c_bitline = p.wire_local.c * sub_height;
        let r_cell = gate::r_n(p, p.cell.nmos, 1) + gate::r_n(p, p.cell.access, 1);
        let swing = p.sense_swing();
        let log = swing / p.vdd;
        let bitline = (r_cell * c_bitline + p.wire_local.r * sub_height * c_bitline / 2.0) * log;
        let wordline_c = p.wire_local.c * sub_width + gate::gate_c(p, p.cell.access) * (2.0 * cols);
        let wordline = (p.wire_local.r * sub_width * wordline_c / 2.0) * rules::LN_2;
        let inside = bitline + wordline;
        let lines = f64::from(shape.subs) * cols * shape.active_mats as f64;
        let precharge = gate::gate_c(
            p,
            p.min_pmos() * (2.0 * rules::PRECHARGE + rules::EQUALISER),
        ) * lines;
        let on_tree = p.repeaters.chosen.stretch(p, tree).energy * shape.out_bits_bank as f64;
        Self {
            shape,
            mux,
            delay: decode.at_least(p, &shape) + inside + wires.delay,
            energy: c_bitline * swing * p.vdd * (2.0 * lines) + p.full_swing(precharge) + on_tree,
            area: width * height * (mats * f64::from(need.banks)),
            cycle: inside,
        }
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
