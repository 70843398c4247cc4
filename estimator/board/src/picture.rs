//! Measured watts against predicted ones, as a picture of its own.

use std::fmt::Write as _;

use crate::errors::Compared;

/// Side of the square in which the points lie.
const SIDE: f64 = 420.0;
/// What is left of it for the axes' names.
const MARGIN: f64 = 56.0;
/// Points above which intervals are left out: they would cover each other.
const MOST_INTERVALS: usize = 200;

/// An SVG of `rows`: measured across, predicted up, the line where both are equal, and intervals.
pub fn scatter(title: &str, rows: &[Compared]) -> String {
    let most = rows
        .iter()
        .map(|row| row.measured_w.max(row.predicted_w))
        .fold(1.0, f64::max);
    let step = step(most);
    let top = step * (most / step).ceil();
    let x = |watts: f64| MARGIN + SIDE * (watts / top).clamp(0.0, 1.0);
    let y = |watts: f64| MARGIN + SIDE - SIDE * (watts / top).clamp(0.0, 1.0);
    let mut body = String::new();
    let mut tick = 0.0;
    while tick <= top * (1.0 + 1e-9) {
        let (across, up) = (x(tick), y(tick));
        let (first, last) = (MARGIN, MARGIN + SIDE);
        let _ = writeln!(
            body,
            "<path class=\"g\" d=\"M{across:.1} {first}V{last}M{first} {up:.1}H{last}\"/>\
             <text x=\"{across:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick:.0}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick:.0}</text>",
            last + 16.0,
            first - 6.0,
            up + 4.0
        );
        tick += step;
    }
    let _ = writeln!(
        body,
        "<path class=\"e\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
        x(0.0),
        y(0.0),
        x(top),
        y(top)
    );
    for row in rows {
        let (across, up) = (x(row.measured_w), y(row.predicted_w));
        if rows.len() <= MOST_INTERVALS {
            let (low, high) = (y(row.within_w.0), y(row.within_w.1));
            let _ = writeln!(
                body,
                "<path class=\"i\" d=\"M{across:.1} {low:.1}V{high:.1}\"/>"
            );
        }
        let _ = writeln!(
            body,
            "<circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"2.5\"/>"
        );
    }
    let width = SIDE + 2.0 * MARGIN;
    let (middle, low) = (MARGIN + SIDE / 2.0, SIDE + 2.0 * MARGIN - 8.0);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {width:.0}\" role=\"img\">\n<title>{title}</title>\n\
         <style>text{{font:12px sans-serif;fill:#333}}.g{{stroke:#ddd;fill:none}}.e{{stroke:#888;stroke-dasharray:4 3}}.i{{stroke:#3b6ea5;stroke-opacity:.35}}circle{{fill:#3b6ea5;fill-opacity:.7}}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}\
         <text x=\"{middle:.1}\" y=\"{low:.1}\" text-anchor=\"middle\">measured (W)</text>\n\
         <text x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle:.1})\">predicted (W)</text>\n\
         <text x=\"{middle:.1}\" y=\"28\" text-anchor=\"middle\">{title}</text>\n</svg>\n"
    )
}

/// A round distance of some six ticks.
fn step(most: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(most)));
    let steps = [0.1, 0.2, 0.25, 0.5, 1.0, 2.0];
    let step = steps
        .into_iter()
        .map(|step| step * power)
        .find(|step| most / step <= 8.0);
    step.unwrap_or(2.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_point_for_each_row() {
        let row = Compared {
            measured_w: 120.0,
            predicted_w: 130.0,
            within_w: (110.0, 150.0),
        };
        let svg = scatter("a < b", &[row; 3]);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("class=\"i\"").count(), 3);
        assert!(svg.contains("a &lt; b"));
    }
}
