//! The inputs of CACTI, however they are written: the columns of a table or the lines of a configuration file.

use warpwatt_circuit::{
    Access, CacheSpec, CamSpec, FullyAssociativeSpec, OperatingPoint, Ports, Profile, RamSpec,
    Settings, Spec,
};
use warpwatt_techlib::Flavour;
use warpwatt_techlib::quantity::{Length, Temperature};

use super::keywords as word;
use super::{Flavours, LibraryName, Query, Refusal};

/// Kinds of memories that CACTI knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// A plain memory.
    #[default]
    Ram,
    /// A direct-mapped or set-associative cache; fully associative with an associativity of 0.
    Cache,
    /// A fully associative cache.
    FullyAssociative,
    /// A content-addressable memory.
    Cam,
}

/// CACTI's inputs. What is not set is the profile's default.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    memory: Memory,
    size_bytes: Option<u64>,
    block_bytes: Option<u64>,
    ways: Option<u64>,
    out_width_bits: Option<u64>,
    ports: [Option<u64>; 5],
    banks: u64,
    node: Option<Length>,
    cell: Option<Flavour>,
    /// That of the cells unless it is set.
    periphery: Option<Flavour>,
    temperature: Temperature,
    access: Access,
    tag_bits: u64,
    /// Weights, objective, wires, ECC.
    pub settings: Settings,
    notes: Vec<String>,
}

type Set = fn(&mut Inputs, &str) -> Result<(), Refusal>;

/// Every input by the name of its column, and how its text is taken.
const FIELDS: [(&str, Set); 34] = [
    ("size_bytes", |i, t| put(&mut i.size_bytes, t)),
    ("block_bytes", |i, t| put(&mut i.block_bytes, t)),
    ("assoc", |i, t| put(&mut i.ways, t)),
    ("mem_type", |i, t| memory(t).map(|memory| i.memory = memory)),
    ("out_width_bits", |i, t| put(&mut i.out_width_bits, t)),
    ("rw_ports", |i, t| put(&mut i.ports[0], t)),
    ("r_ports", |i, t| put(&mut i.ports[1], t)),
    ("w_ports", |i, t| put(&mut i.ports[2], t)),
    ("se_r_ports", |i, t| put(&mut i.ports[3], t)),
    ("search_ports", |i, t| put(&mut i.ports[4], t)),
    ("banks", |i, t| count(t).map(|banks| i.banks = banks)),
    ("node_um", |i, t| node(t).map(|node| i.node = Some(node))),
    ("cell_type", |i, t| {
        word::flavour(t).map(|f| i.cell = Some(f))
    }),
    ("peri_type", |i, t| {
        word::flavour(t).map(|f| i.periphery = Some(f))
    }),
    ("temp_k", |i, t| temperature(t).map(|t| i.temperature = t)),
    ("access_mode", |i, t| {
        word::access(t).map(|access| i.access = access)
    }),
    ("optimize", |i, t| {
        word::objective(t).map(|o| i.settings.objective = o)
    }),
    ("wt_delay", |i, t| {
        weight(t).map(|w| i.settings.weights.delay = w)
    }),
    ("wt_dyn", |i, t| {
        weight(t).map(|w| i.settings.weights.dynamic = w)
    }),
    ("wt_leak", |i, t| {
        weight(t).map(|w| i.settings.weights.leakage = w)
    }),
    ("wt_cycle", |i, t| {
        weight(t).map(|w| i.settings.weights.cycle = w)
    }),
    ("wt_area", |i, t| {
        weight(t).map(|w| i.settings.weights.area = w)
    }),
    ("dev_delay", |i, t| {
        weight(t).map(|w| i.settings.deviations.delay = w)
    }),
    ("dev_dyn", |i, t| {
        weight(t).map(|w| i.settings.deviations.dynamic = w)
    }),
    ("dev_leak", |i, t| {
        weight(t).map(|w| i.settings.deviations.leakage = w)
    }),
    ("dev_cycle", |i, t| {
        weight(t).map(|w| i.settings.deviations.cycle = w)
    }),
    ("dev_area", |i, t| {
        weight(t).map(|w| i.settings.deviations.area = w)
    }),
    ("wire_inside", |i, t| {
        word::layer(t).map(|l| i.settings.wires.inside = l)
    }),
    ("wire_outside", |i, t| {
        word::layer(t).map(|l| i.settings.wires.outside = l)
    }),
    ("ic_proj", |i, t| {
        word::projection(t).map(|p| i.settings.wires.projection = p)
    }),
    ("wire_signaling", |i, t| {
        word::signalling(t).map(|s| i.settings.wires.signalling = s)
    }),
    ("ecc", |i, t| word::truth(t).map(|ecc| i.settings.ecc = ecc)),
    ("tag_bits", |i, t| count(t).map(|bits| i.tag_bits = bits)),
    ("cl_vertical", |i, t| {
        word::truth(t).map(|vertical| i.vertical(vertical))
    }),
];

