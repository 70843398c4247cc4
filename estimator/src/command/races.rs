//! The data races of `warpwatt kernel --check-races`, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use warpwatt_simt::races::{Party, Race};
use warpwatt_suite::CaseRun;

/// Races that are shown; all are counted, and JSON has all.
const LISTED: usize = 10;

/// A race of a run, with the first launch that has it.
struct Found {
    launch: usize,
    kernel: String,
    race: Race,
}

/// The races of all launches; those of the same lines of one kernel are one.
pub struct Races(Vec<Found>);

impl Races {
    /// Those of a run.
    pub fn of(run: &CaseRun) -> Self {
        let mut found: Vec<Found> = Vec::new();
        for (launch, executed) in run.executions.iter().enumerate() {
            for race in &executed.execution.races {
                let same = |known: &&mut Found| {
                    let at = |race: &Race| (race.first.line, race.second.line);
                    let what = |race: &Race| (race.first.access, race.second.access);
                    known.kernel == executed.kernel
                        && known.race.kind == race.kind
                        && known.race.same_value == race.same_value
                        && at(&known.race) == at(race)
                        && what(&known.race) == what(race)
                };
                match found.iter_mut().find(same) {
                    Some(known) => known.race.count += race.count,
                    None => found.push(Found {
                        launch,
                        kernel: executed.kernel.clone(),
                        race: race.clone(),
                    }),
                }
            }
        }
        // Those that matter first; otherwise in the order of launches and lines.
        found.sort_by_key(|found| !found.race.matters());
        Self(found)
    }

    /// Whether results may depend on one of them.
    pub fn matter(&self) -> bool {
        self.0.iter().any(|found| found.race.matters())
    }

    /// As JSON.
    pub fn value(&self) -> Value {
        let races = self.0.iter().map(|Found { launch, kernel, race }| {
            json!({
                "kind": race.kind.name(), "launch": launch, "kernel": kernel, "address": race.address, "place": race.place,
                "first": party(&race.first), "second": party(&race.second), "same_value": race.same_value, "matters": race.matters(),
                "count": race.count,
            })
        });
        races.collect()
    }

    /// As lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.0.is_empty() {
            return "  no data races\n".to_owned();
        }
        for found in self.0.iter().take(LISTED) {
            let weight = if found.race.matters() { "" } else { "note: " };
            let Found {
                launch,
                kernel,
                race,
            } = found;
            let _ = writeln!(text, "  {weight}{race} (`{kernel}`, launch {launch})");
        }
        if self.0.len() > LISTED {
            let _ = writeln!(text, "  ... and {} more", self.0.len() - LISTED);
        }
        text
    }
}

fn party(party: &Party) -> Value {
    json!({ "line": party.line, "access": party.access.name(), "cta": party.cta, "warp": party.warp })
}
