//! Completions of placements of queens, by recursion over the rows that are left.

use super::{Inputs, Outputs};

/// An element for each thread that has a placement, or the sum of a block.
pub(crate) fn n_queens(inputs: &Inputs<'_>) -> Outputs {
    let board = inputs.size("board") as u32;
    let [columns, left, right] = ["columns", "left", "right"].map(|name| inputs.u32s(name));
    let (grid, block) = inputs.launch();
    let threads = (grid[0] * block[0]) as usize;
    let elements = inputs
        .prepared
        .buffer("solutions")
        .map_or(0, |buffer| buffer.before.len() / 4);
    let each = threads / elements.max(1);
    let mut solutions = vec![0; elements];
    for i in 0..inputs.size("placements") {
        solutions[i / each.max(1)] += completions(board, columns[i], left[i], right[i]);
    }
    Outputs::default().u32s("solutions", &solutions)
}

/// Ways to fill the next row and all rows after it.
fn completions(board: u32, columns: u32, left: u32, right: u32) -> u32 {
    if columns.count_ones() == board {
        return 1;
    }
    let attacked = columns | left | right;
    let open = (0..board)
        .map(|column| 1 << column)
        .filter(|queen| attacked & queen == 0);
    open.map(|queen| {
        completions(
            board,
            columns | queen,
            (left | queen) << 1,
            (right | queen) >> 1,
        )
    })
    .sum()
}
