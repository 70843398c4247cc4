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
use warpwatt_reliability::{Journals, ProtectionFactory, Whole, whole_structures};

use crate::parameter::{Choice, choice};
use crate::protection::{Guard, beside, seldom};
use crate::{Circuits, Claim, Definition, Fit, Path, Structure, Technique};
use place::{PLACES, Place};
use warpwatt_structures::inventory;
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

const STRUCTURE: Choice<Place, 5> = choice(
    "structure",
    PLACES,
    "register_file",
    "what is protected; words are of 32 bits, instructions of instruction_bytes",
);
const CODE: Choice<Guard, 5> = choice(
    "code",
    Guard::NAMES,
    "hsiao",
    "corrects one error and detects two (hsiao, hamming), corrects one (sec), corrects two and detects three (dected), or detects one (parity)",
);

/// A configured code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecc {
    place: Place,
    guard: Guard,
    label: String,
}

impl Ecc {
    /// A structure of words as it is with their check bits; `None` if it holds none of them.
    fn widened(&self, gpu: &GpuSpec, structure: &Structure) -> Option<Spec> {
        if !self.place.arrays.contains(&structure.name) {
            return None;
        }
        let Spec::Ram(mut ram) = structure.spec.clone() else {
            return None;
        };
        let word = self.place.word(gpu);
        ram.bits += ram.bits.div_ceil(word) * self.guard.check_bits(word);
        Some(Spec::Ram(ram))
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
        Ok(Fit { paths, notes })
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let words = match self.place.counted(gpu) {
            Some((counters, words)) => Words::of(counters, words),
            None => {
                hooks
                    .issue
                    .push(Box::new(|_| Box::new(SharedWords::default())));
                return;
            }
        };
        hooks
            .fetch_observers
            .push(Box::new(move |_| Box::new(words.clone())));
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        Some(whole_structures(vec![Whole {
            structure: self.place.storage,
            outcome: self.guard.outcome(),
        }]))
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let word = self.place.word(gpu);
        let (generators, checkers) = self.place.circuits(gpu);
        let of = |name, spec, per_sm| beside(gpu, Structure::added(name, spec).per_sm(per_sm));
        let mut found = vec![
            of("ecc.generator", self.guard.generator(word), generators),
            of("ecc.checker", self.guard.detector(word), checkers),
        ];
        if let Some(corrector) = self.guard.corrector(word) {
            found.push(seldom(gpu, Structure::added("ecc.corrector", corrector)));
        }
        found
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        for structure in structures {
            if let Some(spec) = self.widened(gpu, structure) {
                structure.spec = spec;
            }
        }
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
        assert_eq!(bits(buffer.as_ref(), "instruction_buffer"), 64 + 7);
        let cache = of("structure = \"instruction_cache\"\ncode = \"parity\"");
        assert_eq!(bits(cache.as_ref(), "icache.data"), 128 + 2);
    }
}
