//! The pictures of one run.

use std::borrow::Cow;

use super::KernelPage;
use crate::chart::{self, Layer, OverTime};
use crate::html::{Chart, area_of};

/// Those that there is anything for.
pub fn charts(page: &KernelPage<'_>) -> Vec<Chart> {
    let mut charts: Vec<Chart> = [flow(page), power(page), cycles(page), sms(page)]
        .into_iter()
        .flatten()
        .collect();
    charts.extend(area_of(page.outcome));
    charts
}

fn flow(page: &KernelPage<'_>) -> Option<Chart> {
    let caption = "Dynamic energy by the instructions that cause it. Energy of caches, network and DRAM goes to instructions by the sectors that they ask for or write; a clock that runs and the like is of no instruction. Structures that take little are summed by group.";
    Some(Chart {
        heading: Cow::Borrowed("From instructions to structures"),
        caption: Cow::Borrowed(caption),
        svg: chart::flow_by_class(page.outcome, &page.classes, "flow")?,
    })
}

fn power(page: &KernelPage<'_>) -> Option<Chart> {
    let over = OverTime {
        title: "Power over time",
        unit: "W",
        spans: page.over_time.spans,
        layers: by_group(page),
        launches: &page.over_time.launches,
    };
    Some(Chart {
        heading: Cow::Borrowed("Power over time"),
        caption: Cow::Borrowed(
            "By group of structures, launches above. What no window holds (leakage, and what is charged by an expression) is spread evenly; the area is the energy.",
        ),
        svg: chart::over_time(&over, "power")?,
    })
}

/// Watts of every group of structures by window, the largest group lowest.
fn by_group(page: &KernelPage<'_>) -> Vec<Layer> {
    let structures = &page.outcome.structures;
    let mut groups: Vec<(&str, f64)> = Vec::new();
    for structure in structures {
        let joules = structure.energy_j();
        match groups
            .iter_mut()
            .find(|(name, _)| *name == &*structure.group)
        {
            Some((_, sum)) => *sum += joules,
            None => groups.push((&structure.group, joules)),
        }
    }
    groups.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let layer = |(group, _): (&str, f64)| {
        let of = |watts: &Vec<f64>| {
            let own = structures.iter().zip(watts);
            let own = own.filter(|(structure, _)| &*structure.group == group);
            own.map(|(_, watts)| watts).sum()
        };
        Layer {
            name: group.replace('_', " "),
            values: page.over_time.watts.iter().map(of).collect(),
            is_idle: false,
        }
    };
    groups.into_iter().map(layer).collect()
}

fn cycles(page: &KernelPage<'_>) -> Option<Chart> {
    let over = OverTime {
        title: "What SMs spend their cycles on",
        unit: "1",
        spans: page.over_time.spans,
        layers: page.over_time.cycles.clone(),
        launches: &page.over_time.launches,
    };
    Some(Chart {
        heading: Cow::Borrowed("What SMs spend their cycles on"),
        caption: Cow::Borrowed(
            "Cycles of all SMs: with an issue, idle, or without an issue by what the warp waits for that is nearest to one.",
        ),
        svg: chart::over_time(&over, "cycles")?,
    })
}

fn sms(page: &KernelPage<'_>) -> Option<Chart> {
    Some(Chart {
        heading: Cow::Borrowed("Power of each SM"),
        caption: Cow::Borrowed(
            "What belongs to SMs: a row an SM, a column a stretch of time. Leakage, and what no SM counts, is spread evenly over them.",
        ),
        svg: chart::sms(&page.over_time.sms, page.over_time.spans, "sms")?,
    })
}
