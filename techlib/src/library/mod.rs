//! Libraries of technology nodes.

mod file;
mod read;

use std::str::FromStr;

use crate::quantity::Length;
use crate::technology::{Interpolation, Technology};
use crate::{Flavour, TechError};
use file::NodeFile;

/// The rule by which nodes between two tables are made.
const RULE: &str =
    "linear in the node between the two neighbouring tables (CACTI 7, parameter.cc:332 and 926)";

/// The data of `itrs`, largest node first.
const ITRS: [(&str, &str); 5] = [
    ("itrs/90nm.toml", include_str!("../../data/itrs/90nm.toml")),
    ("itrs/65nm.toml", include_str!("../../data/itrs/65nm.toml")),
    ("itrs/45nm.toml", include_str!("../../data/itrs/45nm.toml")),
    ("itrs/32nm.toml", include_str!("../../data/itrs/32nm.toml")),
    ("itrs/22nm.toml", include_str!("../../data/itrs/22nm.toml")),
];

/// A set of technology nodes from one family of sources.
#[derive(Clone, Debug)]
pub struct Library {
    name: &'static str,
    /// Largest node first.
    files: Vec<NodeFile>,
}

impl Library {
    /// The ITRS projections that CACTI and McPAT use, 90 nm to 22 nm: for reproducing those tools and the papers that used them.
    /// They are optimistic as statements about silicon, by up to two below 65 nm.
    pub fn itrs() -> Result<Self, TechError> {
        Self::from_files("itrs", &ITRS)
    }

    fn from_files(name: &'static str, sources: &[(&str, &str)]) -> Result<Self, TechError> {
        let files: Result<Vec<_>, _> = sources
            .iter()
            .map(|(path, text)| NodeFile::parse(path, text))
            .collect();
        Ok(Self {
            name,
            files: files?,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The nodes that have a table, largest first.
    pub fn nodes(&self) -> impl Iterator<Item = Length> {
        self.files.iter().map(|file| file.node)
    }

    /// The technology of a node, given as text such as `32nm` or `32 nm`.
    pub fn node(&self, name: &str, flavour: Flavour) -> Result<Technology, TechError> {
        let length = Length::from_str(name).map_err(|source| TechError::NodeName {
            name: name.to_owned(),
            problem: source,
        })?;
        self.at(length, flavour)
    }

    /// The technology of a node: a table if there is one, otherwise interpolated between its two neighbours by a rule that the result names.
    pub fn at(&self, node: Length, flavour: Flavour) -> Result<Technology, TechError> {
        let exact = |file: &&NodeFile| (file.node.as_nm() - node.as_nm()).abs() < 1e-6;
        if let Some(file) = self.files.iter().find(exact) {
            return read::technology(self.name, file, node, flavour);
        }
        let pair = self
            .files
            .windows(2)
            .find(|pair| pair[0].node > node && node > pair[1].node);
        let [larger, smaller] = pair.ok_or_else(|| self.out_of_range(node))? else {
            return Err(self.out_of_range(node));
        };
        let share = (node - smaller.node) / (larger.node - smaller.node);
        let interpolation = Interpolation {
            larger: larger.node,
            smaller: smaller.node,
            share_of_larger: share,
            rule: RULE,
        };
        let larger = read::technology(self.name, larger, node, flavour)?;
        let smaller = read::technology(self.name, smaller, node, flavour)?;
        Ok(larger.between(&smaller, interpolation))
    }

    fn out_of_range(&self, node: Length) -> TechError {
        let names: Vec<String> = self
            .nodes()
            .map(|node| format!("{:.0}nm", node.as_nm()))
            .collect();
        let ends = self
            .nodes()
            .fold(None, |ends: Option<(Length, Length)>, node| {
                Some(ends.map_or((node, node), |(low, high)| (low.min(node), high.max(node))))
            });
        let (low, high) = ends.unwrap_or_default();
        TechError::NodeOutOfRange {
            library: self.name,
            node,
            low,
            high,
            nodes: names.join(", "),
        }
    }
}

#[cfg(test)]
mod tests;
