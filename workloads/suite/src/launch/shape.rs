//! A case's launch shapes as text.

use super::linear::Linear;
use super::model::Case;

impl Case {
    /// Its launches' grids and blocks, each once: `8 x 512`, or `1..32 x 16` where a loop changes the grid.
    pub fn shapes(&self) -> String {
        let mut shapes: Vec<String> = Vec::new();
        for step in &self.steps {
            let ends = [step.repeat.values().next(), step.repeat.values().last()];
            let [first, last] = ends.map(|variable| variable.unwrap_or(0));
            for launch in &step.launches {
                let [from, to] = [first, last].map(|variable| extents(&launch.grid, variable));
                let grid = if from == to {
                    from
                } else {
                    format!("{from}..{to}")
                };
                let shape = format!("{grid} x {}", extents(&launch.block, first));
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                }
            }
        }
        match shapes.len() {
            0..=4 => shapes.join(", "),
            more => format!("{}, ... ({more} shapes)", shapes[..3].join(", ")),
        }
    }
}

/// `512`, or `(16,8)`; extents of one at the end are left out.
fn extents(shape: &[Linear; 3], variable: i64) -> String {
    let extents = shape.each_ref().map(|extent| extent.at(variable));
    let ones = extents.iter().rev().take_while(|extent| **extent == 1);
    let used = 3 - ones.count().min(2);
    let used: Vec<_> = extents[..used].iter().map(i64::to_string).collect();
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