impl Inputs {
    /// The names of all inputs.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|(name, _)| *name)
    }

    /// The inputs without which there is no array.
    pub const REQUIRED: [&'static str; 3] = ["size_bytes", "block_bytes", "node_um"];

    /// The defaults of a profile: one read-write port, one bank, one way, high performance, the temperature at which its tool ships.
    pub fn new(profile: Profile) -> Self {
        Self {
            memory: Memory::default(),
            size_bytes: None,
            block_bytes: None,
            ways: None,
            out_width_bits: None,
            ports: [None; 5],
            banks: 1,
            node: None,
            cell: None,
            periphery: None,
            temperature: default_temperature(profile),
            access: Access::default(),
            tag_bits: 0,
            settings: profile.settings(),
            notes: Vec::new(),
        }
    }

    /// Sets the input `name`; an empty text leaves its default.
    ///
    /// # Errors
    /// There is no such input, or the text is no value of it.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let Some((_, set)) = FIELDS.iter().find(|(field, _)| *field == name) else {
            return Err(Refusal::new(format!("there is no input `{name}`")));
        };
        set(self, text).map_err(|refusal| Refusal {
            message: format!("{name}: {}", refusal.message),
            ..refusal
        })
    }

    /// The transistors.
    pub fn flavours(&self) -> Flavours {
        let cell = self.cell.unwrap_or_default();
        Flavours {
            cell,
            periphery: self.periphery.unwrap_or(cell),
        }
    }

    /// Whether there is a tag side.
    pub fn has_tags(&self) -> bool {
        matches!(self.memory, Memory::Cache | Memory::FullyAssociative)
    }

    fn vertical(&mut self, vertical: bool) {
        if !vertical {
            self.notes
                .push("cl_vertical changes nothing without power gating".to_owned());
        }
    }

    /// What the circuit models are asked.
    ///
    /// # Errors
    /// An input that is needed is missing, or is larger than anything.
    pub fn query(mut self, library: LibraryName) -> Result<Query, Refusal> {
        let node = required("node_um", self.node)?;
        let spec = self.spec()?;
        self.note_limits();
        let flavours = self.flavours();
        Ok(Query {
            spec,
            settings: self.settings,
            library,
            node,
            flavours,
            point: OperatingPoint::at(self.temperature),
            notes: self.notes,
        })
    }

    fn spec(&mut self) -> Result<Spec, Refusal> {
        let size = bounded("size_bytes", required("size_bytes", self.size_bytes)?)?;
        let block = bounded("block_bytes", required("block_bytes", self.block_bytes)?)?;
        if block == 0 && self.memory != Memory::Cam {
            return Err(
                Refusal::new("block_bytes is 0").help("a word or line has at least one byte")
            );
        }
        let ports = self.ports()?;
        let banks = small("banks", self.banks)?;
        let out_bits = self
            .out_width_bits
            .filter(|bits| *bits > 0 && *bits != 8 * block);
        match self.memory {
            Memory::Ram => {
                if self.ways.is_some_and(|ways| ways > 1) {
                    self.notes
                        .push("assoc is of no consequence for a ram".to_owned());
                }
                let words = size.div_ceil(block);
                self.note_rounded(size, (words, "words", 8 * block));
                Ok(Spec::Ram(RamSpec {
                    words,
                    bits: 8 * block,
                    out_bits,
                    ports,
                    banks,
                }))
            }
            Memory::Cache if self.ways != Some(0) => {
                let ways = small("assoc", self.ways.unwrap_or(1))?;
                let sets = size / block / u64::from(ways);
                if sets == 0 {
                    let least = block * u64::from(ways);
                    return Err(Refusal::new(format!(
                        "{size} bytes are less than one set of {ways} lines of {block} bytes"
                    ))
                    .help(format!(
                        "size_bytes must be at least {least}, or assoc at most {}",
                        size / block
                    )));
                }
                self.note_rounded(size, (sets, "sets", 8 * block * u64::from(ways)));
                Ok(Spec::Cache(CacheSpec {
                    sets,
                    ways,
                    line_bits: 8 * block,
                    tag_bits: self.given_tag_bits()?,
                    out_bits,
                    ports,
                    access: self.access,
                    banks,
                }))
            }
            Memory::Cache | Memory::FullyAssociative => {
                let entries = size / block;
                self.note_rounded(size, (entries, "lines", 8 * block));
                Ok(Spec::FullyAssociative(FullyAssociativeSpec {
                    entries,
                    line_bits: 8 * block,
                    tag_bits: self.given_tag_bits()?,
                    out_bits,
                    ports,
                    banks,
                }))
            }
            Memory::Cam => self.cam(size, block, (ports, banks)),
        }
    }

    fn cam(
        &mut self,
        size: u64,
        block: u64,
        (ports, banks): (Ports, u32),
    ) -> Result<Spec, Refusal> {
        let bits = if self.tag_bits > 0 {
            self.tag_bits
        } else {
            8 * block
        };
        let bits = bounded("tag_bits", bits)?;
        if bits == 0 {
            return Err(Refusal::new("a cam needs tag_bits, the bits of an entry"));
        }
        let entries = size * 8 / bits;
        self.note_rounded(size, (entries, "entries", bits));
        Ok(Spec::Cam(CamSpec {
            entries,
            bits,
            ports,
            banks,
        }))
    }

    /// Says so if a size in bytes is no whole number of what it is made of.
    fn note_rounded(&mut self, size: u64, (count, what, bits): (u64, &str, u64)) {
        if count * bits != 8 * size {
            self.notes.push(format!(
                "{size} bytes are no whole number of {what} of {bits} bits; {count} are priced"
            ));
        }
    }

    fn given_tag_bits(&self) -> Result<Option<u32>, Refusal> {
        let bits = small("tag_bits", self.tag_bits)?;
        Ok((bits > 0).then_some(bits))
    }

    /// As given; one port that reads and writes if nothing is said of any, and one that searches where that is what the memory is for.
    fn ports(&self) -> Result<Ports, Refusal> {
        let [read_write, read, write, single_ended, search] = self.ports;
        let searches = match self.memory {
            Memory::Cam | Memory::FullyAssociative => true,
            Memory::Cache => self.ways == Some(0),
            Memory::Ram => false,
        };
        let silent = read_write.is_none() && read.is_none() && write.is_none();
        let ports = Ports {
            read_write: small("rw_ports", read_write.unwrap_or(u64::from(silent)))?,
            read: small("r_ports", read.unwrap_or(0))?,
            write: small("w_ports", write.unwrap_or(0))?,
            single_ended_read: small("se_r_ports", single_ended.unwrap_or(0))?,
            search: small("search_ports", search.unwrap_or(u64::from(searches)))?,
        };
        if ports.single_ended_read > ports.read {
            let message = format!(
                "se_r_ports is {}, but only {} ports read",
                ports.single_ended_read, ports.read
            );
            return Err(Refusal::new(message).help("single-ended ports are among r_ports"));
        }
        Ok(ports)
    }

    /// What CACTI itself would refuse and the models answer nevertheless.
    fn note_limits(&mut self) {
        /// CACTI's leakage tables have a row every ten kelvins and are not interpolated there (io.cc).
        const STEP: f64 = 10.0;
        /// Smallest memory that CACTI takes (io.cc).
        const LEAST_BYTES: u64 = 64;
        if self.settings.profile == Profile::Silicon {
            return;
        }
        let kelvin = self.temperature.si();
        if kelvin % STEP != 0.0 {
            self.notes.push(format!(
                "CACTI takes temperatures in steps of 10 K; leakage at {kelvin} K is interpolated"
            ));
        }
        let associative = matches!(self.memory, Memory::Cam | Memory::FullyAssociative)
            || (self.memory == Memory::Cache && self.ways == Some(0));
        if associative && self.ports[4].unwrap_or(0) == 0 {
            self.notes
                .push("CACTI asks for a search port; the others are searched through".to_owned());
        }
        let odd = |ways: u64| ways > 0 && !ways.is_power_of_two();
        if self.memory == Memory::Cache && self.ways.is_some_and(odd) {
            self.notes
                .push("CACTI takes an associativity that is a power of two".to_owned());
        }
        if self.size_bytes.is_some_and(|size| size < LEAST_BYTES) {
            self.notes.push("CACTI begins at 64 bytes".to_owned());
        }
    }
}

