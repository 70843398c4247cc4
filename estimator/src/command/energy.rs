//! Where a kernel's run is priced, and its power over time as a file.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use warpwatt_gpu::GpuSpec;

use super::files::{write_all_into, write_one};
use super::present::{defect, named};
use crate::by_sm::{PowerBySm, SmSampler};
use crate::diag::{Rejection, Sink};
use crate::outcome::Outcome;
use crate::pace::Length;
use crate::peak::Sampler;
use crate::pricing::NodeCircuits;
use crate::run::plain::PowerOverTime;
use crate::single::{Energy, FITTED, Parts, Place, Shown};
use crate::timeline::{Recorder, SmSet};

/// In which technology a run is priced.
#[derive(Debug, Args)]
pub struct Conditions {
    /// Price the run at a technology node: energy, power, and their parts by structure
    #[arg(long, value_name = "NODE", conflicts_with = "no_timing")]
    pub node: Option<String>,
    /// The technology library: silicon, itrs [default: silicon]
    #[arg(long, value_name = "NAME", requires = "node")]
    pub library: Option<String>,
    /// Transistors: hp, lop, lstp [default: hp]
    #[arg(long, value_name = "NAME", requires = "node")]
    pub flavour: Option<String>,
    /// Junction temperature, such as 330K [default: 350 K]
    #[arg(long, value_name = "TEMPERATURE", requires = "node")]
    pub temperature: Option<String>,
    /// Supply, such as 0.75V [default: the nominal one]
    #[arg(long, value_name = "SUPPLY", requires = "node")]
    pub vdd: Option<String>,
    /// Write power over time as CSV, of everything and of each structure, a row a window
    #[arg(long, value_name = "FILE.csv", requires = "node")]
    pub power: Option<PathBuf>,
    /// Whose power it is: a row a window, or a row a window and SM
    #[arg(long, value_name = "WHOSE", requires = "power", default_value = "gpu")]
    pub power_by: Whose,
    /// Write a page: energy by class of instructions, structure, line of the program; power and cycles over time; power of each SM
    #[arg(long, value_name = "FILE.html", requires = "node")]
    pub page: Option<PathBuf>,
    /// Write the page's pictures to a directory, as SVG
    #[arg(long, value_name = "DIR", requires = "node")]
    pub pictures: Option<PathBuf>,
    /// Show what takes the dynamic energy: opcodes, lines
    #[arg(long, value_name = "PARTS", requires = "node")]
    pub show: Option<By>,
    /// Cycles of a window of --power, and of power in a timeline [default: 1000] or on a page [default: as many as 256 to 512 windows need]
    #[arg(long, value_name = "N", requires = "node", value_parser = clap::value_parser!(u64).range(1..))]
    pub power_window: Option<u64>,
}

/// What the dynamic energy is parted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Opcodes of the PTX
    Opcodes,
    /// Lines of the source where the PTX says which (`.loc`), else lines of the PTX
    Lines,
}

impl From<By> for Parts {
    fn from(by: By) -> Self {
        match by {
            By::Opcodes => Self::Opcodes,
            By::Lines => Self::Lines,
        }
    }
}

/// Whose power a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Whose {
    /// The whole GPU's
    Gpu,
    /// That of each SM, and of what belongs to none
    Sm,
}

impl Conditions {
    /// At a node, if one is given, with everything else as usual.
    pub fn at(node: Option<String>, library: Option<String>) -> Self {
        Self {
            node,
            library,
            flavour: None,
            temperature: None,
            vdd: None,
            power: None,
            power_by: Whose::Gpu,
            page: None,
            pictures: None,
            show: None,
            power_window: None,
        }
    }

    /// What counts by windows, if power over time is asked for, as a table or in a timeline.
    pub fn sampler(&self, timeline: bool) -> Option<Sampler> {
        let wanted = self.watched() || timeline && self.node.is_some();
        wanted.then(|| Sampler::new(self.window()))
    }

    /// Whether the run must be watched over time.
    pub fn watched(&self) -> bool {
        self.power.is_some() || self.drawn()
    }

    /// Whether pictures of the run are wanted: of all SMs, over time.
    pub fn drawn(&self) -> bool {
        self.page.is_some() || self.pictures.is_some()
    }

    /// How long windows are.
    fn window(&self) -> Length {
        match self.power_window {
            Some(cycles) => Length::Fixed(cycles),
            None if self.drawn() && self.power.is_none() => FITTED,
            None => Length::Fixed(1000),
        }
    }

    /// What counts single SMs of a GPU by windows, likewise: all of them, or those that the timeline shows.
    pub fn by_sm(&self, gpu: &GpuSpec, timeline: Option<&SmSet>) -> Option<SmSampler> {
        let all = self.is_by_sm() || self.drawn();
        let shown = |sm: u16| all || timeline.is_some_and(|shown| shown.contains(sm));
        let wanted = all || timeline.is_some() && self.node.is_some();
        wanted.then(|| SmSampler::new(self.window(), gpu, shown))
    }

