//! The pictures of where energy goes: the chip to scale, the flow of joules, the energy roofline.

use std::borrow::Cow;

use serde::Serialize;

use super::view::Chart;
use crate::chart::{self, Curves, Tiles};
use crate::model::Report;
use crate::outcome::{Outcome, Point, gpu_label};
use crate::plain;

/// Where the energy of the plain GPU goes.
#[derive(Serialize)]
pub struct EnergyView {
    /// The GPU and its technology.
    context: String,
    charts: Vec<Chart>,
}

/// The chip and the flow of joules; `None` without a plain GPU.
pub fn view(report: &Report) -> Option<EnergyView> {
    let charts = charts(report);
    let first = plain::points(report).into_iter().next()?;
    let Point {
        gpu,
        axes,
        technology,
        ..
    } = &first.point;
    (!charts.is_empty()).then(|| EnergyView {
        context: format!("{} · {}", gpu_label(gpu, axes), technology.label()),
        charts,
    })
}

/// The pictures of the plain GPU.
pub fn charts(report: &Report) -> Vec<Chart> {
    let points = plain::points(report);
    let mut charts = dies(report, &points);
    charts.extend(flow(&points));
    charts
}

fn flow(points: &[&Outcome]) -> Option<Chart> {
    let caption = match points {
        [one] => format!("Of {} on the plain GPU.", one.point.kernel.name),
        all => format!("Of the plain GPU, summed over {} kernels.", all.len()),
    };
    let caption = format!(
        "{caption} Bands are as wide as their energy; structures that take little are summed by group."
    );
    Some(Chart {
        heading: Cow::Borrowed("Flow of joules"),
        caption: Cow::Owned(caption),
        svg: chart::flow(points, "flow")?,
    })
}

/// The chip without and, of one configuration alone, with its technique.
fn dies(report: &Report, points: &[&Outcome]) -> Vec<Chart> {
    let Some(plain) = plain::hottest(points) else {
        return Vec::new();
    };
    let shown: Vec<&Outcome> = std::iter::once(plain)
        .chain(plain::with_technique(report, plain))
        .collect();
    let pictures = chart::dies(&shown, "die");
    let charts = pictures.into_iter().zip(shown).map(|(svg, point)| Chart {
        heading: Cow::Owned(match point.point.is_baseline() {
            true => "Priced area to scale, plain GPU".to_owned(),
            false => format!("The same with {}", point.point.technique),
        }),
        caption: Cow::Owned(caption(point, points.len())),
        svg,
    });
    charts.collect()
}

/// The chip of one run.
pub(crate) fn area_of(point: &Outcome) -> Option<Chart> {
    Some(Chart {
        heading: Cow::Borrowed("Priced area to scale"),
        caption: Cow::Owned(caption(point, 1)),
        svg: chart::dies(&[point], "die").pop()?,
    })
}

/// What the picture of a chip shows, and what it leaves out.
fn caption(point: &Outcome, kernels: usize) -> String {
    let kernel = &point.point.kernel.name;
    let which = match kernels {
        1 => format!("Shade: power density while {kernel} runs."),
        _ => format!(
            "Shade: power density while {kernel} runs, the kernel that takes the most power."
        ),
    };
    let mut text = format!(
        "The area of what is priced, all instances of a structure together; placement is not a floorplan. {which}"
    );
    let Tiles {
        beside, without, ..
    } = Tiles::of(point);
    let parts = [(beside, "beside the chip"), (without, "no area of its own")];
    let parts = parts.iter().filter(|(names, _)| !names.is_empty());
    let parts = parts.map(|(names, why)| format!("{} ({why})", names.join(", ")));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        text += &format!(" Left out, with its power: {}.", parts.join("; "));
    }
    text
}

/// Operations a joule of every kernel and configuration. `None` where there is nothing to compare.
pub fn roofline(report: &Report) -> Option<Chart> {
    let curves = Curves::of(report);
    let svg = chart::roofline(&curves, "roofline")?;
    let mut caption = "Operations: integer, single, double and special ones of lanes and multiply-adds of matrix units, as the plain GPU counts them. A line is the roof of Choi et al. (IPDPS 2013) from the lowest costs that any kernel of the configuration has: of a byte the dynamic energy of DRAM, network, second-level cache and memory controllers; of an operation all other dynamic energy; of time the leakage power.".to_owned();
    if curves.curves.iter().all(|curve| curve.roof().byte_j <= 0.0) {
        caption += " None of that memory system is priced here: a byte costs time alone.";
    }
    if curves.has_more {
        caption += &format!(" The first {} configurations.", curves.curves.len());
    }
    if !curves.left_out.is_empty() {
        let names = curves.left_out.join(", ");
        caption += &format!(" Left out, without operations or bytes: {names}.");
    }
    Some(Chart {
        heading: Cow::Borrowed("Energy roofline"),
        caption: Cow::Owned(caption),
        svg,
    })
}
