//! `warpwatt reproduce`: runs a study again from its manifest, and compares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::cache::{CacheArguments, show_notes};
use super::console::{Exit, out, out_json, reject, show};
use super::report::opened;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::digest::hex;
use crate::input;
use crate::outcome::Outcome;
use crate::report::metric::POINT;
use crate::run::{Means, resolve_text, run_points};
use crate::store::{Digester, Digests, NoRecord, RECORD, Record};

/// Run a study again from the manifest of its results, and compare: the inputs by their hashes, every point by its figures.
///
/// The manifest holds the text of the study. Files that the study names are looked for relative to --from. Nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt reproduce results/manifest.json
  warpwatt reproduce results
  warpwatt reproduce manifest.json --from study/ --json

Exit codes: 0 every point came out the same, bit for bit; 1 some did not; 2 the manifest cannot be read, or its study cannot run any more.")]
pub struct ReproduceArguments {
    /// The manifest, or the directory of results that has one
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// Where the files are that the study names [default: the current directory]
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub from: PathBuf,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Runs the study again.
pub fn run(arguments: &ReproduceArguments) -> Exit {
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let record = match read(&arguments.manifest) {
        Ok(record) => record,
        Err(diag) => {
            sink.push(diag);
            return reject(&Rejection(sink), arguments.json);
        }
    };
    let Some(cache) = cache else {
        return reject(&Rejection(sink), arguments.json);
    };
    let again = again(arguments, &record, Some(&cache), &mut sink);
    show_notes(&cache);
    let Some(again) = again else {
        return reject(&Rejection(sink), arguments.json);
    };
    let verdict = Verdict::of(&record, &again, &arguments.manifest);
    if arguments.json {
        out_json(&verdict.json());
    } else {
        out(&verdict.text());
    }
    if verdict.is_the_same() {
        Exit::Done
    } else {
        Exit::NotMet
    }
}

/// The manifest in a file, or in a directory of results.
pub(super) fn read(path: &Path) -> Result<Record, Diag> {
    let file = if path.is_dir() {
        path.join(RECORD)
    } else {
        path.to_path_buf()
    };
    let text = input::text(&file, input::MANIFEST).map_err(|error| {
        let message = format!("cannot read the manifest `{}`: {error}", file.display());
        Diag::error("input::unreadable", message)
            .help("`warpwatt run` leaves a manifest.json beside the results")
    })?;
    Record::parse(&text).map_err(|error| unread(&file, &error))
}

fn unread(file: &Path, error: &NoRecord) -> Diag {
    let message = format!("`{}` is no manifest: {error}", file.display());
    match error {
        NoRecord::Damaged(_) => Diag::error("manifest::damaged", message)
            .help("`warpwatt run` leaves a manifest.json beside the results"),
        NoRecord::Format(_) => Diag::error("manifest::format", message)
            .help("run its study again, whose text it has under `study`, or ask the version of warpwatt that wrote it, which it has under `version`"),
    }
}

/// Points that came out otherwise and are shown.
const MOST_SHOWN: usize = 1000;

/// What came out this time.
struct Again {
    inputs: Vec<(String, Option<String>)>,
    digests: Digests,
    /// How many points are known to have come out otherwise, and the first of them by their numbers from zero.
    differing: usize,
    shown: BTreeMap<usize, Outcome>,
}

impl Again {
    /// A point whose digest was another before. The first are kept, whatever the order in which they come.
    fn keep(&mut self, number: usize, outcome: Outcome) {
        self.differing += 1;
        self.shown.insert(number, outcome);
        if self.shown.len() > MOST_SHOWN {
            self.shown.pop_last();
        }
    }
}

fn again(
    arguments: &ReproduceArguments,
    record: &Record,
    cache: Option<&TraceCache>,
    sink: &mut Sink,
) -> Option<Again> {
    let resolved = resolve_text(
        "the study in the manifest",
        &record.manifest.study,
        &arguments.from,
        sink,
    )?;
    show(sink);
    sink.diags.clear();
    let inputs = resolved.plan.inputs();
    let mut again = Again {
        inputs: record
            .manifest
            .inputs
            .keys()
            .map(|name| (name.clone(), inputs.get(name).cloned()))
            .collect(),
        digests: Digests::default(),
        differing: 0,
        shown: BTreeMap::new(),
    };
    // Points come in the order of the work; they are told by the order of the study.
    let mut digests = vec![[0; 32]; resolved.plan.points.len()];
    let finished = vec![false; resolved.plan.points.len()];
    let means = Means {
        jobs: arguments.jobs,
        cache,
        ..Means::default()
    };
    let digester = Digester::default();
    let collected = run_points(
        (&resolved, &sink.sources),
        &finished,
        means,
        |_| (),
        |batch| {
            let batch = batch.into_iter();
            let digested =
                batch.map(|(number, outcome)| (number, digester.of(outcome.clone()), outcome));
            Ok(digested.collect::<Vec<_>>())
        },
        |batch| {
            for (number, digest, outcome) in batch {
                digests[number] = digest;
                let before = record.outcomes.get(number);
                let told = !record.outcomes.is_empty();
                if told && before != Some(&hex(&digests[number])) {
                    again.keep(number, outcome);
                }
            }
            Ok(())
        },
    );
    match collected {
        Ok(()) => {
            digests.iter().for_each(|digest| again.digests.add(digest));
            Some(again)
        }
        Err(diag) => {
            sink.push(diag);
            None
        }
    }
}

/// How the two compare.
struct Verdict {
    versions: (String, &'static str),
    /// Inputs with other contents, or none, by name.
    inputs: Vec<String>,
    points: usize,
    /// How many points differ; nothing if the manifest does not tell points apart.
    differing: Option<usize>,
    /// The first of them by number from 1, and what is known of how.
    different: Vec<(usize, String, Vec<Change>)>,
    same: bool,
}

/// A figure that came out otherwise.
struct Change {
    metric: &'static str,
    before: Option<f64>,
    now: Option<f64>,
}

impl Verdict {
    fn of(record: &Record, again: &Again, path: &Path) -> Self {
        let before = &record.manifest;
        let inputs = again
            .inputs
            .iter()
            .filter(|(name, now)| before.inputs.get(name) != now.as_ref());
        let same = record.results == again.digests.all();
        // The figures of before are known if the results still lie beside their manifest.
        let directory = if path.is_dir() {
            Some(path)
        } else {
            path.parent()
        };
        let kept = directory
            .filter(|_| !same)
            .and_then(|directory| opened(directory).ok())
            .filter(|(manifest, _)| manifest == before);
        let different = again.shown.iter().map(|(number, now)| {
            let then = kept.as_ref().and_then(|(manifest, store)| {
                let key = manifest.points.get(*number)?;
                store.get(key).ok()?
            });
            let changes = then.map(|then| changes(&then, now));
            (number + 1, name(now), changes.unwrap_or_default())
        });
        Self {
            versions: (before.version.clone(), env!("CARGO_PKG_VERSION")),
            inputs: inputs.map(|(name, _)| name.clone()).collect(),
            points: again.digests.count(),
            differing: (!record.outcomes.is_empty()).then_some(again.differing),
            different: different.collect(),
            same,
        }
    }

