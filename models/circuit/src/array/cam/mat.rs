//! Layout of a mat of CAM cells, with or without memory cells beside them (CACTI 7, subarray.cc and mat.cc).

use warpwatt_techlib::quantity::{Area, Capacitance, Length};
use warpwatt_techlib::rules;

use super::super::decode::{Decoder, Lines, Predecode};
use super::shape::{CamNeed, CamShape};
use super::sizes::Sizes;
use crate::Profile;
use crate::gate::{self, Drive};
use crate::process::Process;
use crate::repeater::Stretch;

/// The pieces that layout, read and search share.
pub(super) struct Build<'a> {
    pub(super) p: &'a Process,
    pub(super) need: &'a CamNeed,
    pub(super) shape: &'a CamShape,
    pub(super) sizes: Sizes,
    /// Rows with the dummy row.
    pub(super) all_rows: f64,
    pub(super) cam_cols: f64,
    pub(super) ram_cols: f64,
    pub(super) sub_width: Length,
    pub(super) sub_height: Length,
    pub(super) c_bitline: Capacitance,
    pub(super) decoder: Decoder,
    pub(super) predecode: Predecode,
    /// Output of the decoder; the tool forgets the ramp where the predecoder drives the wordline.
    pub(super) wordline: Drive,
    pub(super) out_wire: Stretch,
    pub(super) out_driver: Capacitance,
}

impl<'a> Build<'a> {
    pub(super) fn new(p: &'a Process, need: &'a CamNeed, shape: &'a CamShape) -> Self {
        let (cam_cols, ram_cols) = (need.tag_bits as f64, need.data_bits as f64);
        let all_rows = (shape.rows + 1) as f64;
        let cols = cam_cols + ram_cols;
        let stitches = (need.cols() / rules::STITCH_CELLS as u64) as f64;
        let middle = p.wire_local.pitch * rules::CAM_MIDDLE;
        let sub_width = shape.cell_width * cols + p.f(rules::STITCH) * stitches + middle;
        let drain = gate::drain_pitch(p, p.cell.access, shape.cell_width) / 2.0;
        let (decoder, predecode) = rows(p, shape, cols, middle);
        let ramp = match (decoder.chain, mended(p)) {
            (None, false) => Drive::default(),
            _ => decoder.drive(p, predecode.ramp),
        };
        let wire = p.repeaters.chosen;
        let driver = wire.size() * (sub_width / wire.spacing(sub_width));
        Self {
            p,
            need,
            shape,
            sizes: Sizes::new(p, shape, all_rows),
            all_rows,
            cam_cols,
            ram_cols,
            sub_width,
            sub_height: shape.cam_height * all_rows,
            c_bitline: (drain + p.wire_local.c * shape.cam_height) * all_rows,
            wordline: ramp,
            decoder,
            predecode,
            out_wire: wire.stretch(p, sub_width),
            out_driver: gate::gate_c(p, (p.min_nmos() + p.min_pmos()) * driver),
        }
    }

    /// Pitch that a column's circuits have, `share` of them to a cell: those of all ports side by side. The tool divides nothing (mat.cc:678 and 1173, where a
    /// division binds to one branch of a choice only).
    pub(super) fn column_pitch(&self, share: f64) -> Length {
        let cell = self.shape.cell_width;
        if mended(self.p) {
            cell / (share * self.columns())
        } else {
            cell
        }
    }

    /// Ports whose bitlines or search lines end under a column.
    fn columns(&self) -> f64 {
        f64::from(self.need.ports.readers() + self.need.ports.search)
    }

    /// Width and height of the mat.
    pub(super) fn size(&self) -> (Length, Length) {
        let (p, shape, need) = (self.p, self.shape, self.need);
        let total = f64::from(need.ports.total());
        let search = f64::from(need.ports.search);
        let pitch = p.wire_inside.pitch;
        let across = f64::from(shape.subs_in_row);
        let decoder = self.decoder.area(p) * (shape.rows as f64 * total) / self.sub_height;
        let drivers = self.out_wire.area * need.cols() as f64 / self.sub_width * self.columns();
        let (upper, lower) = self.predecode.bits;
        let lines = |bits: u32| f64::from(1_u32 << bits);
        let predecoded = pitch * ((lines(upper) + lines(lower)) * total);
        let stacked = f64::from((shape.subs / shape.subs_in_row).max(1));
        let data = f64::from(shape.address_bits) + need.cols() as f64;
        let searched = (need.tag_bits + shape.found_bits) / u64::from(shape.subs_in_row);
        let height = (self.sub_height + self.strip() + drivers) * stacked
            + pitch * (data * total + searched as f64 * search);
        let width = self.sub_width * across + predecoded.max(decoder * across);
        let centre: Area = self.predecode.area * total;
        (width + centre / height, height)
    }

    /// Height of the strip under a subarray: precharge and sense amplifiers.
    fn strip(&self) -> Length {
        let p = self.p;
        let folded = |width: Length, fold: Length| gate::folded_height(p, width, fold);
        let gaps = p.f(4.0 * rules::GAP_SAME_TYPE + rules::GAP_P_TO_N);
        let sense = self.shape.cell_width / f64::from(self.need.ports.readers());
        folded(p.min_pmos() * rules::PRECHARGE, self.column_pitch(2.0))
            + folded(p.min_pmos() * rules::EQUALISER, self.column_pitch(1.0))
            + folded(p.f(rules::SENSE_P), sense) * 2.0
            + folded(p.f(rules::SENSE_ISOLATION), sense)
            + folded(p.f(rules::SENSE_N), sense) * 2.0
            + folded(p.f(rules::SENSE_ENABLE), sense)
            + gaps
    }
}

/// Whether the slips of the tool are mended.
pub(super) fn mended(p: &Process) -> bool {
    p.profile == Profile::Silicon
}

/// Row decoder and predecoder; the wordline runs over both kinds of cells and what stands between.
fn rows(p: &Process, shape: &CamShape, cols: f64, middle: Length) -> (Decoder, Predecode) {
    let cell = p.wire_local.c * shape.cell_width + gate::gate_c(p, p.cell.access) * 2.0;
    let load = cell * cols + p.wire_local.c * middle;
    let wire = shape.cell_width * cols;
    // The tool counts the resistance over the cells alone.
    let r = p.wire_local.r * if mended(p) { wire + middle } else { wire };
    let tall = shape.cam_height * rules::DECODER_CELLS;
    let decoder = Decoder::new(p, shape.row_bits, false, tall, load, r);
    let along = shape.cam_height * shape.rows as f64;
    let lines = Lines {
        c: p.wire_inside.c * along,
        r: p.wire_inside.r * along,
        decoders: f64::from(shape.subs),
    };
    let predecode = Predecode::new(p, shape.row_bits, &decoder, lines);
    (decoder, predecode)
}
