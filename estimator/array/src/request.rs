//! One array by the options of the command line.

use std::str::FromStr;

use clap::Args;
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};

use super::inputs::default_temperature;
use super::keywords as word;
use super::{Flavours, Query, Refusal};
use crate::batch::Model;

mod settings;
mod structure;

/// What is asked of one array, as texts.
#[derive(Clone, Debug, Default, Args)]
pub struct Request {
    /// Capacity of all banks: 4KiB, 80b
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Width of a word: 128b, 16B; of a cache what one access returns
    #[arg(long, value_name = "WIDTH")]
    pub word: Option<String>,
    /// Words (or entries), instead of a capacity
    #[arg(long, value_name = "N")]
    pub words: Option<u64>,
    /// Bits of a word, instead of a width
    #[arg(long, value_name = "N")]
    pub bits: Option<u64>,
    /// Ports: 1rw, 3r1w, 2rw1r, 1r1w1s (s searches, se are single-ended among r) [default: 1rw, of a cam or fully associative cache 1rw1s]
    #[arg(long, value_name = "PORTS")]
    pub ports: Option<String>,
    /// Banks, a power of two [default: 1]
    #[arg(long, value_name = "N")]
    pub banks: Option<u32>,
    /// What it is: sram, cam, cache, its sides data and tags, fa (fully associative cache), buffer (flip-flops or latches) [default: sram, with --assoc cache]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Ways of a cache; full for a fully associative one [default: 1]
    #[arg(long, value_name = "N|full")]
    pub assoc: Option<String>,
    /// Line of a cache: 128B
    #[arg(long, value_name = "WIDTH")]
    pub line: Option<String>,
    /// Bits of a tag with its state [default: CACTI's rule for 42 address bits]
    #[arg(long, value_name = "N")]
    pub tag_bits: Option<u32>,
    /// How tags and data work together: normal, sequential, fast [default: normal]
    #[arg(long, value_name = "MODE")]
    pub access: Option<String>,
    /// Technology node: 40nm, 7nm
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Junction temperature [default: 350K, of profile cacti7 360K]
    #[arg(long, value_name = "T")]
    pub temperature: Option<String>,
    /// Supply [default: the node's own]; it never changes an area
    #[arg(long, value_name = "V")]
    pub vdd: Option<String>,
    /// Transistors of cells and periphery: hp, lstp, lop, sram [default: hp]
    #[arg(long, value_name = "NAME")]
    pub flavour: Option<String>,
    /// Transistors of the cells alone
    #[arg(long, value_name = "NAME")]
    pub cell_flavour: Option<String>,
    /// Transistors of the periphery alone
    #[arg(long, value_name = "NAME")]
    pub periphery_flavour: Option<String>,
    /// What the organisation is chosen for: energy, delay, area, leakage, ed, ed2, weights [default: the profile's]
    #[arg(long, value_name = "GOAL")]
    pub optimize: Option<String>,
    /// Weights delay:dynamic:leakage:cycle:area, with --optimize weights
    #[arg(long, value_name = "D:D:L:C:A")]
    pub weights: Option<String>,
    /// How far above the least each figure may be, in percent
    #[arg(long, value_name = "D:D:L:C:A")]
    pub deviations: Option<String>,
    /// Store one check bit for every eight data bits
    #[arg(long)]
    pub ecc: bool,
    /// Wires: global, global_5 .. global_30, lowswing, default; inside=LAYER, outside=LAYER; conservative, aggressive; with commas between
    #[arg(long, value_name = "WORDS")]
    pub wires: Option<String>,
    /// What sleep transistors cut off: array, subarray, row, none [default: array]
    #[arg(long, value_name = "PART")]
    pub gating: Option<String>,
}

/// Collects what is wrong.
struct Faults(Vec<Refusal>);

impl Faults {
    /// The value of an option, `None` if it was not given or is wrong.
    fn take<T>(
        &mut self,
        name: &str,
        text: Option<&String>,
        parse: impl FnOnce(&str) -> Result<T, Refusal>,
    ) -> Option<T> {
        let result = parse(text?);
        self.keep(result.map_err(|refusal| {
            let refusal = refusal.about(name);
            Refusal {
                message: format!("--{name}: {}", refusal.message),
                ..refusal
            }
        }))
    }

