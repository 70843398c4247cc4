//! How one organisation of an associative array divides up (CACTI 7, parameter.cc:1577-1760).

use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::rules;

use super::super::shape::MOST_SPLITS;
use crate::Ports;
use crate::process::Process;

/// Subarrays of a full mat.
const SUBS: u32 = 4;
/// Those of them that stand side by side.
const SUBS_IN_ROW: u32 = 2;

/// What an associative array must hold, in each of its banks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CamNeed {
    /// Entries of one bank.
    pub(crate) entries: u64,
    /// Bits that are compared: columns of CAM cells.
    pub(crate) tag_bits: u64,
    /// Bits beside them that are not: columns of memory cells. None in a pure CAM.
    pub(crate) data_bits: u64,
    /// Data bits that a search returns; not used for a pure CAM, which returns the address of the match.
    pub(crate) out_bits: u64,
    pub(crate) ports: Ports,
    pub(crate) banks: u32,
}

/// An organisation with what follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CamShape {
    /// Divisions of the bitline direction; the wordline is never divided.
    pub(crate) ndbl: u32,
    /// Rows of a subarray, without the dummy row that times the match.
    pub(crate) rows: u64,
    pub(crate) mats_h: u32,
    pub(crate) mats_v: u32,
    pub(crate) subs: u32,
    pub(crate) subs_in_row: u32,
    /// Address bits that a mat decodes, and that choose the mat.
    pub(crate) address_bits: u32,
    pub(crate) mat_bits: u32,
    /// Address bits that the row decoder is made for.
    pub(crate) row_bits: u32,
    /// Bits that a search returns.
    pub(crate) found_bits: u64,
    /// Memory cell and CAM cell are equally wide.
    pub(crate) cell_width: Length,
    pub(crate) cell_height: Length,
    /// Height of the CAM cell, to which rows are spaced.
    pub(crate) cam_height: Length,
}

impl CamNeed {
    /// Whether data stand beside the tags.
    pub(crate) fn is_cache(&self) -> bool {
        self.data_bits > 0
    }

    /// Columns of both kinds.
    pub(crate) fn cols(&self) -> u64 {
        self.tag_bits + self.data_bits
    }

    /// Every organisation, the least divided first. The tool goes on dividing a CAM when there is less than a row for each subarray, a cache not; an array of
    /// one line stands in two subarrays all the same.
    pub(crate) fn shapes<'a>(
        &'a self,
        process: &'a Process,
    ) -> impl Iterator<Item = CamShape> + 'a {
        let splits = (1..=MOST_SPLITS.ilog2()).map(|log| 1_u32 << log);
        let works = |ndbl: &u32| !self.is_cache() || u64::from(*ndbl) <= self.entries.max(2);
        splits
            .filter(works)
            .map(|ndbl| CamShape::new(process, self, ndbl))
    }
}

impl CamShape {
    pub(super) fn new(process: &Process, need: &CamNeed, ndbl: u32) -> Self {
        let rows = need.entries.div_ceil(u64::from(ndbl)).max(1);
        let quads = (ndbl / SUBS).max(1);
        let mats_h = quads.isqrt();
        let mats_v = quads / mats_h;
        let subs = ndbl.min(SUBS);
        // Rounded down, as address bits are everywhere in CACTI.
        let address_bits = rows.ilog2() + subs.ilog2();
        let mat_bits = (mats_h * mats_v).ilog2();
        let wires = process.wire_local.pitch * (2.0 * f64::from(further_ports(need.ports)));
        Self {
            ndbl,
            rows,
            mats_h,
            mats_v,
            subs,
            subs_in_row: SUBS_IN_ROW,
            address_bits,
            mat_bits,
            // The tool adds the bits that choose the subarray to the number of rows before it takes the logarithm.
            row_bits: (rows + u64::from(subs.ilog2())).ilog2(),
            found_bits: if need.is_cache() {
                need.out_bits
            } else {
                u64::from(address_bits + mat_bits)
            },
            cell_width: process.cell.width + wires,
            cell_height: process.cell.height + wires,
            cam_height: process.cell.height * rules::CAM_CELL + wires,
        }
    }

    pub(super) fn mats(&self) -> f64 {
        f64::from(self.mats_h) * f64::from(self.mats_v)
    }
}

/// Ports that widen the cell: all but one of those that read or write, and all but one of those that search.
fn further_ports(ports: Ports) -> u32 {
    ports.total().saturating_sub(1) + ports.search.saturating_sub(1)
}