/// The temperature of the configuration that a tool ships with; of silicon a warm chip.
pub(super) fn default_temperature(profile: Profile) -> Temperature {
    Temperature::from_k(match profile {
        Profile::Cacti65 | Profile::Silicon => 350.0,
        Profile::Cacti7 => 360.0,
    })
}

fn required<T>(name: &str, value: Option<T>) -> Result<T, Refusal> {
    value.ok_or_else(|| {
        Refusal::new(format!("{name} is missing")).help(format!("give {name} a value"))
    })
}

/// Sizes far above every array are stopped before they are multiplied; the models say where they end.
fn bounded(name: &str, value: u64) -> Result<u64, Refusal> {
    const MOST: u64 = 1 << 40;
    if value <= MOST {
        return Ok(value);
    }
    Err(
        Refusal::new(format!("{name} is {value}, more than any array holds"))
            .help("arrays end at 64 MiB; split it into several"),
    )
}

fn small(name: &str, value: u64) -> Result<u32, Refusal> {
    u32::try_from(value)
        .map_err(|_| Refusal::new(format!("{name} is {value}, more than any array has")))
}

fn put(place: &mut Option<u64>, text: &str) -> Result<(), Refusal> {
    count(text).map(|value| *place = Some(value))
}

/// A whole number; `64.0` is one too, as tables of floating-point numbers have it.
fn count(text: &str) -> Result<u64, Refusal> {
    /// Floats count exactly up to here.
    const MOST: f64 = 9_007_199_254_740_992.0;
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let value: Option<f64> = text.parse().ok();
    match value {
        Some(value) if value >= 0.0 && value.fract() == 0.0 && value <= MOST => Ok(value as u64),
        _ => Err(Refusal::new(format!("`{text}` is no whole number"))
            .help("write digits without units, 0 or more")),
    }
}

