//! The report of a program as tables: CSV, and a page.

use warpwatt_suite::launch::demangled;

use super::text::{
    UNPRICED, alike, by_energy, changed, estimated, plural, sampled, shares, shown, stalls,
    structures, time,
};
use super::told::Told;
use crate::goal::quantity::{count, readable};
use crate::program::{KernelSums, Totals};
use crate::report::format;
use crate::report::grids::{Grid, Grids};
use crate::report::sheet::{Cell, Kind, Sheet, SheetColumn};
use crate::run::program::way_name;

/// The name of the row of all kernels.
const ALL: &str = "all kernels";
/// Structures and stalls of a kernel that the page shows.
const SHOWN: usize = 5;

const COLUMNS: [(&str, Kind); 22] = [
    ("kernel", Kind::Text),
    ("demangled", Kind::Text),
    ("configuration", Kind::Text),
    ("calls", Kind::Count),
    ("timed", Kind::Count),
    ("warp_instructions", Kind::Count),
    ("time_s", Kind::Real),
    ("energy_j", Kind::Real),
    ("energy_halfwidth_j", Kind::Real),
    ("dynamic_energy_j", Kind::Real),
    ("leakage_energy_j", Kind::Real),
    ("power_w", Kind::Real),
    ("power_halfwidth_w", Kind::Real),
    ("peak_power_w", Kind::Real),
    ("board_energy_j", Kind::Real),
    ("energy_change", Kind::Real),
    ("energy_change_halfwidth", Kind::Real),
    ("time_change", Kind::Real),
    ("top_structure", Kind::Text),
    ("time_halfwidth_s", Kind::Real),
    ("time_change_halfwidth", Kind::Real),
    ("alike", Kind::Count),
];

/// A row a kernel and configuration, those of all kernels at the end. A kernel of which no launch was timed has one row.
pub fn sheet(told: &Told<'_>) -> Sheet {
    let kernels = by_energy(told).into_iter().chain([(ALL, &told.sums.all)]);
    let rows = kernels.flat_map(|(name, kernel)| rows(told, name, kernel));
    Sheet {
        columns: COLUMNS
            .iter()
            .map(|(name, kind)| SheetColumn::new(*name, *kind))
            .collect(),
        rows: rows.collect(),
    }
}

fn rows(told: &Told<'_>, name: &str, kernel: &KernelSums) -> Vec<Vec<Cell>> {
    let begin = |label: &str| -> Vec<Cell> {
        let counts = [kernel.calls, kernel.timed, kernel.warp_instructions];
        let names = [
            name.into(),
            demangled(name).unwrap_or_default().into(),
            label.into(),
        ];
        names.into_iter().chain(counts.map(Cell::Count)).collect()
    };
    let mut rows: Vec<Vec<Cell>> = told
        .configurations_of(kernel)
        .map(|(label, totals, plain)| {
            begin(label)
                .into_iter()
                .chain(figures(totals, plain))
                .chain([Cell::Count(kernel.alike)])
                .collect()
        })
        .collect();
    if rows.is_empty() {
        let mut row = begin("");
        row.resize(COLUMNS.len(), Cell::Nothing);
        rows.push(row);
    }
    rows
}

fn figures(totals: &Totals, plain: Option<&Totals>) -> [Cell; 15] {
    let power = totals.power_w();
    let change = plain.and_then(|plain| totals.energy_change(plain));
    let slower = plain.and_then(|plain| totals.time_change(plain));
    let top = structures(totals, 1).first().map(|(name, _)| *name);
    [
        totals.seconds().into(),
        totals.energy_j().into(),
        totals.energy.estimate().half_width().into(),
        totals.dynamic_j.into(),
        totals.leakage_j.into(),
        power.map(|it| it.value).into(),
        power.map(|it| it.half_width()).into(),
        totals.peak_w.into(),
        totals.board_j.into(),
        change.map(|it| it.value).into(),
        change.map(|it| it.half_width()).into(),
        slower.map(|it| it.value).into(),
        top.into(),
        totals.time.estimate().half_width().into(),
        slower.map(|it| it.half_width()).into(),
    ]
}

