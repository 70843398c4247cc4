//! Names beside marks, where nothing else stands.

use super::super::svg::{Anchor, Canvas};
use super::super::{short, text_width};

/// Left, top, right and bottom.
type Frame = [f64; 4];

/// Half the height of a line, and the distance of a name from its mark.
const HALF: f64 = 8.0;
const ASIDE: f64 = 9.0;

/// What is taken of an area.
pub struct Names {
    area: Frame,
    taken: Vec<Frame>,
}

impl Names {
    /// An area with marks in it.
    pub fn among(area: Frame, marks: impl Iterator<Item = [f64; 2]>) -> Self {
        let taken = marks.map(|[x, y]| [x - 6.0, y - 6.0, x + 6.0, y + 6.0]);
        Self {
            area,
            taken: taken.collect(),
        }
    }

    /// Writes a name beside the mark at (`x`, `y`): on the right, on the left, below, above; nothing where all of these are taken.
    pub fn write(&mut self, canvas: &mut Canvas, [x, y]: [f64; 2], name: &str) {
        let name = short(name);
        let width = text_width(&name);
        let beside = ASIDE + width;
        let places = [
            (Anchor::Start, x + ASIDE, y, x + ASIDE),
            (Anchor::End, x - ASIDE, y, x - beside),
            (Anchor::Middle, x, y + 2.0 * HALF, x - width / 2.0),
            (Anchor::Middle, x, y - 2.0 * HALF, x - width / 2.0),
        ];
        for (anchor, x, y, left) in places {
            let frame = [left, y - HALF, left + width, y + HALF];
            if self.is_free(frame) {
                canvas.text_of("halo", anchor, x, y, &name);
                self.taken.push(frame);
                return;
            }
        }
    }

    fn is_free(&self, [left, top, right, bottom]: Frame) -> bool {
        let area = self.area;
        let inside = left >= area[0] && top >= area[1] && right <= area[2] && bottom <= area[3];
        let apart = |other: &Frame| {
            right <= other[0] || left >= other[2] || bottom <= other[1] || top >= other[3]
        };
        inside && self.taken.iter().all(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_where_there_is_room_or_nowhere() {
        let mut canvas = Canvas::default();
        let mut names = Names::among([0.0, 0.0, 200.0, 60.0], [[100.0, 30.0]].into_iter());
        for name in ["right", "left", "below", "above", "nowhere"] {
            names.write(&mut canvas, [100.0, 30.0], name);
        }
        let svg = canvas.finish("x", "", "", [1.0, 1.0]);
        for name in ["right", "left", "below", "above"] {
            assert!(svg.contains(&format!(">{name}<")), "{svg}");
        }
        assert!(!svg.contains("nowhere"), "{svg}");
    }
}