    fn keep<T>(&mut self, result: Result<T, Refusal>) -> Option<T> {
        result.map_err(|refusal| self.0.push(refusal)).ok()
    }
}

impl Request {
    /// The options that say something about one array, by name.
    pub fn given(&self) -> Vec<&'static str> {
        let texts = [
            ("--capacity", &self.capacity),
            ("--word", &self.word),
            ("--ports", &self.ports),
            ("--kind", &self.kind),
            ("--assoc", &self.assoc),
            ("--line", &self.line),
            ("--access", &self.access),
            ("--node", &self.node),
            ("--temperature", &self.temperature),
            ("--vdd", &self.vdd),
            ("--flavour", &self.flavour),
            ("--cell-flavour", &self.cell_flavour),
            ("--periphery-flavour", &self.periphery_flavour),
            ("--optimize", &self.optimize),
            ("--weights", &self.weights),
            ("--deviations", &self.deviations),
            ("--wires", &self.wires),
            ("--gating", &self.gating),
        ];
        let counts = [
            ("--words", self.words.is_some()),
            ("--bits", self.bits.is_some()),
            ("--banks", self.banks.is_some()),
            ("--tag-bits", self.tag_bits.is_some()),
            ("--ecc", self.ecc),
        ];
        let texts = texts.into_iter().map(|(name, text)| (name, text.is_some()));
        let given = texts.chain(counts).filter(|(_, given)| *given);
        given.map(|(name, _)| name).collect()
    }

    /// What the circuit models are asked.
    ///
    /// # Errors
    /// Everything that is wrong with the options.
    pub fn query(&self, model: Model) -> Result<Query, Vec<Refusal>> {
        let mut faults = Faults(Vec::new());
        let spec = self.spec(&mut faults);
        let settings = self.settings(model.profile, &mut faults);
        let flavours = self.flavours(&mut faults);
        let point = self.point(model.profile, &mut faults);
        let node = self.node(&mut faults);
        match (spec, node) {
            (Some(spec), Some(node)) if faults.0.is_empty() => Ok(Query {
                spec,
                settings,
                library: model.library,
                node,
                flavours,
                point,
                notes: Vec::new(),
            }),
            _ => Err(faults.0),
        }
    }

    fn node(&self, faults: &mut Faults) -> Option<Length> {
        if self.node.is_none() {
            let missing = Refusal::new("no technology node is given");
            faults.0.push(
                missing.help(
                    "add for example `--node 32nm`; `warpwatt list nodes` shows what there is",
                ),
            );
        }
        faults.take("node", self.node.as_ref(), |text| {
            quantity::<Length>(text)
                .map_err(|refusal| refusal.help("write a feature size such as 32nm"))
        })
    }

    fn point(&self, profile: Profile, faults: &mut Faults) -> OperatingPoint {
        let temperature = faults.take(
            "temperature",
            self.temperature.as_ref(),
            quantity::<Temperature>,
        );
        OperatingPoint {
            temperature: temperature.unwrap_or_else(|| default_temperature(profile)),
            vdd: faults.take("vdd", self.vdd.as_ref(), quantity::<Voltage>),
        }
    }

    fn flavours(&self, faults: &mut Faults) -> Flavours {
        let both = faults.take("flavour", self.flavour.as_ref(), word::flavour);
        let cell = faults.take("cell-flavour", self.cell_flavour.as_ref(), word::flavour);
        let periphery = faults.take(
            "periphery-flavour",
            self.periphery_flavour.as_ref(),
            word::flavour,
        );
        Flavours {
            cell: cell.or(both).unwrap_or_default(),
            periphery: periphery.or(both).unwrap_or_default(),
        }
    }
}

/// A quantity with its unit.
fn quantity<T: FromStr>(text: &str) -> Result<T, Refusal>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error: T::Err| Refusal::new(error.to_string()))
}

#[cfg(test)]
mod tests;
