//! The page of one run of a kernel: where its energy goes by structure, by time, by SM and by line of the program.

mod lines;
mod pictures;
#[cfg(test)]
mod tests;

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

pub use lines::Line;

use crate::chart::{Class, Layer, OfSm};
use crate::estimate::Sum;
use crate::format;
use crate::grids::Grid;
use crate::html::{Chart, EXPORTS, Picture, STYLE, alone, syntax};
use crate::metric::quantity;
use crate::outcome::{Outcome, PricedStructure};
use crate::terms;

const PAGE: &str = concat!(
    include_str!("../templates/head.html"),
    include_str!("../templates/charts.html"),
    include_str!("../templates/grid.html"),
    include_str!("../templates/end.html"),
    include_str!("../templates/kernel.html")
);

/// What the page of a run shows.
pub struct KernelPage<'p> {
    /// Its title.
    pub title: String,
    /// What was run, where, and whether it did what it must.
    pub lead: String,
    /// The run at its price.
    pub outcome: &'p Outcome,
    /// What happened when.
    pub over_time: WatchedRun<'p>,
    /// Dynamic energy by what causes it and structure: classes of instructions, and what is of none.
    pub classes: Vec<Class>,
    /// The program, line by line.
    pub lines: Vec<Line>,
    /// What was counted and has no price, in words.
    pub scope: Option<String>,
    /// Of this program.
    pub version: &'static str,
}

/// A run by windows of time.
pub struct WatchedRun<'p> {
    /// Where each window begins and ends, in seconds; each begins where the one before ends.
    pub spans: &'p [(f64, f64)],
    /// When launches begin, in seconds, and what they launch.
    pub launches: Vec<(f64, String)>,
    /// By window, in the order of the outcome's structures: watts.
    pub watts: &'p [Vec<f64>],
    /// Shares of the cycles of all SMs by what they went into.
    pub cycles: Vec<Layer>,
    /// Power of each SM.
    pub sms: Vec<OfSm>,
}

/// The page as its template has it.
#[derive(Serialize)]
struct View {
    title: String,
    lead: String,
    figures: Vec<(&'static str, String)>,
    charts: Vec<Chart>,
    structures: Grid,
    scope: Option<String>,
    lines: Vec<lines::Row>,
    notes: Vec<String>,
    version: &'static str,
}

impl KernelPage<'_> {
    /// The page.
    ///
    /// # Errors
    /// If the template cannot be rendered, which a test of the template excludes.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(syntax()?);
        // The name's ending switches escaping on.
        environment.add_template("kernel.html", PAGE)?;
        let template = environment.get_template("kernel.html")?;
        let page = Serde(self.view());
        template.render(context! { page, style => STYLE, exports => EXPORTS })
    }

    /// Its pictures, each on its own.
    pub fn pictures(&self) -> Vec<Picture> {
        pictures::charts(self).into_iter().map(alone).collect()
    }

    fn view(&self) -> View {
        View {
            title: self.title.clone(),
            lead: self.lead.clone(),
            figures: figures(self.outcome),
            charts: pictures::charts(self),
            structures: structures(self.outcome),
            scope: self.scope.clone(),
            lines: lines::rows(&self.lines, self.outcome.totals.dynamic_j),
            notes: self
                .outcome
                .notes
                .iter()
                .map(|note| note.text.to_string())
                .collect(),
            version: self.version,
        }
    }
}

/// The figures on top.
fn figures(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let mut energy = Sum::default();
    energy.add(&terms::all_energy(outcome), 1.0);
    let energy = energy.estimate();
    let joules = energy.value;
    let off = energy.half_width() / joules;
    vec![
        ("time", quantity::show(outcome.time_s, "s")),
        ("SM cycles", format::count(outcome.cycles)),
        (
            "energy, 95 % interval",
            format!("{} ± {}", quantity::show(joules, "J"), format::percent(off)),
        ),
        ("power", quantity::show(joules / outcome.time_s, "W")),
        (
            "leakage",
            format::percent(outcome.totals.leakage_j / joules),
        ),
    ]
}

/// Energy, power and area of every structure, the dearest first.
fn structures(outcome: &Outcome) -> Grid {
    let all = outcome.energy_j();
    let mut ordered: Vec<&PricedStructure> = outcome.structures.iter().collect();
    ordered.sort_by(|a, b| {
        b.energy_j()
            .total_cmp(&a.energy_j())
            .then(a.name.cmp(&b.name))
    });
    let row = |it: &PricedStructure| {
        vec![
            it.name.to_string(),
            it.group.replace('_', " "),
            format::count(it.instances),
            format::three(1e6 * it.total_area_m2()),
            quantity::show(it.dynamic_j, "J"),
            quantity::show(it.leakage_j, "J"),
            quantity::show(it.energy_j() / outcome.time_s, "W"),
            format::percent(it.energy_j() / all),
            format!("{:.0}%", 100.0 * it.uncertainty.energy),
        ]
    };
    let headings = [
        "structure",
        "group",
        "instances",
        "area mm²",
        "dynamic",
        "leakage",
        "power",
        "of the energy",
        "σ of an event",
    ];
    Grid {
        heading: "Structures".to_owned(),
        caption: "All instances of a structure together; σ is one standard deviation of the energy of an event.".to_owned(),
        headings: headings.map(str::to_owned).to_vec(),
        rows: ordered.into_iter().map(row).collect(),
    }
}
