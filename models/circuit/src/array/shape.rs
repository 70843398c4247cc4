//! What an array must hold, and how one organisation of it divides up (CACTI 5.1 TR, section 4; CACTI 7, parameter.cc:1900-2200).

use warpwatt_techlib::quantity::Length;

use crate::process::Process;
use crate::repeater::Channel;
use crate::slices::Slices;
use crate::{Organisation, Ports, Profile, Signalling};

/// Fewest rows of a subarray in CACTI: a row decoder of at least two 2-to-4 blocks.
const FEWEST_ROWS: u64 = 16;
/// Most rows and columns: two predecode blocks of nine bits.
const MOST_LINES: u64 = 1 << 18;
/// Largest Ndwl and Ndbl.
pub(super) const MOST_SPLITS: u32 = 512;
/// Largest Nspd.
pub(super) const MOST_SPREAD: f64 = 256.0;

/// Largest degree of each multiplexer, as a power of two.
pub(super) const MOST_MUX: u32 = 8;
/// Smallest Nspd of tags.
const LEAST_TAG_SPREAD: f64 = 0.125;

/// What an array must hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// Sets (words of a plain memory) of one bank.
    pub(crate) sets: f64,
    pub(crate) side: Side,
    pub(crate) ports: Ports,
    pub(crate) banks: u32,
    /// One check bit is stored for every eight bits.
    pub(crate) ecc: bool,
}

/// Which side of a cache it is; a plain memory is a data side with one way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Data {
        ways: u32,
        line_bits: u64,
        out_bits: u64,
        fast: bool,
    },
    Tags {
        ways: u32,
        tag_bits: u32,
        /// Ways that the data side has left to select.
        selected: u32,
    },
}

/// The N's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    pub(crate) ndwl: u32,
    pub(crate) ndbl: u32,
    /// Sets on one wordline.
    pub(crate) nspd: f64,
    pub(crate) ndcm: u32,
    pub(crate) ndsam1: u32,
    pub(crate) ndsam2: u32,
}

/// An organisation with everything that follows from the N's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) split: Split,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    /// Columns that take up width: CACTI 6.5 gives check bits room and nothing else.
    pub(crate) laid_cols: u64,
    pub(crate) mats_h: u32,
    pub(crate) mats_v: u32,
    /// Subarrays of a mat, and of those in a row of it.
    pub(crate) subs: u32,
    pub(crate) subs_in_row: u32,
    pub(crate) active_mats: u64,
    pub(crate) out_bits_mat: u64,
    pub(crate) in_bits_mat: u64,
    pub(crate) out_bits_bank: u64,
    pub(crate) in_bits_bank: u64,
    /// Address bits that a mat decodes, and that choose the mats.
    pub(crate) address_bits: u32,
    pub(crate) subbank_bits: u32,
    /// Row address bits.
    pub(crate) row_bits: u32,
    /// Ways among which the sense amplifier multiplexer selects; 0 if it does not.
    pub(crate) way_selects: u32,
    /// Degree of the first sense amplifier multiplexer that the address decides.
    pub(crate) ndsam1_address: u32,
    pub(crate) cell_width: Length,
    pub(crate) cell_height: Length,
}

/// How strictly the limits of CACTI hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    /// As in CACTI.
    Strict,
    /// Any size: for arrays that CACTI refuses.
    Relaxed,
}

impl Need {
    /// In how many slices a word may be, if it may: low-swing wires, which would run along them, have one end.
    pub(super) fn slices(
        &self,
        allowed: bool,
        wire: &Channel,
    ) -> impl Iterator<Item = Slices> + use<> {
        let (bits, columns) = match (self.side, wire) {
            (Side::Data { out_bits, ways, .. }, Channel::Repeated(_)) if allowed => {
                (out_bits, out_bits * u64::from(ways))
            }
            _ => (0, 0),
        };
        Slices::of(columns, bits)
    }

