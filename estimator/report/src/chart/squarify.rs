//! Areas as rectangles that fill a space: the squarified treemap of M. Bruls, K. Huizing, J. J. van Wijk, "Squarified Treemaps", VisSym 2000.

/// Left, top, width and height.
pub type Rect = [f64; 4];

/// Rectangles of these areas, in their order, that fill `space`. Areas are positive, do not rise, and are together as large as the space.
pub fn squarify(areas: &[f64], space: Rect) -> Vec<Rect> {
    let mut rects = Vec::with_capacity(areas.len());
    let (mut rest, mut space) = (areas, space);
    while !rest.is_empty() {
        let (row, others) = rest.split_at(row(rest, f64::min(space[2], space[3])));
        space = lay(row, space, &mut rects);
        rest = others;
    }
    rects
}

/// How many of the areas stand in the next row along `side`: one more as long as that makes no rectangle longer than the longest.
fn row(areas: &[f64], side: f64) -> usize {
    let mut sum = areas[0];
    let mut longest = worst([areas[0], areas[0]], sum, side);
    for (count, &area) in areas.iter().enumerate().skip(1) {
        let next = worst([areas[0], area], sum + area, side);
        if next > longest {
            return count;
        }
        sum += area;
        longest = next;
    }
    areas.len()
}

/// The worst aspect ratio of a row of this sum, whose ends are the most and the least of its areas (section 3.2 of the paper).
fn worst([most, least]: [f64; 2], sum: f64, side: f64) -> f64 {
    let thickness = sum / side;
    f64::max(
        most / (thickness * thickness),
        thickness * thickness / least,
    )
}

/// Lays a row along the shorter side of `space`; gives what is left of it.
fn lay(row: &[f64], [left, top, width, height]: Rect, rects: &mut Vec<Rect>) -> Rect {
    let upright = width >= height;
    let side = if upright { height } else { width };
    let thickness = row.iter().sum::<f64>() / side;
    let mut at = 0.0;
    for area in row {
        let length = area / thickness;
        rects.push(match upright {
            true => [left, top + at, thickness, length],
            false => [left + at, top, length, thickness],
        });
        at += length;
    }
    match upright {
        true => [left + thickness, top, (width - thickness).max(0.0), height],
        false => [left, top + thickness, width, (height - thickness).max(0.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    /// Figure 4 of the paper: areas 6, 6, 4, 3, 2, 2, 1 in a space of 6 by 4. The first two stand on top of each other, 3 wide.
    #[test]
    fn the_example_of_the_paper() {
        let areas = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let rects = squarify(&areas, [0.0, 0.0, 6.0, 4.0]);
        let expected = [
            [0.0, 0.0, 3.0, 2.0],
            [0.0, 2.0, 3.0, 2.0],
            [3.0, 0.0, 12.0 / 7.0, 7.0 / 3.0],
            [3.0 + 12.0 / 7.0, 0.0, 9.0 / 7.0, 7.0 / 3.0],
        ];
        for (rect, expected) in rects.iter().zip(expected) {
            for (one, other) in rect.iter().zip(expected) {
                assert_abs_diff_eq!(*one, other, epsilon = 1e-12);
            }
        }
    }

    fn areas() -> impl Strategy<Value = Vec<f64>> {
        // Structures of a chip differ in area by six orders of magnitude.
        let area = (-6.0..0.0f64).prop_map(libm::exp10);
        prop::collection::vec(area, 1..60).prop_map(|mut areas| {
            areas.sort_by(|a, b| b.total_cmp(a));
            areas
        })
    }

    fn overlap(a: Rect, b: Rect) -> f64 {
        let common = |low: usize| {
            let (size, high) = (low + 2, f64::min);
            high(a[low] + a[size], b[low] + b[size]) - f64::max(a[low], b[low])
        };
        common(0).max(0.0) * common(1).max(0.0)
    }

    proptest! {
        #[test]
        fn rectangles_tile_the_space(areas in areas(), shape in 0.2..5.0f64) {
            let whole: f64 = areas.iter().sum();
            let width = (whole * shape).sqrt();
            let space = [1.0, 2.0, width, whole / width];
            let rects = squarify(&areas, space);
            prop_assert_eq!(rects.len(), areas.len());
            let slack = 1e-9 * f64::max(space[2], space[3]);
            let mut covered = 0.0;
            for (rect, area) in rects.iter().zip(&areas) {
                let own = rect[2] * rect[3];
                prop_assert!((own / area - 1.0).abs() < 1e-9, "{own} for {area}");
                prop_assert!(rect[0] >= space[0] - slack && rect[0] + rect[2] <= space[0] + space[2] + slack);
                prop_assert!(rect[1] >= space[1] - slack && rect[1] + rect[3] <= space[1] + space[3] + slack);
                covered += own;
            }
            prop_assert!((covered / whole - 1.0).abs() < 1e-9);
            for (place, one) in rects.iter().enumerate() {
                for other in &rects[place + 1..] {
                    prop_assert!(overlap(*one, *other) <= 1e-9 * whole, "{one:?} {other:?}");
                }
            }
        }

        #[test]
        fn equal_areas_give_equal_rectangles(areas in areas()) {
            let whole: f64 = areas.iter().sum();
            let space = [0.0, 0.0, whole.sqrt(), whole.sqrt()];
            prop_assert_eq!(squarify(&areas, space), squarify(&areas, space));
        }
    }
}
