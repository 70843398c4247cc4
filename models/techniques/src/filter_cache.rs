//! A filter cache before the I-cache.
//!
//! A. Lashgar, A. Baniasadi, A. Khonsari, "Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs", section 4, after J. Kin, M. Gupta,
//! W. H. Mangione-Smith, "The filter cache: an energy efficient memory structure", MICRO 1997.
//!
//! Each SM gets a small direct-mapped store of single instructions. A fetch checks its tags first; on a hit the I-cache is not accessed, on a miss the
//! instruction that the I-cache delivers is filled in. The claim: 30 % to 100 % of I-cache accesses disappear, up to 19 % of front-end dynamic energy, at
//! 4.7 % more front-end area and no lost cycle if warp scheduling leaves the time.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("filter_cache").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"entries = 16".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "filter_cache(entries=16)");
//! # Ok(())
//! # }
//! ```

mod accounting;

use warpwatt_activity::Activity;
use warpwatt_circuit::{Access, CacheSpec, CircuitError, MuxSpec, Ports, Spec, TagSpec};
use warpwatt_gpu::{FetchFilter, GpuSpec, Hooks, Run};

use crate::fetch_store::{self, FetchStore};
use crate::parameter::{Count, count};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Path, Structure, Technique};

pub use accounting::{FetchEnergies, implied_by_the_paper, structural};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "filter_cache",
    summary: "a small direct-mapped instruction store before the I-cache of each SM",
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", section 4",
    parameters: &[
        ENTRIES.declared(),
        ENTRY_BITS.declared(),
        ENTRIES_PER_TAG.declared(),
    ],
    counters: &[
        ("filter_cache.tag.read", "tag checks: one a fetch"),
        ("filter_cache.tag.write", "tags written: one a fill"),
        ("filter_cache.data.read", "instructions read: one a hit"),
        (
            "filter_cache.data.write",
            "instructions written: one a fill",
        ),
        (
            "filter_cache.mux.read",
            "selections between the filter cache's and the I-cache's word: one a fetch",
        ),
        (
            "filter_cache_hits",
            "fetches that the filter cache served; equals filtered_fetches",
        ),
    ],
    metrics: &[Judged::headline("hit_rate")],
    configure: |values| {
        Ok(Box::new(FilterCache {
            entries: values.get(&ENTRIES),
            entry_bits: values.get(&ENTRY_BITS),
            entries_per_tag: values.get(&ENTRIES_PER_TAG),
            label: values.label(),
        }))
    },
};

const ENTRIES: Count = count(
    "entries",
    32,
    1..=65_536,
    "instructions that it holds; instruction i lies in entry i modulo entries",
)
.labelled();
const ENTRY_BITS: Count = count(
    "entry_bits",
    64,
    8..=1024,
    "bits of an entry, for the price of the data array and the multiplexer",
)
.priced_only();
const ENTRIES_PER_TAG: Count = count(
    "entries_per_tag",
    2,
    1..=64,
    "entries that share a tag in the priced tag array; 2 is what gives the paper's Table 1, 1 prices a tag an entry. The model compares every entry's own tag",
)
.priced_only();

/// A configured filter cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterCache {
    entries: u32,
    entry_bits: u32,
    entries_per_tag: u32,
    label: String,
}

impl FilterCache {
    fn tag_bits(&self, gpu: &GpuSpec) -> u32 {
        let covered_bytes = gpu.fetch.instruction_bytes * self.entries_per_tag;
        let offset_bits = covered_bytes.ilog2();
        gpu.icache.address_bits.saturating_sub(offset_bits).max(1)
    }

    /// The tag array: for the paper's 32 entries 16 sets of 28 bits, an address of 32 bits less the offset within two instructions.
    fn tag(&self, gpu: &GpuSpec) -> Spec {
        Spec::Tags(TagSpec {
            sets: u64::from(self.entries.div_ceil(self.entries_per_tag)),
            ways: 1,
            tag_bits: self.tag_bits(gpu),
            ports: Ports::READ_AND_WRITE,
        })
    }

    /// The data array: the data side of a direct-mapped cache of one instruction a line.
    fn data(&self, gpu: &GpuSpec) -> Spec {
        Spec::CacheData(CacheSpec {
            sets: u64::from(self.entries),
            ways: 1,
            line_bits: u64::from(self.entry_bits),
            tag_bits: Some(self.tag_bits(gpu)),
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            access: Access::Normal,
            banks: 1,
        })
    }

    /// Chooses between the two stores.
    fn mux(&self) -> Spec {
        Spec::Mux(MuxSpec {
            bits: u64::from(self.entry_bits),
        })
    }
}

