//! Kernels that another tool counted: no trace and no timing, only a price.

use std::collections::BTreeSet;
use std::path::Path;

use sha2::{Digest, Sha256};
use warpwatt_gpu::{COUNTERS, GpuSpec, Run, Work};
use warpwatt_structures::inventory;
use warpwatt_techlib::quantity::Frequency;

use crate::diag::{Diag, Sink, SourceId, Span, did_you_mean};
use crate::digest::hex;
use crate::foreign::{ForeignKernel, LARGEST_FILE, Map, counts, read, shipped};
use crate::input;
use crate::outcome::{KernelName, Note, NoteKind};
use crate::study::{Catalogue, CountedFile};

/// A kernel that another tool counted.
#[derive(Clone, Debug)]
pub struct CountedKernel {
    /// Its name there, and the file as its case.
    pub name: KernelName,
    /// What made the counts.
    pub tool: String,
    /// The counts.
    pub foreign: ForeignKernel,
    /// SHA-256 of everything that decides them: file, map, kernel.
    pub hash: String,
}

/// Reads the file of counts that a study names. What is wrong with it, and what of it nothing uses, is left in `sink`.
pub fn load(
    sink: &mut Sink,
    file: &CountedFile,
    directory: &Path,
    catalogue: &Catalogue,
    named: &Span,
) -> Option<Vec<CountedKernel>> {
    let map = map(sink, file, directory, catalogue, named);
    let text = text(sink, &directory.join(&file.file), named);
    let (map, counted) = (map?, text?);
    let text = sink.sources.text(counted).to_owned();
    let launches = match read(&text, &map.format) {
        Ok(launches) => launches,
        Err(problems) => {
            const MOST: usize = 20;
            let more = problems.len().saturating_sub(MOST);
            for problem in problems.into_iter().take(MOST) {
                sink.push(
                    Diag::error("counts::file", problem.message)
                        .at(counted, problem.range, "")
                        .maybe_help(problem.help),
                );
            }
            if more > 0 {
                let message = format!("{more} more lines cannot be read");
                sink.push(Diag::error("counts::file", message).at(counted, 0..0, ""));
            }
            return None;
        }
    };
    let kernels = match counts(&launches, &map) {
        Ok(kernels) => kernels,
        Err(problems) => {
            for problem in problems {
                sink.push(Diag::error("counts::kernel", problem).on(Some(named), "counted here"));
            }
            return None;
        }
    };
    let chosen = chosen(sink, file, kernels, named)?;
    unmapped(sink, &chosen, named);
    let kernels = chosen.into_iter().map(|foreign| {
        let mut hash = Sha256::new();
        for part in [&text, &format!("{map:?}"), &foreign.name] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        CountedKernel {
            name: KernelName {
                name: foreign.name.clone(),
                case: file.file.clone(),
                paper: Vec::new(),
            },
            tool: map.title.clone(),
            foreign,
            hash: hex(&hash.finalize()),
        }
    });
    Some(kernels.collect())
}

/// The map by its name, or out of a file; that of our own files if none is named.
fn map(
    sink: &mut Sink,
    file: &CountedFile,
    directory: &Path,
    catalogue: &Catalogue,
    named: &Span,
) -> Option<Map> {
    let counters = catalogue.counters.iter();
    let counters = counters.map(|counter| counter.name.as_str());
    let Some(name) = &file.map else {
        return Some(Map::neutral(counters));
    };
    let source = if name.ends_with(".toml") {
        text(sink, &directory.join(name), named)?
    } else {
        let Some((_, text)) = shipped().find(|(known, _)| known == name) else {
            let names = shipped().map(|(name, _)| name);
            let help = format!(
                "{}; or give the path of a map of your own, which ends in `.toml`",
                did_you_mean(name, names)
            );
            let diag = Diag::error("counts::map", format!("there is no map `{name}`"));
            sink.push(diag.on(Some(named), "").help(help));
            return None;
        };
        sink.sources
            .add(format!("{name}.toml (a map that ships)"), text)
    };
    Map::read(sink, source, counters)
}

fn text(sink: &mut Sink, path: &Path, named: &Span) -> Option<SourceId> {
    match input::text(path, LARGEST_FILE) {
        Ok(text) => Some(sink.sources.add(path.display().to_string(), text)),
        Err(problem) => {
            let message = format!("cannot read `{}`: {problem}", path.display());
            let diag = Diag::error("input::unreadable", message);
            sink.push(diag.on(Some(named), "named here"));
            None
        }
    }
}

