//! From axes to what they span: technology points.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use warpwatt_circuit::{CircuitError, Flavours, OperatingPoint, Profile};
use warpwatt_techlib::quantity::{Length, Voltage};
use warpwatt_techlib::{Flavour, Library, OwnNode, TechError};

use super::TechnologyAxes;
use super::gpu::NodeChoice;
use super::reader::Placed;
use super::sweep::{Choice, Counted, Design};
use super::variants::{Faults, absurd, named};
use crate::diag::{Diag, Sink, SourceId, Span};
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
    /// By flavours, profile and the bits of the temperature for which structures are laid out.
    designs: BTreeMap<(Flavours, Profile, u64), Arc<Designs>>,
}

impl Node {
    /// `None` if it cannot be read, which is left in `sink`.
    fn read(
        choice: &Placed<NodeChoice>,
        library: Library,
        directory: &Path,
        source: SourceId,
        sink: &mut Sink,
    ) -> Option<Self> {
        let origin = match &choice.value {
            NodeChoice::Feature(feature) => Origin::Table(library, *feature),
            NodeChoice::File(written) => {
                let named = Some(Span {
                    source,
                    range: choice.range.clone(),
                });
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
        flavours: Flavours,
        profile: Profile,
        at: &OperatingPoint,
    ) -> Result<Arc<Designs>, TechError> {
        let both = (
            self.technology(flavours.cells)?,
            self.technology(flavours.periphery)?,
        );
        let temperature = profile.design_temperature(at.temperature).si().to_bits();
        let make = || Arc::new(Designs::mixed(both, profile, at));
        let known = self.designs.entry((flavours, profile, temperature));
        Ok(Arc::clone(known.or_insert_with(make)))
    }

    /// Circuits of some flavours, at a point where they work.
    fn made(
        &mut self,
        flavours: Flavours,
        point: OperatingPoint,
        profile: Profile,
    ) -> Result<NodeCircuits, CircuitError> {
        let circuits = NodeCircuits::of(self.designs(flavours, profile, &point)?, point);
        circuits.runs()?;
        // Where the library has no such flavour, or its transistors do not switch at this supply, those of the cells do.
        Ok(match self.technology(Flavour::Lstp) {
            Ok(switch) => circuits.with_switch(switch),
            Err(_) => circuits,
        })
    }

    /// Circuits of one flavour, with those beside them of which structures may be made that have time.
    fn circuits(
        &mut self,
        flavour: Flavour,
        point: OperatingPoint,
        profile: Profile,
    ) -> Result<NodeCircuits, CircuitError> {
        let own = self.made(Flavours::all(flavour), point, profile)?;
        let supply = own.technology().device.vdd.value;
        let others = self.slower(flavour).into_iter().filter_map(|flavours| {
            let made_for = self.technology(flavours.periphery).ok()?;
            let lower = made_for.technology().device.vdd.value > supply;
            let shared = OperatingPoint {
                vdd: point.vdd.or(lower.then_some(supply)),
                ..point
            };
            // Those that do not run at this point are not among them.
            let made = self.made(flavours, shared, profile).ok()?;
            Some((flavours, made.designed_for(lower.then_some(supply))))
        });
        let circuits = own.with_others(others.collect());
        Ok(match &self.origin {
            Origin::Table(..) => circuits,
            Origin::Own(node) => circuits.with_notes(technology::notes(node)),
        })
    }

    /// Flavours for what need not be as fast as `flavour`: cells of the memories' own transistors in peripheries of each kind, and all of one kind. They bear its
    /// supply, as a chip has one for its logic: they are made for it, or, but for cells, which need what they are made for, for a higher one.
    fn slower(&mut self, flavour: Flavour) -> Vec<Flavours> {
        let Ok(own) = self.technology(flavour) else {
            return Vec::new();
        };
        let supply = |of: &Described| of.technology().device.vdd.value;
        let mut made_for = |other: &Flavour| {
            let there = self.technology(*other);
            there.map_or(Voltage::ZERO, |there| supply(&there))
        };
        let calmer: &[Flavour] = match flavour {
            Flavour::Hp => &[Flavour::Lstp, Flavour::Lop],
            Flavour::Lop => &[Flavour::Lstp],
            Flavour::Lstp | Flavour::Sram => &[],
        };
        let logic = calmer.iter().copied();
        let logic = logic.filter(|other| made_for(other) >= supply(&own));
        let logic: Vec<Flavour> = logic.chain([flavour]).collect();
        let mut cells = [Flavour::Sram, Flavour::Lstp].into_iter();
        let cells = cells.find(|other| made_for(other) == supply(&own));
        let with_cells = logic.iter().filter_map(|&periphery| {
            let cells = cells?;
            Some(Flavours { cells, periphery })
        });
        let mut all: Vec<Flavours> = with_cells.collect();
        all.extend(logic.iter().map(|&flavour| Flavours::all(flavour)));
        all.retain(|flavours| *flavours != Flavours::all(flavour));
        all.sort();
        all.dedup();
        all
    }
}

/// All technologies of a study with what was chosen for each, in the order of the file, the last axis fastest; node files are looked for in `directory`. What
/// cannot be is left in `sink`.
pub fn technologies(
    axes: &TechnologyAxes,
    design: &Design,
    directory: &Path,
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
        .map(|choice| Node::read(choice, library, directory, source, sink))
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
