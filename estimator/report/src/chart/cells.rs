//! Rows of shaded cells.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::svg::Canvas;

/// Draws rows of cells, a shade each, from (`x`, `y`) on, in cells of `width` by `height`. A shade is a class of the page's: its letter and its number. Neighbours
/// of one shade are one piece, pieces of one shade one path.
pub fn draw(
    canvas: &mut Canvas,
    letter: char,
    place: [f64; 4],
    rows: impl Iterator<Item = Vec<usize>>,
) {
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for (row, shades) in rows.enumerate() {
        let mut at = 0;
        for run in shades.chunk_by(|one, next| one == next) {
            let length = run.len();
            let path = paths.entry(run[0]).or_default();
            let _ = write!(path, "M{at} {row}h{length}v1h-{length}z");
            at += length;
        }
    }
    for (shade, path) in paths {
        canvas.path(&format!("{letter}{shade}"), place, &path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_shade_are_one_piece() {
        let mut canvas = Canvas::default();
        let rows = [vec![8, 8, 0], vec![0, 4, 4]];
        draw(&mut canvas, 'h', [1.0, 2.0, 3.0, 4.0], rows.into_iter());
        let svg = canvas.finish("x", "", "", [1.0, 1.0]);
        for expected in [
            r#"class="h0" transform="translate(1.0 2.0) scale(3.0000 4.0)" d="M2 0h1v1h-1zM0 1h1v1h-1z""#,
            r#"class="h4" transform="translate(1.0 2.0) scale(3.0000 4.0)" d="M1 1h2v1h-2z""#,
            r#"class="h8" transform="translate(1.0 2.0) scale(3.0000 4.0)" d="M0 0h2v1h-2z""#,
        ] {
            assert!(svg.contains(expected), "{svg}");
        }
    }
}
