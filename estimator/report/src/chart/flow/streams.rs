//! Where joules go, in four columns: the whole, its kinds, groups, structures.

use super::groups::{Kinds, Part, groups, sum};
use crate::outcome::Outcome;

/// Where energy comes to: a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What comes to it.
    pub joules: f64,
}

/// Energy on its way from a bar of one column to one of the next: a band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// The number of the bar that it leaves.
    pub from: usize,
    /// The number of the bar that it comes to.
    pub to: usize,
    /// The number of the group that it belongs to; nothing before groups part.
    pub group: Option<usize>,
    /// The energy.
    pub joules: f64,
}

/// The columns, and what flows between each and the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The whole; kinds of energy; groups; structures.
    pub columns: [Vec<Node>; 4],
    /// Between the columns, in the order in which they leave and arrive.
    pub streams: [Vec<Stream>; 3],
    /// Of each structure the number of its group.
    pub group_of: Vec<usize>,
}

impl Flow {
    /// That of `points` together. `None` where there is no energy.
    pub fn of(points: &[&Outcome], kinds: &Kinds<'_>) -> Option<Self> {
        let groups = groups(points, kinds);
        let names = &kinds.names;
        let kinds = sum(groups.iter().map(|group| &group.whole));
        let whole_j: f64 = kinds.iter().sum();
        if whole_j <= 0.0 {
            return None;
        }
        let numbered = || groups.iter().enumerate();
        let parts = numbered().flat_map(|(group, it)| it.parts.iter().map(move |it| (group, it)));
        let (group_of, parts): (Vec<usize>, Vec<&Part>) = parts.unzip();
        let stream = |from, to, group, joules| Stream {
            from,
            to,
            group,
            joules,
        };
        let first = kinds.iter().enumerate();
        let first = first.map(|(kind, joules)| stream(0, kind, None, *joules));
        let second = (0..kinds.len()).flat_map(|kind| {
            let own = move |(group, it): (usize, &super::groups::Group)| {
                stream(kind, group, Some(group), it.whole.joules[kind])
            };
            numbered().map(own)
        });
        let third = group_of.iter().zip(&parts).enumerate();
        let third =
            third.map(|(to, (&group, part))| stream(group, to, Some(group), part.energy_j()));
        Some(Self {
            streams: [first.collect(), second.collect(), third.collect()],
            columns: [
                vec![node("whole", whole_j)],
                names
                    .iter()
                    .zip(&kinds)
                    .map(|(name, joules)| node(name, *joules))
                    .collect(),
                groups
                    .iter()
                    .map(|it| node(&it.whole.name.replace('_', " "), it.whole.energy_j()))
                    .collect(),
                parts.into_iter().map(of).collect(),
            ],
            group_of,
        })
    }
}

fn node(name: &str, joules: f64) -> Node {
    let name = name.to_owned();
    Node { name, joules }
}

fn of(part: &Part) -> Node {
    node(&part.name, part.energy_j())
}
