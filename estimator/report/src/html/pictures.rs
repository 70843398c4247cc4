//! Charts of the page on their own, each with the page's colours in it: for a notebook, whose styles are none of ours.

use std::borrow::Cow;

use super::STYLE;
use super::energy;
use super::goals::charts_of;
use super::overview;
use super::view::Chart;
use crate::chart::{self, InUse};
use crate::model::Report;
use crate::pareto::Fronts;

/// A chart that needs nothing around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub heading: String,
    /// What its marks are.
    pub caption: Cow<'static, str>,
    /// SVG.
    pub svg: String,
}

impl Report {
    /// The charts that answer: changes of energy by configuration, over nodes, and by kernel; and those of where the energy of the plain GPU goes.
    pub fn pictures(&self) -> Vec<Picture> {
        let charts = overview::charts(self).into_iter();
        let charts = charts.chain(energy::charts(self));
        charts.map(alone).collect()
    }

    /// All charts that stand alone: those that answer, and those of the study's fronts.
    pub fn all_pictures(&self) -> Vec<Picture> {
        let fronts = self
            .pareto
            .iter()
            .flat_map(|fronts| self.pictures_of(fronts));
        self.pictures().into_iter().chain(fronts).collect()
    }

    /// The charts of fronts, a kernel after the other: the first metric against each of the others.
    pub fn pictures_of(&self, fronts: &Fronts) -> Vec<Picture> {
        let each = fronts.fronts.iter().enumerate();
        let charts = each.flat_map(|(number, front)| charts_of(self, fronts, (number, front)));
        charts.map(alone).collect()
    }
}

/// Registers in use over time, a panel a run; nothing of no run.
pub fn registers_over_time(runs: &[InUse]) -> Option<Picture> {
    let svg = chart::registers(runs, "registers")?;
    Some(alone(Chart {
        heading: Cow::Borrowed("Registers in use over time"),
        caption: Cow::Borrowed(
            "Of the registers that resident CTAs asked for, and of those of subarrays with power, the share that holds a value which is still to be read.",
        ),
        svg,
    }))
}

pub(crate) fn alone(chart: Chart) -> Picture {
    let style = format!("<style>\n{}</style>\n<title", style());
    Picture {
        heading: chart.heading.into_owned(),
        caption: chart.caption,
        svg: chart.svg.replacen("<title", &style, 1),
    }
}

/// What of the page's style charts need: colours, for paper of either kind, and the rules of charts.
fn style() -> String {
    let colours = STYLE.split_once("* {").map_or("", |(colours, _)| colours);
    let rules = STYLE.lines().filter(|line| line.starts_with(".chart "));
    let rules: String = rules.map(|rule| format!("{rule}\n")).collect();
    format!("{colours}{rules}svg {{ background: var(--paper); }}\n")
}
