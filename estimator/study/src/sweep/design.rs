//! Which combinations of values are points.

use std::collections::{BTreeMap, BTreeSet};

use super::odometer::odometer;
use crate::axes::{AxisId, Sampling, Sweep};

/// The places that were chosen on axes of the study.
pub type Choice = Vec<(AxisId, usize)>;

/// Which values of the axes go together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Design {
    /// The first axis of each name.
    names: BTreeMap<String, AxisId>,
    sampling: Option<Sampling>,
    /// For each drawn axis the place of each sample's value.
    drawn: BTreeMap<AxisId, Vec<usize>>,
    /// For each axis that walks with others the number of their group.
    groups: BTreeMap<AxisId, usize>,
}

/// More choices of the values of one part of a study than anyone waits for.
const MOST_CHOICES: usize = 1_000_000;

/// More combinations than are worth trying for those that are points.
const MOST_TRIED: usize = 500_000_000;

/// An axis of a part of the study (none if it has one value by default), and how many values it has.
pub type Counted = (Option<AxisId>, usize);

impl Design {
    pub(super) fn new(sweep: Sweep) -> Design {
        let zips = sweep.zips.iter().enumerate().rev();
        let members = zips
            .flat_map(|(group, zip)| zip.iter().map(move |member| (member.value.as_str(), group)));
        let grouped: BTreeMap<&str, usize> = members.collect();
        let axes = sweep.axes.iter().enumerate();
        let groups = axes
            .clone()
            .filter_map(|(id, axis)| Some((id, *grouped.get(axis.name.as_str())?)));
        let drawn = axes.filter_map(|(id, axis)| Some((id, axis.places.clone()?)));
        let all = sweep.axes.iter().enumerate().rev();
        let names = all.map(|(id, axis)| (axis.name.clone(), id));
        Design {
            groups: groups.collect(),
            drawn: drawn.collect(),
            names: names.collect(),
            sampling: sweep.sampling,
        }
    }

    /// How points were drawn, if they were.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.sampling.as_ref()
    }

    /// The axis that a study writes as `name`.
    pub fn axis(&self, name: &str) -> Option<AxisId> {
        self.names.get(name).copied()
    }

    /// Every choice of one place on each of `axes` that points of the study make, in ascending order; `None` if they are absurdly many.
    pub fn choices(&self, axes: &[Counted]) -> Option<Vec<Vec<usize>>> {
        let followed = self.followed(axes);
        let places = |place: usize| axes[place].0.and_then(|id| self.drawn.get(&id));
        let free = |place: usize| followed[place].is_none() && places(place).is_none();
        let counts: Vec<usize> = (0..axes.len())
            .map(|place| if free(place) { axes[place].1 } else { 1 })
            .collect();
        let walked = counts
            .iter()
            .try_fold(1usize, |product, count| product.checked_mul(*count));
        let samples = (0..axes.len()).filter_map(places).map(Vec::len).next();
        walked
            .and_then(|walked| walked.checked_mul(samples.unwrap_or(1)))
            .filter(|count| *count <= MOST_CHOICES)?;
        let walked = odometer(&counts).map(|mut choice| {
            for place in 0..choice.len() {
                if let Some(first) = followed[place] {
                    choice[place] = choice[first];
                }
            }
            choice
        });
        let Some(samples) = samples else {
            return Some(walked.collect());
        };
        let walked: Vec<Vec<usize>> = walked.collect();
        let mut found = BTreeSet::new();
        for sample in 0..samples {
            for choice in &walked {
                let at = |(place, walked): (usize, &usize)| {
                    places(place).map_or(*walked, |places| places[sample])
                };
                found.insert(choice.iter().enumerate().map(at).collect::<Vec<usize>>());
            }
        }
        Some(found.into_iter().collect())
    }

    /// For each of `axes` the first of them that it walks with, if that is another and neither is drawn.
    fn followed(&self, axes: &[Counted]) -> Vec<Option<usize>> {
        let group = |counted: &Counted| {
            let id = counted.0.filter(|id| !self.drawn.contains_key(id))?;
            self.groups.get(&id).copied()
        };
        let first = |place: usize| {
            let own = group(&axes[place])?;
            let first = axes.iter().position(|other| group(other) == Some(own))?;
            (first < place).then_some(first)
        };
        (0..axes.len()).map(first).collect()
    }

    /// The combinations of one item of each part of the study that are points, in ascending order. `choices` are those that the items stand for. The
    /// first of the last part, the plain GPU, goes with everything. `None` if they are more than `most`.
    pub fn combinations(&self, choices: [&[Choice]; 4], most: usize) -> Option<Vec<[u32; 4]>> {
        let parts = choices.map(|choices| Part::new(self, choices));
        let samples = self.drawn.values().map(Vec::len).next();
        let mut found: BTreeSet<[u32; 4]> = BTreeSet::new();
        let mut ordered: Vec<[u32; 4]> = Vec::new();
        let mut tried = 0usize;
        for sample in 0..samples.unwrap_or(1) {
            let [kernels, gpus, technologies, configurations] =
                parts.each_ref().map(|part| part.at(self, sample));
            for &kernel in &kernels {
                for &gpu in &gpus {
                    for &technology in &technologies {
                        for &configuration in &configurations {
                            tried += 1;
                            let combination = [kernel, gpu, technology, configuration];
                            let chosen = [0, 1, 2, 3].map(|part| &choices[part][combination[part]]);
                            if !self.walk_together(chosen) {
                                continue;
                            }
                            let combination = combination.map(|place| place as u32);
                            match samples {
                                None => ordered.push(combination),
                                Some(_) => {
                                    found.insert(combination);
                                }
                            }
                        }
                        if found.len().max(ordered.len()) > most || tried > MOST_TRIED {
                            return None;
                        }
                    }
                }
            }
        }
        ordered.extend(found);
        Some(ordered)
    }

    /// Whether axes of one group are at one place.
    fn walk_together(&self, chosen: [&Choice; 4]) -> bool {
        if self.groups.is_empty() {
            return true;
        }
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut walking = chosen
            .into_iter()
            .flatten()
            .filter(|(id, _)| !self.drawn.contains_key(id));
        walking.all(|(id, place)| {
            let group = self.groups.get(id);
            group.is_none_or(|group| places.entry(*group).or_insert(*place) == place)
        })
    }
}

