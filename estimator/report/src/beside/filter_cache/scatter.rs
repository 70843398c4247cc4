//! Energy ratio against miss rate, with straight lines.

use super::charts::{figure, hit_rate};
use super::line;
use crate::chart::{Anchor, Canvas, Mark, Scale, WIDTH, legend};
use crate::papers::FilterCachePaper;
use crate::{Block, Comparison, format};

/// Height of the area with the points.
const HEIGHT: f64 = 300.0;

/// Places of both axes.
struct Plane {
    x: Scale,
    y: Scale,
}

/// I-cache energy with over without against the filter cache's miss rate: our kernels by both countings, the paper's rows, and a line through each.
pub(super) fn ratio_against_miss_rate(block: &Block, paper: &FilterCachePaper, id: &str) -> String {
    let mut canvas = Canvas::default();
    let top = legend::draw(
        &mut canvas,
        &[
            (Mark::Circle, "s0", "counted structure by structure"),
            (Mark::Circle, "s1", "the sum that Table 4 implies"),
            (Mark::Diamond, "paper", "the paper's rows and its line"),
        ],
    );
    let plane = Plane {
        x: Scale::new(1.0, 60.0, WIDTH - 24.0),
        y: Scale::new(largest(block), top + HEIGHT, top + 6.0),
    };
    axes(&mut canvas, &plane, top);
    lines(&mut canvas, &plane, block, paper);
    points(&mut canvas, &plane, block, paper);
    canvas.finish(
        id,
        "I-cache energy ratio against miss rate",
        "Every kernel's I-cache energy with the filter cache over that without, against the filter cache's miss rate, with least-squares lines, beside the rows of the paper's Table 4 and their line.",
        [WIDTH, top + HEIGHT + 42.0],
    )
}

/// The two countings.
const CHANGES: [&str; 2] = ["icache_change", "implied_icache_change"];

/// Energy with over energy without.
fn ratio(comparison: &Comparison, change: &str) -> Option<f64> {
    figure(comparison, change).map(|change| 1.0 + change.value)
}

fn largest(block: &Block) -> f64 {
    let ratios = block
        .comparisons
        .iter()
        .flat_map(|c| CHANGES.map(|key| ratio(c, key)));
    let lines = CHANGES.map(|key| line(&block.comparisons, key));
    let ends = lines.iter().flatten().map(|line| line.at(1.0));
    // The paper's line ends at 1.06.
    ratios.flatten().chain(ends).fold(1.07, f64::max)
}

fn axes(canvas: &mut Canvas, plane: &Plane, top: f64) {
    let (left, right) = (plane.x.at(0.0), plane.x.at(plane.x.top));
    let bottom = plane.y.at(0.0);
    for tick in plane.y.ticks() {
        let y = plane.y.at(tick);
        canvas.line("grid", [left, y, right, y]);
        canvas.text(Anchor::End, left - 8.0, y, &format!("{:.0}%", 100.0 * tick));
    }
    for tick in plane.x.ticks() {
        let x = plane.x.at(tick);
        canvas.line("grid", [x, top + 6.0, x, bottom]);
        canvas.text(
            Anchor::Middle,
            x,
            bottom + 13.0,
            &format!("{:.0}%", 100.0 * tick),
        );
    }
    let middle = f64::midpoint(left, right);
    canvas.text(
        Anchor::Middle,
        middle,
        bottom + 31.0,
        "miss rate of the filter cache",
    );
}

fn lines(canvas: &mut Canvas, plane: &Plane, block: &Block, paper: &FilterCachePaper) {
    let paper_line = paper.implied_by_table_4;
    let ends = |at: &dyn Fn(f64) -> f64| {
        [
            plane.x.at(0.0),
            plane.y.at(at(0.0)),
            plane.x.at(1.0),
            plane.y.at(at(1.0)),
        ]
    };
    canvas.line("line-paper", ends(&|miss| paper_line.at(1.0 - miss)));
    for (class, key) in ["line-s0", "line-s1"].into_iter().zip(CHANGES) {
        if let Some(line) = line(&block.comparisons, key) {
            canvas.line(class, ends(&|miss| line.at(miss)));
        }
    }
}

fn points(canvas: &mut Canvas, plane: &Plane, block: &Block, paper: &FilterCachePaper) {
    for row in &paper.benchmarks {
        let (x, y) = (plane.x.at(1.0 - row.fc_hit), plane.y.at(row.energy_ratio()));
        let tooltip = format!(
            "{} in the paper: {}",
            row.abbr,
            format::percent(row.energy_ratio())
        );
        canvas.diamond("paper", x, y, &tooltip);
    }
    for comparison in &block.comparisons {
        let Some(hit_rate) = hit_rate(comparison) else {
            continue;
        };
        let [structural, implied] = CHANGES.map(|key| ratio(comparison, key));
        for (class, ratio) in [("s1", implied), ("s0", structural)] {
            let Some(ratio) = ratio else { continue };
            let tooltip = format!(
                "{}: {}",
                comparison.point.kernel.name,
                format::percent(ratio)
            );
            canvas.circle(
                class,
                plane.x.at(1.0 - hit_rate),
                plane.y.at(ratio),
                &tooltip,
            );
        }
    }
}
