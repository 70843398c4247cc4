//! A canvas of SVG elements.

use std::fmt::Write;

/// Digits and capitals stand about 0.7 em high: their middle is 0.35 em above the base line.
const MIDDLE: f64 = 0.35 * 12.0;

/// Elements drawn so far.
#[derive(Debug, Default)]
pub struct Canvas {
    body: String,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

impl Canvas {
    /// A rectangle with a tooltip. Negative widths are drawn as nothing.
    pub fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], tooltip: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{height:.1}"><title>{}</title></rect>"#,
            width.max(0.0),
            escape(tooltip)
        );
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// A text, its middle at the height `y`.
    pub fn text(&mut self, anchor: Anchor, x: f64, y: f64, text: &str) {
        self.write_text("", anchor, [x, y], text);
    }

    /// The same of a class of its own.
    pub fn text_of(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        self.write_text(&format!(r#" class="{class}""#), anchor, [x, y], text);
    }

    /// A text from top to bottom, its middle at `x`, its beginning at `y`.
    pub fn text_down(&mut self, x: f64, y: f64, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text transform="translate({:.1} {y:.1}) rotate(90)">{}</text>"#,
            x - MIDDLE,
            escape(text)
        );
    }

    fn write_text(&mut self, class: &str, anchor: Anchor, [x, y]: [f64; 2], text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            r#"<text{class} x="{x:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
            y + MIDDLE,
            escape(text)
        );
    }

    /// A path in units of its own, each `width` by `height`, from (`x`, `y`) on.
    pub fn path(&mut self, class: &str, [x, y, width, height]: [f64; 4], path: &str) {
        let _ = writeln!(
            self.body,
            r#"<path class="{class}" transform="translate({x:.1} {y:.1}) scale({width:.4} {height:.1})" d="{path}"/>"#
        );
    }

    /// A shape with a tooltip, by a path in the canvas's own units.
    pub fn shape(&mut self, class: &str, path: &str, tooltip: &str) {
        let _ = writeln!(
            self.body,
            r#"<path class="{class}" d="{path}"><title>{}</title></path>"#,
            escape(tooltip)
        );
    }

    /// A circle with a tooltip.
    pub fn circle(&mut self, class: &str, x: f64, y: f64, tooltip: &str) {
        let _ = writeln!(
            self.body,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="5"><title>{}</title></circle>"#,
            escape(tooltip)
        );
    }

    /// A diamond with a tooltip.
    pub fn diamond(&mut self, class: &str, x: f64, y: f64, tooltip: &str) {
        let _ = writeln!(
            self.body,
            r#"<path class="{class}" d="M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z"><title>{}</title></path>"#,
            x - 5.5,
            y - 5.5,
            x + 5.5,
            y + 5.5,
            escape(tooltip)
        );
    }

    /// A horizontal error bar.
    pub fn error_bar(&mut self, from: f64, to: f64, y: f64) {
        self.line("error", [from, y, to, y]);
        self.line("error", [from, y - 3.0, from, y + 3.0]);
        self.line("error", [to, y - 3.0, to, y + 3.0]);
    }

    /// A vertical one.
    pub fn error_bar_up(&mut self, x: f64, from: f64, to: f64) {
        self.line("error", [x, from, x, to]);
        self.line("error", [x - 3.0, from, x + 3.0, from]);
        self.line("error", [x - 3.0, to, x + 3.0, to]);
    }

    /// The finished picture; `id` is unique in its page.
    pub fn finish(
        self,
        id: &str,
        title: &str,
        description: &str,
        [width, height]: [f64; 2],
    ) -> String {
        format!(
            "<svg class=\"chart\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"0 0 {width:.0} {height:.0}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}</svg>",
            escape(title),
            escape(description),
            self.body
        )
    }
}

/// Text as XML character data.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
