//! What a study chose: the settings of its GPUs, its nodes, the parameters of its techniques, and the sizes of its own structures, a column each in every table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warpwatt_circuit::registry::{self, Allowed, Block};
use warpwatt_gpu::{Preset, presets};
use warpwatt_techniques::{ALL, Kind as Takes, find};

use super::sheet::{Cell, Kind, SheetColumn};
use crate::label::{self, Label, Parameter, STRUCTURE};
use crate::outcome::{Point, TechnologyName};

/// Before a setting of the GPU.
const GPU: &str = "gpu.";
/// Before a parameter of a technique.
const TECHNIQUE: &str = "technique.";
/// Keys of structures that are whole numbers, beside those that circuits declare.
const COUNTS: [&str; 5] = ["count", "words", "bits", "banks", "tag_bits"];
/// The technology node.
const NODE: &str = "gpu.node";

/// The parameters of a study, in the order of its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    columns: Arc<[SheetColumn]>,
    /// Where the cells of each column come from.
    origins: Arc<[Origin]>,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// The technology.
    Node,
    /// A setting of the GPU, by its key.
    Setting(String),
    /// The label, by what it is asked for.
    Label(Parameter),
}

impl Origin {
    fn of(column: &str) -> Self {
        match (column.strip_prefix(TECHNIQUE), column.strip_prefix(GPU)) {
            (Some(name), _) => Self::Label(Parameter::named(name)),
            _ if column.starts_with(STRUCTURE) => Self::Label(Parameter::named(column)),
            _ if column == NODE => Self::Node,
            (_, setting) => Self::Setting(setting.unwrap_or_default().to_owned()),
        }
    }
}

impl Parameters {
    /// The node, every setting that a study gives its GPUs, every parameter of the techniques that it names and every key of its own structures that is swept, by
    /// name.
    pub fn names<'a>(
        settings: impl Iterator<Item = &'a str>,
        techniques: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let settings: BTreeSet<&str> = settings.collect();
        let settings = settings.iter().map(|setting| format!("{GPU}{setting}"));
        let labels: BTreeSet<&str> = techniques.collect();
        let structures: BTreeSet<&str> = labels.iter().flat_map(|l| label::structures(l)).collect();
        let swept = structures.into_iter().filter_map(label::parameters);
        let swept: BTreeSet<String> = swept.flatten().map(|(name, _)| name).collect();
        let named: BTreeSet<&str> = labels.iter().flat_map(|l| label::techniques(l)).collect();
        let definitions = ALL.iter().filter(|one| named.contains(one.name));
        let techniques = definitions.flat_map(|definition| {
            let parameters = definition.parameters.iter();
            parameters.map(|one| format!("{TECHNIQUE}{}.{}", definition.name, one.name))
        });
        let node = std::iter::once(NODE.to_owned());
        node.chain(settings)
            .chain(techniques)
            .chain(swept)
            .collect()
    }

    /// Those of these names.
    pub fn named(names: &[String]) -> Self {
        // Settings have the same types in all presets.
        let gpu = presets().first().map(Preset::table).unwrap_or_default();
        let columns = names.iter();
        let columns = columns.map(|name| SheetColumn::new(name, kind(name, &gpu)));
        let origins = names.iter().map(|name| Origin::of(name));
        Self {
            columns: columns.collect(),
            origins: origins.collect(),
        }
    }

    /// Those of some points.
    pub fn of<'p>(points: impl Iterator<Item = &'p Point> + Clone) -> Self {
        let settings = points.clone().flat_map(|point| point.axes.keys());
        let techniques = points.map(|point| &*point.technique);
        Self::named(&Self::names(settings.map(String::as_str), techniques))
    }

    /// The columns.
    pub fn columns(&self) -> &[SheetColumn] {
        &self.columns
    }

    /// What a point chose.
    pub fn of_point(&self, point: &Point) -> Vec<Cell> {
        self.cells(&point.axes, &point.technology, &point.technique)
    }

    /// The settings, the node and what is in the label of the techniques; nothing of a technique that is not there.
    pub fn cells(
        &self,
        settings: &BTreeMap<String, String>,
        technology: &TechnologyName,
        techniques: &str,
    ) -> Vec<Cell> {
        let label = Label::of(techniques);
        let cell = |(column, origin): (&SheetColumn, &Origin)| {
            let text = match origin {
                Origin::Node => Some(&*technology.node),
                Origin::Setting(key) => settings.get(key).map(String::as_str),
                Origin::Label(parameter) => label.value(parameter),
            };
            text.map_or(Cell::Nothing, |text| Cell::parse(column.kind, text))
        };
        self.columns.iter().zip(&*self.origins).map(cell).collect()
    }
}

/// What the values of a parameter are, as it is declared.
fn kind(name: &str, gpu: &toml::Table) -> Kind {
    if let Some(key) = name.strip_prefix(STRUCTURE) {
        let key = key.rsplit_once('.').map_or(key, |(_, key)| key);
        let declared = |block: &Block| {
            let mut own = block.parameters.iter();
            own.any(|own| own.name == key && matches!(own.allowed, Allowed::Count { .. }))
        };
        return match COUNTS.contains(&key) || registry::blocks().any(declared) {
            true => Kind::Count,
            false => Kind::Text,
        };
    }
    let technique = name.strip_prefix(TECHNIQUE).and_then(|name| {
        let (technique, key) = name.split_once('.')?;
        let mut parameters = find(technique).ok()?.parameters.iter();
        Some(parameters.find(|parameter| parameter.name == key)?.kind)
    });
    match (technique, name.strip_prefix(GPU)) {
        (Some(Takes::Count { .. } | Takes::PowerOfTwo { .. }), _) => Kind::Count,
        (Some(Takes::Flag { .. }), _) => Kind::Mark,
        (None, Some(setting)) => match warpwatt_gpu::setting(gpu, setting) {
            Some(toml::Value::Integer(_)) => Kind::Count,
            Some(toml::Value::Float(_)) => Kind::Real,
            Some(toml::Value::Boolean(_)) => Kind::Mark,
            _ => Kind::Text,
        },
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_parameter_is_a_column_with_its_type() {
        let mut points: Vec<Point> = sample::outcomes().into_iter().map(|o| o.point).collect();
        for point in &mut points {
            Arc::make_mut(&mut point.axes).insert("sm.threads".to_owned(), "512".to_owned());
        }
        points[1].technique = "filter_cache + uniform_vector(mode=intra)".into();
        let parameters = Parameters::of(points.iter());
        let value = |point: usize, name: &str| {
            let mut columns = parameters.columns().iter();
            let place = columns.position(|column| column.name == name).expect(name);
            parameters.of_point(&points[point])[place].clone()
        };
        assert_eq!(value(0, "gpu.node"), Cell::from("32nm"));
        assert_eq!(value(0, "gpu.sm.threads"), Cell::Count(512));
        assert_eq!(value(0, "technique.filter_cache.entries"), Cell::Nothing);
        // The label says nothing of it: the default.
        assert_eq!(value(1, "technique.filter_cache.entries"), Cell::Count(32));
        assert_eq!(
            value(1, "technique.uniform_vector.mode"),
            Cell::from("intra")
        );
        assert_eq!(value(3, "technique.filter_cache.entries"), Cell::Count(32));
    }
}