    /// What one of so many slices must hold.
    pub(super) fn slice(&self, slices: Slices) -> Self {
        let side = match self.side {
            Side::Data {
                ways,
                line_bits,
                out_bits,
                fast,
            } => Side::Data {
                ways,
                line_bits: slices.share(line_bits),
                out_bits: slices.share(out_bits),
                fast,
            },
            Side::Tags { .. } => self.side,
        };
        Self { side, ..*self }
    }

    /// Smallest Nspd: an access never reads less than a wordline holds of it.
    pub(super) fn least_spread(&self) -> f64 {
        match self.side {
            Side::Data {
                line_bits,
                out_bits,
                ..
            } => out_bits as f64 / line_bits as f64,
            Side::Tags { .. } => LEAST_TAG_SPREAD,
        }
    }

    /// Bits of one set.
    pub(super) fn set_bits(&self) -> f64 {
        match self.side {
            Side::Data {
                ways, line_bits, ..
            } => line_bits as f64 * f64::from(ways),
            Side::Tags { ways, tag_bits, .. } => f64::from(tag_bits) * f64::from(ways),
        }
    }

    pub(super) fn ways(&self) -> u32 {
        match self.side {
            Side::Data { ways, .. } | Side::Tags { ways, .. } => ways,
        }
    }

    pub(super) fn is_tags(&self) -> bool {
        matches!(self.side, Side::Tags { .. })
    }

    /// Whether the hit selects a way at the sense amplifiers.
    pub(super) fn selects_ways(&self) -> bool {
        matches!(self.side, Side::Data { fast: false, .. })
    }

    /// Logarithm of the ways among which the sense amplifier multiplexer selects, rounded up.
    pub(super) fn way_bits(&self) -> u32 {
        if self.selects_ways() {
            self.ways().next_power_of_two().ilog2()
        } else {
            0
        }
    }

    /// Degree of the first sense amplifier multiplexer, the ways rounded up to a power of two: it selects among ways that are there.
    pub(super) fn sense_degree(&self, log: u32) -> u32 {
        if self.selects_ways() {
            self.ways() << (log - self.way_bits())
        } else {
            1 << log
        }
    }

    /// So many bits with their check bits.
    fn checked(&self, bits: u64) -> u64 {
        const BITS_PER_CHECK: u64 = 8;
        if self.ecc {
            bits + bits.div_ceil(BITS_PER_CHECK)
        } else {
            bits
        }
    }

    /// Bits that leave and enter a bank through a port.
    fn bank_bits(&self, profile: Profile) -> (u64, u64) {
        let (out, inward, driven) = match self.side {
            Side::Data {
                out_bits,
                ways,
                fast,
                ..
            } => {
                let driven = if fast { u64::from(ways) } else { 1 };
                (out_bits, out_bits + u64::from(ways), driven)
            }
            Side::Tags {
                tag_bits, selected, ..
            } => (u64::from(selected), u64::from(tag_bits), 1),
        };
        // CACTI 6.5 forgets the check bits on the trees.
        if profile == Profile::Cacti65 {
            (out * driven, inward)
        } else {
            (self.checked(out) * driven, self.checked(inward))
        }
    }

    /// Bits that one access takes out of the mats together.
    fn access_bits(&self) -> u64 {
        match self.side {
            Side::Data {
                out_bits,
                ways,
                fast: true,
                ..
            } => out_bits * u64::from(ways),
            Side::Data { out_bits, .. } => out_bits,
            Side::Tags { ways, tag_bits, .. } => u64::from(ways) * u64::from(tag_bits),
        }
    }
}

impl Split {
    /// Place in CACTI's list (Ucache.cc, mem_array::lt).
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let muxes = |split: &Self| {
            (
                split.ndwl,
                split.ndbl,
                split.ndcm,
                split.ndsam1,
                split.ndsam2,
            )
        };
        self.nspd
            .total_cmp(&other.nspd)
            .then_with(|| muxes(self).cmp(&muxes(other)))
    }

    fn mux(&self) -> u64 {
        u64::from(self.ndcm) * u64::from(self.ndsam1) * u64::from(self.ndsam2)
    }
}

