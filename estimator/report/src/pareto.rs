//! The best compromises between metrics: points than which no other is at least as good in all of them and better in one.

use std::sync::Arc;

use serde::Serialize;

use super::metric::{Metric, Metrics, Objective};
use super::model::Report;
use crate::diag::Diag;
use crate::outcome::KernelName;

/// A point is not taken for one of a front that is on it under fewer draws than lie outside of a 95 % interval, on one side.
const LIKELY: f64 = 0.025;

/// The Pareto fronts of a study, one a kernel: kernels do different work, so their points are no alternatives to each other.
#[derive(Clone, Debug, Serialize)]
pub struct Fronts {
    /// The metrics and the way they should go.
    pub objectives: Vec<Objective>,
    /// The same, with their meaning.
    #[serde(skip)]
    pub metrics: Vec<Metric>,
    /// Values by point, one an objective; `None` for points without a value of one of them, which compete with none.
    #[serde(skip)]
    pub values: Vec<Option<Vec<f64>>>,
    /// One a kernel, in the order of the study.
    pub fronts: Vec<Front>,
    /// By point the share of the draws of its uncertainty in which it is on its front, if they are drawn; `None` for points that do not compete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chances: Vec<Option<f64>>,
}

/// The best compromises on one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Front {
    /// The kernel.
    pub kernel: Arc<KernelName>,
    /// Points of the front by their place among the points, from zero, in their order.
    pub points: Vec<usize>,
    /// All points of the kernel that have a value of every metric.
    #[serde(skip)]
    pub candidates: Vec<usize>,
}

impl Fronts {
    /// The fronts of `report`.
    ///
    /// # Errors
    /// There is no metric of that name.
    pub fn of(report: &Report, objectives: &[Objective]) -> Result<Self, Diag> {
        let known = Metrics::known().with_points(&report.points);
        let metrics = objectives
            .iter()
            .map(|objective| known.find(&objective.metric));
        let metrics: Vec<Metric> = metrics.collect::<Result<_, _>>()?;
        let points = report.points.iter().enumerate();
        let values: Vec<Option<Vec<f64>>> = points
            .map(|(number, point)| {
                let comparison = report.comparison(number);
                let values = metrics.iter().map(|metric| metric.value(point, comparison));
                values.collect()
            })
            .collect();
        let mut fronts: Vec<Front> = Vec::new();
        for (number, point) in report.points.iter().enumerate() {
            let kernel = &point.point.kernel;
            let place = fronts.iter().position(|front| front.kernel == *kernel);
            let place = place.unwrap_or_else(|| {
                fronts.push(Front {
                    kernel: kernel.clone(),
                    points: Vec::new(),
                    candidates: Vec::new(),
                });
                fronts.len() - 1
            });
            if values[number].is_some() {
                fronts[place].candidates.push(number);
            }
        }
        for front in &mut fronts {
            let costs = front.candidates.iter().map(|&number| {
                let values = values[number].iter().flatten().zip(objectives);
                values
                    .map(|(&value, objective)| objective.cost(value))
                    .collect()
            });
            let costs: Vec<Vec<f64>> = costs.collect();
            let best = non_dominated(&costs).into_iter();
            front.points = best.map(|place| front.candidates[place]).collect();
        }
        Ok(Self {
            objectives: objectives.to_vec(),
            metrics,
            values,
            fronts,
            chances: Vec::new(),
        })
    }

    /// How often each point is on its front. `drawn` are values by point, objective and draw, the same draws for all points. A point without a value under
    /// a draw does not compete in it.
    pub fn chances(&self, drawn: &[Vec<Vec<f64>>], draws: usize) -> Vec<Option<f64>> {
        let mut on = vec![0_usize; self.values.len()];
        for front in &self.fronts {
            for draw in 0..draws {
                let cost = |number: usize| -> Option<Vec<f64>> {
                    let values = self.objectives.iter().zip(&drawn[number]);
                    let costs = values.map(|(objective, values)| objective.cost(values[draw]));
                    let costs: Vec<f64> = costs.collect();
                    costs.iter().all(|cost| cost.is_finite()).then_some(costs)
                };
                let competing = front.candidates.iter();
                let competing = competing.filter_map(|&number| Some((number, cost(number)?)));
                let (numbers, costs): (Vec<usize>, Vec<Vec<f64>>) = competing.unzip();
                for place in non_dominated(&costs) {
                    on[numbers[place]] += 1;
                }
            }
        }
        let share = |(values, on): (&Option<Vec<f64>>, usize)| {
            values.as_ref().map(|_| on as f64 / draws.max(1) as f64)
        };
        self.values.iter().zip(on).map(share).collect()
    }

    /// How many points are not on a front, but are under more draws than lie outside of a 95 % interval, in words.
    pub fn others(&self, front: &Front) -> String {
        let likely = |number: &&usize| {
            let chance = self.chances.get(**number).copied().flatten();
            chance.is_some_and(|chance| chance > LIKELY) && !front.points.contains(number)
        };
        match front.candidates.iter().filter(likely).count() {
            0 => String::new(),
            some => format!(", {some} more within their error"),
        }
    }

