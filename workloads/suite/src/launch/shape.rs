//! A case's launch shapes as text.

use super::KernelLaunch;
use super::model::Case;

/// First and last grid of a launch, and its first block.
struct Shapes<'c> {
    launch: &'c KernelLaunch,
    grids: [[u32; 3]; 2],
    block: [u32; 3],
}

impl Case {
    /// Its launches' grids and blocks, each once: `8 x 512`, or `1..32 x 16` where a loop changes the grid.
    pub fn shapes(&self) -> String {
        let mut launches: Vec<Shapes<'_>> = Vec::new();
        self.for_each_launch(|launch, grid, block, _| {
            let mut known = launches.iter_mut();
            match known.find(|known| std::ptr::eq(known.launch, launch)) {
                Some(known) => known.grids[1] = grid,
                None => launches.push(Shapes {
                    launch,
                    grids: [grid; 2],
                    block,
                }),
            }
        });
        let mut shapes: Vec<String> = Vec::new();
        for launch in launches {
            let [from, to] = launch.grids.map(extents);
            let grid = if from == to {
                from
            } else {
                format!("{from}..{to}")
            };
            let shape = format!("{grid} x {}", extents(launch.block));
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        match shapes.len() {
            0..=4 => shapes.join(", "),
            more => format!("{}, ... ({more} shapes)", shapes[..3].join(", ")),
        }
    }
}

/// `512`, or `(16,8)`; extents of one at the end are left out.
fn extents(extents: [u32; 3]) -> String {
    let ones = extents.iter().rev().take_while(|extent| **extent == 1);
    let used = 3 - ones.count().min(2);
    let used: Vec<_> = extents[..used].iter().map(u32::to_string).collect();
    match &used[..] {
        [only] => only.clone(),
        several => format!("({})", several.join(",")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn shapes_are_written_as_papers_write_them() {
        let shapes = |kernel, case| {
            let file = crate::kernel(kernel).unwrap().launch_file().unwrap();
            file.case(Some(case)).unwrap().shapes()
        };
        assert_eq!(shapes("bfs", "paper"), "8 x 512");
        assert_eq!(shapes("back_propagation", "paper"), "(1,64) x (16,16)");
        assert_eq!(
            shapes("needleman_wunsch", "paper"),
            "1..32 x 16, 31..1 x 16"
        );
    }
}