impl Technique for FilterCache {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let store = FetchStore {
            name: "filter cache",
            paths: ["filter-cache hit", "filter-cache miss"],
            check: ("tag check", self.tag(gpu)),
            data: ("filter-cache data", self.data(gpu)),
            mux: self.mux(),
        };
        let mut fit = fetch_store::fit(&store, gpu, circuits)?;
        let beyond_selection = |path: &Path| path.total().as_ps() - path.parts[0].1.as_ps();
        let note = format!(
            "without warp selection a hit takes {:.0} ps and a miss {:.0} ps; the paper says 280 and 450 ps at 32 nm and leaves warp selection open",
            beyond_selection(&fit.paths[0]),
            beyond_selection(&fit.paths[1])
        );
        fit.notes.insert(1, note);
        Ok(fit)
    }

    fn decides(&self) -> String {
        format!("{}(entries={})", DEFINITION.name, self.entries)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (entries, shift) = (u64::from(self.entries), gpu.fetch.instruction_bytes.ilog2());
        hooks.fetch_filter = Some(Box::new(move |_| Box::new(Store::new(entries, shift))));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        vec![
            Structure::front_end("filter_cache.tag", self.tag(gpu)),
            Structure::front_end("filter_cache.data", self.data(gpu)),
            Structure::front_end("filter_cache.mux", self.mux()),
        ]
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let (hits, checks) = (
            run.activity.get("filter_cache_hits"),
            run.activity.get("filter_cache.tag.read"),
        );
        vec![Metric::ratio("filter_cache.hit_rate", hits, checks)]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::FetchFilter]
    }
}

/// The store of one SM.
struct Store {
    /// The instruction address held by each entry; [`EMPTY`] if none.
    tags: Vec<u64>,
    shift: u32,
    checks: u64,
    hits: u64,
    fills: u64,
}

/// No instruction has this address: addresses are multiples of the instruction size.
const EMPTY: u64 = u64::MAX;

impl Store {
    fn new(entries: u64, shift: u32) -> Self {
        Self {
            tags: vec![EMPTY; entries as usize],
            shift,
            checks: 0,
            hits: 0,
            fills: 0,
        }
    }

    fn entry(&self, pc: u64) -> usize {
        ((pc >> self.shift) % self.tags.len() as u64) as usize
    }
}

impl FetchFilter for Store {
    fn lookup(&mut self, pc: u64) -> bool {
        let hit = self.tags[self.entry(pc)] == pc;
        self.checks += 1;
        self.hits += u64::from(hit);
        hit
    }

    fn fill(&mut self, pc: u64) {
        let entry = self.entry(pc);
        self.tags[entry] = pc;
        self.fills += 1;
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("filter_cache.tag.read", self.checks);
        activity.add("filter_cache.tag.write", self.fills);
        activity.add("filter_cache.data.read", self.hits);
        activity.add("filter_cache.data.write", self.fills);
        activity.add("filter_cache.mux.read", self.checks);
        activity.add("filter_cache_hits", self.hits);
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;

    #[test]
    fn entries_are_chosen_by_the_instruction_s_number_modulo_entries() {
        let mut store = Store::new(3, 3);
        assert!(!store.lookup(0));
        store.fill(0);
        store.fill(8);
        assert!(store.lookup(0) && store.lookup(8));
        store.fill(24);
        assert!(
            !store.lookup(0),
            "instruction 3 lies where instruction 0 lay"
        );
        assert!(store.lookup(24));
        let mut activity = Activity::new();
        store.report(&mut activity);
        assert_eq!(activity.get("filter_cache.tag.read"), 5);
        assert_eq!(activity.get("filter_cache.data.read"), 3);
        assert_eq!(activity.get("filter_cache.data.write"), 3);
    }

    #[test]
    fn the_paper_s_filter_cache_has_the_arrays_that_give_its_table_1() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let technique = DEFINITION.parse(&Table::new()).unwrap();
        let structures = technique.structures(&gpu);
        let both = Ports::READ_AND_WRITE;
        assert_eq!(
            structures[0].spec,
            Spec::Tags(TagSpec {
                sets: 16,
                ways: 1,
                tag_bits: 28,
                ports: both
            })
        );
        assert_eq!(
            structures[1].spec,
            Spec::CacheData(CacheSpec {
                sets: 32,
                ways: 1,
                line_bits: 64,
                tag_bits: Some(28),
                out_bits: None,
                ports: both,
                access: Access::Normal,
                banks: 1
            })
        );
        assert_eq!(structures[2].spec, Spec::Mux(MuxSpec { bits: 64 }));
    }

    #[test]
    fn a_label_names_what_differs() {
        let table: Table = "entries = 16\nentries_per_tag = 1".parse().unwrap();
        assert_eq!(
            DEFINITION.parse(&table).unwrap().label(),
            "filter_cache(entries=16, entries_per_tag=1)"
        );
    }
}
