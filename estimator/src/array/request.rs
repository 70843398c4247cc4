//! One array by the options of the command line.

use std::str::FromStr;

use clap::Args;
use warpwatt_circuit::{
    Access, BufferSpec, CacheSpec, CamSpec, FullyAssociativeSpec, Gating, Granularity, Objective,
    OperatingPoint, Ports, Profile, RamSpec, Settings, Spec, Weights,
};
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};

use super::inputs::default_temperature;
use super::keywords as word;
use super::{
    Flavours, Query, Refusal, parse_bits, parse_capacity, parse_deviations, parse_ports,
    parse_weights,
};
use crate::array::batch::Model;

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
    /// What it is: sram, cam, cache, fa (fully associative cache), buffer (flip-flops or latches) [default: sram, with --assoc cache]
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
        self.keep(result.map_err(|refusal| Refusal {
            message: format!("--{name}: {}", refusal.message),
            ..refusal
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

    fn settings(&self, profile: Profile, faults: &mut Faults) -> Settings {
        let mut settings = profile.settings();
        settings.ecc = self.ecc;
        settings.gating = Some(Gating::default());
        let goal = faults.take("optimize", self.optimize.as_ref(), goal);
        match goal {
            None => {}
            Some(Goal::Product(objective)) => settings.objective = objective,
            Some(Goal::Single(weights)) => {
                settings.objective = Objective::Weighted;
                settings.weights = weights;
                settings.deviations = Weights::all(ANY_DEVIATION);
            }
            Some(Goal::Weights) => {
                settings.objective = Objective::Weighted;
                if self.weights.is_none() {
                    faults.0.push(
                        Refusal::new("--optimize weights needs --weights").help(
                            "write delay:dynamic:leakage:cycle:area, for example 0:0:0:100:0",
                        ),
                    );
                }
            }
        }
        if let Some(weights) = faults.take("weights", self.weights.as_ref(), parse_weights) {
            settings.weights = weights;
            if !matches!(goal, None | Some(Goal::Weights)) {
                faults.0.push(
                    Refusal::new("--weights says what --optimize says otherwise")
                        .help("write --optimize weights"),
                );
            }
            settings.objective = Objective::Weighted;
        }
        if let Some(deviations) =
            faults.take("deviations", self.deviations.as_ref(), parse_deviations)
        {
            settings.deviations = deviations;
        }
        if let Some(wires) = &self.wires {
            for text in wires.split(',') {
                let result = wire(&mut settings, text.trim());
                faults.keep(result);
            }
        }
        let part = faults.take("gating", self.gating.as_ref(), gated_part);
        if let Some(part) = part {
            settings.gating = part.map(|granularity| Gating {
                granularity,
                ..Gating::default()
            });
        }
        settings
    }

    fn spec(&self, faults: &mut Faults) -> Option<Spec> {
        let before = faults.0.len();
        let kind = faults.take("kind", self.kind.as_ref(), kind);
        let ways = faults.take("assoc", self.assoc.as_ref(), assoc);
        let kind = match (kind, ways) {
            (None | Some(Kind::Cache), Some(None)) => Kind::FullyAssociative,
            (None, Some(Some(_))) => Kind::Cache,
            (kind, _) => kind.unwrap_or(Kind::Sram),
        };
        if faults.0.len() > before {
            return None;
        }
        let ports = faults.take("ports", self.ports.as_ref(), parse_ports);
        let ports = ports.unwrap_or(match kind {
            Kind::Cam | Kind::FullyAssociative => Ports {
                search: 1,
                ..Ports::ONE
            },
            Kind::Sram | Kind::Cache | Kind::Buffer => Ports::ONE,
        });
        self.misplaced(kind, faults);
        let spec = match kind {
            Kind::Cache | Kind::FullyAssociative => {
                self.cached(kind, ways.flatten().unwrap_or(1), ports, faults)
            }
            Kind::Sram | Kind::Cam | Kind::Buffer => self.plain(kind, ports, faults),
        };
        spec.filter(|_| faults.0.len() == before)
    }

    /// Options that this kind has no use for.
    fn misplaced(&self, kind: Kind, faults: &mut Faults) {
        let cached = matches!(kind, Kind::Cache | Kind::FullyAssociative);
        let of_caches = [
            ("--assoc", self.assoc.is_some()),
            ("--line", self.line.is_some()),
            ("--tag-bits", self.tag_bits.is_some()),
            ("--access", self.access.is_some()),
        ];
        for (name, given) in of_caches {
            if given && !cached {
                faults.0.push(
                    Refusal::new(format!("{name} is about caches"))
                        .help("add `--kind cache`, or leave it out"),
                );
            }
        }
        let of_memories = [
            ("--words", self.words.is_some()),
            ("--bits", self.bits.is_some()),
        ];
        for (name, given) in of_memories {
            if given && cached {
                faults.0.push(
                    Refusal::new(format!("{name} is not about caches"))
                        .help("give a cache `--capacity` and `--line`"),
                );
            }
        }
    }

    fn plain(&self, kind: Kind, ports: Ports, faults: &mut Faults) -> Option<Spec> {
        let (words, bits) = self.words_and_bits(faults)?;
        let banks = self.banks.unwrap_or(1);
        Some(match kind {
            Kind::Cam => Spec::Cam(CamSpec {
                entries: words,
                bits,
                ports,
                banks,
            }),
            Kind::Buffer => Spec::Buffer(BufferSpec {
                entries: words,
                bits,
                ports,
            }),
            _ => Spec::Ram(RamSpec {
                words,
                bits,
                out_bits: None,
                ports,
                banks,
            }),
        })
    }

    /// Words and bits of each, from whichever two of the options say it.
    fn words_and_bits(&self, faults: &mut Faults) -> Option<(u64, u64)> {
        let capacity = faults.take("capacity", self.capacity.as_ref(), parse_capacity);
        let word = faults.take("word", self.word.as_ref(), parse_bits);
        if self.word.is_some() && self.bits.is_some() {
            faults
                .0
                .push(Refusal::new("--word and --bits say the same").help("leave one out"));
            return None;
        }
        if self.capacity.is_some() && self.words.is_some() {
            faults
                .0
                .push(Refusal::new("--capacity and --words say the same").help("leave one out"));
            return None;
        }
        if self.capacity.is_none() && self.words.is_none() {
            let help = "add `--capacity 4KiB --word 128b`, or `--words 256 --bits 128`";
            faults.0.push(Refusal::new("no size is given").help(help));
        }
        if self.word.is_none() && self.bits.is_none() {
            let help = "add for example `--word 128b`, or `--bits 128`";
            faults
                .0
                .push(Refusal::new("no width of a word is given").help(help));
        }
        let bits = word.or(self.bits)?;
        if let Some(words) = self.words {
            return Some((words, bits));
        }
        whole(faults, capacity?, bits, "words").map(|words| (words, bits))
    }

    fn cached(&self, kind: Kind, ways: u32, ports: Ports, faults: &mut Faults) -> Option<Spec> {
        let capacity = faults.take("capacity", self.capacity.as_ref(), parse_capacity);
        let line = faults.take("line", self.line.as_ref(), parse_bits);
        let out_bits = faults.take("word", self.word.as_ref(), parse_bits);
        let access = faults.take("access", self.access.as_ref(), word::access);
        if self.capacity.is_none() {
            let missing = Refusal::new("no capacity is given");
            faults
                .0
                .push(missing.help("add for example `--capacity 32KiB`"));
        }
        if self.line.is_none() && self.word.is_none() {
            let missing = Refusal::new("no line of the cache is given");
            faults
                .0
                .push(missing.help(
                    "add for example `--line 128B`, or `--word 128b` for a line of one word",
                ));
        }
        // A line that nobody names is the word.
        let line = if self.line.is_some() { line } else { out_bits };
        let (capacity, line_bits) = (capacity?, line?);
        let banks = self.banks.unwrap_or(1);
        if kind == Kind::FullyAssociative {
            let entries = whole(faults, capacity, line_bits, "lines")?;
            if access.is_some_and(|access| access != Access::Normal) {
                faults
                    .0
                    .push(Refusal::new("--access is about caches of sets").help("leave it out"));
            }
            return Some(Spec::FullyAssociative(FullyAssociativeSpec {
                entries,
                line_bits,
                tag_bits: self.tag_bits,
                out_bits,
                ports,
                banks,
            }));
        }
        let set = line_bits.saturating_mul(u64::from(ways));
        let sets = whole(faults, capacity, set, "sets")?;
        Some(Spec::Cache(CacheSpec {
            sets,
            ways,
            line_bits,
            tag_bits: self.tag_bits,
            out_bits,
            ports,
            access: access.unwrap_or_default(),
            banks,
        }))
    }
}

/// How often `part` fits into `capacity`, which it must do without a rest.
fn whole(faults: &mut Faults, capacity: u64, part: u64, of: &str) -> Option<u64> {
    if part == 0 {
        faults
            .0
            .push(Refusal::new(format!("{of} of no bits")).help("give at least one bit"));
        return None;
    }
    if capacity >= part && capacity.is_multiple_of(part) {
        return Some(capacity / part);
    }
    let near = ((capacity as f64 / part as f64).round() as u64).max(1);
    let message =
        format!("a capacity of {capacity} bits is no whole number of {of} of {part} bits");
    let help = format!(
        "nearest that works: {near} {of}, a capacity of {}b",
        near * part
    );
    faults.0.push(Refusal::new(message).help(help));
    None
}

/// As wide as any deviation needs to be for no organisation to be left out.
const ANY_DEVIATION: f64 = 1e6;

/// What an organisation is chosen for.
#[derive(Clone, Copy, Debug)]
enum Goal {
    Product(Objective),
    Single(Weights),
    Weights,
}

fn goal(text: &str) -> Result<Goal, Refusal> {
    let one = |set: fn(&mut Weights)| {
        let mut weights = Weights::all(0.0);
        set(&mut weights);
        Goal::Single(weights)
    };
    word::word(
        "objective",
        text,
        &[
            ("energy", one(|w| w.dynamic = 100.0)),
            ("delay", one(|w| w.delay = 100.0)),
            ("area", one(|w| w.area = 100.0)),
            ("leakage", one(|w| w.leakage = 100.0)),
            ("cycle", one(|w| w.cycle = 100.0)),
            ("ed", Goal::Product(Objective::EnergyDelay)),
            ("ed2", Goal::Product(Objective::EnergyDelaySquared)),
            ("weights", Goal::Weights),
        ],
    )
}

/// Kinds of structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sram,
    Cam,
    Cache,
    FullyAssociative,
    Buffer,
}

fn kind(text: &str) -> Result<Kind, Refusal> {
    word::word(
        "kind of array",
        text,
        &[
            ("sram", Kind::Sram),
            ("cam", Kind::Cam),
            ("cache", Kind::Cache),
            ("fa", Kind::FullyAssociative),
            ("buffer", Kind::Buffer),
            ("ram", Kind::Sram),
        ],
    )
}

/// Ways; `None` is all of them.
fn assoc(text: &str) -> Result<Option<u32>, Refusal> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("full") {
        return Ok(None);
    }
    match text.parse() {
        Ok(ways) if ways >= 1 => Ok(Some(ways)),
        _ => Err(Refusal::new(format!("`{text}` is no number of ways"))
            .help("write 1, 2, 4, ... or full")),
    }
}

fn gated_part(text: &str) -> Result<Option<Granularity>, Refusal> {
    word::word(
        "part to gate",
        text,
        &[
            ("array", Some(Granularity::Array)),
            ("subarray", Some(Granularity::Subarray)),
            ("row", Some(Granularity::Row)),
            ("none", None),
        ],
    )
}

fn wire(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    let wires = &mut settings.wires;
    let named = |refusal: Refusal| Refusal {
        message: format!("--wires: {}", refusal.message),
        ..refusal
    };
    match text.split_once('=').map(|(key, layer)| (key.trim(), layer)) {
        Some(("inside", layer)) => wires.inside = word::layer(layer).map_err(named)?,
        Some(("outside", layer)) => wires.outside = word::layer(layer).map_err(named)?,
        Some((key, _)) => {
            return Err(Refusal::new(format!("--wires: there is no `{key}`"))
                .help("write inside=semi-global or outside=global"));
        }
        None => match word::projection(text) {
            Ok(projection) => wires.projection = projection,
            Err(_) => wires.signalling = word::signalling(text).map_err(named)?,
        },
    }
    Ok(())
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
