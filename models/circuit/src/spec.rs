//! What a structure is: sizes and ports, without technology.

use std::fmt;

use serde::{Deserialize, Serialize};
use warpwatt_techlib::Flavour;
use warpwatt_techlib::quantity::{Temperature, Voltage};

/// A structure to be priced.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spec {
    /// A random-access array of words.
    Ram(RamSpec),
    /// A direct-mapped or set-associative cache: tag side and data side.
    Cache(CacheSpec),
    /// The data side of a cache alone. The organisations of both sides are chosen together, so that it is no [`Spec::Ram`] of the same words.
    CacheData(CacheSpec),
    /// The tag side of a cache alone: tags of every way, and a comparator each.
    Tags(TagSpec),
    /// A memory that is searched by content.
    Cam(CamSpec),
    /// A cache whose lines may stand anywhere: a memory of tags that is searched, and one of lines.
    FullyAssociative(FullyAssociativeSpec),
    /// Words in flip-flops or latches with multiplexed read ports; for small buffers.
    Buffer(BufferSpec),
    /// A 2:1 multiplexer of some bits.
    Mux(MuxSpec),
    /// A tree that grants one of several requests.
    Select(SelectSpec),
    /// An equality comparator.
    Comparator(ComparatorSpec),
    /// A block of static gates: codes, comparators, arbiters, schedulers and so on.
    Logic(crate::logic::LogicSpec),
    /// A functional unit as products have it.
    Unit(crate::units::UnitSpec),
    /// The arithmetic of a functional unit alone.
    Datapath(crate::units::UnitSpec),
    /// A functional unit or a flip-flop as McPAT 1.3 has it.
    Mcpat(crate::units::McpatSpec),
    /// Interconnect, or a clock tree.
    Noc(crate::noc::NocSpec),
    /// An off-chip memory device.
    Memory(crate::memory::MemorySpec),
}

/// Of which flavours of a node a structure is made. Structures without memory cells have only the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flavours {
    /// Memory cells.
    pub cells: Flavour,
    /// All else.
    pub periphery: Flavour,
}

impl Flavours {
    /// Everything of one.
    pub const fn all(flavour: Flavour) -> Self {
        Self {
            cells: flavour,
            periphery: flavour,
        }
    }
}

impl fmt::Display for Flavours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cells != self.periphery {
            write!(f, "{} cells, ", self.cells)?;
        }
        f.write_str(self.periphery.name())
    }
}

impl Spec {
    /// Whether it has memory cells, which may be of another flavour than what is around them.
    pub fn has_cells(&self) -> bool {
        match self {
            Self::Ram(_)
            | Self::Cache(_)
            | Self::CacheData(_)
            | Self::Tags(_)
            | Self::Cam(_)
            | Self::FullyAssociative(_) => true,
            Self::Buffer(_)
            | Self::Mux(_)
            | Self::Select(_)
            | Self::Comparator(_)
            | Self::Logic(_)
            | Self::Unit(_)
            | Self::Datapath(_)
            | Self::Mcpat(_)
            | Self::Noc(_)
            | Self::Memory(_) => false,
        }
    }
}

/// Ports of an array: those that do either, only read, only write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    /// Ports that read or write.
    #[serde(default)]
    pub read_write: u32,
    /// Ports that only read.
    #[serde(default)]
    pub read: u32,
    /// Ports that only write.
    #[serde(default)]
    pub write: u32,
    /// How many of the `read` ports sense a single bitline instead of a pair.
    #[serde(default)]
    pub single_ended_read: u32,
    /// Ports that only search, of content-addressable memories.
    #[serde(default)]
    pub search: u32,
}

/// A random-access array of `words` words of `bits` bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RamSpec {
    /// Words, at least 1. All banks together.
    pub words: u64,
    /// Bits of a word, at least 1; an access reads or writes one word.
    pub bits: u64,
    /// Bits that one access returns; the whole word if absent.
    #[serde(default)]
    pub out_bits: Option<u64>,
    /// Ports of each bank.
    #[serde(default)]
    pub ports: Ports,
    /// Equal banks that the words are spread over; a power of two.
    #[serde(default = "one")]
    pub banks: u32,
}

