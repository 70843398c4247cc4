//! What the structure is, from the options of one array.

use std::str::FromStr;

use warpwatt_circuit::{
    Access, BufferSpec, CacheSpec, CamSpec, FullyAssociativeSpec, Ports, RamSpec, Spec, TagSpec,
};

use super::{Faults, Request, word};
use crate::diag::did_you_mean;
use crate::{Refusal, parse_bits, parse_capacity, parse_ports};

/// Sets an option from its text.
type Set = fn(&mut Request, &str) -> Result<(), Refusal>;

/// The options that say what a structure is, as keys.
const KEYS: [(&str, Set); 11] = [
    ("capacity", |r, text| put(&mut r.capacity, text)),
    ("word", |r, text| put(&mut r.word, text)),
    ("words", |r, text| number(&mut r.words, text)),
    ("bits", |r, text| number(&mut r.bits, text)),
    ("ports", |r, text| put(&mut r.ports, text)),
    ("banks", |r, text| number(&mut r.banks, text)),
    ("kind", |r, text| put(&mut r.kind, text)),
    ("assoc", |r, text| put(&mut r.assoc, text)),
    ("line", |r, text| put(&mut r.line, text)),
    ("tag_bits", |r, text| number(&mut r.tag_bits, text)),
    ("access", |r, text| put(&mut r.access, text)),
];

fn put(place: &mut Option<String>, text: &str) -> Result<(), Refusal> {
    *place = Some(text.to_owned());
    Ok(())
}

/// What is no number is looked at as one, so that nothing is said to be missing.
fn number<T: FromStr + From<u8>>(place: &mut Option<T>, text: &str) -> Result<(), Refusal> {
    let number = text.trim().parse();
    let refusal = number.is_err().then(|| {
        Refusal::new(format!("`{text}` is no whole number")).help("write digits without units")
    });
    *place = Some(number.unwrap_or_else(|_| T::from(1)));
    refusal.map_or(Ok(()), Err)
}

impl Request {
    /// The keys of [`structure`](Self::structure).
    pub fn structure_keys() -> impl Iterator<Item = &'static str> + Clone {
        KEYS.iter().map(|(key, _)| *key)
    }

    /// The structure that some options say, by their keys, wherever it is made and runs.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn structure(options: &[(&str, &str)]) -> Result<Spec, Vec<Refusal>> {
        let mut request = Self::default();
        let mut faults = Faults(Vec::new());
        for (key, text) in options {
            match KEYS.iter().find(|(known, _)| known == key) {
                Some((_, set)) => {
                    let result = set(&mut request, text);
                    faults.keep(result.map_err(|refusal| {
                        let refusal = refusal.about(key);
                        Refusal {
                            message: format!("--{key}: {}", refusal.message),
                            ..refusal
                        }
                    }));
                }
                None => {
                    let message = format!("`{key}` says nothing about what a structure is");
                    let known = did_you_mean(key, Self::structure_keys());
                    faults.0.push(Refusal::new(message).about(key).help(known));
                }
            }
        }
        let spec = request.spec(&mut faults);
        spec.filter(|_| faults.0.is_empty()).ok_or(faults.0)
    }

    pub(super) fn spec(&self, faults: &mut Faults) -> Option<Spec> {
        let before = faults.0.len();
        let kind = faults.take("kind", self.kind.as_ref(), kind);
        let ways = faults.take("assoc", self.assoc.as_ref(), assoc);
        let kind = match (kind, ways) {
            (None | Some(Kind::Cache), Some(None)) => Kind::FullyAssociative,
            (None, Some(Some(_))) => Kind::Cache,
            (kind, _) => kind.unwrap_or(Kind::Sram),
        };
        if ways == Some(None) && kind != Kind::FullyAssociative {
            let refusal = Refusal::new("--assoc full is about whole caches").about("assoc");
            faults.0.push(
                refusal.help("price `--kind cam` for the tags and `--kind sram` for the lines"),
            );
        }
        if faults.0.len() > before {
            return None;
        }
        let ports = faults.take("ports", self.ports.as_ref(), parse_ports);
        let ports = ports.unwrap_or(match kind {
            Kind::Cam | Kind::FullyAssociative => Ports {
                search: 1,
                ..Ports::ONE
            },
            Kind::Sram | Kind::Cache | Kind::Data | Kind::Tags | Kind::Buffer => Ports::ONE,
        });
        self.misplaced(kind, faults);
        let spec = match kind {
            Kind::Cache | Kind::Data | Kind::FullyAssociative => {
                self.cached(kind, ways.flatten().unwrap_or(1), ports, faults)
            }
            Kind::Tags => self.tags(ways.flatten().unwrap_or(1), ports, faults),
            Kind::Sram | Kind::Cam | Kind::Buffer => self.plain(kind, ports, faults),
        };
        spec.filter(|_| faults.0.len() == before)
    }

    /// Options that this kind has no use for.
    fn misplaced(&self, kind: Kind, faults: &mut Faults) {
        let cached = matches!(kind, Kind::Cache | Kind::Data | Kind::FullyAssociative);
        let of_caches = [
            ("--assoc", self.assoc.is_some() && kind != Kind::Tags),
            ("--line", self.line.is_some()),
            ("--tag-bits", self.tag_bits.is_some()),
            ("--access", self.access.is_some()),
        ];
        for (name, given) in of_caches {
            if given && !cached {
                faults.0.push(
                    Refusal::new(format!("{name} is about caches"))
                        .about(name)
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
                        .about(name)
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

    /// A word is the tag of a line, or those of all ways of a set.
    fn tags(&self, ways: u32, ports: Ports, faults: &mut Faults) -> Option<Spec> {
        let (sets, bits) = self.words_and_bits(faults)?;
        if self.banks.is_some_and(|banks| banks != 1) {
            let refusal = Refusal::new("--banks is not about tags").about("banks");
            faults.0.push(refusal.help("leave it out"));
        }
        let Ok(tag_bits) = u32::try_from(bits) else {
            faults
                .0
                .push(Refusal::new(format!("no tag has {bits} bits")));
            return None;
        };
        Some(Spec::Tags(TagSpec {
            sets,
            ways,
            tag_bits,
            ports,
        }))
    }

    /// Words and bits of each, from whichever two of the options say it.
    fn words_and_bits(&self, faults: &mut Faults) -> Option<(u64, u64)> {
        let capacity = faults.take("capacity", self.capacity.as_ref(), parse_capacity);
        let word = faults.take("word", self.word.as_ref(), parse_bits);
        if self.word.is_some() && self.bits.is_some() {
            faults.0.push(
                Refusal::new("--word and --bits say the same")
                    .about("word")
                    .help("leave one out"),
            );
            return None;
        }
        if self.capacity.is_some() && self.words.is_some() {
            faults.0.push(
                Refusal::new("--capacity and --words say the same")
                    .about("capacity")
                    .help("leave one out"),
            );
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
                faults.0.push(
                    Refusal::new("--access is about caches of sets")
                        .about("access")
                        .help("leave it out"),
                );
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
        let cache = CacheSpec {
            sets,
            ways,
            line_bits,
            tag_bits: self.tag_bits,
            out_bits,
            ports,
            access: access.unwrap_or_default(),
            banks,
        };
        Some(match kind {
            Kind::Data => Spec::CacheData(cache),
            _ => Spec::Cache(cache),
        })
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

/// Kinds of structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sram,
    Cam,
    Cache,
    Data,
    Tags,
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
            ("data", Kind::Data),
            ("tags", Kind::Tags),
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
