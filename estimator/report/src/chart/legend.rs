//! Keys above a chart.

use super::svg::{Anchor, Canvas};
use super::{WIDTH, text_width};

/// Height of a line of keys.
const LINE: f64 = 20.0;

/// How a key looks.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A filled square.
    Square,
    /// A diamond.
    Diamond,
    /// A circle.
    Circle,
}

/// Draws keys of `(mark, class, label)` from the top left, in as many lines as they need; gives back the height used.
pub fn draw(canvas: &mut Canvas, keys: &[(Mark, &str, &str)]) -> f64 {
    let (mut x, mut y) = (4.0, LINE / 2.0);
    for (mark, class, label) in keys {
        let width = 22.0 + text_width(label) + 14.0;
        if x > 4.0 && x + width > WIDTH {
            x = 4.0;
            y += LINE;
        }
        match mark {
            Mark::Square => canvas.rect(class, [x, y - 6.0, 12.0, 12.0], label),
            Mark::Diamond => canvas.diamond(class, x + 6.0, y, label),
            Mark::Circle => canvas.circle(class, x + 6.0, y, label),
        }
        canvas.text(Anchor::Start, x + 20.0, y, label);
        x += width;
    }
    y + LINE / 2.0 + 6.0
}
