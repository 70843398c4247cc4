//! `--sample`: how much of what is executed is timed.

use std::path::Path;

use warpwatt_gpu::Way;

use crate::diag::{Diag, Sink};
use crate::input;
use crate::run::sampling::Goal;
use crate::run::{Resolved, resolve, resolve_text};
use crate::study::sampling::error_share;

/// The error that is allowed, in percent; none if all is timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample(Option<String>);

impl Sample {
    /// What is to be met, leaving out what `way` says.
    pub fn goal(&self, way: Way) -> Option<Goal> {
        let error = error_share(self.0.as_ref()?).ok()?;
        Some(Goal { error, way })
    }

    /// The error, as it was written.
    pub fn error(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Reads a study as if it said so itself. `None` if it cannot run; every reason is in `sink`.
    pub fn resolve(&self, path: &Path, sink: &mut Sink) -> Option<Resolved> {
        let Some(error) = &self.0 else {
            return resolve(path, sink);
        };
        // What cannot be read is told by who reads a study that stays as it is.
        let Ok(text) = input::text(path, input::STUDY) else {
            return resolve(path, sink);
        };
        let says = toml::from_str::<toml::Table>(&text).is_ok_and(|it| it.contains_key("sampling"));
        if says {
            let message = "the study has a `[sampling]` of its own";
            sink.push(Diag::error("study::bad_sampling", message).help("leave out `--sample`"));
            return None;
        }
        let text = format!("{text}\n[sampling]\nerror = \"{error}\"\n");
        let folder = path.parent().unwrap_or(Path::new(""));
        resolve_text(&path.display().to_string(), &text, folder, sink)
    }
}

/// `off`, or an error in percent.
///
/// # Errors
/// What may be written instead.
pub fn sample(text: &str) -> Result<Sample, String> {
    if text == "off" {
        return Ok(Sample(None));
    }
    let error = text.strip_prefix("error=");
    let error = error.ok_or("write off, or an error in percent: error=2%")?;
    error_share(error)?;
    Ok(Sample(Some(error.to_owned())))
}
