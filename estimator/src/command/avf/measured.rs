//! What a run of the kernel did to the storage, and the failures that come of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_reliability::{BitCycles, LaunchAvf, Shape, Structure};

use crate::reliability::{Fit, Rate, together};

/// A run: of the plain GPU, or with techniques.
pub struct Measured {
    /// The techniques; none at work on the plain GPU.
    pub technique: Option<String>,
    pub shape: Shape,
    /// Those of the structures asked for that the GPU has.
    pub structures: Vec<Structure>,
    /// Of the nodes at which the techniques make the GPU be timed like this.
    pub rates: Vec<Rate>,
    pub launches: Vec<LaunchAvf>,
}

impl Measured {
    /// Bits of a structure in the whole GPU.
    pub fn bits(&self, structure: Structure) -> u64 {
        self.shape.bits(structure)
    }

    pub fn cycles(&self) -> u64 {
        self.launches.iter().map(|launch| launch.cycles).sum()
    }

    fn fit(&self, structure: Structure, found: &[BitCycles], rate: &Rate) -> Fit {
        Fit::of(self.bits(structure), &found[structure as usize], &rate.rate)
    }

    /// All structures that are shown, together.
    pub fn sum(&self, rate: &Rate) -> Fit {
        self.sum_of(&together(&self.launches).1, rate)
    }

    fn sum_of(&self, found: &[BitCycles], rate: &Rate) -> Fit {
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

    /// Factors, and failures at each node; for kernels apart if there are several.
    pub fn text(&self) -> String {
        let (_, found) = together(&self.launches);
        let mut text = self.table(&found);
        let kernels = self.kernels();
        if kernels.len() > 1 {
            for (kernel, launches) in kernels {
                let (cycles, found) = together(launches.iter().copied());
                let _ = writeln!(
                    text,
                    "{kernel}: {cycles} cycles in {} launch(es)",
                    launches.len()
                );
                for &structure in &self.structures {
                    let it = &found[structure as usize];
                    let _ = writeln!(text, "{}", self.factors(structure, "", it));
                }
            }
        }
        text
    }

    /// Name, bits, and shares of a structure.
    fn factors(&self, structure: Structure, bits: &str, it: &BitCycles) -> String {
        let mut text = format!(
            "  {:<24}{bits:>12}{:>9}{:>9}",
            structure.name(),
            percent(occupancy(it)),
            percent(it.avf())
        );
        if self.technique.is_some() {
            for part in [it.corrected, it.detected] {
                let _ = write!(text, "{:>11}", percent(of_ace(it, part)));
            }
        }
        let _ = write!(text, "{:>9}", percent(it.sdc_avf()));
        text
    }

    fn table(&self, found: &[BitCycles]) -> String {
        let parts = match self.technique {
            Some(_) => "  corrected   detected",
            None => "",
        };
        let mut text = format!(
            "  {:<24}{:>12}{:>9}{:>9}{parts}{:>9}",
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
        let mut failures = |label: &str, fit: &dyn Fn(&Rate) -> Fit| {
            text.push_str(label);
            for rate in &self.rates {
                let fit = fit(rate);
                let _ = write!(text, "{:>14.2}{:>10.2}", fit.sdc, fit.due);
            }
            text.push('\n');
        };
        for &structure in &self.structures {
            let bits = self.bits(structure).to_string();
            let label = self.factors(structure, &bits, &found[structure as usize]);
            failures(&label, &|rate| self.fit(structure, found, rate));
        }
        let label = format!("  {:<1$}", "together", 63 + parts.len());
        failures(&label, &|rate| self.sum_of(found, rate));
        text
    }

    /// Cycles, structures, failures, kernels and launches, for programs.
    pub fn json(&self) -> Map<String, Value> {
        let (cycles, found) = together(&self.launches);
        let kernels = self.kernels().into_iter().map(|(kernel, launches)| {
            let (cycles, found) = together(launches.iter().copied());
            json!({ "kernel": kernel, "launches": launches.len(), "cycles": cycles, "structures": self.structures_json(&found) })
        });
        let launches = self.launches.iter().map(|launch| {
            json!({ "kernel": launch.kernel, "cycles": launch.cycles, "over_time": self.windows(launch) })
        });
        let together = self.rates.iter().map(|rate| {
            let fit = self.sum_of(&found, rate);
            (rate.node.clone(), fit_json(fit, rate))
        });
        let mut map = Map::new();
        map.insert("cycles".to_owned(), json!(cycles));
        map.insert("structures".to_owned(), self.structures_json(&found));
        map.insert("fit".to_owned(), Value::Object(together.collect()));
        map.insert("kernels".to_owned(), kernels.collect());
        map.insert("launches".to_owned(), launches.collect());
        map
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

    /// The AVF over time of the structures in `columns`, a row a window, behind `start`; nothing stands for one that there is not.
    pub fn over_time(&self, start: &str, columns: &[Structure]) -> String {
        let mut text = String::new();
        for (place, launch) in self.launches.iter().enumerate() {
            for number in 0..launch.over_time.windows.len() {
                let (from, to) = ends(launch, number);
                if to <= from {
                    continue;
                }
                let _ = write!(text, "{start}{place},{},{from},{to}", launch.kernel);
                for &structure in columns {
                    text.push(',');
                    if self.structures.contains(&structure) {
                        let _ = write!(text, "{}", self.window(launch, number, structure));
                    }
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

/// A part of what is needed.
fn of_ace(it: &BitCycles, part: u128) -> f64 {
    if it.ace == 0 {
        0.0
    } else {
        part as f64 / it.ace as f64
    }
}
