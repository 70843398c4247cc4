//! Points followed through the frames of a film: each goes where its pattern correlates best with the frame, and the pattern
//! goes a tenth of the way to what is there.

use super::{Inputs, Outputs};

const SIDE: i32 = 5;
const SEARCH: i32 = 21;

pub(crate) fn heart_wall(inputs: &Inputs<'_>) -> Outputs {
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let mut patterns = inputs.f32s("patterns");
    let mut places = inputs.i32s("place");
    let mut scores = vec![0.0; places.len() / 2];
    for frame in inputs.f32s("film").chunks(width * height) {
        let frame = Frame {
            pixels: frame,
            width,
        };
        let points = patterns.chunks_mut((SIDE * SIDE) as usize);
        for (point, pattern) in points.enumerate() {
            let (x, y) = (places[2 * point], places[2 * point + 1]);
            let mut best = (f32::NEG_INFINITY, 0, 0);
            for (dx, dy) in window(SEARCH) {
                let (x, y) = (x + dx - SEARCH / 2, y + dy - SEARCH / 2);
                let score = frame.likeness(x, y, pattern);
                if score > best.0 {
                    best = (score, x, y);
                }
            }
            (scores[point], places[2 * point], places[2 * point + 1]) = best;
            for ((dx, dy), wanted) in window(SIDE).zip(pattern) {
                let seen = frame.pixel(best.1 + dx - SIDE / 2, best.2 + dy - SIDE / 2);
                *wanted = wanted.mul_add(0.9, 0.1 * seen);
            }
        }
    }
    Outputs::default()
        .f32s("patterns", &patterns)
        .i32s("place", &places)
        .f32s("score", &scores)
}

/// Places of a square, row by row.
fn window(side: i32) -> impl Iterator<Item = (i32, i32)> {
    (0..side * side).map(move |place| (place % side, place / side))
}

struct Frame<'f> {
    pixels: &'f [f32],
    width: usize,
}

impl Frame<'_> {
    /// A pixel; outside, the nearest one of the frame.
    fn pixel(&self, x: i32, y: i32) -> f32 {
        let height = self.pixels.len() / self.width;
        let inside = |at: i32, extent: usize| at.clamp(0, extent as i32 - 1) as usize;
        self.pixels[inside(y, height) * self.width + inside(x, self.width)]
    }

    /// Correlation of a pattern with what is around a place, by the spread of what is there.
    fn likeness(&self, x: i32, y: i32, pattern: &[f32]) -> f32 {
        let count = (SIDE * SIDE) as f32;
        let (mut sum, mut squares, mut expected, mut common) = (0.0f32, 0.0f32, 0.0f32, 0.0f32);
        for ((dx, dy), wanted) in window(SIDE).zip(pattern) {
            let seen = self.pixel(x + dx - SIDE / 2, y + dy - SIDE / 2);
            sum += seen;
            squares = seen.mul_add(seen, squares);
            expected += wanted;
            common = seen.mul_add(*wanted, common);
        }
        let spread = count.mul_add(squares, -(sum * sum)) + 0.001;
        count.mul_add(common, -(sum * expected)) / spread.sqrt()
    }
}
