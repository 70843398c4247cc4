//! Memory macros of foundries and open kits beside the silicon profile: area and access time, with our intervals.
//!
//! What is compared, and with which of our technologies, is fixed by family and never by macro (see `docs/silicon-arrays.md`). Memories of a compiler are
//! [`MacroStyle::Compiled`], those of a predictive kit [`MacroStyle::Synchronous`]. All are single SRAM arrays at their typical corner. The calibration
//! uses every second row of the list, from the first on; the others are held out.

use serde::{Deserialize, Serialize};
use warpwatt_circuit::{
    CircuitError, Circuits, MacroStyle, OperatingPoint, Ports, Profile, RamSpec, Settings, Spec,
    cost_with,
};
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library, OwnNode, TechError, Technology};

use super::Check;

/// The macros that ship.
pub const TRUTH: &str = include_str!("macros/truth.csv");
/// The node of the memories with 5 V transistors.
const GF180: (&str, &str) = ("gf180mcu_5v.toml", include_str!("macros/gf180mcu_5v.toml"));
/// The node of the predictive kit's memories.
const ASAP7: (&str, &str) = ("asap7_bare.toml", include_str!("macros/asap7_bare.toml"));
/// Half of a 95 % interval of a normal error, in standard deviations.
const HALF: f64 = 1.96;

/// Why macros cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum MacroError {
    /// The list is no such list.
    #[error("the list of macros: {0}")]
    List(#[from] csv::Error),
    /// A technology is missing.
    #[error(transparent)]
    Technology(#[from] TechError),
    /// A node file is wrong.
    #[error("node file `{name}`: {problem}")]
    Node {
        /// Which file.
        name: &'static str,
        /// The first thing that is wrong with it.
        problem: String,
    },
    /// A macro cannot be modelled.
    #[error("{name}: {problem}")]
    Model {
        /// Which macro.
        name: String,
        /// Why.
        problem: Box<CircuitError>,
    },
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// IHP SG13G2 compiler, 130 nm.
    Ihp,
    /// GF180MCU memories of 5 V transistors.
    Gf180,
    /// ASAP7 predictive kit, 7 nm.
    Asap7,
    /// OpenRAM layouts in SKY130.
    Openram,
    /// Published macros of a foundry.
    Foundry,
}

/// A row of the list.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    #[serde(rename = "macro")]
    name: String,
    family: Family,
    node_nm: u32,
    words: u64,
    bits: u64,
    ports: String,
    vdd_v: Option<f64>,
    temp_c: f64,
    area_um2: Option<f64>,
    access_ns: Option<f64>,
}

/// One figure of one macro beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacroCheck {
    /// Which macro.
    pub name: String,
    /// Of which family.
    pub family: Family,
    /// `area_m2` or `access_time_s`.
    pub figure: &'static str,
    /// The macro's.
    pub published: f64,
    /// Ours.
    pub ours: f64,
    /// Our relative uncertainty, one standard deviation.
    pub uncertainty: f64,
    /// Share of ours that is there by the calibrated parameter: the self-timing margin of a time, the ring of an area.
    pub calibrated: f64,
    /// Whether the calibration did without it.
    pub held_out: bool,
}

/// How a set of checks comes out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MacroSummary {
    /// Number of checks.
    pub checks: usize,
    /// Median of the absolute relative errors.
    pub median_error: f64,
    /// Share of the published values inside our 95 % intervals.
    pub covered: f64,
}

impl MacroCheck {
    /// Ours over the published value, less one.
    pub fn error(&self) -> f64 {
        self.ours / self.published - 1.0
    }

    /// Whether the published value is inside our 95 % interval.
    pub fn is_covered(&self) -> bool {
        (self.published - self.ours).abs() <= HALF * self.uncertainty * self.ours
    }
}

/// Compares every macro of a list such as [`TRUTH`].
///
/// # Errors
///
/// If the list cannot be read or a macro cannot be modelled.
pub fn macros(list: &str) -> Result<Vec<MacroCheck>, MacroError> {
    let mut reader = csv::Reader::from_reader(list.as_bytes());
    let mut checks = Vec::new();
    for (place, row) in reader.deserialize().enumerate() {
        let row: Row = row?;
        checks.extend(compare(&row, place % 2 == 1)?);
    }
    Ok(checks)
}

/// Median error and coverage of one figure.
pub fn summary<'a>(checks: impl IntoIterator<Item = &'a MacroCheck>) -> Option<MacroSummary> {
    let (mut errors, mut covered) = (Vec::new(), 0);
    for check in checks {
        errors.push(check.error().abs());
        covered += usize::from(check.is_covered());
    }
    errors.sort_by(f64::total_cmp);
    let count = errors.len();
    let middle = (*errors.get(count.saturating_sub(1) / 2)? + errors[count / 2]) / 2.0;
    Some(MacroSummary {
        checks: count,
        median_error: middle,
        covered: covered as f64 / count as f64,
    })
}

