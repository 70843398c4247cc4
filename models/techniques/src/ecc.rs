//! A code on every word of a structure: what SAWP and SHARP are compared with, as "full ECC".
//!
//! R. W. Hamming, "Error Detecting and Error Correcting Codes", Bell System Technical Journal 29, 1950; M. Y. Hsiao, "A Class of Optimal Minimum Odd-weight-column
//! SEC-DED Codes", IBM Journal of Research and Development 14(4), 1970. Check bits widen the arrays, every write makes them and every read checks them.
//! Checking is off the critical path: what is found wrong is dropped in the pipeline, as J. Tan and others (CF 2013, section 3.2.3) have it, and corrected in the one
//! corrector of an SM.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("ecc").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"structure = \"instruction_buffer\"\ncode = \"sec\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "ecc(structure=instruction_buffer, code=sec)");
//! # Ok(())
//! # }
//! ```

mod place;
mod words;

use warpwatt_circuit::{CircuitError, Spec};
use warpwatt_gpu::{GpuSpec, Hooks};
use warpwatt_reliability::{
    Journals, ProtectionFactory, Structure as Storage, Whole, whole_structures,
};
use warpwatt_structures::{Charge, Count, Group, inventory};

use crate::parameter::{Choice, choice};
use crate::protection::{Guard, beside, columns, seldom};
use crate::recovery::{Found, Recovery};
use crate::{Circuits, Claim, Definition, Fit, Path, Structure, Technique};
use place::{Entries, PLACES, Place};
use words::{SharedWords, Words};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "ecc",
    summary: "a code on every word of a structure: made at each write, checked at each read",
    citation: "M. Y. Hsiao, \"A Class of Optimal Minimum Odd-weight-column SEC-DED Codes\", IBM Journal of Research and Development 14(4), 1970",
    parameters: &[STRUCTURE.declared(), CODE.declared()],
    counters: &[
        ("ecc.generator.read", "words whose check bits were made"),
        ("ecc.checker.read", "words that were checked"),
    ],
    metrics: &[],
    configure: |values| {
        Ok(Box::new(Ecc {
            place: values.get(&STRUCTURE),
            guard: values.get(&CODE),
            label: values.label(),
        }))
    },
};

const STRUCTURE: Choice<Place, 9> = choice(
    "structure",
    PLACES,
    "register_file",
    "what is protected; words are of 32 bits, of instruction_bytes, of 64 bits in the second-level cache, and whole entries of what another technique adds",
);
const CODE: Choice<Guard, 5> = choice(
    "code",
    Guard::NAMES,
    "hsiao",
    "corrects one error and detects two (hsiao, hamming), corrects one (sec), corrects two and detects three (dected), or detects one (parity)",
)
.priced_only();

/// A configured code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecc {
    place: Place,
    guard: Guard,
    label: String,
}

impl Ecc {
    /// What it does to flips.
    fn whole(&self) -> Whole {
        Whole {
            structure: self.place.storage,
            outcome: self.guard.outcome(),
        }
    }

    /// A structure of words as it is with their check bits; `None` if it holds none of them.
    fn widened(&self, gpu: &GpuSpec, structure: &Structure) -> Option<Spec> {
        if !self.place.arrays.contains(&structure.name) {
            return None;
        }
        let mut ram = match structure.spec.clone() {
            Spec::Ram(ram) => ram,
            Spec::Buffer(mut buffer) if self.place.is_added() => {
                buffer.bits += self.guard.check_bits(buffer.bits);
                return Some(Spec::Buffer(buffer));
            }
            _ => return None,
        };
        let word = match self.place.is_added() {
            true => ram.bits,
            false => self.place.word(gpu),
        };
        let bits = ram.bits + ram.bits.div_ceil(word) * self.guard.check_bits(word);
        ram.bits = columns(bits);
        Some(Spec::Ram(ram))
    }

