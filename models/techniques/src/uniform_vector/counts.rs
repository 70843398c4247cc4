//! What is counted in one SM, and under which names.

use warpwatt_activity::Activity;

use super::reuse;
use super::{Design, UniformVector};

/// The counters and what they mean.
pub(super) const COUNTERS: &[(&str, &str)] = &[
    (
        "uniform_vector.tokens.read",
        "token design: look-ups of a warp's tokens, one an instruction",
    ),
    (
        "uniform_vector.tokens.write",
        "token design: changes of tokens, one an instruction with results",
    ),
    (
        "uniform_vector.renaming.read",
        "SRF design: look-ups in the renaming table, one an instruction",
    ),
    (
        "uniform_vector.renaming.write",
        "SRF design: scalar registers mapped, one a result word",
    ),
    (
        "uniform_vector.free_list.write",
        "SRF design: scalar registers taken, one a result word; each is given back once",
    ),
    (
        "uniform_vector.srf.read",
        "SRF design: scalar registers read",
    ),
    (
        "uniform_vector.srf.write",
        "SRF design: scalar registers written",
    ),
    (
        "uniform_vector.broadcast.read",
        "words sent to all lanes: uniform sources of vector instructions, copies",
    ),
    (
        "uniform_vector.irb.tag.search",
        "look-ups in the reuse buffer: uniform computations that fit an entry",
    ),
    ("uniform_vector.irb.tag.write", "tags written: new entries"),
    (
        "uniform_vector.irb.data.read",
        "entries whose tag agrees, read and compared",
    ),
    (
        "uniform_vector.irb.data.write",
        "entries written: every look-up that is no hit, when its result is there",
    ),
    (
        "uniform_vector.irb.parity.read",
        "reliability: parity of an entry made or checked",
    ),
    (
        "uniform_vector.parity.read",
        "parity: parities made of values that are held twice, and checked when they are read",
    ),
    (
        "uniform_vector.parity_bits.read",
        "parity: their bits read, one look-up a value",
    ),
    (
        "uniform_vector.parity_bits.write",
        "parity: their bits written",
    ),
    (
        "uniform_vector.checker.read",
        "reliability: results of two lanes compared",
    ),
    (
        "uniform_vector_computations",
        "uniform computations that were detected and could be stored",
    ),
    (
        "uniform_vector_reused",
        "of them, found in the reuse buffer",
    ),
    (
        "uniform_vector_too_wide",
        "of them, with values that do not fit an entry of the reuse buffer",
    ),
    (
        "uniform_vector_missed",
        "computations of a whole warp with equal operands that were not detected",
    ),
    (
        "uniform_vector_structural",
        "instructions whose single result found no scalar register",
    ),
    (
        "uniform_vector_copies",
        "copies before a write of a part of a uniform vector's lanes",
    ),
    (
        "uniform_vector_copies_of_sources",
        "of them, those where the instruction reads the register as well: the paper's condition",
    ),
    (
        "uniform_vector_copies_guarded",
        "of these, those where all lanes are active and the instruction's own guard leaves some of them out",
    ),
    (
        "uniform_vector_computed_lanes",
        "lanes of computations, however they were executed",
    ),
    (
        "uniform_vector_live_cycles",
        "reliability: register words times cycles from a write to its last read",
    ),
    (
        "uniform_vector_duplicate_cycles",
        "reliability: of them, of values held twice",
    ),
    (
        "uniform_vector_live_half_cycles",
        "reliability: of the live ones, of halves of 64-bit registers",
    ),
    (
        "uniform_vector_duplicate_half_cycles",
        "reliability: of these, of values held twice",
    ),
    (
        "uniform_vector_duplicate_loaded_cycles",
        "reliability: of these, of values that were loaded, parameters among them",
    ),
];

/// The counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub decoded: u64,
    pub table_writes: u64,
    pub srf_reads: u64,
    pub srf_mapped: u64,
    pub srf_writes: u64,
    pub broadcasts: u64,
    pub held_twice: u64,
    pub held_reads: u64,
    pub uniform: u64,
    pub compared: u64,
    pub too_wide: u64,
    pub missed: u64,
    pub structural: u64,
    pub copies: u64,
    pub copies_of_sources: u64,
    pub copies_guarded: u64,
    pub computed_lanes: u64,
}

impl Counts {
    pub fn report(&self, settings: &UniformVector, activity: &mut Activity) {
        match settings.design {
            Design::Token => {
                activity.add("uniform_vector.tokens.read", self.decoded);
                activity.add("uniform_vector.tokens.write", self.table_writes);
            }
            Design::Srf => {
                activity.add("uniform_vector.renaming.read", self.decoded);
                activity.add("uniform_vector.renaming.write", self.srf_mapped);
                activity.add("uniform_vector.free_list.write", self.srf_mapped);
                activity.add("uniform_vector.srf.read", self.srf_reads);
                activity.add("uniform_vector.srf.write", self.srf_writes);
                activity.add("uniform_vector_structural", self.structural);
            }
        }
        if settings.reliability {
            activity.add("uniform_vector.checker.read", self.compared);
        }
        if settings.parity {
            let (read, written) = (self.held_reads, self.held_twice);
            activity.add("uniform_vector.parity.read", read + written);
            activity.add("uniform_vector.parity_bits.read", read);
            activity.add("uniform_vector.parity_bits.write", written);
        }
        for (name, count) in [
            ("uniform_vector.broadcast.read", self.broadcasts),
            ("uniform_vector_computations", self.uniform),
            ("uniform_vector_missed", self.missed),
            ("uniform_vector_copies", self.copies),
            ("uniform_vector_copies_of_sources", self.copies_of_sources),
            ("uniform_vector_copies_guarded", self.copies_guarded),
            ("uniform_vector_computed_lanes", self.computed_lanes),
        ] {
            activity.add(name, count);
        }
    }

    pub fn report_reuse(
        &self,
        reuse: &reuse::Counts,
        settings: &UniformVector,
        activity: &mut Activity,
    ) {
        for (name, count) in [
            ("uniform_vector.irb.tag.search", reuse.searches),
            ("uniform_vector.irb.tag.write", reuse.allocations),
            ("uniform_vector.irb.data.read", reuse.reads),
            ("uniform_vector.irb.data.write", reuse.writes),
            ("uniform_vector_reused", reuse.hits),
            ("uniform_vector_too_wide", self.too_wide),
        ] {
            activity.add(name, count);
        }
        if settings.reliability {
            let checked = reuse.reads + reuse.writes;
            activity.add("uniform_vector.irb.parity.read", checked);
        }
    }
}
