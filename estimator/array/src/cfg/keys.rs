//! The keys of CACTI 6.5's and 7's configuration files (io.cc), and what becomes of each.

/// A key and its meaning.
pub(super) struct Key {
    /// As CACTI writes it, without the dash.
    pub(super) name: &'static str,
    /// What may stand in parentheses behind it where that is a unit.
    pub(super) unit: Option<&'static str>,
    pub(super) meaning: Meaning,
}

/// What becomes of a line.
pub(super) enum Meaning {
    /// It is the input of this name.
    Input(&'static str),
    /// It says of the tags what another says of the data; both sides are of one flavour here.
    Tag(&'static str),
    /// It is an input, or `default`.
    Default(&'static str),
    /// Five weights.
    Weights,
    /// Five deviations.
    Deviations,
    /// Only one value is modelled, for a reason.
    Only(&'static str, &'static str),
    /// A switch of power gating.
    Gate,
    /// The loss of performance through power gating.
    Loss,
    /// It is about printing, networks or external memory.
    Unused,
}

use Meaning::{Deviations, Gate, Input, Loss, Only, Tag, Unused, Weights};

const fn key(name: &'static str, meaning: Meaning) -> Key {
    Key {
        name,
        unit: None,
        meaning,
    }
}

const fn with_unit(name: &'static str, unit: &'static str, meaning: Meaning) -> Key {
    Key {
        name,
        unit: Some(unit),
        meaning,
    }
}

pub(super) const KEYS: &[Key] = &[
    with_unit("size", "bytes", Input("size_bytes")),
    with_unit("block size", "bytes", Input("block_bytes")),
    key("associativity", Input("assoc")),
    key("read-write port", Input("rw_ports")),
    key("exclusive read port", Input("r_ports")),
    key("exclusive write port", Input("w_ports")),
    key("single ended read ports", Input("se_r_ports")),
    key("search port", Input("search_ports")),
    key("UCA bank count", Input("banks")),
    with_unit("technology", "u", Input("node_um")),
    key("Data array cell type", Input("cell_type")),
    key("Data array peripheral type", Input("peri_type")),
    key("Tag array cell type", Tag("cell_type")),
    key("Tag array peripheral type", Tag("peri_type")),
    key("output/input bus width", Input("out_width_bits")),
    with_unit("operating temperature", "K", Input("temp_k")),
    key("cache type", Input("mem_type")),
    with_unit("tag size", "b", Meaning::Default("tag_bits")),
    key("access mode", Input("access_mode")),
    key("design objective", Weights),
    key("deviate", Deviations),
    key("Optimize ED or ED^2", Input("optimize")),
    key("Wire signaling", Input("wire_signaling")),
    key("Wire inside mat", Input("wire_inside")),
    key("Wire outside mat", Input("wire_outside")),
    key("Interconnect projection", Input("ic_proj")),
    key("Add ECC", Input("ecc")),
    key("CLDriver vertical", Input("cl_vertical")),
    key(
        "Cache model",
        Only("UCA", "networks of banks (NUCA) are not modelled"),
    ),
    key(
        "Force cache config",
        Only("false", "the organisation is always searched for"),
    ),
    key("Array Power Gating", Gate),
    key("WL Power Gating", Gate),
    key("CL Power Gating", Gate),
    key("Bitline floating", Gate),
    key("Interconnect Power Gating", Gate),
    key("Power Gating Performance Loss", Loss),
    key("Ndwl", Unused),
    key("Ndbl", Unused),
    key("Nspd", Unused),
    key("Ndcm", Unused),
    key("Ndsam1", Unused),
    key("Ndsam2", Unused),
    key("page size", Unused),
    key("burst length", Unused),
    key("internal prefetch width", Unused),
    key("NUCAdesign objective", Unused),
    key("NUCAdeviate", Unused),
    key("NUCA bank count", Unused),
    key("Core count", Unused),
    key("Cache level", Unused),
    key("Print level", Unused),
    key("Print input parameters", Unused),
    key("stacked die count", Unused),
    key("partitioning granularity", Unused),
    key("TSV projection", Unused),
    key("dram_type", Unused),
    key("io state", Unused),
    key("addr_timing", Unused),
    key("mem_density", Unused),
    key("bus_freq", Unused),
    key("duty_cycle", Unused),
    key("activity_dq", Unused),
    key("activity_ca", Unused),
    key("num_dq", Unused),
    key("num_dqs", Unused),
    key("num_ca", Unused),
    key("num_clk", Unused),
    key("num_mem_dq", Unused),
    key("mem_data_width", Unused),
    key("rtt_value", Unused),
    key("ron_value", Unused),
    key("tflight_value", Unused),
    key("num_bobs", Unused),
    key("capacity", Unused),
    key("num_channels_per_bob", Unused),
    key("first metric", Unused),
    key("second metric", Unused),
    key("third metric", Unused),
    key("DIMM model", Unused),
    key("mirror_in_bob", Unused),
    key("verbose", Unused),
    key("burst depth", Unused),
    key("IO width", Unused),
    key("system frequency", Unused),
];

/// A sentence about inputs in the words of the file. Names of inputs that are words of English as well stay as they are.
pub(super) fn in_cfg(sentence: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut rest = sentence;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        match named(word) {
            Some(key) => {
                text.push('-');
                text.push_str(key);
            }
            None => text.push_str(word),
        }
        let gap = tail.find(is_name).unwrap_or(tail.len());
        text.push_str(&tail[..gap]);
        rest = &tail[gap..];
    }
    text
}

/// The key of the input `word`.
fn named(word: &str) -> Option<&'static str> {
    let is_plain = !word.contains('_') && word != "assoc";
    let of_input = |key: &&Key| match key.meaning {
        Input(name) | Meaning::Default(name) => name == word,
        _ => false,
    };
    let key = KEYS.iter().find(of_input).filter(|_| !is_plain);
    key.map(|key| key.name)
}
