//! `[peak_power]`: over which time power is a peak.

use warpwatt_techlib::quantity::Time;

use super::gpu::quantity;
use super::reader::{Fault, Reader, Section};
use super::{Budget, Objective};

/// The metric that needs counts by windows.
const METRIC: &str = "peak_power_w";

/// The window where a study does not say. Voltage regulators off the chip take microseconds to answer a step of the load; shorter peaks are fed from the
/// capacitance of package and die (Kim, Gupta, Wei and Brooks, HPCA 2008, section 2).
const WINDOW: Time = Time::from_us(1.0);

/// The window of a study that asks for peak power: in a section of its own, or by naming the metric as a goal.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    budget: Option<&Budget>,
    pareto: &[Objective],
) -> Option<Time> {
    let Some(section) = reader.section(root, "peak_power") else {
        let bounds = budget.iter().flat_map(|budget| &budget.limits);
        let mut named = bounds.map(|limit| &limit.metric);
        let wanted = pareto.iter().map(|objective| &objective.metric);
        return named
            .by_ref()
            .chain(wanted)
            .any(|name| name == METRIC)
            .then_some(WINDOW);
    };
    reader.refuse_unknown(&section, &["window"]);
    let window = reader.one(&section, "window", |value| {
        let window: Time = quantity("`window`", value, "1 us")?;
        if (1e-9..=1.0).contains(&window.si()) {
            return Ok(window);
        }
        Err(Fault {
            code: "study::absurd_size",
            message: format!("`window` cannot be {window}"),
            label: "between 1 ns and 1 s".to_owned(),
            help: Some("write for example `window = \"1 us\"`".to_owned()),
        })
    });
    Some(window.map_or(WINDOW, |placed| placed.value))
}
