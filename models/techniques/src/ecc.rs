//! A code on every word of a structure: what SAWP and SHARP are compared with, as "full ECC".
//!
//! R. W. Hamming, "Error Detecting and Error Correcting Codes", Bell System Technical Journal 29, 1950; M. Y. Hsiao, "A Class of Optimal Minimum Odd-weight-column
//! SEC-DED Codes", IBM Journal of Research and Development 14(4), 1970. Check bits widen the arrays, every write makes them and every read checks them.
//! Checking is off the critical path: what is found wrong is dropped in the pipeline, as J. Tan and others (CF 2013, section 3.2.3) have it.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("ecc").map_err(|_| "unknown")?;
//! let technique = (definition.parse)(&"structure = \"instruction_buffer\"\ncode = \"sec\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "ecc(structure=instruction_buffer, code=sec)");
//! # Ok(())
//! # }
//! ```

mod words;

use toml::Table;
use warpwatt_circuit::logic::Code;
use warpwatt_circuit::{CircuitError, Spec};
use warpwatt_gpu::{GpuSpec, Hooks};

use crate::protection::Guard;
use crate::{
    Circuits, Claim, Definition, Fit, Kind, Parameter, Parsed, Path, Reader, Structure, Technique,
    baseline,
};
use words::{SharedWords, Words};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "ecc",
    summary: "a code on every word of a structure: made at each write, checked at each read",
    citation: "M. Y. Hsiao, \"A Class of Optimal Minimum Odd-weight-column SEC-DED Codes\", IBM Journal of Research and Development 14(4), 1970",
    parameters: PARAMETERS,
    counters: &[
        ("ecc.generator.read", "words whose check bits were made"),
        (
            "ecc.checker.read",
            "words that were checked, and corrected if the code can",
        ),
    ],
    parse,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "structure",
        kind: Kind::Choice(&[
            "register_file",
            "instruction_buffer",
            "shared_memory",
            "operand_collector",
            "instruction_cache",
        ]),
        default: "\"register_file\"",
        range: "\"register_file\", \"instruction_buffer\", \"shared_memory\", \"operand_collector\", \"instruction_cache\"",
        meaning: "what is protected; words are of 32 bits, instructions of instruction_bytes",
    },
    Parameter {
        name: "code",
        kind: Kind::Choice(&["hsiao", "hamming", "sec", "parity"]),
        default: "\"hsiao\"",
        range: "\"hsiao\", \"hamming\", \"sec\", \"parity\"",
        meaning: "corrects one error and detects two (hsiao, hamming), corrects one (sec), or detects one (parity)",
    },
];

/// What is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    RegisterFile,
    InstructionBuffer,
    SharedMemory,
    OperandCollector,
    InstructionCache,
}

/// A configured code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecc {
    place: Place,
    guard: Guard,
    label: String,
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, PARAMETERS);
    let places = [
        ("register_file", Place::RegisterFile),
        ("instruction_buffer", Place::InstructionBuffer),
        ("shared_memory", Place::SharedMemory),
        ("operand_collector", Place::OperandCollector),
        ("instruction_cache", Place::InstructionCache),
    ];
    let place = reader.choice("structure", Place::RegisterFile, &places);
    let hsiao = Guard::Correcting(Code::Hsiao);
    let guard = reader.choice("code", hsiao, &Guard::NAMES);
    let label = reader.label(DEFINITION.name, PARAMETERS);
    reader.finish(Ecc {
        place,
        guard,
        label,
    })
}

