//! What was found, as text, as JSON, and over time.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_reliability::{Outcome, Structure, Whole};

use crate::reliability::Rate;
use crate::vulnerability::Measured;

/// The runs and what they were asked for.
pub struct Shown {
    pub kernel: String,
    pub case: String,
    pub preset: String,
    pub protections: Vec<Whole>,
    pub plain: Measured,
    pub techniques: Vec<Measured>,
}

impl Shown {
    /// For people.
    pub fn text(&self) -> String {
        let plain = &self.plain;
        let mut text = format!(
            "{}, case {}, on {}: {} cycles in {} launch(es)\n",
            self.kernel,
            self.case,
            self.preset,
            plain.cycles(),
            plain.launches.len()
        );
        text += &plain.text();
        for with in &self.techniques {
            let _ = writeln!(
                text,
                "{}: {} cycles in {} launch(es), {:.3} of the plain GPU's time",
                with.technique.as_deref().unwrap_or_default(),
                with.cycles(),
                with.launches.len(),
                self.time(with)
            );
            text += &with.text();
            for rate in &with.rates {
                text += &self.left(with, rate);
            }
        }
        for rate in &plain.rates {
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

    /// How long a run takes, over the plain GPU's.
    fn time(&self, with: &Measured) -> f64 {
        over(with.cycles() as f64, self.plain.cycles() as f64)
    }

    /// What is left of the plain GPU's silent failures, in a while and in a run of the kernel.
    fn left(&self, with: &Measured, rate: &Rate) -> String {
        let (plain, found, time) = (self.plain.sum(rate), with.sum(rate), self.time(with));
        let sdc = over(found.sdc, plain.sdc);
        let all = over(found.sdc + found.due, plain.sdc + plain.due);
        format!(
            "  at {}: SDC {:.3} of the plain GPU's ({:.3} a run), SDC and DUE together {:.3} ({:.3} a run)\n",
            rate.node,
            sdc,
            sdc * time,
            all,
            all * time
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let rates = self.plain.rates.iter().map(|rate| {
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
        let mut map = Map::new();
        for (key, value) in [
            ("kernel", json!(self.kernel)),
            ("case", json!(self.case)),
            ("preset", json!(self.preset)),
            ("rates", rates.collect()),
            ("protections", protections.collect()),
        ] {
            map.insert(key.to_owned(), value);
        }
        map.extend(self.plain.json());
        if !self.techniques.is_empty() {
            let techniques = self.techniques.iter().map(|with| self.technique_json(with));
            map.insert("techniques".to_owned(), techniques.collect());
        }
        Value::Object(map)
    }

    fn technique_json(&self, with: &Measured) -> Value {
        let time = self.time(with);
        let against = with.rates.iter().map(|rate| {
            let (plain, found) = (self.plain.sum(rate), with.sum(rate));
            let value = json!({
                "sdc": over(found.sdc, plain.sdc), "sdc_a_run": over(found.sdc, plain.sdc) * time,
                "sdc_and_due": over(found.sdc + found.due, plain.sdc + plain.due),
                "sdc_and_due_a_run": over(found.sdc + found.due, plain.sdc + plain.due) * time,
            });
            (rate.node.clone(), value)
        });
        let mut map = with.json();
        map.insert("technique".to_owned(), json!(with.technique));
        map.insert("time".to_owned(), json!(time));
        map.insert("against_plain".to_owned(), Value::Object(against.collect()));
        Value::Object(map)
    }

    /// The AVF over time, a row a window; with techniques their names are in the first column.
    pub fn over_time(&self) -> String {
        let several = !self.techniques.is_empty();
        let mut text = String::from(if several { "technique," } else { "" });
        text += "launch,kernel,from_cycle,to_cycle";
        let columns = self.columns();
        for structure in &columns {
            let _ = write!(text, ",{structure}_avf");
        }
        text.push('\n');
        text += &self
            .plain
            .over_time(if several { "baseline," } else { "" }, &columns);
        for with in &self.techniques {
            let name = with.technique.as_deref().unwrap_or_default();
            text += &with.over_time(&format!("\"{name}\","), &columns);
        }
        text
    }

    /// The structures of the plain GPU, and then those that techniques add.
    fn columns(&self) -> Vec<Structure> {
        let mut columns = self.plain.structures.clone();
        for structure in self.techniques.iter().flat_map(|with| &with.structures) {
            if !columns.contains(structure) {
                columns.push(*structure);
            }
        }
        columns
    }
}

fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
