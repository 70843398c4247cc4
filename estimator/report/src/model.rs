//! What every rendering shows: points, comparisons by configuration, lines through them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::answer::{Answer, Scope};
use super::budget::Judged;
use super::compare::Comparison;
use super::format;
use super::json;
use super::metric::{Metric, Objective};
use super::paper::Paper;
use super::parameters::Parameters;
use super::pareto::Fronts;
use super::protection::{self, Protections};
use super::stacked::Stacked;
use crate::diag::Diag;
use crate::drawn::MonteCarlo;
use crate::goal::Budget;
use crate::outcome::{KernelName, Outcome, Point, TechnologyName, gpu_label};

/// A study's results, compared and ordered.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The title of the study.
    pub title: String,
    /// Every point, in the order of the study.
    pub points: Vec<Outcome>,
    /// The comparisons, one block a technique configuration, GPU variant and technology.
    pub blocks: Vec<Block>,
    /// Stacks whose members are among the points too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stacked>,
    /// The points against the study's budget, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Judged>,
    /// The best compromises between metrics, if they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Fronts>,
    /// Protections beside each other, where the study followed needed bits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protection: Vec<Protections>,
    /// How sure every figure is, by Monte Carlo, if the study asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<MonteCarlo>,
    /// Points with a technique whose baseline is not among the points.
    pub without_baseline: Vec<Point>,
    /// The paper that the comparisons stand beside, if the study asks for one.
    #[serde(skip)]
    pub paper: Option<Arc<dyn Paper>>,
    /// What the study chose: a column each in every table.
    #[serde(skip)]
    pub parameters: Parameters,
    /// Where the comparison of each point is: block and place in it.
    #[serde(skip)]
    compared: Vec<Option<(usize, usize)>>,
    /// The numbers of the points that each comparison is of, without and with, block by block.
    #[serde(skip)]
    pairs: Vec<Vec<[usize; 2]>>,
}

/// A report as a document for machines.
#[derive(Serialize)]
struct Document<'a> {
    answer: Vec<Answer>,
    scope: Scope,
    #[serde(flatten)]
    report: &'a Report,
}

/// Comparisons of one configuration over kernels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// The GPU preset.
    pub gpu: Arc<str>,
    /// Its swept settings.
    pub axes: Arc<BTreeMap<String, String>>,
    /// Technology and operating point.
    pub technology: TechnologyName,
    /// The technique.
    pub technique: Arc<str>,
    /// One a kernel, in the order of the study.
    pub comparisons: Vec<Comparison>,
    /// What the paper that the study asks for says of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

impl Report {
    /// Compares every point that has a technique with its baseline.
    pub fn new(title: &str, points: &[Outcome]) -> Self {
        Self::beside(title, points, None)
    }

    /// The same with the figures of a paper beside ours, if one is asked for.
    pub fn beside(title: &str, points: &[Outcome], paper: Option<Arc<dyn Paper>>) -> Self {
        let parameters = Parameters::of(points.iter().map(|outcome| &outcome.point));
        Self::of_stretch(title, points.to_vec(), paper, parameters)
    }

