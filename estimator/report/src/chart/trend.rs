//! Change of energy over nodes: a line a technique, means over kernels.

use super::legend::{self, Mark};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{WIDTH, cut, text_width};
use crate::format;
use crate::metric::quantity;
use crate::model::{Block, Report};

/// Height of the area with the lines.
const HEIGHT: f64 = 240.0;

/// Lines that can be told apart.
const MOST_LINES: usize = 8;

const CLASSES: [&str; MOST_LINES] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];

/// A technique on one GPU: its mean change of energy at each node, with half its mean 95 % interval.
struct Line {
    label: String,
    values: Vec<Option<(f64, f64)>>,
}

/// Mean change of dynamic and leakage energy by each technique at each node, from the largest node on. Nothing with one node, or where nodes are not all that a
/// technology differs in: a line would then mean several things.
pub fn over_nodes(report: &Report, id: &str) -> Option<String> {
    let mut nodes: Vec<&str> = Vec::new();
    for block in &report.blocks {
        if !nodes.contains(&&*block.technology.node) {
            nodes.push(&block.technology.node);
        }
    }
    if nodes.len() < 2 {
        return None;
    }
    nodes.sort_by(|a, b| feature(b).total_cmp(&feature(a)));
    let mut lines: Vec<Line> = Vec::new();
    for block in &report.blocks {
        let label = label(block, report);
        let place = nodes
            .iter()
            .position(|node| *node == &*block.technology.node)?;
        let known = lines.iter().position(|line| line.label == label);
        let known = known.unwrap_or_else(|| {
            lines.push(Line {
                label,
                values: vec![None; nodes.len()],
            });
            lines.len() - 1
        });
        let value = &mut lines[known].values[place];
        if value.is_some() {
            return None;
        }
        *value = mean(block);
    }
    (lines.len() <= MOST_LINES).then(|| draw(&nodes, &lines, id))
}

/// Technique, and the GPU where there are several.
fn label(block: &Block, report: &Report) -> String {
    let first = report.blocks.first();
    let same = first.is_some_and(|first| first.gpu == block.gpu);
    let one = same
        && report
            .blocks
            .iter()
            .all(|b| b.gpu == block.gpu && b.axes == block.axes);
    if one {
        block.technique.to_string()
    } else {
        let gpu = crate::outcome::gpu_label(&block.gpu, &block.axes);
        format!("{} · {gpu}", block.technique)
    }
}

/// The number of a node's name.
fn feature(node: &str) -> f64 {
    let digits = node.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0.0)
}

fn mean(block: &Block) -> Option<(f64, f64)> {
    let changes = block.comparisons.iter().filter_map(|c| c.total.relative);
    let changes: Vec<(f64, f64)> = changes.map(|c| (c.value, c.half_width())).collect();
    let count = changes.len() as f64;
    let sum = |of: fn(&(f64, f64)) -> f64| changes.iter().map(of).sum::<f64>() / count;
    (count > 0.0).then(|| (sum(|c| c.0), sum(|c| c.1)))
}

fn draw(nodes: &[&str], lines: &[Line], id: &str) -> String {
    let mut canvas = Canvas::default();
    let labels: Vec<String> = lines.iter().map(|line| cut(&line.label)).collect();
    let keys: Vec<(Mark, &str, &str)> = labels
        .iter()
        .zip(CLASSES)
        .map(|(label, class)| (Mark::Circle, class, label.as_str()))
        .collect();
    let top = legend::draw(&mut canvas, &keys);
    let ends = lines.iter().flat_map(|line| line.values.iter().flatten());
    let ends = ends.flat_map(|(value, half)| [value - half, value + half]);
    let range = ends.fold([0.0f64, 0.0], |[least, most], end| {
        [least.min(end), most.max(end)]
    });
    let y = Scale::over(range, top + HEIGHT, top + 8.0);
    let (left, right) = (64.0, WIDTH - 40.0);
    let distance = (right - left) / nodes.len() as f64;
    let x = |place: usize| left + distance * (place as f64 + 0.5);
    for tick in y.ticks() {
        let class = if tick.abs() < 1e-9 {
            "reference"
        } else {
            "grid"
        };
        canvas.line(class, [left, y.at(tick), right, y.at(tick)]);
        canvas.text(
            Anchor::End,
            left - 8.0,
            y.at(tick),
            &quantity::tick(tick, "1"),
        );
    }
    let longest = nodes
        .iter()
        .map(|node| text_width(node))
        .fold(0.0, f64::max);
    let every = (longest / distance).ceil().max(1.0) as usize;
    for (place, node) in nodes.iter().enumerate().step_by(every) {
        canvas.text(Anchor::Middle, x(place), top + HEIGHT + 14.0, node);
    }
    for (number, (line, class)) in lines.iter().zip(CLASSES).enumerate() {
        // Lines beside each other, so that their whiskers can be told apart.
        let aside = (number as f64 - (lines.len() as f64 - 1.0) / 2.0) * 6.0;
        let places = line.values.iter().enumerate();
        let places = places.filter_map(|(place, value)| Some((x(place) + aside, place, (*value)?)));
        let places: Vec<(f64, usize, (f64, f64))> = places.collect();
        for pair in places.windows(2) {
            let [(x1, _, (from, _)), (x2, _, (to, _))] = [pair[0], pair[1]];
            canvas.line(
                &format!("trend line-{class}"),
                [x1, y.at(from), x2, y.at(to)],
            );
        }
        for (x, place, (value, half)) in places {
            canvas.line("error", [x, y.at(value - half), x, y.at(value + half)]);
            let tooltip = format!(
                "{} at {}: {}",
                line.label,
                nodes[place],
                format::change(value)
            );
            canvas.circle(class, x, y.at(value), &tooltip);
        }
    }
    let description = "For every technique the mean change of dynamic and leakage energy over the kernels at each node, with the mean 95 % interval. The tables of the configurations have the figures.";
    canvas.finish(
        id,
        "Change of energy over nodes",
        description,
        [WIDTH, top + HEIGHT + 28.0],
    )
}
