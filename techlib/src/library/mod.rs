//! Libraries of technology nodes.

mod file;
mod own;
mod read;
mod schema;

use std::str::FromStr;

use crate::quantity::Length;
use crate::technology::{Interpolation, Technology};
use crate::{Flavour, TechError};
use file::NodeFile;
pub use own::{Fault, Load, Override, OwnNode};

/// One data file: its node in nanometres, its name, its text.
type Source = (u16, &'static str, &'static str);

macro_rules! sources {
    ($library:literal: $($node:literal)+) => {
        &[$((
            $node,
            concat!($library, "/", stringify!($node), "nm.toml"),
            include_str!(concat!("../../data/", $library, "/", stringify!($node), "nm.toml")),
        )),+]
    };
}

/// A set of technology nodes from one family of sources.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    name: &'static str,
    /// Largest node first.
    sources: &'static [Source],
    between: Between,
}

/// How nodes without a table are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Node,
    LogNode,
}

impl Between {
    const fn rule(self) -> &'static str {
        match self {
            Self::Node => {
                "linear in the node between the two neighbouring tables (CACTI 7, parameter.cc:332 and 926)"
            }
            Self::LogNode => {
                "linear in the logarithm of the node between the two neighbouring tables"
            }
        }
    }

    /// Nanometres from a table within which a node takes it as it is. CACTI takes it within one, and then scales what is measured in the feature
    /// size (CACTI 7, parameter.cc:786).
    const fn nearness(self) -> f64 {
        match self {
            Self::Node => 1.0,
            Self::LogNode => 1e-6,
        }
    }

    fn share_of_larger(self, node: Length, larger: Length, smaller: Length) -> f64 {
        match self {
            Self::Node => (node - smaller) / (larger - smaller),
            Self::LogNode => libm::log(node / smaller) / libm::log(larger / smaller),
        }
    }
}

impl Library {
    /// The ITRS projections that CACTI and McPAT use, 90 nm to 22 nm: for reproducing those tools and the papers that used them.
    /// They are optimistic as statements about silicon, by up to two below 65 nm.
    pub fn itrs() -> Result<Self, TechError> {
        Ok(Self {
            name: "itrs",
            sources: sources!("itrs": 90 65 45 32 22),
            between: Between::Node,
        })
    }

    /// Silicon as it is published: planar 180 nm to 20 nm, FinFETs from 16 nm to 3 nm, a sketch of 2 nm.
    /// The default for everything but the reproduction of old tools. What it is made of and how sure it is stands in `docs/technology.md`.
    pub fn silicon() -> Result<Self, TechError> {
        Ok(Self {
            name: "silicon",
            sources: sources!("silicon": 180 130 90 65 45 32 22 20 16 14 12 10 7 5 3 2),
            between: Between::LogNode,
        })
    }

    /// The library of this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn named(name: &str) -> Result<Self, TechError> {
        match name {
            "silicon" => Self::silicon(),
            "itrs" => Self::itrs(),
            _ => Err(TechError::Library {
                name: name.to_owned(),
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The nodes that have a table, largest first.
    pub fn nodes(&self) -> impl Iterator<Item = Length> {
        self.sources
            .iter()
            .map(|(node, ..)| Length::from_nm(f64::from(*node)))
    }

    /// The flavours of a node that has a table; none of any other.
    ///
    /// # Errors
    ///
    /// The data file of the node is not as it must be.
    pub fn flavours(&self, node: Length) -> Result<Vec<Flavour>, TechError> {
        let exact = |source: &&Source| (f64::from(source.0) - node.as_nm()).abs() < 1e-6;
        let found = self.sources.iter().find(exact);
        let flavours = found.map(|(_, path, text)| {
            let file = NodeFile::parse(path, text)?;
            Ok(file.flavours().collect())
        });
        flavours.unwrap_or_else(|| Ok(Vec::new()))
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
        let exact =
            |source: &&Source| (f64::from(source.0) - node.as_nm()).abs() < self.between.nearness();
        if let Some(source) = self.sources.iter().find(exact) {
            return self.read(source, node, flavour);
        }
        let around = |pair: &&[Source]| {
            f64::from(pair[0].0) > node.as_nm() && node.as_nm() > f64::from(pair[1].0)
        };
        let pair = self.sources.windows(2).find(around);
        let [larger, smaller] = pair.ok_or_else(|| self.out_of_range(node))? else {
            return Err(self.out_of_range(node));
        };
        let ends = (
            Length::from_nm(f64::from(larger.0)),
            Length::from_nm(f64::from(smaller.0)),
        );
        let interpolation = Interpolation {
            larger: ends.0,
            smaller: ends.1,
            share_of_larger: self.between.share_of_larger(node, ends.0, ends.1),
            rule: self.between.rule().into(),
        };
        let larger = self.read(larger, node, flavour)?;
        let smaller = self.read(smaller, node, flavour)?;
        if larger.layout.kind != smaller.layout.kind {
            return Err(TechError::BetweenKinds {
                library: self.name.to_owned(),
                node,
                larger: ends.0,
                smaller: ends.1,
            });
        }
        Ok(larger.between(&smaller, interpolation))
    }

    /// The data of a node that has a table.
    fn table(&self, name: &str) -> Result<(Length, NodeFile), TechError> {
        let node = Length::from_str(name).map_err(|problem| TechError::NodeName {
            name: name.to_owned(),
            problem,
        })?;
        let exact = |source: &&Source| (f64::from(source.0) - node.as_nm()).abs() < 1e-6;
        let found = self.sources.iter().find(exact);
        let (_, path, text) = found.ok_or_else(|| self.out_of_range(node))?;
        Ok((node, NodeFile::parse(path, text)?))
    }

    fn read(
        &self,
        (_, path, text): &Source,
        feature: Length,
        flavour: Flavour,
    ) -> Result<Technology, TechError> {
        let file = NodeFile::parse(path, text)?;
        read::technology(self.name, &file, feature, flavour)
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
            library: self.name.to_owned(),
            node,
            low,
            high,
            nodes: names.join(", "),
        }
    }
}

#[cfg(test)]
mod silicon_tests;
#[cfg(test)]
mod tests;