/// A direct-mapped (`ways = 1`) or set-associative cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Sets, at least 1. All banks together.
    pub sets: u64,
    /// Lines of a set, at least 1.
    pub ways: u32,
    /// Data bits of a line.
    pub line_bits: u64,
    /// Bits of a tag with its state bits. If absent, what is left of 42 address bits and 5 of state after the index and the offset, as CACTI counts them.
    #[serde(default)]
    pub tag_bits: Option<u32>,
    /// Bits that one access returns; the whole line if absent.
    #[serde(default)]
    pub out_bits: Option<u64>,
    /// Ports of both sides.
    #[serde(default)]
    pub ports: Ports,
    /// How the two sides work together.
    #[serde(default)]
    pub access: Access,
    /// Equal banks that the sets are spread over; a power of two.
    #[serde(default = "one")]
    pub banks: u32,
}

/// A content-addressable memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CamSpec {
    /// Entries, at least 1. All banks together.
    pub entries: u64,
    /// Bits of an entry, all of which are compared.
    pub bits: u64,
    /// Ports; one without search ports is searched through those that read and write.
    #[serde(default)]
    pub ports: Ports,
    /// Equal banks that the entries are spread over; a power of two.
    #[serde(default = "one")]
    pub banks: u32,
}

/// A fully associative cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullyAssociativeSpec {
    /// Lines, at least 1.
    pub entries: u64,
    /// Data bits of a line.
    pub line_bits: u64,
    /// Bits of a tag with its state bits; by CACTI's rule if absent.
    #[serde(default)]
    pub tag_bits: Option<u32>,
    /// Bits that one access returns; the whole line if absent.
    #[serde(default)]
    pub out_bits: Option<u64>,
    /// Ports of both sides.
    #[serde(default)]
    pub ports: Ports,
    /// Equal banks that the lines are spread over; a power of two.
    #[serde(default = "one")]
    pub banks: u32,
}

/// The tag side of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagSpec {
    /// Sets, at least 1.
    pub sets: u64,
    /// Ways compared at once.
    pub ways: u32,
    /// Bits of a tag with its state bits.
    pub tag_bits: u32,
    /// Ports.
    #[serde(default)]
    pub ports: Ports,
}

/// How the tag side and the data side of a cache work together.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Both at once; the hit selects the way at the data side's sense amplifiers.
    #[default]
    Normal,
    /// First the tags, then only the way that hit.
    Sequential,
    /// Both at once; every way is driven out and selected at the edge.
    Fast,
}

/// Words in flip-flops.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Words, at least 1.
    pub entries: u64,
    /// Bits of a word, at least 1.
    pub bits: u64,
    /// Ports.
    #[serde(default)]
    pub ports: Ports,
}

/// A 2:1 multiplexer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MuxSpec {
    /// Bits of each input.
    pub bits: u64,
}

/// A select tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectSpec {
    /// Requests among which it chooses.
    pub inputs: u64,
}

/// An equality comparator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparatorSpec {
    /// Bits of each operand.
    pub bits: u64,
}

/// Where a structure runs. It never changes an area.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingPoint {
    /// Junction temperature, 300 K to 400 K.
    pub temperature: Temperature,
    /// Supply; the technology's nominal voltage if absent.
    #[serde(default)]
    pub vdd: Option<Voltage>,
}

impl Ports {
    /// One port that reads or writes.
    pub const ONE: Self = Self {
        read_write: 1,
        ..Self::NONE
    };
    /// One read port and one write port.
    pub const READ_AND_WRITE: Self = Self {
        read: 1,
        write: 1,
        ..Self::NONE
    };
    /// No port at all, to build others on.
    pub const NONE: Self = Self {
        read_write: 0,
        read: 0,
        write: 0,
        single_ended_read: 0,
        search: 0,
    };

    /// All ports but those that search.
    pub const fn total(self) -> u32 {
        self.read_write
            .saturating_add(self.read)
            .saturating_add(self.write)
    }

    /// Ports that can read.
    pub const fn readers(self) -> u32 {
        self.read_write.saturating_add(self.read)
    }

    /// Ports that can write.
    pub const fn writers(self) -> u32 {
        self.read_write.saturating_add(self.write)
    }
}

impl Default for Ports {
    fn default() -> Self {
        Self::ONE
    }
}

impl OperatingPoint {
    /// Nominal supply at a temperature.
    pub const fn at(temperature: Temperature) -> Self {
        Self {
            temperature,
            vdd: None,
        }
    }
}

const fn one() -> u32 {
    1
}
