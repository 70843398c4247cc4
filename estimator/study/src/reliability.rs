//! `[reliability]`: which storage is followed bit by bit.

use toml::de::DeValue;
use warpwatt_reliability::Structure;

use super::reader::known;
use super::reader::{Fault, Reader, Section, text};

/// The storage whose vulnerability every point carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Structures in the order of the file; all that there are if none is named.
    pub structures: Vec<Structure>,
}

impl Watched {
    /// Those that are asked for.
    pub fn structures(&self) -> impl Iterator<Item = Structure> + '_ {
        let all = self.structures.is_empty().then_some(Structure::ALL);
        let all = all.into_iter().flatten();
        self.structures.iter().copied().chain(all)
    }

    /// Equal choices have equal texts.
    pub fn canonical(&self) -> String {
        let names: Vec<&str> = self.structures().map(Structure::name).collect();
        format!("followed: {}", names.join(" "))
    }
}

/// `None` if the study does not ask for it: following bits takes three times as long.
pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Watched> {
    let section = reader.section(root, "reliability")?;
    reader.refuse_unknown(&section, &["structures"]);
    let structures = reader.axis(&section, "structures", structure);
    let structures = structures.unwrap_or_default();
    Some(Watched {
        structures: structures.into_iter().map(|placed| placed.value).collect(),
    })
}

fn structure(value: &DeValue<'_>) -> Result<Structure, Fault> {
    let name = text("a structure", value, "structures = [\"register_file\"]")?;
    let names = Structure::ALL.map(Structure::name);
    let name = known("structure", "study::unknown_structure", &name, names)?;
    Structure::of(&name).map_err(|error| Fault {
        code: "study::unknown_structure",
        message: error.to_string(),
        label: String::new(),
        help: None,
    })
}
