//! What supply and temperature do: a table for each GPU variant, technology and technique that was run at several supplies, or at the temperature of its own heat.

use super::format::{self, NONE};
use super::text::Column;
use crate::outcome::{HeatState, KernelName, Outcome, Point, gpu_label};

/// The points of one GPU variant and technique in one technology.
pub struct OperatingTable<'o> {
    /// Technique, technology, GPU and settings in one line.
    pub heading: String,
    /// Kernel, supply and the study's temperature of each row.
    pub names: Vec<String>,
    /// The figures.
    pub columns: Vec<Column>,
    /// The points, a row each.
    pub points: Vec<&'o Outcome>,
}

/// The tables of all points; none if no supply or temperature was asked about.
pub fn tables(points: &[Outcome]) -> Vec<OperatingTable<'_>> {
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for point in points {
        let group = groups
            .iter_mut()
            .find(|group| same_circuits(&group[0].point, &point.point));
        match group {
            None => groups.push(vec![point]),
            Some(group) => group.push(point),
        }
    }
    groups.retain(|group| is_asked(group));
    groups.into_iter().map(table).collect()
}

/// Whether two points differ in nothing but their kernel and operating point.
fn same_circuits(a: &Point, b: &Point) -> bool {
    let (x, y) = (&a.technology, &b.technology);
    a.gpu == b.gpu
        && a.axes == b.axes
        && a.technique == b.technique
        && (&x.library, &x.node, &x.flavour, &x.profile)
            == (&y.library, &y.node, &y.flavour, &y.profile)
}

fn is_asked(group: &[&Outcome]) -> bool {
    let supply = |point: &Outcome| point.point.technology.vdd_v;
    group.iter().any(|point| point.heat.is_some())
        || group.iter().any(|point| supply(point) != supply(group[0]))
}

fn table(mut points: Vec<&Outcome>) -> OperatingTable<'_> {
    // Kernel by kernel in the study's order, each from the lowest supply up.
    let mut kernels: Vec<&KernelName> = Vec::new();
    for point in &points {
        if !kernels.contains(&&*point.point.kernel) {
            kernels.push(&point.point.kernel);
        }
    }
    let place = |point: &Outcome| {
        kernels
            .iter()
            .position(|kernel| **kernel == *point.point.kernel)
    };
    points.sort_by(|a, b| {
        let (x, y) = (&a.point.technology, &b.point.technology);
        place(a)
            .cmp(&place(b))
            .then(x.vdd_v.total_cmp(&y.vdd_v))
            .then(x.temperature_k.total_cmp(&y.temperature_k))
    });
    let labels = format::kernels(&kernels);
    let names = points.iter().map(|point| {
        let label = place(point).map_or("", |place| labels[place].as_str());
        let at = &point.point.technology;
        format!("{label} {:.3} V {:.0} K", at.vdd_v, at.temperature_k)
    });
    let point = &points[0].point;
    OperatingTable {
        heading: format!(
            "{} · {} {} · {}",
            point.technique,
            point.technology.node,
            point.technology.flavour,
            gpu_label(&point.gpu, &point.axes)
        ),
        names: names.collect(),
        columns: columns(&points),
        points,
    }
}

/// A figure of a point: its column in the CSV, heading, meaning, its value, what makes it readable, and whether its least value of a kernel is marked.
struct Figure {
    key: &'static str,
    heading: &'static [&'static str],
    meaning: &'static str,
    value: fn(&Outcome) -> Option<f64>,
    scale: f64,
    least: bool,
}

const fn figure(
    key: &'static str,
    heading: &'static [&'static str],
    meaning: &'static str,
    value: fn(&Outcome) -> Option<f64>,
    (scale, least): (f64, bool),
) -> Figure {
    Figure {
        key,
        heading,
        meaning,
        value,
        scale,
        least,
    }
}

fn power(point: &Outcome) -> f64 {
    point.dynamic_power_w() + point.leakage_power_w()
}