/// The page.
pub fn page(told: &Told<'_>) -> Grids {
    let place = match &told.technology {
        Some(technology) => format!(
            "Kernels as timed on {} and priced at {technology}.",
            told.gpu
        ),
        None => format!("Kernels as executed on {}; none was timed.", told.gpu),
    };
    let all = &told.sums.all;
    let sampled = match all.sampled + all.alike {
        0 => "",
        _ => " and of what was not timed",
    };
    Grids {
        title: told.program.clone(),
        lead: format!(
            "{place} Energies are dynamic and leakage, of the whole GPU, with half their 95 % intervals, which are those of the prices{sampled}."
        ),
        tables: vec![kernels(told), parts(told), changes(told), copies(told)],
        notes: notes(told),
        version: env!("CARGO_PKG_VERSION"),
    }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// Kernels and all of them, those of which launches were timed.
fn timed<'t>(told: &'t Told<'_>) -> Vec<(String, &'t KernelSums, &'t Totals)> {
    let kernels = by_energy(told).into_iter();
    let kernels = kernels.map(|(name, kernel)| (shown(name), kernel));
    let kernels = kernels.chain([(ALL.to_owned(), &told.sums.all)]);
    let timed = kernels.filter(|(_, kernel)| kernel.timed > 0);
    timed
        .filter_map(|(name, kernel)| Some((name, kernel, kernel.totals.first()?)))
        .collect()
}

fn kernels(told: &Told<'_>) -> Grid {
    let readable = |value: Option<f64>, unit| {
        value.map_or_else(|| format::NONE.to_owned(), |value| readable(value, unit))
    };
    let rows = timed(told).into_iter().map(|(name, kernel, totals)| {
        vec![
            name,
            count(kernel.calls),
            count(kernel.timed),
            count(kernel.warp_instructions),
            time(totals),
            estimated(totals.energy.estimate(), "J"),
            readable(totals.power_w().map(|power| power.value), "W"),
            readable(totals.peak_w, "W"),
        ]
    });
    Grid {
        heading: "Kernels".to_owned(),
        caption: "The plain GPU, those that take the most energy first.".to_owned(),
        headings: texts([
            "kernel",
            "calls",
            "timed",
            "warp instructions",
            "time",
            "energy",
            "power",
            "most",
        ]),
        rows: rows.collect(),
    }
}

fn parts(told: &Told<'_>) -> Grid {
    let rows = timed(told).into_iter().map(|(name, _, totals)| {
        vec![
            name,
            shares(&structures(totals, SHOWN)),
            shares(&stalls(totals, SHOWN)),
        ]
    });
    Grid {
        heading: "Where energy and cycles go".to_owned(),
        caption: "Structures by energy; what SM cycles without an issue went into.".to_owned(),
        headings: texts(["kernel", "energy", "cycles"]),
        rows: rows.collect(),
    }
}

fn changes(told: &Told<'_>) -> Grid {
    let rows = timed(told).into_iter().flat_map(|(name, kernel, _)| {
        let row = move |(label, with, plain): (&String, &Totals, Option<&Totals>)| {
            let plain = plain?;
            Some(vec![
                name.clone(),
                label.clone(),
                format::estimate(with.energy_change(plain)),
                changed(with.time_change(plain)),
            ])
        };
        told.configurations_of(kernel).filter_map(row)
    });
    Grid {
        heading: "Techniques".to_owned(),
        caption: "Against the plain GPU, over the same launches; * inside its own error."
            .to_owned(),
        headings: texts(["kernel", "configuration", "energy", "time"]),
        rows: rows.collect(),
    }
}

fn copies(told: &Told<'_>) -> Grid {
    let rows = told.heard.copies.iter().map(|(way, copied)| {
        let bytes = readable(copied.bytes as f64, "B");
        vec![way_name(*way).to_owned(), count(copied.count), bytes]
    });
    Grid {
        heading: "Copies".to_owned(),
        caption: "They are neither timed nor priced.".to_owned(),
        headings: texts(["way", "operations", "bytes"]),
        rows: rows.collect(),
    }
}

fn notes(told: &Told<'_>) -> Vec<String> {
    let untimed = told.sums.all.untimed.iter();
    let untimed = untimed.map(|(why, launches)| {
        format!(
            "Not timed, and in no figure: {}: {why}",
            plural(*launches, "launch")
        )
    });
    let stopped = told.heard.stopped.iter();
    let stopped = stopped.map(|it| format!("A kernel stopped: {}", it.why));
    let behind = told.heard.behind.iter();
    let behind = behind.map(|it| format!("`{}` {}.", it.kernel, it.why));
    let beyond = (told.heard.beyond > 0).then(|| {
        format!(
            "{} more launches and copies are in no figure.",
            told.heard.beyond
        )
    });
    let scope = told.timed.then(|| format!("{UNPRICED}."));
    let sampled = sampled(&told.sums.all).map(|text| format!("{text}."));
    let alike = alike(&told.sums.all).map(|text| format!("{text}."));
    let first = untimed.chain(alike).chain(sampled);
    first
        .chain(stopped)
        .chain(behind)
        .chain(beyond)
        .chain(scope)
        .collect()
}
