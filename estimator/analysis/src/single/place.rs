//! Where a run is priced: a technology and its operating point, as texts.

use std::path::Path;

use crate::diag::{Diag, Sink};
use crate::pricing::NodeCircuits;
use crate::run::resolve_text;
use crate::study::Question;

/// A technology and where in it, each as a study has it; what is left out is as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The node; runs are not priced without one.
    pub node: Option<String>,
    /// The technology library.
    pub library: Option<String>,
    /// The transistors.
    pub flavour: Option<String>,
    /// The junction temperature.
    pub temperature: Option<String>,
    /// The supply.
    pub vdd: Option<String>,
}

impl Place {
    /// Circuits there; nothing if no node was given, or if something is wrong, which is in `sink` then.
    pub fn circuits(&self, sink: &mut Sink) -> Option<NodeCircuits> {
        let node = self.node.clone()?;
        let bare = self.bare();
        if !bare.is_empty() {
            bare.into_iter().for_each(|diag| sink.push(diag));
            return None;
        }
        let optional = [
            ("library", &self.library),
            ("flavour", &self.flavour),
            ("temperature", &self.temperature),
            ("vdd", &self.vdd),
        ];
        let optional = optional.into_iter();
        let given = optional.filter_map(|(key, value)| Some((key, value.clone()?)));
        let question = Question {
            // Which one plays no part.
            kernels: vec!["vector_add".to_owned()],
            gpu: [("preset", "tesla-16sm".to_owned()), ("node", node)]
                .into_iter()
                .chain(given)
                .collect(),
            ..Question::default()
        };
        let text = question.study(sink)?;
        let resolved = resolve_text("the conditions, as a study", &text, Path::new(""), sink)?;
        let mut technologies = resolved.plan.axes.technologies;
        if technologies.len() > 1 {
            let message = "a run is priced in one technology at a time";
            sink.push(
                Diag::error("kernel::conditions", message)
                    .help("`warpwatt what-if` takes lists: --node 16nm,7nm"),
            );
            return None;
        }
        technologies.pop()
    }

    /// Numbers without a unit, which nothing behind the prompt would take for a quantity.
    fn bare(&self) -> Vec<Diag> {
        let given = [
            ("node", &self.node, "nm"),
            ("temperature", &self.temperature, "K"),
            ("vdd", &self.vdd, "V"),
        ];
        let bare = given.into_iter().filter_map(|(option, value, unit)| {
            let value = value.as_deref()?.trim();
            value.parse::<f64>().ok()?;
            let diag = Diag::error(
                "kernel::conditions",
                format!("`--{option} {value}` has no unit"),
            );
            Some(diag.help(format!("write for example `--{option} {value}{unit}`")))
        });
        bare.collect()
    }
}
