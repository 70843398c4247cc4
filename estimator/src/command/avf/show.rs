//! What was found, as text, as JSON, and over time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_reliability::{BitCycles, LaunchAvf, Outcome, Shape, Structure, Whole};

use crate::reliability::{Fit, Rate, together};

/// A run and what it was asked for.
pub struct Shown {
    pub kernel: String,
    pub case: String,
    pub preset: String,
    pub shape: Shape,
    pub structures: Vec<Structure>,
    pub protections: Vec<Whole>,
    pub rates: Vec<Rate>,
    pub launches: Vec<LaunchAvf>,
}

impl Shown {
    /// Bits of a structure in the whole GPU.
    fn bits(&self, structure: Structure) -> u64 {
        self.shape.bits(structure) * u64::from(self.shape.sms)
    }

    fn fit(&self, structure: Structure, found: &[BitCycles], rate: &Rate) -> Fit {
        Fit::of(self.bits(structure), &found[structure as usize], &rate.rate)
    }

    /// All structures that are shown, together.
    fn sum(&self, found: &[BitCycles], rate: &Rate) -> Fit {
        let mut sum = Fit::default();
        for &structure in &self.structures {
            sum += self.fit(structure, found, rate);
        }
        sum
    }

    /// The kernels, each with its launches, by name.
    fn kernels(&self) -> BTreeMap<&str, Vec<&LaunchAvf>> {
        let mut kernels: BTreeMap<&str, Vec<&LaunchAvf>> = BTreeMap::new();
        for launch in &self.launches {
            kernels.entry(&launch.kernel).or_default().push(launch);
        }
        kernels
    }

    /// For people.
    pub fn text(&self) -> String {
        let (cycles, found) = together(&self.launches);
        let mut text = format!(
            "{}, case {}, on {}: {cycles} cycles in {} launch(es)\n",
            self.kernel,
            self.case,
            self.preset,
            self.launches.len()
        );
        text += &self.table(&found);
        let kernels = self.kernels();
        if kernels.len() > 1 {
            for (kernel, launches) in kernels {
                let (cycles, found) = together(launches.iter().copied());
                let _ = writeln!(
                    text,
                    "{kernel}: {cycles} cycles in {} launch(es)",
                    launches.len()
                );
                text += &self.factors(&found);
            }
        }
        for rate in &self.rates {
            let _ = writeln!(
                text,
                "  raw rate at {}: {:.1} FIT a million bits, +-{:.0}%: {}",
                rate.node,
                1e6 * rate.rate.fit_per_bit,
                100.0 * rate.rate.uncertainty,
                rate.rate.source
            );
        }
        text
    }

    /// Factors, and failures at each node.
    fn table(&self, found: &[BitCycles]) -> String {
        let mut text = format!(
            "  {:<20}{:>12}{:>9}{:>9}{:>9}",
            "structure", "bits", "in use", "AVF", "SDC AVF"
        );
        for rate in &self.rates {
            let _ = write!(
                text,
                "{:>14}{:>10}",
                format!("SDC FIT {}", rate.node),
                "DUE FIT"
            );
        }
        text.push('\n');
        for &structure in &self.structures {
            let it = &found[structure as usize];
            let _ = write!(
                text,
                "  {:<20}{:>12}{:>9}{:>9}{:>9}",
                structure.name(),
                self.bits(structure),
                percent(occupancy(it)),
                percent(it.avf()),
                percent(it.sdc_avf())
            );
            for rate in &self.rates {
                let fit = self.fit(structure, found, rate);
                let _ = write!(text, "{:>14.2}{:>10.2}", fit.sdc, fit.due);
            }
            text.push('\n');
        }
        let _ = write!(text, "  {:<59}", "together");
        for rate in &self.rates {
            let fit = self.sum(found, rate);
            let _ = write!(text, "{:>14.2}{:>10.2}", fit.sdc, fit.due);
        }
        text.push('\n');
        text
    }

