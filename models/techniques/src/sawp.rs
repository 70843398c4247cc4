//! Similarity-aware protection (SAWP): instructions that many warps hold at once share one entry of a small table of check bits.
//!
//! J. Tan, Z. Li, X. Fu, "Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs", CF 2013, section 3.2. The claim: the vulnerability of the
//! instruction buffer falls by 68 % for 6 % more power, where a code on every slot takes 23 %.
//!
//! An instruction that comes into the buffer is compared with those that the entries of the table name. If it is the same as one, it shares that one's check
//! bits; if not, check bits are made and take an entry: a free one, or that with the fewest instructions. Each slot has a parity bit, which tells at issue
//! whether the check bits are needed, a bit that says whether there are any, and the number of their entry.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("sawp").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"variant = \"min\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "sawp(variant=min)");
//! # Ok(())
//! # }
//! ```

mod buffer;
mod similarity;
mod structures;
mod table;

use warpwatt_circuit::logic::Code;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::parameter::{Choice, Count, CountOr, Flag, choice, count, count_or, flag};
use crate::protection::attach_fetch;
use crate::recovery::{Found, Recovery};
use crate::{Claim, Definition, Judged, Metric, Structure, Technique};
use buffer::Buffer;
use similarity::Similarity;
use table::Replacement;

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "sawp",
    summary: "instructions that many warps hold at once share one entry of a small table of check bits",
    citation: "J. Tan, Z. Li, X. Fu, \"Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs\", CF 2013, section 3.2",
    parameters: &[
        VARIANT.declared(),
        ENTRIES.declared(),
        THRESHOLD.declared(),
        PROGRESS.declared(),
        COMPARE_READS.declared(),
    ],
    counters: &[
        (
            "sawp.comparator.read",
            "instructions of the buffer compared with one that comes",
        ),
        (
            "sawp.generator.read",
            "check bits made, each for an entry of the table",
        ),
        (
            "sawp.copies.write",
            "instructions put where what comes is compared with them; not with compare_reads = false",
        ),
        (
            "sawp.parity.read",
            "parities made at arrival and checked at issue",
        ),
        (
            "sawp.analyser.read",
            "outcomes of comparisons analysed, one an arrival",
        ),
        (
            "sawp.minimum.read",
            "looks for the entry with the fewest instructions, for a new one where none is free",
        ),
        (
            "sawp.broadcast.read",
            "slots of the buffer that compare the number of an entry which makes way with their own",
        ),
        (
            "sawp.table.read",
            "accesses of the table: one an arrival, one an issue of a protected instruction",
        ),
        (
            "sawp.table.write",
            "entries written: check bits, or identity and counter",
        ),
        (
            "sawp.progress.read",
            "counts of a warp's instructions looked up, to count one or to know how far it is; this and the next six not with variant = \"min\"",
        ),
        (
            "sawp.progress.write",
            "counts of a warp's instructions written",
        ),
        ("sawp.increment.read", "instructions counted for a warp"),
        ("sawp.mean.read", "instructions counted for all warps"),
        (
            "sawp.distance.read",
            "distances of a warp from the mean, where an entry would have to make way",
        ),
        ("sawp.bound.read", "of them compared with progress"),
        (
            "sawp.threshold.read",
            "counters compared with threshold, likewise",
        ),
        ("sawp_arrivals", "instructions that came into the buffer"),
        (
            "sawp_hits",
            "of them, those that found their check bits in the table",
        ),
        (
            "sawp_evictions",
            "entries that made way while instructions shared them",
        ),
        ("sawp_refused", "instructions that got no entry"),
        (
            "sawp_occupied_cycles",
            "slots times cycles that held an instruction which was issued",
        ),
        (
            "sawp_protected_cycles",
            "of them, those of instructions that could be corrected at their issue",
        ),
        (
            "sawp_unique_N",
            "cycles in which the buffer of an SM held N different instructions",
        ),
    ],
    metrics: &[Judged::headline("coverage"), Judged::higher("hit_rate")],
    configure: |values| {
        Ok(Box::new(Sawp {
            variant: values.get(&VARIANT),
            entries: values.get(&ENTRIES),
            threshold: values.get(&THRESHOLD),
            progress: values.get(&PROGRESS),
            compare_reads: values.get(&COMPARE_READS),
            label: values.label(),
        }))
    },
};

const VARIANT: Choice<Variant, 3> = choice(
    "variant",
    [
        ("sawp", Variant::Sawp),
        ("full_size", Variant::FullSize),
        ("min", Variant::Min),
    ],
    "sawp",
    "SAWP, SAWP with a table that is large enough, or the entry with the fewest instructions always makes way",
);
const ENTRIES: CountOr = count_or(
    "entries",
    None,
    1..=32,
    "auto",
    "entries of the table; \"auto\": 12 with variant = \"full_size\", else 4",
);
const THRESHOLD: Count = count(
    "threshold",
    4,
    0..=64,
    "an entry that more instructions share does not make way; not with variant = \"min\"",
);
const PROGRESS: Count = count(
    "progress",
    8,
    0..=1_000_000,
    "an instruction of a warp that has issued so many more or fewer instructions than the average evicts nothing; the paper gives no number. Not with variant = \"min\"",
);
const COMPARE_READS: Flag = flag(
    "compare_reads",
    true,
    "what is compared with an instruction that comes lies in flip-flops, which are there beside the buffer and are written; false: it costs nothing",
);

