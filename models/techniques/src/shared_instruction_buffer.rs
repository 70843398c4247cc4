//! Warps take decoded instructions from each other's entries of the instruction buffer, or share entries of a smaller one.
//!
//! A. Lashgar, A. Baniasadi, A. Khonsari, "Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs", section 3.3: for 42 % of the fetches "the corresponding
//! decoded instruction already exists in the instruction buffer (in the entries dedicated to other warps). The instruction fetch/decode process can be bypassed by
//! reading the decoded word from the instruction buffer. A more efficient alternative is to share similar entries among warps to reduce instruction buffer size."
//!
//! `design = "copy"`: a fetch looks for its address among those of the decoded instructions that wait; if one is there, it is read and written into the warp's own
//! entry. `design = "shared"`: slots of warps hold the number of an entry, and entries the instruction and how many slots have its number; nothing is written twice. An SM
//! has `entries` of them, of which each warp is certain to find what one fetch brings, so that no warp waits for another's to become free; the rest serves fetches ahead.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("shared_instruction_buffer").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"design = \"copy\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "shared_instruction_buffer(design=copy)");
//! # Ok(())
//! # }
//! ```

mod held;

use warpwatt_circuit::{BufferSpec, CamSpec, CircuitError, MuxSpec, Ports, Spec};
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_structures::Charge;

use crate::fetch_store::{self, DECODER, FetchStore};
use crate::parameter::{Choice, CountOr, Handle, choice, count_or};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "shared_instruction_buffer",
    summary: "fetches are served by decoded instructions that wait in other warps' entries of the instruction buffer",
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", section 3.3",
    parameters: &[DESIGN.declared(), ENTRIES.declared()],
    counters: &[
        (
            "shared_instruction_buffer.tag.search",
            "addresses looked for among those of waiting instructions: one a fetch",
        ),
        (
            "shared_instruction_buffer.tag.write",
            "addresses written: one an instruction that is written into the buffer",
        ),
        (
            "shared_instruction_buffer.mux.read",
            "selections between the buffer's and the decoder's word: one a fetch",
        ),
        (
            "shared_instruction_buffer.links.read",
            "numbers of entries read, one an issue; this and the next four with design = \"shared\"",
        ),
        (
            "shared_instruction_buffer.links.write",
            "numbers of entries written, one an instruction that comes into a slot",
        ),
        (
            "shared_instruction_buffer.counts.read",
            "counts of slots that share an entry, read when one joins or leaves",
        ),
        ("shared_instruction_buffer.counts.write", "the same written"),
        (
            WRITTEN,
            "instructions written into entries; the others share one that is there",
        ),
        (
            "shared_instruction_buffer_hits",
            "fetches that a waiting instruction served; equals filtered_fetches",
        ),
        (
            "shared_instruction_buffer_joined",
            "fetches of instructions that were there or on their way, those that are not decoded yet among them",
        ),
        (
            "shared_instruction_buffer_most",
            "most different instructions in the buffer of an SM and on their way there, summed over SMs",
        ),
        ("shared_instruction_buffer_sms", "SMs that fetched anything"),
        (
            DECODER,
            "instructions that passed the decoder; in proportion to fetches where one brings several",
        ),
    ],
    metrics: &[Judged::headline("hit_rate"), Judged::higher("joined")],
    configure: |values| {
        let (design, entries) = (values.get(&DESIGN), values.get(&ENTRIES));
        if design == Design::Copy && entries.is_some() {
            let help = "leave it out, or say `design = \"shared\"`";
            return Err(vec![
                ENTRIES.refused("copies leave the buffer as large as it is", help),
            ]);
        }
        Ok(Box::new(SharedInstructionBuffer {
            design,
            entries,
            label: values.label(),
        }))
    },
};

/// The counter of what is written into the buffer where entries are shared.
const WRITTEN: &str = "shared_instruction_buffer_written";

const DESIGN: Choice<Design, 2> = choice(
    "design",
    [("copy", Design::Copy), ("shared", Design::Shared)],
    "shared",
    "a warp copies what it finds into its own entry, or entries are shared",
);
const ENTRIES: CountOr = count_or(
    "entries",
    None,
    1..=4096,
    "auto",
    "entries of an SM, at least what one fetch for each warp brings; \"auto\": a quarter more than that. With design = \"shared\"",
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    Copy,
    Shared,
}

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedInstructionBuffer {
    design: Design,
    entries: Option<u32>,
    label: String,
}

/// Slots that warps have.
fn slots(gpu: &GpuSpec) -> u32 {
    gpu.warps_per_sm() * gpu.fetch.buffer_entries
}

/// Entries with which every warp finds what a fetch brings.
fn least(gpu: &GpuSpec) -> u32 {
    gpu.warps_per_sm() * gpu.fetch.instructions
}

impl SharedInstructionBuffer {
    /// Entries of an SM.
    fn entries(&self, gpu: &GpuSpec) -> u32 {
        match self.design {
            Design::Copy => slots(gpu),
            Design::Shared => {
                let usual = least(gpu) + least(gpu) / 4;
                self.entries
                    .unwrap_or(usual.min(slots(gpu).max(least(gpu))))
            }
        }
    }

    fn tag(&self, gpu: &GpuSpec) -> Spec {
        Spec::Cam(CamSpec {
            entries: u64::from(self.entries(gpu)),
            bits: fetch_store::address_bits(gpu),
            ports: Ports {
                search: 1,
                ..Ports::ONE
            },
            banks: 1,
        })
    }

