//! A GPU by the name of its preset and the settings that differ.

use warpwatt_gpu::{GpuSpec, Lowering, presets};

use crate::diag::{Diag, Sink, did_you_mean};
use crate::study::variants::{build, literal};
use crate::study::{Override, Placed};

/// The preset `name` with `settings`, each `key=value`, and a lowering if one is given. `None`: what is wrong is in `sink`.
pub fn spec(
    name: &str,
    lower: Option<Lowering>,
    settings: &[String],
    sink: &mut Sink,
) -> Option<GpuSpec> {
    let Some(preset) = presets().iter().find(|preset| preset.name == name) else {
        let help = did_you_mean(name, presets().iter().map(|preset| preset.name));
        let message = format!("no preset is called `{name}`");
        sink.push(Diag::error("kernel::unknown_preset", message).help(help));
        return None;
    };
    let mut read = Vec::new();
    for setting in settings {
        match setting.split_once('=') {
            Some((path, value)) => read.push(Override {
                path: path.trim().to_owned(),
                key: 0..0,
                values: vec![Placed::new(literal(value.trim()), 0..0)],
            }),
            None => sink.push(
                Diag::error("kernel::setting", format!("`--set {setting}` has no value"))
                    .help("write for example `--set sm.threads=512`"),
            ),
        }
    }
    let complete = read.len() == settings.len();
    let chosen = read.iter().map(|setting| (setting, &setting.values[0]));
    let spec = build((preset, lower), chosen.collect(), |problem, _| {
        let message = format!("{}: {}", problem.path, problem.message);
        let diag = Diag::error("kernel::setting", message);
        sink.push(diag.maybe_help(problem.help.clone()));
    });
    spec.filter(|_| complete)
}