    fn factors(&self, found: &[BitCycles]) -> String {
        let mut text = String::new();
        for &structure in &self.structures {
            let it = &found[structure as usize];
            let _ = writeln!(
                text,
                "  {:<20}{:>21}{:>9}{:>9}",
                structure.name(),
                percent(occupancy(it)),
                percent(it.avf()),
                percent(it.sdc_avf())
            );
        }
        text
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let (cycles, found) = together(&self.launches);
        let rates = self.rates.iter().map(|rate| {
            json!({
                "node": rate.node, "fit_per_bit": rate.rate.fit_per_bit,
                "uncertainty": rate.rate.uncertainty, "source": rate.rate.source,
            })
        });
        let protections = self.protections.iter().map(|it| {
            let how = match it.outcome {
                Outcome::Corrected => "correct",
                Outcome::Detected => "detect",
                Outcome::Silent => "none",
            };
            json!({ "structure": it.structure.name(), "how": how })
        });
        let kernels = self.kernels().into_iter().map(|(kernel, launches)| {
            let (cycles, found) = together(launches.iter().copied());
            json!({ "kernel": kernel, "launches": launches.len(), "cycles": cycles, "structures": self.structures_json(&found) })
        });
        let launches = self.launches.iter().map(|launch| {
            json!({ "kernel": launch.kernel, "cycles": launch.cycles, "over_time": self.windows(launch) })
        });
        let together = self.rates.iter().map(|rate| {
            let fit = self.sum(&found, rate);
            (rate.node.clone(), fit_json(fit, rate))
        });
        json!({
            "kernel": self.kernel, "case": self.case, "preset": self.preset, "cycles": cycles,
            "rates": rates.collect::<Value>(), "protections": protections.collect::<Value>(),
            "structures": self.structures_json(&found), "fit": together.collect::<Map<_, _>>(),
            "kernels": kernels.collect::<Value>(), "launches": launches.collect::<Value>(),
        })
    }

    fn structures_json(&self, found: &[BitCycles]) -> Value {
        let each = self.structures.iter().map(|&structure| {
            let it = &found[structure as usize];
            let fit = self.rates.iter().map(|rate| {
                let fit = self.fit(structure, found, rate);
                (rate.node.clone(), fit_json(fit, rate))
            });
            let value = json!({
                "bits": self.bits(structure),
                "avf": it.avf(), "avf_of_occupied": it.avf_of_occupied(), "occupancy": occupancy(it),
                "sdc_avf": it.sdc_avf(), "due_avf": it.due_avf(),
                "bit_cycles": {
                    "total": whole(it.total), "occupied": whole(it.occupied), "ace": whole(it.ace), "unace": whole(it.unace()),
                    "detected": whole(it.detected), "corrected": whole(it.corrected),
                },
                "fit": fit.collect::<Map<_, _>>(),
            });
            (structure.name().to_owned(), value)
        });
        Value::Object(each.collect())
    }

    /// The AVF of each structure in each window of a launch.
    fn windows(&self, launch: &LaunchAvf) -> Value {
        let of = |structure: Structure| -> Vec<f64> {
            let count = launch.over_time.windows.len();
            (0..count)
                .map(|number| self.window(launch, number, structure))
                .collect()
        };
        let each = self.structures.iter();
        let each = each.map(|&it| (it.name().to_owned(), json!(of(it))));
        json!({ "window_cycles": launch.over_time.length, "avf": each.collect::<Map<_, _>>() })
    }

    fn window(&self, launch: &LaunchAvf, number: usize, structure: Structure) -> f64 {
        let (from, to) = ends(launch, number);
        let total = self.bits(structure) as f64 * (to - from) as f64;
        let ace = launch.over_time.windows[number][structure as usize] as f64;
        if total > 0.0 { ace / total } else { 0.0 }
    }

    /// The AVF over time, a row a window.
    pub fn over_time(&self) -> String {
        let mut text = String::from("launch,kernel,from_cycle,to_cycle");
        for structure in &self.structures {
            let _ = write!(text, ",{structure}_avf");
        }
        text.push('\n');
        for (place, launch) in self.launches.iter().enumerate() {
            for number in 0..launch.over_time.windows.len() {
                let (from, to) = ends(launch, number);
                if to <= from {
                    continue;
                }
                let _ = write!(text, "{place},{},{from},{to}", launch.kernel);
                for &structure in &self.structures {
                    let _ = write!(text, ",{}", self.window(launch, number, structure));
                }
                text.push('\n');
            }
        }
        text
    }
}

/// The cycles of a launch in which a window begins and ends.
fn ends(launch: &LaunchAvf, number: usize) -> (u64, u64) {
    let length = launch.over_time.length;
    let from = number as u64 * length;
    (from, (from + length).min(launch.cycles))
}

fn fit_json(fit: Fit, rate: &Rate) -> Value {
    json!({ "sdc": fit.sdc, "due": fit.due, "unprotected": fit.unprotected, "uncertainty": rate.rate.uncertainty })
}

/// A whole number; as a text if it is too large for a number of 64 bits.
fn whole(number: u128) -> Value {
    u64::try_from(number).map_or_else(|_| json!(number.to_string()), |number| json!(number))
}

fn occupancy(it: &BitCycles) -> f64 {
    if it.total == 0 {
        0.0
    } else {
        it.occupied as f64 / it.total as f64
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