    /// Generators, checkers and a corrector of words of so many bits, which work as often as `charges` say.
    fn codecs(
        &self,
        gpu: &GpuSpec,
        word: u64,
        (generators, checkers): (Count, Count),
        charges: Option<(Charge, Charge)>,
    ) -> Vec<Structure> {
        let group = match generators {
            Count::PerSm(_) => Group::Execution,
            Count::PerGpu(_) => Group::Uncore,
        };
        let of = |name, spec, count| Structure {
            count,
            ..Structure::new(name, group, spec)
        };
        let (generated, checked) = charges.unzip();
        let charged = |structure, charge: Option<Charge>| {
            let structure = beside(gpu, structure);
            charge.into_iter().fold(structure, Structure::charged)
        };
        let generator = of("ecc.generator", self.guard.generator(word), generators);
        let checker = of("ecc.checker", self.guard.detector(word), checkers);
        let mut found = vec![charged(generator, generated), charged(checker, checked)];
        if let Some(corrector) = self.guard.corrector(word) {
            let one = match generators {
                Count::PerSm(_) => Count::PerSm(1),
                Count::PerGpu(_) => Count::PerGpu(gpu.slices()),
            };
            found.push(seldom(gpu, of("ecc.corrector", corrector, one)));
        }
        found
    }
}

