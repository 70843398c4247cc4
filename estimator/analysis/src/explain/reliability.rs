//! Vulnerability factors and failures in time, down to bit-cycles and the raw rate of a bit.
//!
//! AVF = ACE bit-cycles / (bits x cycles); FIT = sum over structures of AVF x bits x raw rate of a bit (Mukherjee et al., MICRO 2003, section 2).

use warpwatt_reliability::Structure;
use warpwatt_techlib::published::{UpsetRate, upset_rate};

use super::side::Side;
use super::tree::{Formula, Node};
use crate::uncertainty::UPSETS;

const MUKHERJEE: &str = "Mukherjee et al., MICRO 2003, section 2";
const FOLLOWED: &str = "bits followed over the run: docs/reliability.md";

/// Bit-cycles of a structure by what they are, of all bits over all cycles.
struct Measured {
    structure: Structure,
    bits: f64,
    ace: f64,
    detected: f64,
    silent: f64,
}

impl Side<'_> {
    /// The derivation of a reliability metric; nothing if it is none, or the point was not followed.
    pub fn vulnerable(&self, name: &str) -> Option<Node> {
        if let Some((factor, structure)) = name.split_once('.') {
            let structure = Structure::of(structure).ok()?;
            return self.factor(factor, &self.measured(structure)?);
        }
        let factor = match name {
            "fit_sdc" => "sdc_avf",
            "fit_due" => "due_avf",
            "fit_unprotected" => "avf",
            "fit_uncertainty" => {
                let rate = self.rate()?;
                return Some(Node::given(name, rate.uncertainty, "1", &rate.source));
            }
            _ => return None,
        };
        let rate = self.rate()?;
        let followed = Structure::ALL
            .into_iter()
            .filter_map(|it| self.measured(it));
        let each = followed.filter_map(|measured| {
            let factors = vec![
                self.factor(factor, &measured)?,
                Self::setting("bits", measured.bits, "bit"),
                raw(&rate),
            ];
            let name = measured.structure.to_string();
            Some(Node::product(&name, "FIT", factors).from(MUKHERJEE))
        });
        Some(Node::sum(name, "FIT", each.collect()))
    }

    fn rate(&self) -> Option<UpsetRate> {
        upset_rate(self.process.technology.feature).ok()
    }

    /// What was followed of a structure; nothing if it was not.
    fn measured(&self, structure: Structure) -> Option<Measured> {
        let counts = |factor: &str| {
            let name = format!("{factor}.{structure}");
            let mut metrics = self.outcome.metrics.iter();
            metrics.find(|metric| metric.name == name)?.ratio
        };
        let [ace, all] = counts("avf")?;
        let ([silent, _], [detected, _]) = (counts("sdc_avf")?, counts("due_avf")?);
        Some(Measured {
            structure,
            bits: all as f64 / self.outcome.cycles as f64,
            ace: ace as f64,
            detected: detected as f64,
            silent: silent as f64,
        })
    }

    fn factor(&self, factor: &str, measured: &Measured) -> Option<Node> {
        let given = |name: &str, value: f64| Node::given(name, value, "bit cycles", FOLLOWED);
        let ace = given("ACE bit-cycles", measured.ace);
        let upper = match factor {
            "avf" => ace,
            "due_avf" => given("of them detected and not corrected", measured.detected),
            "sdc_avf" => {
                let corrected = measured.ace - measured.detected - measured.silent;
                let parts = vec![
                    ace,
                    given("of them detected and not corrected", measured.detected),
                    given("of them corrected", corrected),
                ];
                Node::of(
                    "silent bit-cycles",
                    "bit cycles",
                    Formula::Difference,
                    parts,
                )
            }
            _ => return None,
        };
        let bits = Self::setting("bits", measured.bits, "bit");
        let all = Node::product("bit-cycles", "bit cycles", vec![bits, self.cycles()]);
        let name = format!("{factor}.{}", measured.structure);
        Some(Node::quotient(&name, "1", upper, all).from(MUKHERJEE))
    }
}

/// The raw rate of a bit, and the factor by which it errs: one for all structures of a node.
fn raw(rate: &UpsetRate) -> Node {
    let value = Node::given("published rate", rate.fit_per_bit, "FIT/bit", &rate.source);
    let formula = Formula::Method {
        uncertainty: rate.uncertainty,
        cause: UPSETS.to_owned(),
    };
    let error = Node::made("error of the rate", 1.0, "1", formula, Vec::new()).from(&rate.source);
    Node::product("raw rate of a bit", "FIT/bit", vec![value, error])
}