fn number(text: &str) -> Result<f64, Refusal> {
    let value: Option<f64> = text.parse().ok();
    value.filter(|value| value.is_finite()).ok_or_else(|| {
        Refusal::new(format!("`{text}` is no number")).help("write a plain number without a unit")
    })
}

fn weight(text: &str) -> Result<f64, Refusal> {
    let value = number(text)?;
    if value >= 0.0 {
        return Ok(value);
    }
    Err(Refusal::new(format!("`{text}` is negative")).help("weights and deviations are 0 or more"))
}

fn node(text: &str) -> Result<Length, Refusal> {
    let micrometres = number(text)?;
    // A node of 1 um or more is one given in nanometres.
    if micrometres > 0.0 && micrometres < 1.0 {
        // In whole picometres, so that 0.022 is 22 nm to the last bit.
        return Ok(Length::from_nm((micrometres * 1e6).round() / 1e3));
    }
    Err(Refusal::new(format!("`{text}` is no node in micrometres")).help("32 nm is 0.032"))
}

fn temperature(text: &str) -> Result<Temperature, Refusal> {
    Ok(Temperature::from_k(number(text)?))
}

fn memory(text: &str) -> Result<Memory, Refusal> {
    match text.to_ascii_lowercase().as_str() {
        "ram" => Ok(Memory::Ram),
        "cache" => Ok(Memory::Cache),
        "fa" => Ok(Memory::FullyAssociative),
        "cam" => Ok(Memory::Cam),
        dram if dram.contains("main memory") => Err(Refusal::new(
            "main memory is DRAM, which arrays do not model",
        )),
        _ => Err(
            Refusal::new(format!("no kind of memory is called `{text}`"))
                .help("choose one of ram, cache, fa, cam"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inputs(pairs: &[(&str, &str)]) -> Result<Query, Refusal> {
        let mut inputs = Inputs::new(Profile::Cacti7);
        for (name, text) in [
            ("size_bytes", "4096"),
            ("block_bytes", "16"),
            ("node_um", "0.045"),
        ]
        .iter()
        .chain(pairs)
        {
            inputs.set(name, text)?;
        }
        inputs.query(LibraryName::Itrs)
    }

    #[test]
    fn sizes_that_are_rounded_are_noted() {
        for (pairs, note) in [
            (&[("size_bytes", "4097")][..], Some("257 are priced")),
            (
                &[("mem_type", "cache"), ("assoc", "3")],
                Some("85 are priced"),
            ),
            (
                &[("mem_type", "cam"), ("tag_bits", "40")],
                Some("819 are priced"),
            ),
            (
                &[("mem_type", "fa"), ("size_bytes", "1000")],
                Some("62 are priced"),
            ),
            (&[], None),
            (&[("mem_type", "cache"), ("assoc", "4")], None),
        ] {
            let notes = inputs(pairs).unwrap().notes;
            let found = notes.iter().find(|note| note.contains("no whole number"));
            assert_eq!(found.is_some(), note.is_some(), "{pairs:?}: {notes:?}");
            assert!(
                note.is_none_or(|note| found.unwrap().ends_with(note)),
                "{notes:?}"
            );
        }
    }

    /// As on the command line.
    #[test]
    fn a_memory_that_is_searched_has_a_port_for_it() {
        let search = |pairs: &[(&str, &str)]| match inputs(pairs).unwrap().spec {
            Spec::Cam(cam) => cam.ports.search,
            Spec::FullyAssociative(cache) => cache.ports.search,
            other => panic!("{other:?}"),
        };
        let cam = [("mem_type", "cam"), ("tag_bits", "32")];
        assert_eq!(search(&cam), 1);
        assert_eq!(search(&[cam[0], cam[1], ("search_ports", "0")]), 0);
        assert_eq!(search(&[("mem_type", "fa")]), 1);
        assert_eq!(search(&[("mem_type", "cache"), ("assoc", "0")]), 1);
    }

    #[test]
    fn a_ram_of_words() {
        let query = inputs(&[]).unwrap();
        assert_eq!(
            query.spec,
            Spec::Ram(RamSpec {
                words: 256,
                bits: 128,
                out_bits: None,
                ports: Ports::ONE,
                banks: 1
            })
        );
        assert_eq!(query.node, Length::from_nm(45.0));
        assert_eq!(query.point.temperature, Temperature::from_k(360.0));
        assert_eq!(query.settings, Profile::Cacti7.settings());
    }

    #[test]
    fn a_cache_without_ways_is_fully_associative() {
        let cache = inputs(&[
            ("mem_type", "cache"),
            ("assoc", "4"),
            ("out_width_bits", "64"),
        ])
        .unwrap();
        assert!(matches!(
            cache.spec,
            Spec::Cache(CacheSpec {
                sets: 64,
                ways: 4,
                out_bits: Some(64),
                ..
            })
        ));
        for pairs in [
            [("mem_type", "cache"), ("assoc", "0")],
            [("mem_type", "fa"), ("assoc", "")],
        ] {
            let query = inputs(&pairs).unwrap();
            assert!(matches!(
                query.spec,
                Spec::FullyAssociative(FullyAssociativeSpec { entries: 256, .. })
            ));
            assert!(query.notes[0].contains("search port"));
        }
    }

    #[test]
    fn entries_of_a_cam_are_its_bits_over_those_of_a_tag() {
        let cam = inputs(&[
            ("mem_type", "cam"),
            ("size_bytes", "80"),
            ("tag_bits", "10"),
            ("search_ports", "1"),
        ]);
        assert!(matches!(
            cam.unwrap().spec,
            Spec::Cam(CamSpec {
                entries: 64,
                bits: 10,
                ..
            })
        ));
    }

    #[test]
    fn faults_name_the_input_and_a_remedy() {
        for (name, text, says) in [
            ("size_bytes", "4k", "no whole number"),
            ("size_bytes", "-1", "no whole number"),
            ("size_bytes", "1e300", "no whole number"),
            ("node_um", "45", "0.032"),
            ("temp_k", "warm", "no number"),
            ("wt_area", "-3", "negative"),
            ("mem_type", "rom", "ram, cache, fa, cam"),
            ("cell_type", "lp-dram", "embedded DRAM"),
            ("cell_type", "itrs-hpp", "did you mean `hp`"),
            ("optimize", "EDD", "objective"),
            ("block_bytes", "0", "at least one byte"),
            ("assoc", "9999999999", "more than any array"),
            ("se_r_ports", "1", "among r_ports"),
        ] {
            let memory = if name == "assoc" { "cache" } else { "ram" };
            let pairs = [("mem_type", memory), (name, text)];
            let line = inputs(&pairs).unwrap_err().line();
            assert!(line.contains(says), "{name} = {text}: {line}");
        }
    }

    #[test]
    fn only_what_is_needed_is_needed() {
        let mut inputs = Inputs::new(Profile::Cacti65);
        inputs.set("size_bytes", "64").unwrap();
        assert!(
            inputs
                .query(LibraryName::Itrs)
                .unwrap_err()
                .line()
                .contains("node_um is missing")
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(field in 0_usize..FIELDS.len(), text in "\\PC{0,24}", digits in "[0-9]{1,22}") {
            for text in [text, digits] {
                let _ = inputs(&[(FIELDS[field].0, &text)]);
            }
        }
    }
}
