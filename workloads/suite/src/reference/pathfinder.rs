//! Cheapest paths down 16 rows of costs; a step goes straight down or one column aside.

use super::{Inputs, Outputs};

pub(crate) fn pathfinder(inputs: &Inputs<'_>) -> Outputs {
    let costs = inputs.i32s("cost");
    let mut line = inputs.i32s("start");
    for row in costs.chunks(inputs.size("columns")) {
        line = step(&line, row);
    }
    Outputs::default().i32s("result", &line)
}

/// The cheapest ways to a row, from those to the row above it.
pub(super) fn step(line: &[i32], costs: &[i32]) -> Vec<i32> {
    let cheapest = |column: usize| {
        let above = &line[column.saturating_sub(1)..(column + 2).min(line.len())];
        above.iter().min().map_or(0, |best| best + costs[column])
    };
    (0..line.len()).map(cheapest).collect()
}