/// The memories of foundries and open kits that the calibration did without.
///
/// # Errors
/// As [`macros`].
pub fn checks() -> Result<Vec<Check>, String> {
    /// Share of the intervals that miss.
    const MISSED: f64 = 0.20;
    let all = macros(TRUTH).map_err(|error| error.to_string())?;
    let mut checks = Vec::new();
    for (figure, name, median) in [("area_m2", "area", 0.12), ("access_time_s", "delay", 0.20)] {
        let held_out = all
            .iter()
            .filter(|check| check.held_out && check.figure == figure);
        let Some(summary) = summary(held_out) else {
            continue;
        };
        let place = format!("macros, {} held out", summary.checks);
        let mut check = |what, most, ours| {
            checks.push(Check::at_most(&place, what, most, ours));
        };
        check(
            format!("{name}, median error"),
            median,
            summary.median_error,
        );
        check(
            format!("{name}, outside the interval"),
            MISSED,
            1.0 - summary.covered,
        );
    }
    Ok(checks)
}

fn compare(row: &Row, held_out: bool) -> Result<Vec<MacroCheck>, MacroError> {
    let (periphery, cell) = technologies(row)?;
    let at = OperatingPoint {
        temperature: Temperature::from_k(row.temp_c + 273.15),
        vdd: row.vdd_v.map(Voltage::from_v),
    };
    let settings = Settings {
        style: match row.family {
            Family::Asap7 => MacroStyle::Synchronous,
            _ => MacroStyle::Compiled,
        },
        circuits: Circuits::Sram,
        ..Profile::Silicon.settings()
    };
    let spec = Spec::Ram(RamSpec {
        words: row.words,
        bits: row.bits,
        out_bits: None,
        ports: ports(&row.ports),
        banks: 1,
    });
    let cost = cost_with(&cell, &periphery, &at, &settings, &spec).map_err(|problem| {
        MacroError::Model {
            name: row.name.clone(),
            problem: Box::new(problem),
        }
    })?;
    let part = |name: &str| cost.breakdown.iter().find(|part| part.name == name);
    let waited = part("self-timing margin").map_or(0.0, |part| part.delay / cost.access_time);
    let ring = part("power ring").map_or(0.0, |part| part.area / cost.area);
    let check = |figure, published: Option<f64>, (ours, uncertainty): (f64, f64), calibrated| {
        published.map(|published| MacroCheck {
            name: row.name.clone(),
            family: row.family,
            figure,
            published,
            ours,
            uncertainty,
            calibrated,
            held_out,
        })
    };
    let area = row.area_um2.map(|area| area * 1e-12);
    let access = row.access_ns.map(|access| access * 1e-9);
    let own = &cost.uncertainty;
    Ok([
        check("area_m2", area, (cost.area.si(), own.area), ring),
        check(
            "access_time_s",
            access,
            (cost.access_time.si(), own.delay),
            waited,
        ),
    ]
    .into_iter()
    .flatten()
    .collect())
}

/// Periphery and cells. IHP's process leaks 10 pA a bit: its transistors are of the kind that libraries call low standby power.
fn technologies(row: &Row) -> Result<(Technology, Technology), MacroError> {
    let own = |(name, text): (&'static str, &str), flavour| {
        let node =
            OwnNode::read(name, text, &mut |_, other| Err(other.to_owned())).map_err(|faults| {
                MacroError::Node {
                    name,
                    problem: faults
                        .first()
                        .map_or_else(String::new, |fault| fault.message.clone()),
                }
            })?;
        Ok::<_, MacroError>((node.technology(flavour)?, node.technology(Flavour::Sram)?))
    };
    let shipped = |flavour| {
        let library = Library::silicon()?;
        let node = format!("{}nm", row.node_nm);
        let both = (
            library.node(&node, flavour)?,
            library.node(&node, Flavour::Sram)?,
        );
        Ok::<_, MacroError>(both)
    };
    match row.family {
        Family::Ihp | Family::Openram => shipped(Flavour::Lstp),
        Family::Foundry => shipped(Flavour::Hp),
        Family::Gf180 => own(GF180, Flavour::Hp),
        Family::Asap7 => own(ASAP7, Flavour::Hp),
    }
}

fn ports(text: &str) -> Ports {
    match text {
        "2rw" => Ports {
            read_write: 2,
            ..Ports::NONE
        },
        "1rw1r" => Ports {
            read_write: 1,
            read: 1,
            ..Ports::NONE
        },
        _ => Ports::ONE,
    }
}

#[cfg(test)]
mod tests;
