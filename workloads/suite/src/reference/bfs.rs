//! Distances in a directed graph from its first node, by a queue.

use std::collections::VecDeque;

use super::{Inputs, Outputs};

pub(crate) fn bfs(inputs: &Inputs<'_>) -> Outputs {
    let (row_start, edges) = (inputs.i32s("row_start"), inputs.i32s("edge"));
    let nodes = inputs.size("nodes");
    let mut level = vec![-1; nodes];
    let mut queue = VecDeque::from([0]);
    level[0] = 0;
    while let Some(node) = queue.pop_front() {
        for neighbour in &edges[row_start[node] as usize..row_start[node + 1] as usize] {
            let neighbour = *neighbour as usize;
            if level[neighbour] < 0 {
                level[neighbour] = level[node] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    let reached = level.iter().map(|level| u8::from(*level >= 0));
    Outputs::default()
        .i32s("level", &level)
        .with("visited", reached)
        .with("frontier", std::iter::repeat_n(0, nodes))
        .with("found", std::iter::repeat_n(0, nodes))
        .with("over", std::iter::once(0))
}
