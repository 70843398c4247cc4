//! A small store of decoded instructions, which other warps take from it.
//!
//! A. Lashgar, A. Baniasadi, A. Khonsari, "Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs", section 3.3: "GPUs can take advantage of bypassing by
//! storing the most recent decoded warp instructions and reusing them later by other warps", after M. Hiraki and others, "Stage-skip Pipeline", ISLPED 1996. What the
//! store has is neither read from the I-cache nor decoded again, and reaches its buffer earlier by the decoder's cycles.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("decode_bypass").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"entries = 16".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "decode_bypass(entries=16)");
//! # Ok(())
//! # }
//! ```

use warpwatt_activity::Activity;
use warpwatt_circuit::{BufferSpec, CamSpec, CircuitError, MuxSpec, Ports, Spec};
use warpwatt_gpu::{FetchFilter, GpuSpec, Hooks, Run};

use crate::fetch_store::{self, DECODER, FetchStore};
use crate::parameter::{Count, CountOr, count, count_or};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "decode_bypass",
    summary: "the most recently decoded instructions of each SM, which serve fetches past I-cache and decoder",
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", section 3.3",
    parameters: &[ENTRIES.declared(), ENTRY_BITS.declared()],
    counters: &[
        (
            "decode_bypass.tag.search",
            "addresses looked for: one a fetch",
        ),
        (
            "decode_bypass.tag.write",
            "addresses written: one an instruction decoded for it",
        ),
        (
            "decode_bypass.data.read",
            "decoded instructions read: one a hit",
        ),
        ("decode_bypass.data.write", "decoded instructions written"),
        (
            "decode_bypass.mux.read",
            "selections between the store's and the decoder's word: one a fetch",
        ),
        (
            "decode_bypass_hits",
            "fetches that the store served; equals filtered_fetches",
        ),
        (
            DECODER,
            "instructions that passed the decoder; in proportion to fetches where one brings several",
        ),
    ],
    metrics: &[Judged::headline("hit_rate")],
    configure: |values| {
        Ok(Box::new(DecodeBypass {
            entries: values.get(&ENTRIES),
            entry_bits: values.get(&ENTRY_BITS),
            label: values.label(),
        }))
    },
};

const ENTRIES: Count = count(
    "entries",
    32,
    1..=1024,
    "instructions that it holds; the oldest one makes way",
)
.labelled();
const ENTRY_BITS: CountOr = count_or(
    "entry_bits",
    None,
    8..=1024,
    "buffer",
    "bits of a decoded instruction; \"buffer\": those of a word of the instruction buffer, which holds decoded ones too",
)
.priced_only();

/// A configured store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeBypass {
    entries: u32,
    entry_bits: Option<u32>,
    label: String,
}

impl DecodeBypass {
    fn bits(&self, gpu: &GpuSpec) -> u64 {
        u64::from(self.entry_bits.unwrap_or(8 * gpu.fetch.instruction_bytes))
    }

    /// Any instruction may be in any entry: all addresses are compared.
    fn tag(&self, gpu: &GpuSpec) -> Spec {
        Spec::Cam(CamSpec {
            entries: u64::from(self.entries),
            bits: fetch_store::address_bits(gpu),
            ports: Ports {
                search: 1,
                ..Ports::ONE
            },
            banks: 1,
        })
    }

    fn data(&self, gpu: &GpuSpec) -> Spec {
        Spec::Buffer(BufferSpec {
            entries: u64::from(self.entries),
            bits: self.bits(gpu),
            ports: Ports::READ_AND_WRITE,
        })
    }

    fn mux(&self, gpu: &GpuSpec) -> Spec {
        Spec::Mux(MuxSpec {
            bits: self.bits(gpu),
        })
    }
}

impl Technique for DecodeBypass {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let store = FetchStore {
            name: "store of decoded instructions",
            paths: ["bypass hit", "bypass miss"],
            check: ("tags", self.tag(gpu)),
            data: ("decoded instruction", self.data(gpu)),
            mux: self.mux(gpu),
        };
        fetch_store::fit(&store, gpu, circuits)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn decides(&self) -> String {
        format!("{}(entries={})", DEFINITION.name, self.entries)
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        let entries = self.entries as usize;
        hooks.fetch_filter = Some(Box::new(move |_| Box::new(Decoded::new(entries))));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        vec![
            Structure::front_end("decode_bypass.tag", self.tag(gpu)),
            Structure::front_end("decode_bypass.data", self.data(gpu)),
            Structure::front_end("decode_bypass.mux", self.mux(gpu)),
        ]
    }

    fn alter(&self, _: &GpuSpec, structures: &mut [Structure]) {
        fetch_store::bypass_decoder(structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        vec![Metric::ratio(
            "decode_bypass.hit_rate",
            count("decode_bypass_hits"),
            count("decode_bypass.tag.search"),
        )]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::FetchFilter]
    }
}

/// The store of one SM.
struct Decoded {
    /// Addresses; the entry that is written next.
    held: Vec<Option<u64>>,
    next: usize,
    lookups: u64,
    hits: u64,
    fills: u64,
}

impl Decoded {
    fn new(entries: usize) -> Self {
        Self {
            held: vec![None; entries],
            next: 0,
            lookups: 0,
            hits: 0,
            fills: 0,
        }
    }
}

impl FetchFilter for Decoded {
    fn lookup(&mut self, pc: u64) -> bool {
        let hit = self.held.contains(&Some(pc));
        self.lookups += 1;
        self.hits += u64::from(hit);
        hit
    }

    fn fill(&mut self, pc: u64) {
        // Several warps may have waited for it.
        if self.held.contains(&Some(pc)) {
            return;
        }
        self.held[self.next] = Some(pc);
        self.next = (self.next + 1) % self.held.len();
        self.fills += 1;
    }

    fn skips_decode(&self) -> bool {
        true
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("decode_bypass.tag.search", self.lookups);
        activity.add("decode_bypass.tag.write", self.fills);
        activity.add("decode_bypass.data.read", self.hits);
        activity.add("decode_bypass.data.write", self.fills);
        activity.add("decode_bypass.mux.read", self.lookups);
        activity.add("decode_bypass_hits", self.hits);
        fetch_store::report_decoded(activity, self.hits, self.lookups);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_decoded_instruction_makes_way() {
        let mut store = Decoded::new(2);
        for pc in [0, 8, 0, 16, 0] {
            if !store.lookup(pc) {
                store.fill(pc);
            }
        }
        assert_eq!(store.held, [Some(16), Some(0)]);
        let mut activity: Activity = [("fetches", 5)].into_iter().collect();
        store.report(&mut activity);
        assert_eq!(activity.get("decode_bypass_hits"), 1);
        assert_eq!(activity.get(DECODER), 4);
        assert_eq!(activity.get("decode_bypass.data.write"), 4);
    }

    /// Who is charged for decoding is told what was decoded.
    #[test]
    fn the_decoder_works_for_what_the_store_has_not() {
        let gpu = GpuSpec::preset("v100").unwrap();
        let technique = DEFINITION.parse(&toml::Table::new()).unwrap();
        let mut structures = warpwatt_structures::inventory(&gpu);
        technique.alter(&gpu, &mut structures);
        let decoder = structures.iter().find(|it| it.name == "decoder").unwrap();
        assert!(decoder.counts(DECODER) && !decoder.counts("fetches"));
    }
}
