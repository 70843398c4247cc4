//! The pictures of where energy goes: the chip to scale and the flow of joules.

use std::borrow::Cow;

use serde::Serialize;

use super::view::Chart;
use crate::chart::{self, Tiles};
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