/// The kernels that the study wants; all if it names none.
fn chosen(
    sink: &mut Sink,
    file: &CountedFile,
    kernels: Vec<ForeignKernel>,
    named: &Span,
) -> Option<Vec<ForeignKernel>> {
    if file.kernels.is_empty() {
        return Some(kernels);
    }
    let mut whole = true;
    for wanted in &file.kernels {
        if !kernels.iter().any(|kernel| kernel.name == *wanted) {
            whole = false;
            let names = kernels.iter().map(|kernel| kernel.name.as_str());
            let message = format!("`{}` has no kernel `{wanted}`", file.file);
            let diag = Diag::error("counts::kernel", message);
            sink.push(diag.on(Some(named), "").help(did_you_mean(wanted, names)));
        }
    }
    let wanted = |kernel: &ForeignKernel| file.kernels.contains(&kernel.name);
    whole.then(|| kernels.into_iter().filter(wanted).collect())
}

/// Names that are shown of a list.
const SHOWN: usize = 8;

/// Some of them, and how many more there are.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let first: Vec<String> = names.take(SHOWN).map(|name| format!("`{name}`")).collect();
    match more {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Says which names of the file nothing uses.
fn unmapped(sink: &mut Sink, kernels: &[ForeignKernel], named: &Span) {
    let names: BTreeSet<&str> = kernels
        .iter()
        .flat_map(|kernel| kernel.unmapped.iter().map(String::as_str))
        .collect();
    if names.is_empty() {
        return;
    }
    let message = format!(
        "names of the file that feed no counter ({}): {}",
        names.len(),
        listed(names.into_iter())
    );
    let diag = Diag::warning("counts::unmapped", message);
    sink.push(
        diag.on(Some(named), "counted here")
            .help("a map of your own can use them; docs/foreign-activity.md says how"),
    );
}

impl CountedKernel {
    /// The counts as a run of `gpu`: with nothing of launches and single SMs, of which nothing is known.
    pub fn run(&self) -> Run {
        Run {
            cycles: self.foreign.cycles,
            activity: self.foreign.activity.clone(),
            per_sm: Vec::new(),
            launches: Vec::new(),
            work: Work::default(),
        }
    }

    /// Its clock, or that of `gpu`.
    pub fn clock(&self, gpu: &GpuSpec) -> Frequency {
        let own = Frequency::from_mhz(f64::from(gpu.sm.clock_mhz));
        self.foreign.clock.unwrap_or(own)
    }

    /// The counters of priced structures of `gpu` that nothing feeds: they add no dynamic energy.
    fn missing(&self, gpu: &GpuSpec) -> Vec<&'static str> {
        let built = inventory(gpu);
        let fed: BTreeSet<&str> = self.foreign.activity.iter().map(|(name, _)| name).collect();
        let priced = |name: &str| built.iter().any(|part| part.counts(name));
        let names = COUNTERS.iter().map(|counter| counter.name);
        names
            .filter(|name| priced(name) && !fed.contains(name))
            .collect()
    }

    /// What a reader of the results must know: who counted, what is assumed, what of the energy is absent.
    pub fn notes(&self, gpu: &GpuSpec) -> Vec<Note> {
        let note = |text: String| Note {
            kind: NoteKind::Foreign,
            text: text.into(),
        };
        let launches = self.foreign.launches;
        let mut notes = vec![note(format!(
            "counted by another tool ({}), {launches} launch{}; nothing was executed or timed here",
            self.tool,
            if launches == 1 { "" } else { "es" }
        ))];
        for (counter, estimate) in &self.foreign.estimates {
            notes.push(note(format!("`{counter}` is an estimate: {estimate}")));
        }
        let missing = self.missing(gpu);
        if !missing.is_empty() {
            notes.push(note(format!(
                "no counts, hence no dynamic energy, of: {}",
                missing.join(", ")
            )));
        }
        notes
    }

    /// Warns of what of the energy model has no counts on `gpu`.
    pub fn warn(&self, gpu: &GpuSpec, sink: &mut Sink, named: &Span) {
        let missing = self.missing(gpu);
        if missing.is_empty() {
            return;
        }
        let message = format!(
            "`{}`: {} counters of priced structures have no counts, so that their dynamic energy is absent: {}",
            self.name.name,
            missing.len(),
            listed(missing.into_iter())
        );
        let diag = Diag::warning("counts::missing", message);
        sink.push(diag.on(Some(named), "counted here").help(
            "the notes of each point list them all; area, leakage and what is counted are priced",
        ));
    }
}