/// Which rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Sawp,
    FullSize,
    Min,
}

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sawp {
    variant: Variant,
    entries: Option<u32>,
    threshold: u32,
    progress: u32,
    compare_reads: bool,
    label: String,
}

impl Sawp {
    fn entries(&self) -> u32 {
        self.entries.unwrap_or(match self.variant {
            Variant::FullSize => 12,
            Variant::Sawp | Variant::Min => 4,
        })
    }

    fn replacement(&self) -> Replacement {
        match self.variant {
            Variant::Min => Replacement::Fewest,
            Variant::Sawp | Variant::FullSize => Replacement::Threshold(self.threshold),
        }
    }

    /// Makes what watches an SM's buffer.
    fn buffers(&self, gpu: &GpuSpec) -> impl Fn() -> Buffer + 'static {
        let (settings, warps, entries) =
            (self.clone(), gpu.warps_per_sm(), gpu.fetch.buffer_entries);
        move || Buffer::new(&settings, warps, entries)
    }

    /// Whether somebody has to know how far warps are.
    fn counts_progress(&self) -> bool {
        self.variant != Variant::Min
    }
}

fn attach_similarity(hooks: &mut Hooks) {
    hooks
        .fetch_observers
        .push(Box::new(|_| Box::new(Similarity::default())));
}

impl Technique for Sawp {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attached(&self) -> Vec<String> {
        vec![self.label(), format!("{} similarity", self.name())]
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let make = self.buffers(gpu);
        hooks
            .fetch_observers
            .push(Box::new(move |_| Box::new(make())));
        attach_similarity(hooks);
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        let make = self.buffers(gpu);
        let protection = attach_fetch(hooks, move |_| make());
        attach_similarity(hooks);
        Some(protection)
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        self.structures_of(gpu)
    }

    fn alter(&self, _: &GpuSpec, structures: &mut [Structure]) {
        self.widen(structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        let share =
            |name: &str, part: u64, whole: u64| Metric::ratio(format!("sawp.{name}"), part, whole);
        let cycles: Vec<u64> = (1..=MOST_UNIQUE)
            .map(|number| count(&unique(number)))
            .collect();
        let all = cycles.iter().sum();
        let most = cycles.iter().rposition(|&cycles| cycles > 0);
        let largest = Metric {
            name: "sawp.unique.most".to_owned(),
            unit: "instruction",
            value: most.map_or(0.0, |place| (place + 1) as f64),
            ratio: None,
        };
        let occupied = count("sawp_occupied_cycles");
        vec![
            share("coverage", count("sawp_protected_cycles"), occupied),
            share("hit_rate", count("sawp_hits"), count("sawp_arrivals")),
            share("unique.one", cycles[0], all),
            share("unique.two", cycles[1], all),
            share("unique.up_to_eleven", cycles[..11].iter().sum(), all),
            largest,
        ]
    }

    /// Who has check bits is dropped at its issue, corrected, and issues again (section 3.2.2.2).
    fn recovery(&self, gpu: &GpuSpec, structure: Storage) -> Option<Recovery> {
        (structure == Storage::InstructionBuffer).then(|| Recovery {
            corrector: "sawp.corrector.read",
            code: (Code::Sec, structures::word(gpu)),
            found: Found::Issue,
            rewrites: false,
        })
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::InstructionCheckBits]
    }
}

/// Instructions that a buffer can hold.
const MOST_UNIQUE: usize = 256;

/// The counter of cycles with so many different instructions.
fn unique(number: usize) -> String {
    format!("sawp_unique_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_circuit::Spec;

    /// Section 3.2.4: an entry has 7 bits of code, 5 of identity and 5 of counter; a slot gets 4 bits.
    #[test]
    fn the_paper_s_table_and_slots() {
        let gpu = GpuSpec::preset("softerror-28sm").unwrap();
        let technique = DEFINITION.parse(&toml::Table::new()).unwrap();
        let structures = technique.structures(&gpu);
        let table = structures.iter().find(|it| it.name == "sawp.table");
        match &table.unwrap().spec {
            Spec::Buffer(buffer) => assert_eq!((buffer.entries, buffer.bits), (4, 17)),
            other => panic!("{other:?}"),
        }
        let mut base = warpwatt_structures::plain::structures(&gpu);
        technique.alter(&gpu, &mut base);
        let buffer = base.iter().find(|it| it.name == "instruction_buffer");
        match &buffer.unwrap().spec {
            Spec::Ram(ram) => assert_eq!((ram.words, ram.bits), (32, 68)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_full_size_table_has_twelve_entries() {
        let of = |text: &str| DEFINITION.parse(&text.parse().unwrap()).unwrap();
        let gpu = GpuSpec::preset("softerror-28sm").unwrap();
        let full = of("variant = \"full_size\"");
        assert_eq!(full.label(), "sawp(variant=full_size)");
        assert_eq!(
            full.structures(&gpu),
            of("variant = \"full_size\"\nentries = 12").structures(&gpu)
        );
    }
}
