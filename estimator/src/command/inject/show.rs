//! What came of the flips, as data and as text.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_reliability::BitCycles;
use warpwatt_reliability::inject::statistics::{clopper_pearson, margin, wilson};
use warpwatt_reliability::inject::{Class, Sites, Tally};

use super::InjectArguments;
use crate::inject::{Golden, HANG_FACTOR, HANG_LEAST, MODEL_VERSION};
use crate::run::kernel::LoadedKernel;

/// What a campaign found, and of what.
pub struct Facts<'f> {
    pub arguments: &'f InjectArguments,
    pub kernel: &'f LoadedKernel,
    pub golden: &'f Golden<'f>,
    pub cycles: u64,
    pub sites: &'f Sites<'f>,
    pub executed: usize,
    pub tally: Tally,
    /// What ACE analysis says of the structure, if it knows it.
    pub ace: Option<BitCycles>,
    /// What comes of flips under techniques.
    pub techniques: Vec<Value>,
}

impl Facts<'_> {
    /// The JSON document.
    pub fn document(&self) -> Value {
        let &Self {
            arguments, golden, ..
        } = self;
        let preset = arguments.gpu.name();
        let ctas: usize = golden.launches.iter().map(|it| it.instructions.len()).sum();
        let counts = Class::ALL.map(|class| (class.name().to_owned(), self.tally.of(class).into()));
        json!({
            "kernel": self.kernel.name.name, "case": self.kernel.name.case, "preset": preset,
            "structure": arguments.structure.name(), "model_version": MODEL_VERSION,
            "golden": {
                "launches": golden.launches.len(), "ctas": ctas,
                "warp_instructions": golden.warp_instructions(), "cycles": self.cycles,
            },
            "population": {
                "bits": self.sites.bits(), "cycles": self.cycles, "sites": self.sites.population().to_string(),
            },
            "sampling": self.sampling(),
            "hang": { "times_golden": HANG_FACTOR, "at_least_warp_instructions": HANG_LEAST },
            "has_tolerance": golden.has_tolerance,
            "executed": self.executed,
            "counts": Map::from_iter(counts),
            "avf": {
                "injected": self.share(self.tally.vulnerable()),
                "sdc": self.share(self.tally.silent()),
                "due": self.share(self.tally.of(Class::Due)),
                "hang": self.share(self.tally.of(Class::Hang)),
            },
            "ace": self.ace.as_ref().map(|ace| self.beside(ace)),
            "techniques": self.techniques,
        })
    }

    /// ACE AVF beside the injected one. It bounds that from above, so that no more than chance may be the other way round.
    fn beside(&self, ace: &BitCycles) -> Value {
        let (hits, samples) = (self.tally.vulnerable(), self.tally.total());
        let injected = hits as f64 / samples as f64;
        let least = match self.arguments.exhaustive {
            true => injected,
            false => clopper_pearson(hits, samples, self.arguments.confidence).low,
        };
        json!({
            "avf": ace.avf(), "avf_of_occupied": ace.avf_of_occupied(), "above_injected": ace.avf() - injected,
            "bounds_injected": ace.avf() >= least,
        })
    }

    fn sampling(&self) -> Value {
        let samples = self.tally.total();
        if self.arguments.exhaustive {
            return json!({ "method": "exhaustive", "samples": samples });
        }
        let confidence = self.arguments.confidence;
        json!({
            "method": "random", "samples": samples, "seed": self.arguments.seed, "confidence": confidence,
            "margin": margin(self.sites.population(), samples, confidence),
        })
    }

    /// A share of all flips with its intervals; that of an exhaustive search is exact.
    fn share(&self, hits: u64) -> Value {
        let samples = self.tally.total();
        let share = hits as f64 / samples as f64;
        if self.arguments.exhaustive {
            return json!({ "share": share });
        }
        let confidence = self.arguments.confidence;
        let score = wilson(hits, samples, confidence);
        let exact = clopper_pearson(hits, samples, confidence);
        json!({
            "share": share, "wilson": [score.low, score.high], "clopper_pearson": [exact.low, exact.high],
        })
    }
}

/// The document for people.
pub fn text(document: &Value) -> String {
    let word = |at: &Value| at.as_str().unwrap_or_default().to_owned();
    let mut text = format!(
        "{}, case {}: {} on {}\n",
        word(&document["kernel"]),
        word(&document["case"]),
        word(&document["structure"]),
        word(&document["preset"]),
    );
    let mut line = |what: &str, figure: String, more: String| {
        let _ = writeln!(text, "  {what:<28}{figure:>20}{more}");
    };
    let number = |at: &Value| at.to_string();
    let (population, sampling) = (&document["population"], &document["sampling"]);
    line("bits", number(&population["bits"]), String::new());
    line("cycles", number(&population["cycles"]), String::new());
    line(
        "sites (bits x cycles)",
        word(&population["sites"]),
        String::new(),
    );
    let drawn = match sampling["seed"].as_u64() {
        Some(seed) => format!(
            "   drawn with seed {seed}; margin {} at {} confidence",
            percent(&sampling["margin"]),
            percent(&sampling["confidence"]),
        ),
        None => "   every one".to_owned(),
    };
    line("flips", number(&sampling["samples"]), drawn);
    line("executions", number(&document["executed"]), String::new());
    for class in Class::ALL {
        let count = &document["counts"][class.name()];
        line(described(class), number(count), String::new());
    }
    for (what, key) in [
        ("AVF, injected", "injected"),
        ("of it silent corruption", "sdc"),
        ("of it detected", "due"),
        ("of it hangs", "hang"),
    ] {
        let share = &document["avf"][key];
        let interval = |name: &str| {
            let ends = share[name].as_array()?;
            Some(format!("{} to {}", percent(&ends[0]), percent(&ends[1])))
        };
        let more = match (interval("wilson"), interval("clopper_pearson")) {
            (Some(score), Some(exact)) => format!("   Wilson {score}, Clopper-Pearson {exact}"),
            _ => "   exact".to_owned(),
        };
        line(what, percent(&share["share"]), more);
    }
    let ace = &document["ace"];
    if ace.is_object() {
        let verdict = match ace["bounds_injected"].as_bool() {
            Some(true) => "   an upper bound, as it must be",
            _ => "   below what was injected: docs/fault-injection.md says when that may be",
        };
        line(
            "AVF, by ACE analysis",
            percent(&ace["avf"]),
            verdict.to_owned(),
        );
    }
    text
}

pub fn described(class: Class) -> &'static str {
    match class {
        Class::Unoccupied => "held by nobody",
        Class::Dead => "never read",
        Class::Masked => "masked in execution",
        Class::Sdc => "silent data corruption",
        Class::Tolerated => "corruption in tolerance",
        Class::Due => "detected (DUE)",
        Class::Hang => "hang",
    }
}

pub fn percent(share: &Value) -> String {
    share
        .as_f64()
        .map_or("-".to_owned(), |share| format!("{:.4}%", 100.0 * share))
}