    fn is_the_same(&self) -> bool {
        self.same
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let (then, now) = &self.versions;
        if then != now {
            text.push_str(&format!("made by version {then}, run again by {now}\n"));
        }
        for input in &self.inputs {
            text.push_str(&format!("changed: {input}\n"));
        }
        if self.same {
            text.push_str(&format!(
                "all {} points came out the same, bit for bit\n",
                self.points
            ));
            return text;
        }
        text.push_str(&match self.differing {
            Some(count) => format!("{count} of {} points came out otherwise\n", self.points),
            None => format!(
                "not all {} points came out the same; a manifest of so many does not say which\n",
                self.points
            ),
        });
        for (number, name, changes) in &self.different {
            text.push_str(&format!("  {number}: {name}\n"));
            for change in changes {
                let shown = |value: Option<f64>| {
                    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
                };
                text.push_str(&format!(
                    "     {}: {} before, {} now\n",
                    change.metric,
                    shown(change.before),
                    shown(change.now)
                ));
            }
        }
        let more = self
            .differing
            .unwrap_or(0)
            .saturating_sub(self.different.len());
        if more > 0 {
            text.push_str(&format!("  and {more} more\n"));
        }
        text
    }

    fn json(&self) -> Value {
        let different = self.different.iter().map(|(number, name, changes)| {
            let changes = changes.iter().map(|change| {
                json!({ "metric": change.metric, "before": change.before, "now": change.now })
            });
            json!({ "point": number, "name": name, "changes": changes.collect::<Vec<_>>() })
        });
        json!({
            "same": self.same, "points": self.points, "differing": self.differing, "version_before": self.versions.0, "version": self.versions.1,
            "changed_inputs": self.inputs, "different": different.collect::<Vec<_>>(),
        })
    }
}

fn name(outcome: &Outcome) -> String {
    let point = &outcome.point;
    format!(
        "{} {}, {}, {}",
        point.kernel.name,
        point.kernel.case,
        point.technology.label(),
        point.technique
    )
}

/// The metrics of a point that differ.
fn changes(then: &Outcome, now: &Outcome) -> Vec<Change> {
    let metrics = POINT.iter().filter_map(|def| {
        let (before, now) = ((def.value)(then), (def.value)(now));
        (before != now).then_some(Change {
            metric: def.name,
            before,
            now,
        })
    });
    metrics.collect()
}