    /// Whether the table is by SM.
    pub fn is_by_sm(&self) -> bool {
        self.power.is_some() && self.power_by == Whose::Sm
    }

    /// Circuits under them; nothing if no node was given, or if something is wrong, which is in `sink` then.
    pub fn circuits(&self, sink: &mut Sink) -> Option<NodeCircuits> {
        let place = Place {
            node: self.node.clone(),
            library: self.library.clone(),
            flavour: self.flavour.clone(),
            temperature: self.temperature.clone(),
            vdd: self.vdd.clone(),
        };
        place.circuits(sink)
    }
}

/// Puts power over time into a timeline, if the run was counted by windows.
pub fn show_power<W: Write>(energy: &Energy, timeline: &mut Recorder<W>) {
    if let Some(power) = &energy.power {
        timeline.power(power, &energy.outcome.structures);
    }
}

/// Writes power over time, if the run was counted by windows, and says so.
///
/// # Errors
/// The file cannot be written.
pub fn write_power(energy: &mut Energy, path: &Path, whose: Whose) -> Result<(), Rejection> {
    let Some(power) = &energy.power else {
        return Ok(());
    };
    let text = match &power.by_sm {
        Some(by_sm) if whose == Whose::Sm => table_by_sm(power, by_sm, &energy.outcome),
        _ => table(power, &energy.outcome),
    };
    write_one(path, text.as_bytes())?;
    let (file, windows) = (path.display().to_string(), power.spans.len());
    energy.text += &format!("  power over time, {windows} windows: {file}\n");
    let written = json!({ "file": file, "windows": windows });
    energy.value.insert("power_over_time".to_owned(), written);
    Ok(())
}

/// Writes a run's page and its pictures where they are asked for, and says so.
///
/// # Errors
/// A file cannot be written.
pub fn draw(energy: &mut Energy, shown: &Shown<'_>, to: &Conditions) -> Result<(), Rejection> {
    let page = shown.page(energy)?;
    let html = to.page.as_ref().map(|_| page.html()).transpose();
    let html = html.map_err(defect)?;
    let pictures = match &to.pictures {
        Some(_) => named(page.pictures()),
        None => Vec::new(),
    };
    if let (Some(path), Some(html)) = (&to.page, html) {
        write_one(path, html.as_bytes())?;
        said(energy, "page", path);
    }
    if let Some(directory) = &to.pictures {
        let files = pictures.into_iter();
        let files: Vec<(String, Vec<u8>)> =
            files.map(|(name, svg)| (name, svg.into_bytes())).collect();
        write_all_into(directory, &files)?;
        said(energy, "pictures", directory);
    }
    Ok(())
}

fn said(energy: &mut Energy, what: &str, path: &Path) {
    let file = path.display().to_string();
    energy.text += &format!("  {what}: {file}\n");
    energy.value.insert(what.to_owned(), json!(file));
}

/// A row a window: where it begins and ends, the power of everything and of each structure.
fn table(power: &PowerOverTime, outcome: &Outcome) -> String {
    let mut text = "from_s,to_s,power_w".to_owned();
    for structure in &outcome.structures {
        let _ = write!(text, ",{}_w", structure.name);
    }
    text.push('\n');
    for ((from, to), watts) in power.spans.iter().zip(&power.watts) {
        let _ = write!(text, "{from},{to},{}", watts.iter().sum::<f64>());
        for watts in watts {
            let _ = write!(text, ",{watts}");
        }
        text.push('\n');
    }
    text
}

/// A row a window and SM, and one of each window without an SM for what belongs to none. Cells of structures that are not the row's are empty.
fn table_by_sm(power: &PowerOverTime, by_sm: &PowerBySm, outcome: &Outcome) -> String {
    let mut text = "from_s,to_s,sm,power_w".to_owned();
    for structure in &outcome.structures {
        let _ = write!(text, ",{}_w", structure.name);
    }
    text.push('\n');
    for (window, ((from, to), watts)) in power.spans.iter().zip(&power.watts).enumerate() {
        let mut row = |sm: &str, watts: Vec<Option<f64>>| {
            let _ = write!(
                text,
                "{from},{to},{sm},{}",
                watts.iter().flatten().sum::<f64>()
            );
            for watts in watts {
                let _ = match watts {
                    Some(watts) => write!(text, ",{watts}"),
                    None => write!(text, ","),
                };
            }
            text.push('\n');
        };
        for (place, sm) in by_sm.sms().iter().enumerate() {
            row(&sm.to_string(), by_sm.watts(window, place));
        }
        let others = watts.iter().enumerate();
        let others = others.map(|(place, watts)| (!by_sm.is_of_sms(place)).then_some(*watts));
        row("", others.collect());
    }
    text
}