    /// The buffer as it is with the technique: fewer words of the priced array, in proportion.
    fn shrunk(&self, gpu: &GpuSpec, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        if let Spec::Ram(ram) = &mut spec {
            let words = ram.words * u64::from(self.entries(gpu));
            ram.words = words.div_ceil(u64::from(slots(gpu))).max(1);
        }
        spec
    }
}

impl Technique for SharedInstructionBuffer {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let buffer = warpwatt_structures::plain::structures(gpu);
        let buffer = buffer.iter().find(|it| it.name == "instruction_buffer");
        let Some(buffer) = buffer else {
            return Ok(Fit::default());
        };
        let store = FetchStore {
            name: "search of the instruction buffer",
            paths: ["buffer hit", "buffer miss"],
            check: ("addresses of waiting instructions", self.tag(gpu)),
            data: ("instruction buffer", self.shrunk(gpu, &buffer.spec)),
            mux: mux(gpu),
        };
        fetch_store::fit(&store, gpu, circuits)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (entries, least) = (self.entries(gpu), least(gpu));
        if entries < least {
            let reason = format!(
                "shared_instruction_buffer: {entries} entries are fewer than the {least} that one fetch for each warp of an SM brings"
            );
            hooks
                .conditions
                .push(Box::new(move |_| Err(reason.clone())));
        }
        held::attach(
            gpu,
            self.design == Design::Shared,
            entries.saturating_sub(least),
            hooks,
        );
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let of = |name, spec| Structure::front_end(name, spec);
        let mut found = vec![
            of("shared_instruction_buffer.tag", self.tag(gpu)),
            of("shared_instruction_buffer.mux", mux(gpu)),
        ];
        if self.design == Design::Shared {
            let (entries, slots) = (self.entries(gpu), slots(gpu));
            found.push(of(
                "shared_instruction_buffer.links",
                numbers(slots, entries),
            ));
            found.push(of(
                "shared_instruction_buffer.counts",
                numbers(entries, slots + 1),
            ));
        }
        found
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        fetch_store::bypass_decoder(structures);
        if self.design == Design::Copy {
            return;
        }
        for buffer in structures
            .iter_mut()
            .filter(|it| it.name == "instruction_buffer")
        {
            buffer.spec = self.shrunk(gpu, &buffer.spec);
            buffer.charges = vec![
                Charge::each("read", "instruction_buffer.read"),
                Charge::each("write", WRITTEN),
            ]
            .into();
        }
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        let searched = count("shared_instruction_buffer.tag.search");
        let share = |name: &str, part: &str| {
            Metric::ratio(
                format!("shared_instruction_buffer.{name}"),
                count(part),
                searched,
            )
        };
        let sms = count("shared_instruction_buffer_sms").max(1);
        vec![
            share("hit_rate", "shared_instruction_buffer_hits"),
            share("joined", "shared_instruction_buffer_joined"),
            Metric {
                name: "shared_instruction_buffer.most".to_owned(),
                unit: "instruction",
                value: count("shared_instruction_buffer_most") as f64 / sms as f64,
                ratio: None,
            },
        ]
    }

    fn claims(&self) -> &'static [Claim] {
        match self.design {
            Design::Copy => &[Claim::FetchFilter],
            // Check bits are made of what is written, which is less here than what arrives.
            Design::Shared => &[Claim::FetchFilter, Claim::InstructionCheckBits],
        }
    }
}

fn mux(gpu: &GpuSpec) -> Spec {
    Spec::Mux(MuxSpec {
        bits: 8 * u64::from(gpu.fetch.instruction_bytes),
    })
}

/// So many numbers of one of `of` things, in flip-flops.
fn numbers(count: u32, of: u32) -> Spec {
    Spec::Buffer(BufferSpec {
        entries: u64::from(count),
        bits: u64::from(of.next_power_of_two().trailing_zeros().max(1)),
        ports: Ports::READ_AND_WRITE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Box<dyn Technique> {
        DEFINITION.parse(&text.parse().unwrap()).unwrap()
    }

    /// The paper's GPU has 32 warps of two entries and prices an array of 48 words for them: 40 shared entries are 30 words.
    #[test]
    fn a_shared_buffer_is_smaller_and_written_less() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let mut structures = warpwatt_structures::inventory(&gpu);
        of("").alter(&gpu, &mut structures);
        let buffer = structures.iter().find(|it| it.name == "instruction_buffer");
        let buffer = buffer.unwrap();
        match &buffer.spec {
            Spec::Ram(ram) => assert_eq!((ram.words, ram.bits), (30, 64)),
            other => panic!("{other:?}"),
        }
        assert!(buffer.counts(WRITTEN) && !buffer.counts("instruction_buffer.write"));
        let mut copied = warpwatt_structures::inventory(&gpu);
        of("design = \"copy\"").alter(&gpu, &mut copied);
        assert_eq!(copied, warpwatt_structures::inventory(&gpu));
    }

    #[test]
    fn fewer_entries_than_warps_need_are_refused_before_anything_runs() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let mut hooks = Hooks::default();
        of("entries = 31").attach(&gpu, &mut hooks);
        assert_eq!(hooks.conditions.len(), 1);
        let mut hooks = Hooks::default();
        of("entries = 32").attach(&gpu, &mut hooks);
        assert!(hooks.conditions.is_empty());
    }
}