    /// Whether the point of this number is on its front; `None` if it does not compete.
    pub fn holds(&self, number: usize) -> Option<bool> {
        self.values.get(number)?.as_ref()?;
        let mut fronts = self.fronts.iter();
        Some(fronts.any(|front| front.points.binary_search(&number).is_ok()))
    }
}

/// Places of the cost vectors that no other dominates, ascending. Equal vectors do not dominate each other.
///
/// In lexicographic order a vector can only be dominated by one before it, and then also by one of the front found so far. For two costs that front's last
/// vector is enough, since the second cost falls along it (H. T. Kung, F. Luccio, F. P. Preparata, "On Finding the Maxima of a Set of Vectors", JACM 22(4), 1975).
pub fn non_dominated(costs: &[Vec<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| lexicographic(&costs[a], &costs[b]).then(a.cmp(&b)));
    let mut best: Vec<usize> = Vec::new();
    for place in order {
        let cost = &costs[place];
        let two = cost.len() <= 2;
        let rivals = if two { best.len().saturating_sub(1) } else { 0 };
        if !best[rivals..]
            .iter()
            .any(|&rival| dominates(&costs[rival], cost))
        {
            best.push(place);
        }
    }
    best.sort_unstable();
    best
}

fn lexicographic(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let pairs = a.iter().zip(b);
    let mut orders = pairs.map(|(a, b)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    orders
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// Whether `a` is nowhere worse than `b` and somewhere better.
fn dominates(a: &[f64], b: &[f64]) -> bool {
    let pairs = || a.iter().zip(b);
    pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;

    /// By definition.
    fn brute(costs: &[Vec<f64>]) -> Vec<usize> {
        let undominated =
            |place: &usize| !costs.iter().any(|rival| dominates(rival, &costs[*place]));
        (0..costs.len()).filter(undominated).collect()
    }

    /// Few values, so that ties are many.
    fn costs(dimensions: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let value = (-3i8..4).prop_map(f64::from);
        prop::collection::vec(prop::collection::vec(value, dimensions), 0..40)
    }

    proptest! {
        #[test]
        fn the_front_is_what_nothing_dominates(
            one in costs(1), two in costs(2), three in costs(3), four in costs(4),
        ) {
            for costs in [one, two, three, four] {
                prop_assert_eq!(non_dominated(&costs), brute(&costs));
            }
        }

        #[test]
        fn the_front_does_not_depend_on_the_order(costs in costs(3), turn in 0usize..40) {
            let front = |costs: &[Vec<f64>]| {
                let mut front: Vec<Vec<f64>> = non_dominated(costs).into_iter().map(|p| costs[p].clone()).collect();
                front.sort_by(|a, b| lexicographic(a, b));
                front
            };
            let mut turned = costs.clone();
            if !turned.is_empty() {
                let by = turn % turned.len();
                turned.rotate_left(by);
            }
            turned.reverse();
            prop_assert_eq!(front(&costs), front(&turned));
        }
    }

    /// Two points of one kernel: the second has more area always, and less energy in three draws of four.
    #[test]
    fn a_point_is_on_its_front_as_often_as_no_draw_dominates_it() {
        let report = Report::new("by hand", &sample::outcomes()[..2]);
        let read = |text| Objective::read(text, &Metrics::known()).unwrap();
        let mut fronts = Fronts::of(&report, &[read("energy_j"), read("area_m2")]).unwrap();
        let first = vec![vec![2.0; 4], vec![1.0; 4]];
        let second = vec![vec![1.0, 3.0, 1.0, 1.5], vec![1.5; 4]];
        let drawn = [first.clone(), second];
        assert_eq!(fronts.chances(&drawn, 4), [Some(1.0), Some(0.75)]);
        let missing = [first, vec![vec![f64::NAN; 4], vec![0.5; 4]]];
        assert_eq!(fronts.chances(&missing, 4), [Some(1.0), Some(0.0)]);
        fronts.chances = vec![Some(1.0), Some(0.75)];
        fronts.fronts[0].points = vec![0];
        assert_eq!(
            fronts.others(&fronts.fronts[0]),
            ", 1 more within their error"
        );
    }

    #[test]
    fn zero_has_one_value() {
        assert_eq!(non_dominated(&[vec![0.0, 1.0], vec![-0.0, 1.0]]), [0, 1]);
    }

    #[test]
    fn kernels_have_fronts_of_their_own_and_points_without_a_value_none() {
        let report = Report::new("by hand", &sample::outcomes());
        let read = |text| Objective::read(text, &Metrics::known()).unwrap();
        let fronts = Fronts::of(&report, &[read("energy_j"), read("area_m2")]).unwrap();
        assert_eq!(fronts.fronts.len(), 3);
        // The filter cache costs area; where it saves energy both points are compromises.
        for (kernel, front) in fronts.fronts.iter().enumerate() {
            assert!(
                front.points.contains(&(2 * kernel)),
                "the plain GPU is the smallest"
            );
        }
        let hits = Fronts::of(&report, &[read("energy_j"), read("filter_cache.hit_rate")]).unwrap();
        assert_eq!(hits.holds(0), None, "the plain GPU has no hit rate");
        assert_eq!(hits.holds(1), Some(true));
        let unknown = Objective {
            metric: "x".to_owned(),
            maximise: false,
        };
        assert!(Fronts::of(&report, &[unknown]).is_err());
    }
}
