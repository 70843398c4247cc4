//! Structures of a study's own as configurations have them: a value for each key, and which of them belong to which techniques.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_circuit::Spec;
use warpwatt_techniques::{Group, Stack};

use super::circuit::Chosen;
use super::{OwnAction, Parameter, Per, StructureAxes};
use crate::diag::{Diag, SourceId};
use crate::label::{self, STRUCTURE};
use crate::outcome::BASELINE;
use crate::reader::Placed;
use crate::sweep::{Counted, Design};
use crate::variants::{Faults, shown};

/// A structure with a value for each of its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnStructure {
    /// Its name, as in the counters of its actions.
    pub name: Placed<String>,
    /// What it belongs to.
    pub group: Group,
    /// How many there are.
    pub count: u32,
    /// Of what.
    pub per: Per,
    /// What it is made of.
    pub spec: Placed<Spec>,
    /// What happens to it, over the whole GPU.
    pub actions: Vec<OwnAction>,
    /// Which of its sizes it is, `structure.table(words=64)`; none if it has but one.
    pub label: Option<String>,
}

impl StructureAxes {
    /// The keys that have several values.
    pub(crate) fn swept(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters().filter(|parameter| parameter.is_swept())
    }

    /// Its axes, one for each key that has several values.
    pub(crate) fn counted(&self) -> impl Iterator<Item = Counted> {
        self.swept()
            .map(|parameter| (Some(parameter.axis), parameter.values.len()))
    }

    fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.count.iter().chain(&self.circuit.options)
    }

    /// Whether the plain GPU has it.
    pub fn is_of_baseline(&self) -> bool {
        let mut wanted = self.only_with.iter();
        self.baseline || wanted.any(|name| label::fits(BASELINE, &name.value))
    }

    /// Whether a configuration with techniques, or the one of the study's structures alone, has it: `called` are its label and those of its techniques.
    pub(crate) fn belongs(&self, called: &[String]) -> bool {
        let mut wanted = self.only_with.iter();
        self.only_with.is_empty()
            || wanted.any(|name| called.iter().any(|known| label::fits(known, &name.value)))
    }

    /// Whether it may be asked for beside techniques of these names, whatever their parameters.
    pub(crate) fn may_belong(&self, techniques: &[&str]) -> bool {
        let among = |wanted: &str| label::techniques(wanted).all(|name| techniques.contains(&name));
        let mut wanted = self.only_with.iter();
        techniques.is_empty() || self.only_with.is_empty() || wanted.any(|name| among(&name.value))
    }

    /// It with the values at these places of the keys that have several.
    fn made(&self, places: &[usize]) -> Result<OwnStructure, Vec<super::circuit::Misfit>> {
        let mut swept = places.iter();
        let mut place = |parameter: &Parameter| match parameter.is_swept() {
            true => swept.next().copied().unwrap_or_default(),
            false => 0,
        };
        let chosen: Vec<Chosen<'_>> = self
            .parameters()
            .map(|parameter| (parameter, &parameter.values[place(parameter)]))
            .collect();
        let (count, options) = chosen.split_at(usize::from(self.count.is_some()));
        let count = count
            .first()
            .and_then(|(_, count)| count.value.as_integer());
        let spec = self.circuit.made(options)?;
        Ok(OwnStructure {
            name: self.name.clone(),
            group: self.group,
            count: count
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(1),
            per: self.per,
            spec: Placed::new(spec, self.circuit.range.clone()),
            actions: self.actions.clone(),
            label: self.label(&chosen),
        })
    }

    fn label(&self, chosen: &[Chosen<'_>]) -> Option<String> {
        // Values are given as people write them; what parts a label does not belong into one.
        let parts = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '=' | '[' | ']');
        let swept = chosen.iter().filter(|(parameter, _)| parameter.is_swept());
        let said: Vec<String> = swept
            .map(|(parameter, value)| {
                format!(
                    "{}={}",
                    parameter.name,
                    shown(&value.value).replace(parts, "")
                )
            })
            .collect();
        let name = &self.name.value;
        (!said.is_empty()).then(|| format!("{STRUCTURE}{name}({})", said.join(", ")))
    }
}

/// The structures of a study, each made once for every choice of its values.
#[derive(Debug, Default)]
pub struct OwnStructures<'a> {
    makers: Vec<Maker<'a>>,
}

#[derive(Debug)]
struct Maker<'a> {
    axes: &'a StructureAxes,
    made: BTreeMap<Vec<usize>, Option<Arc<OwnStructure>>>,
}

impl<'a> OwnStructures<'a> {
    /// Those of a study.
    pub fn new(structures: &'a [StructureAxes]) -> Self {
        let maker = |axes| Maker {
            axes,
            made: BTreeMap::new(),
        };
        Self {
            makers: structures.iter().map(maker).collect(),
        }
    }

    /// All that were made, in the order of the file and of their values.
    pub fn made(&self) -> impl Iterator<Item = &Arc<OwnStructure>> {
        let makers = self.makers.iter();
        makers.flat_map(|maker| maker.made.values().flatten())
    }

    /// As the study describes them.
    pub(crate) fn axes(&self) -> impl Iterator<Item = &'a StructureAxes> {
        self.makers.iter().map(|maker| maker.axes)
    }

    /// Makes a first choice of each, so that what is wrong with one is said even if nothing has it, and refuses those of the baseline that are swept: all are
    /// compared with one plain GPU.
    pub(crate) fn judge(&mut self, design: &Design, faults: &mut Faults, source: SourceId) {
        for number in 0..self.makers.len() {
            let axes = self.makers[number].axes;
            let counted: Vec<Counted> = axes.counted().collect();
            let first = design.choices(&counted);
            if let Some(first) = first.and_then(|choices| choices.into_iter().next()) {
                self.with(number, &first, faults, source);
            }
            if let Some(swept) = axes.swept().next().filter(|_| axes.is_of_baseline()) {
                let message = format!(
                    "`{}` is in the plain GPU, with which all is compared, and has several `{}`",
                    axes.name.value, swept.name
                );
                let diag = Diag::error("study::structure", message)
                    .at(source, swept.key.clone(), "no axis here")
                    .help(
                        "make a study of each value, or leave the structure out of the plain GPU",
                    );
                faults.push(diag);
            }
        }
    }

    /// The structure of this number with the values at these places.
    pub(crate) fn with(
        &mut self,
        number: usize,
        places: &[usize],
        faults: &mut Faults,
        source: SourceId,
    ) -> Option<Arc<OwnStructure>> {
        let maker = &mut self.makers[number];
        if let Some(made) = maker.made.get(places) {
            return made.clone();
        }
        let made = maker.axes.made(places).map_err(|misfits| {
            for (range, fault) in misfits {
                let diag = Diag::error(fault.code, fault.message);
                let diag = diag.at(source, range, fault.label);
                faults.push(diag.maybe_help(fault.help));
            }
        });
        let made = made.ok().map(Arc::new);
        maker.made.insert(places.to_vec(), made.clone());
        made
    }
}

/// What a configuration may be called: its label, and the labels of the techniques in it, which a name without parameters fits too.
pub(crate) fn called(stack: &Stack, label: &str) -> Vec<String> {
    let members = stack.members().iter().map(|member| member.label());
    members.chain([label.to_owned()]).collect()
}
