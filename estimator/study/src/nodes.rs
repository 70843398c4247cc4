//! From axes to what they span: technology points.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use warpwatt_circuit::{CircuitError, OperatingPoint, Profile};
use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Flavour, Library, OwnNode, TechError};

use super::TechnologyAxes;
use super::gpu::NodeChoice;
use super::reader::Placed;
use super::sweep::{Choice, Counted, Design};
use super::variants::{Faults, absurd, named};
use crate::diag::{Diag, Sink, SourceId};
use crate::pricing::{Described, Designs, NodeCircuits};
use crate::technology;

/// Where the transistors of a node come from.
enum Origin {
    Table(Library, Length),
    Own(Box<OwnNode>),
}

/// A node of the study, with the flavours that were asked for, shared by their operating points.
struct Node {
    origin: Origin,
    known: Vec<(Flavour, Result<Described, TechError>)>,
    /// By flavour, profile and the bits of the temperature for which structures are laid out.
    designs: BTreeMap<(&'static str, Profile, u64), Arc<Designs>>,
}

impl Node {
    /// `None` if it cannot be read, which is left in `sink`.
    fn read(
        choice: &Placed<NodeChoice>,
        library: Library,
        (directory, source): (&Path, SourceId),
        sink: &mut Sink,
    ) -> Option<Self> {
        let origin = match &choice.value {
            NodeChoice::Feature(feature) => Origin::Table(library, *feature),
            NodeChoice::File(written) => {
                let named = Some((source, choice.range.clone()));
                Origin::Own(Box::new(technology::read_node(
                    sink, directory, written, named,
                )?))
            }
        };
        Some(Self {
            origin,
            known: Vec::new(),
            designs: BTreeMap::new(),
        })
    }

    fn technology(&mut self, flavour: Flavour) -> Result<Described, TechError> {
        if let Some((_, technology)) = self.known.iter().find(|(known, _)| *known == flavour) {
            return technology.clone();
        }
        let technology = match &self.origin {
            Origin::Table(library, feature) => library.at(*feature, flavour),
            Origin::Own(node) => node.technology(flavour),
        };
        let technology = technology.map(Described::from);
        self.known.push((flavour, technology.clone()));
        technology
    }

    /// What operating points share.
    fn designs(
        &mut self,
        technology: Described,
        flavour: Flavour,
        profile: Profile,
        at: &OperatingPoint,
    ) -> Arc<Designs> {
        let temperature = profile.design_temperature(at.temperature).si().to_bits();
        let make = || Arc::new(Designs::new(technology, profile, at));
        let known = self.designs.entry((flavour.name(), profile, temperature));
        Arc::clone(known.or_insert_with(make))
    }

    /// Circuits of one flavour, at a point where they work.
    fn circuits(
        &mut self,
        flavour: Flavour,
        point: OperatingPoint,
        profile: Profile,
    ) -> Result<NodeCircuits, CircuitError> {
        let technology = self.technology(flavour)?;
        let designs = self.designs(technology, flavour, profile, &point);
        let circuits = NodeCircuits::of(designs, point);
        circuits.runs()?;
        // Where the library has no such flavour, or its transistors do not switch at this supply, those of the cells do.
        let circuits = match self.technology(Flavour::Lstp) {
            Ok(switch) => circuits.with_switch(switch),
            Err(_) => circuits,
        };
        Ok(match &self.origin {
            Origin::Table(..) => circuits,
            Origin::Own(node) => circuits.with_notes(technology::notes(node)),
        })
    }
}

/// All technologies of a study with what was chosen for each, in the order of the file, the last axis fastest; node files are looked for in `directory`. What
/// cannot be is left in `sink`.
pub fn technologies(
    axes: &TechnologyAxes,
    (design, directory): (&Design, &Path),
    sink: &mut Sink,
    source: SourceId,
) -> Vec<(NodeCircuits, Choice)> {
    let library = match Library::named(&axes.library.value) {
        Ok(library) => library,
        Err(error) => {
            sink.push(Diag::error("techlib::defect", error.to_string()));
            return Vec::new();
        }
    };
    let nodes = axes.node.iter();
    let mut nodes: Vec<Option<Node>> = nodes
        .map(|choice| Node::read(choice, library, (directory, source), sink))
        .collect();
    let counted: [Counted; 5] = [
        (design.axis("gpu.node"), axes.node.len()),
        (design.axis("gpu.flavour"), axes.flavour.len()),
        (design.axis("gpu.temperature"), axes.temperature.len()),
        (design.axis("gpu.vdd"), axes.vdd.len()),
        (design.axis("gpu.profile"), axes.profile.len()),
    ];
    let Some(choices) = design.choices(&counted) else {
        sink.push(absurd("technologies", source, &axes.node[0].range));
        return Vec::new();
    };
    let mut technologies = Vec::new();
    let mut faults = Faults::default();
    for choice in choices {
        let Some(node) = &mut nodes[choice[0]] else {
            continue;
        };
        let (temperature, vdd) = (&axes.temperature[choice[2]], &axes.vdd[choice[3]]);
        let point = OperatingPoint {
            temperature: temperature.value,
            vdd: vdd.value,
        };
        let (flavour, profile) = (axes.flavour[choice[1]].value, axes.profile[choice[4]].value);
        // Whether there are such transistors at all is a question to the node, everything else one to the operating point.
        let there = node.technology(flavour).map(|_| ());
        match (there, node.circuits(flavour, point, profile)) {
            (_, Ok(circuits)) => technologies.push((circuits, named(&counted, &choice))),
            (Err(error), _) => {
                let diag = Diag::error("study::unknown_node", error.to_string());
                faults.push(diag.at(source, axes.node[choice[0]].range.clone(), ""));
            }
            (Ok(()), Err(error)) => {
                let supply = matches!(error, CircuitError::Technology(TechError::Supply { .. }));
                let range = if supply {
                    &vdd.range
                } else {
                    &temperature.range
                };
                let diag = Diag::error("study::operating_point", error.to_string());
                faults.push(diag.at(source, range.clone(), ""));
            }
        }
    }
    faults.leave(sink);
    technologies
}
