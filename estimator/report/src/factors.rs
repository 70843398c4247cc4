//! What the points of a study differ in: its parameters, as factors with levels.

use std::collections::BTreeMap;

use crate::label;
use crate::outcome::Point;

/// A parameter and the values that it takes, in the order of their first point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name: `kernel`, `node`, a setting of the GPU, `technique`, `filter_cache.entries`.
    pub name: String,
    /// Its values.
    pub levels: Vec<String>,
    /// Parameters that change with it, so that their effects cannot be told from its own.
    pub moves_with: Vec<String>,
}

/// The factors of some points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// The factors.
    pub factors: Vec<Factor>,
    /// For every point the place of its level in each factor.
    pub levels: Vec<Vec<usize>>,
}

impl Factors {
    /// What `points` differ in. Parameters of techniques are factors where all points have the same techniques; otherwise what they are given is one factor, `technique`.
    pub fn of(points: &[&Point]) -> Self {
        let parameters: Vec<Option<Vec<(String, String)>>> = points
            .iter()
            .map(|point| label::parameters(&point.technique))
            .collect();
        let names = |parameters: &Option<Vec<(String, String)>>| {
            let named = parameters.as_ref();
            named.map(|all| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
        };
        let alike = parameters
            .windows(2)
            .all(|pair| names(&pair[0]) == names(&pair[1]))
            && parameters.first().is_some_and(Option::is_some)
            && same_members(points);
        let rows: Vec<Vec<(String, String)>> = points
            .iter()
            .zip(parameters)
            .map(|(point, parameters)| {
                let mut row = environment(point);
                match parameters {
                    Some(parameters) if alike => row.extend(parameters),
                    _ => row.push(("technique".to_owned(), point.technique.to_string())),
                }
                row
            })
            .collect();
        Self::from_rows(&rows)
    }

    /// Factors from named values, a row a point.
    fn from_rows(rows: &[Vec<(String, String)>]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in rows.iter().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let mut factors: Vec<Factor> = Vec::new();
        let mut columns: Vec<Vec<usize>> = Vec::new();
        for name in names {
            let values = rows.iter().map(|row| {
                let found = row.iter().find(|(known, _)| known == name);
                found.map_or("", |(_, value)| value.as_str())
            });
            let (levels, column) = levels(values);
            if levels.len() < 2 {
                continue;
            }
            match columns.iter().position(|other| determines(other, &column)) {
                Some(other) => factors[other].moves_with.push(name.to_owned()),
                None => {
                    factors.push(Factor {
                        name: name.to_owned(),
                        levels,
                        moves_with: Vec::new(),
                    });
                    columns.push(column);
                }
            }
        }
        let levels = (0..rows.len()).map(|row| columns.iter().map(|c| c[row]).collect());
        Self {
            levels: levels.collect(),
            factors,
        }
    }

    /// Whether every combination of levels is there exactly once.
    pub fn is_grid(&self) -> bool {
        let sizes = self.factors.iter().map(|factor| factor.levels.len());
        if sizes.fold(1, usize::saturating_mul) != self.levels.len() {
            return false;
        }
        let mut sorted: Vec<&Vec<usize>> = self.levels.iter().collect();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// The distinct values in the order of their first, and the place of each value among them.
fn levels<'v>(values: impl Iterator<Item = &'v str>) -> (Vec<String>, Vec<usize>) {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut levels = Vec::new();
    let column = values.map(|value| {
        *places.entry(value).or_insert_with(|| {
            levels.push(value.to_owned());
            levels.len() - 1
        })
    });
    let column = column.collect();
    (levels, column)
}

/// Whether points with one value in `one` also have one value in `other`.
fn determines(one: &[usize], other: &[usize]) -> bool {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| *seen.entry(*one).or_insert(*other) == *other)
}

/// Kernel, GPU and technology of a point.
fn environment(point: &Point) -> Vec<(String, String)> {
    let technology = &point.technology;
    let kernel = format!("{} {}", point.kernel.name, point.kernel.case);
    let mut row = vec![
        ("kernel".to_owned(), kernel),
        ("gpu".to_owned(), point.gpu.to_string()),
    ];
    row.extend(point.axes.iter().map(|(k, v)| (k.clone(), v.clone())));
    let texts = [
        ("node", technology.node.to_string()),
        ("flavour", technology.flavour.to_string()),
        ("profile", technology.profile.to_string()),
        ("temperature", format!("{} K", technology.temperature_k)),
        ("vdd", format!("{} V", technology.vdd_v)),
    ];
    row.extend(texts.map(|(name, value)| (name.to_owned(), value)));
    row
}

fn same_members(points: &[&Point]) -> bool {
    let names = |point: &Point| -> Vec<String> {
        label::techniques(&point.technique)
            .map(str::to_owned)
            .collect()
    };
    points
        .windows(2)
        .all(|pair| names(pair[0]) == names(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// The sample's points with these nodes, entries and supplies.
    fn points(of: &[(&str, u32, f64)]) -> Vec<Point> {
        let base = sample::outcomes().remove(1).point;
        let point = |&(node, entries, vdd): &(&str, u32, f64)| {
            let mut point = base.clone();
            point.technology.node = node.into();
            point.technology.vdd_v = vdd;
            point.technique = format!("filter_cache(entries={entries})").into();
            point
        };
        of.iter().map(point).collect()
    }

    fn factors(points: &[Point]) -> Factors {
        Factors::of(&points.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_supply_that_goes_with_the_node_is_no_factor_of_its_own() {
        let grid = points(&[
            ("32nm", 16, 0.9),
            ("32nm", 32, 0.9),
            ("45nm", 16, 1.0),
            ("45nm", 32, 1.0),
        ]);
        let found = factors(&grid);
        let names: Vec<&str> = found.factors.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["node", "filter_cache.entries"]);
        assert_eq!(found.factors[0].moves_with, ["vdd"]);
        assert_eq!(found.levels, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert!(found.is_grid());
        assert!(!factors(&grid[..3]).is_grid());
        let twice = points(&[
            ("32nm", 16, 0.9),
            ("32nm", 16, 0.9),
            ("45nm", 16, 1.0),
            ("45nm", 32, 1.0),
        ]);
        assert!(!factors(&twice).is_grid());
    }

    #[test]
    fn with_other_techniques_the_label_is_the_factor() {
        let mut mixed = points(&[("32nm", 16, 0.9), ("32nm", 32, 0.9)]);
        mixed[0].technique = crate::outcome::BASELINE.into();
        let found = factors(&mixed);
        assert_eq!(found.factors[0].name, "technique");
        assert_eq!(
            found.factors[0].levels,
            ["baseline", "filter_cache(entries=32)"]
        );
    }
}
