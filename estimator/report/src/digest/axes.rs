//! How figures go along the axes of a study.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Figures;
use super::spread::Spread;
use crate::outcome::Point;

/// Along an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Along {
    /// The axis: `kernel`, `node`, `vdd_v`, a setting of the GPU.
    pub axis: String,
    /// Its values in their order; of many numbers, stretches of them.
    pub values: Vec<Value>,
}

/// At a value of an axis, or a stretch of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The value; of a stretch the first and the last.
    pub value: String,
    /// Points there.
    pub points: usize,
    /// Energy of a run.
    pub energy_j: Spread,
    /// Time of a run.
    pub time_s: Spread,
    /// Change of the energy by techniques; nothing where there are plain GPUs alone.
    pub energy_change: Option<Spread>,
}

/// More values of an axis than are shown each; numbers are then taken together.
const MOST_VALUES: usize = 12;
/// Stretches of numbers.
const STRETCHES: usize = 8;
/// Values of a text axis that are shown.
const MOST_TEXTS: usize = 100;

/// The axes as they are gathered: every point's place on each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Axes(BTreeMap<String, Axis>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Axis {
    values: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// Of each point its value, by number. Points from before the axis came up have none.
    points: Vec<Option<u32>>,
}

impl Axes {
    /// The point of this number, in ascending order.
    pub(super) fn add(&mut self, number: usize, point: &Point) {
        let technology = &point.technology;
        let kernel = &point.kernel;
        let node = format!("{} {}", technology.node, technology.flavour);
        let own = [
            ("kernel", format!("{} ({})", kernel.name, kernel.case)),
            ("gpu", point.gpu.to_string()),
            ("node", node),
            ("profile", technology.profile.to_string()),
            ("vdd_v", technology.vdd_v.to_string()),
            ("temperature_k", technology.temperature_k.to_string()),
        ];
        for (name, value) in own {
            self.at(name, number, value);
        }
        for (name, value) in point.axes.iter() {
            self.at(name, number, value.clone());
        }
    }

    fn at(&mut self, name: &str, number: usize, value: String) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), Axis::default());
        }
        let Some(axis) = self.0.get_mut(name) else {
            return;
        };
        let place = axis.place(value);
        axis.points.resize(number, None);
        axis.points.push(Some(place));
    }

    /// Adds the places of points that follow those of this number.
    pub(super) fn merge(&mut self, before: usize, next: Self) {
        for (name, next) in next.0 {
            let axis = self.0.entry(name).or_default();
            let places = next.values.into_iter().map(|value| axis.place(value));
            let places: Vec<u32> = places.collect();
            axis.points.resize(before, None);
            let points = next.points.into_iter();
            axis.points
                .extend(points.map(|place| Some(places[place? as usize])));
        }
    }

    /// Figures along every axis that has several values. `figures` are a point's energy, time and change of energy.
    pub(super) fn finish(self, figures: &[Figures]) -> Vec<Along> {
        let several = self.0.into_iter().filter(|(_, axis)| axis.values.len() > 1);
        several
            .map(|(name, axis)| Along {
                axis: name,
                values: axis.along(figures),
            })
            .collect()
    }
}

impl Axis {
    /// The number of a value.
    fn place(&mut self, value: String) -> u32 {
        if let Some(place) = self.numbers.get(&value) {
            return *place;
        }
        let place = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, place);
        place
    }

    fn along(&self, figures: &[Figures]) -> Vec<Value> {
        let (groups, of_value) = self.groups();
        let mut gathered = vec![(Vec::new(), Vec::new(), Vec::new()); groups.len()];
        let points = self.points.iter().zip(figures);
        for (place, (energy, time, change)) in points {
            let group = place.and_then(|place| of_value[place as usize]);
            let Some(group) = group else { continue };
            let (energies, times, changes) = &mut gathered[group];
            energies.push(*energy);
            times.push(*time);
            changes.extend(*change);
        }
        let values = groups.into_iter().zip(gathered);
        values
            .filter_map(|(value, (energies, times, changes))| {
                Some(Value {
                    value,
                    points: energies.len(),
                    energy_j: Spread::of(energies)?,
                    time_s: Spread::of(times)?,
                    energy_change: Spread::of(changes),
                })
            })
            .collect()
    }

    /// What is shown, and to which of it each value belongs.
    fn groups(&self) -> (Vec<String>, Vec<Option<usize>>) {
        let numbers: Option<Vec<f64>> = self.values.iter().map(|v| v.parse().ok()).collect();
        let Some(numbers) = numbers else {
            let shown = self.values.iter().take(MOST_TEXTS).cloned().collect();
            let of_value =
                (0..self.values.len()).map(|value| (value < MOST_TEXTS).then_some(value));
            return (shown, of_value.collect());
        };
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        let groups = match order.len() {
            few if few <= MOST_VALUES => few,
            _ => STRETCHES,
        };
        let bound = |group: usize| group * order.len() / groups;
        let mut of_value = vec![None; order.len()];
        let shown = (0..groups).map(|group| {
            let values = &order[bound(group)..bound(group + 1)];
            for value in values {
                of_value[*value] = Some(group);
            }
            match values {
                [one] => self.values[*one].clone(),
                [first, .., last] => format!("{} to {}", self.values[*first], self.values[*last]),
                [] => String::new(),
            }
        });
        (shown.collect(), of_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: impl Iterator<Item = String>) -> Vec<Along> {
        let mut axes = Axes::default();
        let mut figures = Vec::new();
        for (number, value) in values.enumerate() {
            axes.at("x", number, value);
            figures.push((number as f64, 1.0, None));
        }
        axes.finish(&figures)
    }

    #[test]
    fn few_values_stand_each_in_the_order_of_numbers() {
        let along = axis(["10", "9", "10", "100"].map(str::to_owned).into_iter());
        let shown: Vec<(&str, usize)> = along[0]
            .values
            .iter()
            .map(|value| (value.value.as_str(), value.points))
            .collect();
        assert_eq!(shown, [("9", 1), ("10", 2), ("100", 1)]);
    }

    #[test]
    fn many_numbers_are_taken_together_and_none_is_lost() {
        let along = axis((0..1000).map(|value| (f64::from(value) / 8.0).to_string()));
        let values = &along[0].values;
        assert_eq!(values.len(), STRETCHES);
        assert_eq!(values[0].value, "0 to 15.5");
        assert_eq!(values.iter().map(|value| value.points).sum::<usize>(), 1000);
        assert_eq!(values[7].energy_j.most, 999.0);
    }

    #[test]
    fn an_axis_of_one_value_is_none() {
        assert_eq!(axis(["a", "a"].map(str::to_owned).into_iter()), []);
    }
}