/// Items of one part of the study, found by what was drawn for them.
struct Part {
    /// For each set of drawn axes the items that have them, by their places on these.
    by_places: BTreeMap<Vec<AxisId>, BTreeMap<Vec<usize>, Vec<usize>>>,
}

impl Part {
    fn new(design: &Design, choices: &[Choice]) -> Part {
        let mut by_places: BTreeMap<Vec<AxisId>, BTreeMap<Vec<usize>, Vec<usize>>> =
            BTreeMap::new();
        for (item, choice) in choices.iter().enumerate() {
            let drawn = choice
                .iter()
                .filter(|(id, _)| design.drawn.contains_key(id));
            let (ids, places) = drawn.copied().unzip();
            by_places
                .entry(ids)
                .or_default()
                .entry(places)
                .or_default()
                .push(item);
        }
        Part { by_places }
    }

    /// The items at a sample, in their order.
    fn at(&self, design: &Design, sample: usize) -> Vec<usize> {
        let mut items = Vec::new();
        for (ids, by_places) in &self.by_places {
            let places: Vec<usize> = ids.iter().map(|id| design.drawn[id][sample]).collect();
            items.extend(by_places.get(&places).into_iter().flatten());
        }
        items.sort_unstable();
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::Method;

    /// A design over axes `0..`, some drawn and some in groups.
    fn design(drawn: &[(AxisId, &[usize])], groups: &[(AxisId, usize)]) -> Design {
        Design {
            names: (0..9).map(|id| (id.to_string(), id)).collect(),
            sampling: (!drawn.is_empty()).then_some(Sampling {
                method: Method::Random,
                count: drawn.first().map_or(0, |d| d.1.len() as u32),
                seed: 0,
            }),
            drawn: drawn
                .iter()
                .map(|(id, places)| (*id, places.to_vec()))
                .collect(),
            groups: groups.iter().copied().collect(),
        }
    }

    fn items(axis: AxisId, count: usize) -> Vec<Choice> {
        (0..count).map(|place| vec![(axis, place)]).collect()
    }

    #[test]
    fn axes_that_walk_together_do_so_within_a_part_and_across_parts() {
        let zipped = design(&[], &[(0, 0), (1, 0), (3, 0)]);
        let axes = [(Some(0), 2), (Some(1), 2), (Some(2), 2), (None, 1)];
        let choices = zipped.choices(&axes).unwrap();
        assert_eq!(
            choices,
            [[0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
        );
        let plain = vec![Choice::new()];
        let mut configurations = plain.clone();
        configurations.extend(items(3, 2));
        let combinations = zipped
            .combinations([&plain, &items(0, 2), &plain, &configurations], 100)
            .unwrap();
        assert_eq!(
            combinations,
            [[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 2]],
            "the plain GPU goes with everything"
        );
    }

    #[test]
    fn drawn_axes_take_their_samples_and_the_others_are_walked() {
        let drawn = design(&[(0, &[1, 0, 1]), (2, &[0, 1, 1])], &[]);
        assert_eq!(
            drawn.choices(&[(Some(0), 2), (Some(1), 2)]).unwrap(),
            [[0, 0], [0, 1], [1, 0], [1, 1]]
        );
        let plain = vec![Choice::new()];
        let combinations = drawn
            .combinations([&items(1, 2), &items(0, 2), &items(2, 2), &plain], 100)
            .unwrap();
        let samples = [(0, 1), (1, 0), (1, 1)];
        let expected: Vec<[u32; 4]> = [0, 1]
            .iter()
            .flat_map(|kernel| samples.map(|(gpu, technology)| [*kernel, gpu, technology, 0]))
            .collect();
        assert_eq!(combinations, expected);
    }

    #[test]
    fn absurd_numbers_are_found_before_they_are_made() {
        let plain = design(&[], &[]);
        assert_eq!(
            plain.choices(&[(None, 1 << 20), (None, 1 << 20), (None, 1 << 40)]),
            None
        );
        let many = vec![Choice::new(); 1000];
        assert_eq!(
            plain.combinations([&many, &many, &many, &many], 10_000),
            None
        );
    }
}