impl Shape {
    /// Rows and columns of a subarray; `None` if there are too few or too many of them.
    pub(super) fn lines(
        process: &Process,
        need: &Need,
        split: &Split,
        limits: Limits,
    ) -> Option<(u64, u64)> {
        let whole = |count| whole(process.profile, limits, count);
        let rows = whole(need.sets / (f64::from(split.ndbl) * split.nspd));
        let cols = whole(need.set_bits() * split.nspd / f64::from(split.ndwl));
        within(process.profile, split, rows, cols, limits)?;
        Some((rows, cols))
    }

    /// Resolves an organisation; `None` if it does not work.
    pub(crate) fn new(
        process: &Process,
        need: &Need,
        split: Split,
        limits: Limits,
    ) -> Option<Self> {
        let (rows, cols) = Self::lines(process, need, &split, limits)?;
        let mats_h = (split.ndwl / 2).max(1);
        let mats_v = (split.ndbl / 2).max(1);
        let subs = split.ndwl * split.ndbl / (mats_h * mats_v);
        let bits = (u64::from(subs) * cols / split.mux()).max(1);
        // CACTI wants a bit from each subarray of a mat; words of one bit need more muxing than that in large memories.
        if bits < u64::from(subs) && limits == Limits::Strict {
            return None;
        }
        let (fast, tag_bits) = match need.side {
            Side::Data { fast, .. } => (fast, None),
            Side::Tags { tag_bits, .. } => (false, Some(u64::from(tag_bits))),
        };
        if tag_bits.is_some_and(|tag| bits < tag) {
            return None;
        }
        let ways = need.ways();
        let ndsam1_address = if tag_bits.is_some() || fast {
            split.ndsam1
        } else {
            split.ndsam1 / ways
        };
        let active = need.access_bits() / bits;
        if ndsam1_address < 1 || active == 0 || active > u64::from(mats_h) {
            return None;
        }
        // Mats that compare hold whole tags: of three ways not two each in one and a half. CACTI does not look.
        let whole = ways.is_power_of_two() || u64::from(ways).is_multiple_of(active);
        if tag_bits.is_some() && !whole {
            return None;
        }
        let out_bits_mat = if tag_bits.is_some() {
            u64::from(ways) / active
        } else {
            bits
        };
        let in_bits_mat = tag_bits.unwrap_or(if fast { bits / u64::from(ways) } else { bits });
        let row_bits = row_bits(process.profile, rows);
        let (out_bits_bank, in_bits_bank) = need.bank_bits(process.profile);
        let (cell_width, cell_height) = cell(process, need);
        Some(Self {
            split,
            rows,
            cols: match process.profile {
                Profile::Cacti65 => cols,
                Profile::Cacti7 | Profile::Silicon => need.checked(cols),
            },
            laid_cols: need.checked(cols),
            mats_h,
            mats_v,
            subs,
            subs_in_row: split.ndwl / mats_h,
            active_mats: active,
            out_bits_mat: need.checked(out_bits_mat),
            in_bits_mat: need.checked(in_bits_mat),
            out_bits_bank,
            in_bits_bank,
            address_bits: row_bits
                + split.ndcm.ilog2()
                + ndsam1_address.ilog2()
                + split.ndsam2.ilog2(),
            subbank_bits: (u64::from(mats_h * mats_v) / active).max(1).ilog2(),
            row_bits,
            way_selects: if tag_bits.is_none() && ways > 1 && !fast {
                ways
            } else {
                0
            },
            ndsam1_address,
            cell_width,
            cell_height,
        })
    }

    /// The same division of cells of another process.
    pub(super) fn with_cells_of(self, process: &Process, need: &Need) -> Self {
        let (cell_width, cell_height) = cell(process, need);
        Self {
            cell_width,
            cell_height,
            ..self
        }
    }

