//! What an execution showed, and all that is told of a run.

use std::fmt::Write as _;

use serde_json::{Value, json};
use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_suite::CaseRun;
use warpwatt_suite::launch::demangled;

use super::drawn::Drawn;
use super::energy::Energy;
use super::lowered::Lowered;
use super::timing::Timing;
use crate::run::kernel::{Form, LoadedKernel};

/// What is told of a run.
#[derive(Clone, Debug)]
pub struct Told {
    /// As a document.
    pub value: Value,
    /// For people.
    pub text: String,
    /// Whether every buffer that was compared holds what it must.
    pub passed: bool,
}

impl Told {
    /// Adds what the run costs, if that was asked for.
    #[must_use]
    pub fn priced(mut self, energy: Option<Energy>) -> Self {
        if let Some(energy) = energy {
            for (key, part) in energy.value {
                self.value[&key] = part;
            }
            self.text += &energy.text;
        }
        self
    }

    /// Adds what a board draws, if one is named.
    #[must_use]
    pub fn drawn(mut self, drawn: Option<&Drawn>) -> Self {
        if let Some(drawn) = drawn {
            self.value["board"] = drawn.value();
            self.text += &drawn.text();
        }
        self
    }
}

/// What the execution showed.
pub struct Facts {
    heading: String,
    passed: bool,
    value: Value,
    text: String,
}

impl Facts {
    /// Of a run of `kernel` for the GPU `spec`, which comes from `preset`.
    pub fn of(kernel: &LoadedKernel, run: &CaseRun, (preset, spec): (&str, &GpuSpec)) -> Self {
        let predicated_off: u64 = run
            .executions
            .iter()
            .map(|executed| executed.execution.predicated_off)
            .sum();
        let mismatches: Vec<Value> = run
            .mismatches
            .iter()
            .map(|mismatch| json!({ "buffer": mismatch.buffer, "index": mismatch.index, "got": number(mismatch.got), "want": number(mismatch.want) }))
            .collect();
        let mut value = json!({
            "kernel": kernel.name.name, "case": kernel.name.case, "preset": preset, "warp_width": spec.sm.warp_width,
            "passed": run.passed(), "outputs_compared": run.outputs_compared,
            "mismatch_count": run.mismatch_count, "mismatches": mismatches,
            "launches": run.executions.len(),
            "warp_instructions": run.warp_instructions(), "thread_instructions": run.thread_instructions(), "predicated_off": predicated_off,
            "registers": registers(kernel, run),
        });
        if !run.printed.is_empty() {
            value["printed"] = run.printed.as_str().into();
        }
        let lowered = Lowered::of(kernel, run);
        if let Some(lowered) = &lowered {
            value["lower"] = kernel.lower.name().into();
            value["left_as_ptx"] = lowered.value();
        }
        if matches!(kernel.form, Form::MachineCode(_)) {
            value["wavefront_instructions"] = run.warp_instructions().into();
        }
        let mut text = lowered.map_or_else(String::new, |lowered| lowered.text());
        for line in run.printed.lines() {
            let _ = writeln!(text, "  printed: {line}");
        }
        for mismatch in &run.mismatches {
            let _ = writeln!(
                text,
                "  {}[{}]: got {}, want {}",
                mismatch.buffer, mismatch.index, mismatch.got, mismatch.want
            );
        }
        let more = run
            .mismatch_count
            .saturating_sub(run.mismatches.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "  ... and {more} more");
        }
        for (what, count) in [
            ("launches", run.executions.len() as u64),
            ("warp instructions", run.warp_instructions()),
            ("thread instructions", run.thread_instructions()),
            ("of them predicated off", predicated_off),
        ] {
            let _ = writeln!(text, "  {what:<24}{count:>16}");
        }
        let heading = format!("{}, case {}", kernel.name.name, kernel.name.case);
        Self {
            heading: heading + &verdict(kernel, run),
            passed: run.passed(),
            value,
            text,
        }
    }

    /// With what its timing run shows, or why there is none; without either if it was only executed.
    pub fn told(self, spec: &GpuSpec, timing: Option<&Result<Run, String>>) -> Told {
        let Self {
            heading,
            passed,
            mut value,
            mut text,
        } = self;
        value["cycles"] = Value::Null;
        match timing {
            None => {}
            Some(Ok(timing)) => {
                let timing = Timing::of(spec, timing);
                for (key, part) in timing.value {
                    value[&key] = part;
                }
                text.push_str(&timing.text);
            }
            Some(Err(error)) => {
                value["timing_error"] = error.as_str().into();
                let _ = writeln!(
                    text,
                    "  not timed: {error}; choose another GPU with --preset or --set"
                );
            }
        }
        Told {
            value,
            text: format!("{heading}\n{text}"),
            passed,
        }
    }
}

fn verdict(kernel: &LoadedKernel, run: &CaseRun) -> String {
    if matches!(kernel.form, Form::Recorded(_)) {
        return ": recorded as machine code elsewhere; nothing was executed here".to_owned();
    }
    match (run.outputs_compared, run.mismatch_count) {
        (0, 0) => ": ran; the launch file says nothing about what its buffers must hold".to_owned(),
        (buffers, 0) => format!(": PASS, {buffers} buffer(s) hold what they must"),
        (_, count) => format!(": FAIL, {count} element(s) are not what they must be"),
    }
}

/// A value as JSON; what JSON has no number for is a text.
fn number(value: warpwatt_suite::launch::Value) -> Value {
    if value.element.is_float() {
        let number = value.to_f64();
        return if number.is_finite() {
            json!(number)
        } else {
            json!(number.to_string())
        };
    }
    let number = value.to_integer();
    i64::try_from(number).map_or_else(|_| json!(number as u64), |number| json!(number))
}

/// Registers a thread of the entries that were launched, and the instructions that keep values elsewhere.
fn registers(kernel: &LoadedKernel, run: &CaseRun) -> Value {
    let launched = |name: &str| {
        run.executions
            .iter()
            .any(|executed| executed.kernel == name)
    };
    let entries = kernel.module.entries.iter();
    let entries = entries.filter(|entry| launched(&entry.name)).map(|entry| {
        let spills = entry.allocation.spills;
        json!({
            "entry": entry.name, "demangled": demangled(&entry.name), "registers": entry.registers, "predicates": entry.predicates,
            "spill_loads": spills.loads, "spill_stores": spills.stores, "spill_bytes": spills.bytes,
        })
    });
    entries.collect()
}
