//! The names of what ships: presets, kernels, techniques, counters.

use std::sync::Arc;

use super::{Catalogue, CounterName, PaperRow, PaperTable};
use crate::goal::MetricNames;

impl Catalogue {
    /// What ships, with these metrics.
    pub fn shipped(metrics: Arc<dyn MetricNames>) -> Self {
        let kernels = warpwatt_suite::kernels().iter();
        Self::of_kernels(
            kernels.map(|kernel| kernel.name.to_owned()).collect(),
            metrics,
        )
    }

    /// The same with the names of these kernels, where those that ship are not at hand.
    pub fn of_kernels(kernels: Vec<String>, metrics: Arc<dyn MetricNames>) -> Self {
        Self {
            kernels,
            presets: warpwatt_gpu::presets()
                .iter()
                .map(|preset| preset.name.to_owned())
                .collect(),
            beside: Vec::new(),
            papers: warpwatt_suite::papers().iter().map(paper_table).collect(),
            techniques: warpwatt_techniques::ALL
                .iter()
                .map(|definition| definition.name.to_owned())
                .collect(),
            counters: counters().collect(),
            metrics,
        }
    }
}

/// The counters of the GPU model, then those of techniques in their order.
fn counters() -> impl Iterator<Item = CounterName> {
    let own = warpwatt_gpu::COUNTERS.iter().map(|counter| CounterName {
        name: counter.name.to_owned(),
        technique: None,
    });
    let techniques = warpwatt_techniques::ALL.iter().flat_map(|definition| {
        definition.counters.iter().map(|(name, _)| CounterName {
            name: (*name).to_owned(),
            technique: Some(definition.name.to_owned()),
        })
    });
    own.chain(techniques)
}

fn paper_table(paper: &warpwatt_suite::Paper) -> PaperTable {
    let rows = paper.benchmarks.iter().map(|row| PaperRow {
        names: [row.abbreviation, row.title].map(str::to_owned),
        stands: row
            .stands
            .map(|(kernel, case)| (kernel.to_owned(), case.to_owned())),
    });
    PaperTable {
        name: paper.name.to_owned(),
        rows: rows.collect(),
    }
}