    /// Log of the least degree of multiplexing with which the mats give no more bits than an access takes.
    pub(super) fn least_mux(need: &Need, split: &Split) -> u32 {
        let cols = (need.set_bits() * split.nspd / f64::from(split.ndwl)) as u64;
        let subs = split.ndwl.min(2) * split.ndbl.min(2);
        let ways = if need.selects_ways() {
            u64::from(need.ways())
        } else {
            1
        };
        let degree = u64::from(subs) * cols / need.access_bits().max(1) / ways;
        degree.max(1).ilog2() + need.way_bits()
    }

    pub(super) fn mats(&self) -> f64 {
        f64::from(self.mats_h) * f64::from(self.mats_v)
    }

    pub(crate) fn organisation(&self, banks: u32, wires: Signalling) -> Organisation {
        Organisation {
            slices: 1,
            ndwl: self.split.ndwl,
            ndbl: self.split.ndbl,
            nspd: self.split.nspd,
            ndcm: self.split.ndcm,
            ndsam1: self.split.ndsam1,
            ndsam2: self.split.ndsam2,
            rows: self.rows,
            cols: self.cols,
            subarrays: (self.mats() * f64::from(self.subs)) as u64 * u64::from(banks),
            active_subarrays: self.active_mats * u64::from(self.subs),
            wires,
        }
    }
}

/// Rows or columns: CACTI 7 rounds up, 6.5 to the nearest.
fn whole(profile: Profile, limits: Limits, count: f64) -> u64 {
    if profile == Profile::Cacti65 && limits == Limits::Strict {
        (count + 0.5) as u64
    } else {
        let down = count as u64;
        down.saturating_add(u64::from((down as f64) < count))
    }
}

fn within(profile: Profile, split: &Split, rows: u64, cols: u64, limits: Limits) -> Option<()> {
    let (least_split, least_rows, least_cols) = match (limits, profile) {
        (Limits::Strict, Profile::Cacti65) => (1, FEWEST_ROWS, 2),
        (Limits::Strict, Profile::Cacti7) => (2, FEWEST_ROWS, 2),
        (Limits::Strict, Profile::Silicon) | (Limits::Relaxed, _) => (1, 1, 1),
    };
    let most_cols = if limits == Limits::Strict {
        MOST_LINES
    } else {
        u64::MAX
    };
    let works = split.ndwl >= least_split
        && split.ndbl >= least_split
        && (least_rows..=MOST_LINES).contains(&rows)
        && (least_cols..=most_cols).contains(&cols);
    works.then_some(())
}

/// Address bits of so many rows: rounded down from sixteen rows on in CACTI; below, where CACTI has no arrays, and in the mended profile rounded up.
fn row_bits(profile: Profile, rows: u64) -> u32 {
    if rows >= FEWEST_ROWS && profile != Profile::Silicon {
        rows.ilog2()
    } else {
        rows.next_power_of_two().ilog2().max(1)
    }
}

/// Cell with ports: each port beyond the first adds two wire pitches in both directions (CACTI 5.1 TR, section 3.3). CACTI 6.5 forgets the ports that
/// only write in the cells of tags.
fn cell(process: &Process, need: &Need) -> (Length, Length) {
    let forgotten = process.profile == Profile::Cacti65 && need.is_tags();
    let counted = if forgotten {
        need.ports.readers()
    } else {
        need.ports.total()
    };
    let pitch = process.wire_local.pitch;
    let wires = pitch * (2.0 * (f64::from(counted) - 1.0));
    // A port that senses a single bitline does without the other. Both tools read the number of such ports and then leave it out of their cells.
    let single = match process.profile {
        Profile::Cacti65 | Profile::Cacti7 => 0,
        Profile::Silicon => need.ports.single_ended_read,
    };
    let saved = pitch * f64::from(single);
    (
        process.cell.width + wires - saved,
        process.cell.height + wires,
    )
}