    /// The same of some points of a study, whose tables have the columns of the whole study's `parameters`.
    pub fn of_stretch(
        title: &str,
        points: Vec<Outcome>,
        paper: Option<Arc<dyn Paper>>,
        parameters: Parameters,
    ) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let mut without_baseline = Vec::new();
        let mut compared = vec![None; points.len()];
        // Blocks by technique, supply and temperature, which few of them share.
        let mut places: BTreeMap<(&str, [u64; 2]), Vec<usize>> = BTreeMap::new();
        let mut pairs: Vec<Vec<[usize; 2]>> = Vec::new();
        let mut last = 0;
        for (number, with) in points.iter().enumerate() {
            if with.point.is_baseline() {
                last = number;
                continue;
            }
            // In the order of a study the plain GPU comes right before what is compared with it.
            let baseline = std::iter::once(last)
                .chain(0..points.len())
                .find(|&number| {
                    let point = &points[number].point;
                    point.is_baseline() && point.differs_only_in_technique(&with.point)
                });
            let Some(baseline) = baseline else {
                without_baseline.push(with.point.clone());
                continue;
            };
            let comparison = Comparison::of(&points[baseline], with, paper.as_deref());
            let technology = &with.point.technology;
            let runs = [technology.vdd_v, technology.temperature_k].map(f64::to_bits);
            let alike = places.entry((&with.point.technique, runs)).or_default();
            let block = alike
                .iter()
                .find(|block| blocks[**block].holds(&with.point));
            let block = match block {
                Some(&block) => {
                    blocks[block].comparisons.push(comparison);
                    block
                }
                None => {
                    blocks.push(Block::starting_with(comparison));
                    alike.push(blocks.len() - 1);
                    pairs.push(Vec::new());
                    blocks.len() - 1
                }
            };
            pairs[block].push([baseline, number]);
            compared[number] = Some((block, blocks[block].comparisons.len() - 1));
        }
        if let Some(paper) = &paper {
            for block in &mut blocks {
                block.lines = paper.lines(&block.comparisons);
            }
        }
        Self {
            title: title.to_owned(),
            parameters,
            stacks: blocks
                .iter()
                .filter_map(|block| Stacked::of(block, &points))
                .collect(),
            protection: protection::tables(&blocks, &points),
            blocks,
            budget: None,
            pareto: None,
            uncertainty: None,
            without_baseline,
            points,
            paper,
            compared,
            pairs,
        }
    }

    /// The same, with what a study wants of its points.
    ///
    /// # Errors
    /// An objective is no metric.
    pub fn with_goals(
        mut self,
        budget: Option<&Budget>,
        objectives: &[Objective],
    ) -> Result<Self, Diag> {
        self.budget = budget.map(|budget| Judged::of(&self, budget));
        if !objectives.is_empty() {
            self.pareto = Some(Fronts::of(&self, objectives)?);
        }
        Ok(self)
    }

    /// The comparison of the point of this number with its baseline, if it has one.
    pub fn comparison(&self, point: usize) -> Option<&Comparison> {
        let (block, place) = (*self.compared.get(point)?)?;
        self.blocks.get(block)?.comparisons.get(place)
    }

    /// For every comparison in the order of the blocks whether it is within the budget, if there is one.
    pub fn within_budget(&self) -> Option<Vec<bool>> {
        let budget = self.budget.as_ref()?;
        let numbers = self.compared.iter().zip(&budget.points);
        let placed = numbers
            .filter_map(|(place, verdict)| Some((*place.as_ref()?, verdict.as_ref()?.inside)));
        let ordered: BTreeMap<(usize, usize), bool> = placed.collect();
        Some(ordered.into_values().collect())
    }

    /// The points without and with the technique that the comparisons of a block are of, in their order.
    pub(super) fn pairs(&self, block: usize) -> impl Iterator<Item = (&Outcome, &Outcome)> {
        let numbers = self.pairs.get(block).into_iter().flatten();
        numbers.filter_map(|&[without, with]| {
            Some((self.points.get(without)?, self.points.get(with)?))
        })
    }

    /// For every point the number of the one that it is compared with, if it is compared.
    pub fn baselines(&self) -> Vec<Option<usize>> {
        let mut baselines = vec![None; self.points.len()];
        for &[without, with] in self.pairs.iter().flatten() {
            baselines[with] = Some(without);
        }
        baselines
    }

    /// The same, each with whether it is within the budget; `None` without a budget, or where no bound applies.
    pub(super) fn judged_pairs(
        &self,
        block: usize,
    ) -> impl Iterator<Item = ((&Outcome, &Outcome), Option<bool>)> {
        let verdicts = self.budget.as_ref().map(|budget| &budget.points);
        let numbers = self.pairs.get(block).into_iter().flatten();
        let inside = numbers.map(move |&[_, with]| Some(verdicts?.get(with)?.as_ref()?.inside));
        self.pairs(block).zip(inside)
    }

    /// The values of `metric`, one a point.
    pub fn values(&self, metric: &Metric) -> Vec<Option<f64>> {
        let points = self.points.iter().enumerate();
        points
            .map(|(number, point)| metric.value(point, self.comparison(number)))
            .collect()
    }

    /// Everything as one JSON document: the answer and its scope, points as stored, and the comparisons in blocks.
    ///
    /// # Errors
    /// If a figure is not a number, which JSON cannot hold.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let document = Document {
            answer: self.answer(),
            scope: Scope::of(&self.points),
            report: self,
        };
        json::document(&document)
    }
}

impl Block {
    fn starting_with(comparison: Comparison) -> Self {
        let point = comparison.point.clone();
        Self {
            gpu: point.gpu,
            axes: point.axes,
            technology: point.technology,
            technique: point.technique,
            comparisons: vec![comparison],
            lines: Vec::new(),
        }
    }

    /// The same without its comparisons.
    pub(super) fn empty(&self) -> Self {
        Self {
            gpu: Arc::clone(&self.gpu),
            axes: Arc::clone(&self.axes),
            technology: self.technology.clone(),
            technique: Arc::clone(&self.technique),
            comparisons: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn holds(&self, point: &Point) -> bool {
        self.gpu == point.gpu
            && self.axes == point.axes
            && self.technology == point.technology
            && self.technique == point.technique
    }

    /// The kernels' names, with the case where a kernel is there with several.
    pub fn names(&self) -> Vec<String> {
        let kernels: Vec<&KernelName> = self.comparisons.iter().map(|c| &*c.point.kernel).collect();
        format::kernels(&kernels)
    }

    /// GPU, settings, technology and technique in one line.
    pub fn label(&self) -> String {
        format!("{} · {}", self.technique, self.context())
    }

    /// GPU, settings and technology in one line.
    pub fn context(&self) -> String {
        let gpu = gpu_label(&self.gpu, &self.axes);
        format!("{gpu} · {}", self.technology.label())
    }
}