impl Place {
    /// The structures that hold its words; lanes price the accesses of the register file's.
    fn structures(self) -> &'static [&'static str] {
        match self {
            Self::RegisterFile => &["register_file", "register_lane"],
            Self::InstructionBuffer => &["instruction_buffer"],
            Self::SharedMemory => &["shared_memory"],
            Self::OperandCollector => &["operand_buffer"],
            Self::InstructionCache => &["icache.data"],
        }
    }

    /// Bits of a word.
    fn word(self, gpu: &GpuSpec) -> u64 {
        match self {
            Self::InstructionBuffer | Self::InstructionCache => {
                8 * u64::from(gpu.fetch.instruction_bytes)
            }
            Self::RegisterFile | Self::SharedMemory | Self::OperandCollector => 32,
        }
    }

    /// Generators and checkers of an SM: as many as words can be written and read in a cycle. Operands are checked where they leave for a unit.
    fn circuits(self, gpu: &GpuSpec) -> (u32, u32) {
        let (width, operands) = (gpu.sm.warp_width, &gpu.operands);
        let issues = gpu.scheduler.count * gpu.scheduler.width;
        match self {
            Self::RegisterFile => (operands.result_buses * width, operands.sources * width),
            Self::InstructionBuffer => (gpu.fetch.instructions * gpu.fetch.warps, issues),
            Self::SharedMemory => (gpu.shared.banks, gpu.shared.banks),
            Self::OperandCollector => (operands.sources * width, operands.sources * width),
            Self::InstructionCache => {
                let words = (gpu.icache.word_bytes / gpu.fetch.instruction_bytes).max(1);
                (words, words)
            }
        }
    }
}

impl Ecc {
    /// A structure of words as it is with their check bits; `None` if it holds none of them.
    fn widened(&self, gpu: &GpuSpec, structure: &Structure) -> Option<Spec> {
        if !self.place.structures().contains(&structure.name) {
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
        let structures = baseline::structures(gpu);
        let array = structures.iter().find_map(|it| self.widened(gpu, it));
        let mut parts = Vec::new();
        if let Some(array) = array {
            parts.push(("array", delay(&array)?));
        }
        parts.push(("checker", delay(&self.guard.checker(word))?));
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
        if self.place == Place::SharedMemory {
            hooks
                .issue
                .push(Box::new(|_| Box::new(SharedWords::default())));
            return;
        }
        let words = match self.place {
            Place::RegisterFile => Words::of("register_lane", 1),
            Place::InstructionBuffer => Words::of("instruction_buffer", 1),
            Place::InstructionCache => Words::of("icache.data", self.place.circuits(gpu).0),
            _ => Words::of("operand_buffer", gpu.sm.warp_width),
        };
        hooks
            .fetch_observers
            .push(Box::new(move |_| Box::new(words.clone())));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let word = self.place.word(gpu);
        let (generators, checkers) = self.place.circuits(gpu);
        let of = |name, spec, per_sm| Structure {
            per_sm,
            ..Structure::added(name, spec)
        };
        vec![
            of("ecc.generator", self.guard.generator(word), generators),
            of("ecc.checker", self.guard.checker(word), checkers),
        ]
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        for structure in structures {
            if let Some(spec) = self.widened(gpu, structure) {
                structure.spec = spec;
            }
        }
    }

    fn claims(&self) -> &'static [Claim] {
        match self.place {
            Place::RegisterFile => &[Claim::RegisterCheckBits],
            Place::InstructionBuffer => &[Claim::InstructionCheckBits],
            Place::SharedMemory | Place::OperandCollector | Place::InstructionCache => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Box<dyn Technique> {
        parse(&text.parse().unwrap()).unwrap()
    }

    fn bits(technique: &dyn Technique, name: &str) -> u64 {
        let gpu = GpuSpec::preset("softerror-28sm").unwrap();
        let mut structures = baseline::structures(&gpu);
        structures.extend(baseline::lanes(&gpu));
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
        assert_eq!(bits(file.as_ref(), "register_file"), 32 * (32 + 7));
        assert_eq!(bits(file.as_ref(), "register_lane"), 32 + 7);
        assert_eq!(bits(file.as_ref(), "shared_memory"), 32 * 32);
        let buffer = of("structure = \"instruction_buffer\"\ncode = \"sec\"");
        assert_eq!(bits(buffer.as_ref(), "instruction_buffer"), 64 + 7);
        let cache = of("structure = \"instruction_cache\"\ncode = \"parity\"");
        assert_eq!(bits(cache.as_ref(), "icache.data"), 128 + 2);
    }
}