impl Technique for Ecc {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        if self.place.is_added() {
            return Ok(Fit::default());
        }
        let delay = |spec: &Spec| circuits.cost(spec).map(|cost| cost.access_time);
        let word = self.place.word(gpu);
        let structures = inventory(gpu);
        let array = structures.iter().find_map(|it| self.widened(gpu, it));
        let mut parts = Vec::new();
        if let Some(array) = array {
            parts.push(("array", delay(&array)?));
        }
        parts.push(("checker", delay(&self.guard.detector(word))?));
        let paths = vec![
            Path {
                name: "check bits of a word that is written",
                parts: vec![("generator", delay(&self.guard.generator(word))?)],
            },
            Path {
                name: "read and check",
                parts,
            },
        ];
        let period_ps = gpu.core_period_fs() as f64 / 1000.0;
        let note = |path: &Path| {
            let total = path.total().as_ps();
            let cycles = (total / period_ps).ceil();
            format!("ecc: {}: {total:.0} ps, {cycles} cycles", path.name)
        };
        let notes = paths.iter().map(note).collect();
        Ok(Fit {
            paths,
            notes,
            ..Fit::default()
        })
    }

    fn adds_up(&self) -> bool {
        true
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        if self.place.is_shared() && !gpu.has_l2() {
            let reason = "this GPU has no second-level cache whose words a code could be on";
            let refuse = move |_: &_| Err(reason.to_owned());
            hooks.conditions.push(Box::new(refuse));
        }
        if self.place.storage == Storage::SharedMemory {
            hooks
                .issue
                .push(Box::new(|_| Box::new(SharedWords::default())));
        } else if let Some((counters, words)) = self.place.counted(gpu) {
            let words = Words::of(counters, words);
            hooks
                .fetch_observers
                .push(Box::new(move |_| Box::new(words.clone())));
        }
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        Some(whole_structures(vec![self.whole()]))
    }

    fn shared_codes(&self) -> Vec<Whole> {
        let shared = self.place.is_shared().then(|| self.whole());
        shared.into_iter().collect()
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        if self.place.is_added() {
            return Vec::new();
        }
        let (word, circuits) = (self.place.word(gpu), self.place.circuits(gpu));
        self.codecs(gpu, word, circuits, self.place.charges())
    }

    fn around(&self, gpu: &GpuSpec, structures: &[Structure]) -> Vec<Structure> {
        let arrays = structures.iter();
        let mut arrays = arrays.filter(|it| self.place.arrays.contains(&it.name));
        let entries = arrays.find_map(Entries::of);
        let Some(entries) = entries.filter(|_| self.place.is_added()) else {
            return Vec::new();
        };
        let [read, written] = entries.counters.map(|it| Charge::each("read", it));
        let circuits = (Count::PerSm(entries.writes), Count::PerSm(entries.reads));
        self.codecs(gpu, entries.bits, circuits, Some((written, read)))
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        for structure in structures {
            if let Some(spec) = self.widened(gpu, structure) {
                structure.spec = spec;
            }
        }
    }

    fn recovery(&self, gpu: &GpuSpec, structure: Storage) -> Option<Recovery> {
        let Guard::Correcting(code) = self.guard else {
            return None;
        };
        let found = match structure {
            Storage::InstructionBuffer => Found::Issue,
            Storage::RegisterFile => Found::Operands,
            // What is read goes on corrected, and later.
            Storage::SharedMemory => Found::Before,
            _ => return None,
        };
        (structure == self.place.storage).then(|| Recovery {
            corrector: "ecc.corrector.read",
            code: (code, self.place.word(gpu)),
            found,
            rewrites: structure == Storage::RegisterFile,
        })
    }

    fn claims(&self) -> &'static [Claim] {
        self.place.claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Box<dyn Technique> {
        DEFINITION.parse(&text.parse().unwrap()).unwrap()
    }

    fn bits(technique: &dyn Technique, name: &str) -> u64 {
        let gpu = GpuSpec::preset("softerror-28sm").unwrap();
        let mut structures = inventory(&gpu);
        technique.alter(&gpu, &mut structures);
        let found = structures.iter().find(|it| it.name == name).unwrap();
        match &found.spec {
            Spec::Ram(ram) => ram.bits,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn check_bits_widen_what_they_protect_and_nothing_else() {
        let file = of("structure = \"register_file\"");
        assert_eq!(bits(file.as_ref(), "register_file"), 4 * (32 + 7));
        assert_eq!(bits(file.as_ref(), "shared_memory"), 32 * 32);
        let buffer = of("structure = \"instruction_buffer\"\ncode = \"sec\"");
        assert_eq!(bits(buffer.as_ref(), "instruction_buffer"), 64 + 7 + 1);
        let cache = of("structure = \"instruction_cache\"\ncode = \"parity\"");
        assert_eq!(bits(cache.as_ref(), "icache.data"), 128 + 2);
    }

    /// A sector of 256 bits has four words of 64, with eight check bits each; every slice writes and reads one a cycle.
    #[test]
    fn the_second_level_has_a_code_on_every_word_of_a_sector() {
        let gpu = GpuSpec::preset("v100").unwrap();
        let technique = of("structure = \"l2\"");
        let mut structures = inventory(&gpu);
        technique.alter(&gpu, &mut structures);
        let data = structures.iter().find(|it| it.name == "l2.data").unwrap();
        let Spec::Ram(ram) = &data.spec else {
            panic!("{data:?}")
        };
        assert_eq!(ram.bits, 256 + 4 * 8);
        let added = technique.structures(&gpu);
        assert_eq!(added[0].count, Count::PerGpu(4 * gpu.slices()));
        assert_eq!(
            added[0].charges[0].formula(),
            "4 l2_writes + 4 l2_read_misses + 4 l2_crossings"
        );
        assert_eq!(
            added[1].charges[0].formula(),
            "4 l2_read_hits + 4 l2_write_backs"
        );
        let codes = technique.shared_codes();
        assert_eq!((codes.len(), codes[0].structure), (1, Storage::L2));
    }

    /// Entries of the renaming table are coded whole, as wide as the technique makes them.
    #[test]
    fn storage_that_another_technique_adds_is_coded_entry_by_entry() {
        use std::sync::Arc;
        let gpu = GpuSpec::preset("fermi-16sm").unwrap();
        let virtualization = crate::find("register_virtualization").ok().unwrap();
        let renaming = virtualization.parse(&toml::Table::new()).unwrap();
        let entry = |structures: &[Structure]| {
            let table = structures.iter().find(|it| it.name == "renaming_table");
            match &table.unwrap().spec {
                Spec::Ram(ram) => ram.bits,
                other => panic!("{other:?}"),
            }
        };
        let plain = entry(&renaming.structures(&gpu));
        let code = of("structure = \"renaming_table\"");
        let stack = crate::Stack::new(vec![Arc::from(renaming), Arc::from(code)]).unwrap();
        let mut structures = inventory(&gpu);
        stack.build(&gpu, &mut structures);
        let check_bits = warpwatt_circuit::logic::Code::Hsiao.check_bits(plain);
        assert_eq!(entry(&structures), columns(plain + check_bits));
        let checker = structures.iter().find(|it| it.name == "ecc.checker");
        let charges = &checker.unwrap().charges;
        assert_eq!(charges[0].formula(), "renaming_table.read");
    }
}