/// Every figure in its place.
const ALL: &[Figure] = &[
    figure(
        "clock_hz",
        &["clock", "MHz"],
        "core clock",
        |p| Some(p.clock_hz),
        (1e-6, false),
    ),
    figure(
        "time_s",
        &["time", "us"],
        "of the whole run",
        |p| Some(p.time_s),
        (1e6, true),
    ),
    figure(
        "dynamic_power_w",
        &["dynamic", "W"],
        "mean dynamic power of everything that is priced",
        |p| Some(p.dynamic_power_w()),
        (1.0, false),
    ),
    figure(
        "leakage_power_w",
        &["leakage", "W"],
        "mean leakage power of everything that is priced",
        |p| Some(p.leakage_power_w()),
        (1.0, false),
    ),
    figure(
        "power_w",
        &["power", "W"],
        "both",
        |p| Some(power(p)),
        (1.0, true),
    ),
    figure(
        "energy_j",
        &["energy", "uJ"],
        "dynamic and leakage energy of everything that is priced; the least of a kernel is marked",
        |p| Some(p.energy_j()),
        (1e6, true),
    ),
    figure(
        "edp_js",
        &["EDP", "pJ s"],
        "energy times time; the least of a kernel is marked",
        |p| Some(p.energy_j() * p.time_s),
        (1e12, true),
    ),
    figure(
        "junction_k",
        &["SMs", "K"],
        "temperature of the SMs when the kernel is run again and again",
        |p| p.at_rest().map(|heat| heat.junction_k),
        (1.0, false),
    ),
    figure(
        "sink_k",
        &["sink", "K"],
        "temperature of the heat sink then",
        |p| p.at_rest().map(|heat| heat.sink_k),
        (1.0, false),
    ),
    figure(
        "loop_gain",
        &["loop", "gain"],
        "kelvin that the additional leakage of one kelvin more makes; there is no rest from one on",
        |p| p.heat.map(|heat| heat.loop_gain),
        (1.0, false),
    ),
    figure(
        "study_leakage_w",
        &["leakage", "before"],
        "leakage power at the study's own temperature, W",
        |p| p.heat.map(|heat| heat.study_leakage_w),
        (1.0, false),
    ),
];

/// The columns that have something to show.
fn columns(points: &[&Outcome]) -> Vec<Column> {
    let mut columns: Vec<Column> = ALL
        .iter()
        .map(|figure| Column {
            heading: figure
                .heading
                .iter()
                .map(|line| (*line).to_owned())
                .collect(),
            meaning: figure.meaning.to_owned(),
            cells: points
                .iter()
                .map(|point| cell(figure, point, points))
                .collect(),
        })
        .filter(|column| column.cells.iter().any(|cell| cell != NONE))
        .collect();
    if points.iter().any(|point| !is_at_rest(point)) {
        columns.push(Column {
            heading: vec!["rest".to_owned()],
            meaning: "whether power and temperature come to rest".to_owned(),
            cells: points.iter().map(|point| state(point).to_owned()).collect(),
        });
    }
    columns
}

fn cell(figure: &Figure, point: &Outcome, points: &[&Outcome]) -> String {
    let Some(value) = (figure.value)(point) else {
        return NONE.to_owned();
    };
    let of_kernel = points
        .iter()
        .filter(|other| other.point.kernel == point.point.kernel && is_at_rest(other))
        .filter_map(|other| (figure.value)(other));
    let (mut others, mut least) = (0, f64::INFINITY);
    for other in of_kernel {
        others += 1;
        least = least.min(other);
    }
    let mark = if figure.least && others > 1 && value == least && is_at_rest(point) {
        " least"
    } else {
        ""
    };
    format!("{}{mark}", format::number(value * figure.scale))
}

/// Points without a temperature of their own are as the study says.
fn is_at_rest(point: &Outcome) -> bool {
    point.heat.is_none() || point.at_rest().is_some()
}

fn state(point: &Outcome) -> &'static str {
    match point.heat.map(|heat| heat.state) {
        None => NONE,
        Some(HeatState::Settled) => "yes",
        Some(HeatState::Runaway) => "runaway",
        Some(HeatState::OutOfRange) => "too hot",
    }
}

/// The names of the figures for machines.
pub fn keys() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|figure| figure.key)
}

/// The values of a point, and whether power and temperature come to rest.
pub fn values(point: &Outcome) -> (Vec<Option<f64>>, &'static str) {
    let values = ALL.iter().map(|figure| (figure.value)(point)).collect();
    (values, state(point))
}
