//! What of a kernel was brought near machine code.

use std::fmt::Write as _;

use serde_json::{Value, json};
use warpwatt_ptx::{Left, Lower};
use warpwatt_suite::CaseRun;

use crate::run::kernel::{Form, LoadedKernel};

/// A kernel that was lowered, and the entries that stayed PTX.
pub struct Lowered<'k> {
    left: Vec<(&'k str, Left)>,
}

impl<'k> Lowered<'k> {
    /// Of the entries that were launched; nothing where PTX itself, or machine code, runs.
    pub fn of(kernel: &'k LoadedKernel, run: &CaseRun) -> Option<Self> {
        if kernel.lower == Lower::Ptx || !matches!(kernel.form, Form::Ptx) {
            return None;
        }
        let launched = |name: &str| {
            let mut executions = run.executions.iter();
            executions.any(|executed| executed.kernel == name)
        };
        let entries = kernel.module.entries.iter();
        let entries = entries.filter(|entry| launched(&entry.name));
        let left = entries.filter_map(|entry| Some((entry.name.as_str(), entry.left?)));
        Some(Self {
            left: left.collect(),
        })
    }

    /// The entries that stayed PTX, with the reasons.
    pub fn value(&self) -> Value {
        let left = self.left.iter();
        let left = left.map(|(entry, left)| json!({ "entry": entry, "why": left.why() }));
        left.collect()
    }

    /// A line, and one for each entry that stayed PTX.
    pub fn text(&self) -> String {
        let mut text =
            "  counted are about the machine's instructions (--lower sass-like), not PTX's\n"
                .to_owned();
        for (entry, left) in &self.left {
            let _ = writeln!(text, "  {entry} was left as PTX: {}", left.why());
        }
        text
    }
}
