//! Cluster fit of 4 x 4 pixels (DXT1): pixels in order along the principal axis, the best of all cuts into four, and the ends
//! that fit it best in the sense of least squares.

use super::{Inputs, Outputs};

type Colour = [f32; 3];

/// Levels of a component, less one.
const MOST: Colour = [31.0, 63.0, 31.0];

pub(crate) fn dxt_compress(inputs: &Inputs<'_>) -> Outputs {
    let mut words = Vec::new();
    for pixels in inputs.bytes("image").chunks(16 * 4) {
        let colours: Vec<Colour> = pixels
            .chunks(4)
            .map(|pixel| std::array::from_fn(|axis| f32::from(pixel[axis]) * (1.0 / 255.0)))
            .collect();
        words.extend(compress(&colours));
    }
    Outputs::default().u32s("out", &words)
}

fn compress(colours: &[Colour]) -> [u32; 2] {
    let axis = principal(colours);
    let along: Vec<f32> = colours.iter().map(|colour| dot(*colour, axis)).collect();
    let mut order: Vec<usize> = (0..colours.len()).collect();
    order.sort_by(|one, other| along[*one].total_cmp(&along[*other]));
    let ordered: Vec<Colour> = order.iter().map(|pixel| colours[*pixel]).collect();
    let mut best: Option<(f32, [usize; 3], [u32; 2])> = None;
    for cut in cuts() {
        if let Some((error, ends)) = fit(&ordered, cut)
            && best.is_none_or(|(least, ..)| error < least)
        {
            best = Some((error, cut, ends));
        }
    }
    let (_, cut, [first, last]) = best.expect("some cut has two ends");
    let mut indices = 0u32;
    for (position, pixel) in order.into_iter().enumerate() {
        let code = [0, 2, 3, 1][part(cut, position)];
        indices |= code << (2 * pixel);
    }
    // The format wants the larger colour first.
    match first < last {
        true => [last | first << 16, indices ^ 0x5555_5555],
        false => [first | last << 16, indices],
    }
}

/// All places to cut sixteen into four.
fn cuts() -> impl Iterator<Item = [usize; 3]> {
    (0..=16).flat_map(|i| (i..=16).flat_map(move |j| (j..=16).map(move |k| [i, j, k])))
}

/// Which of the four parts a position lies in.
fn part(cut: [usize; 3], position: usize) -> usize {
    cut.iter().filter(|place| position >= **place).count()
}

fn dot(a: Colour, b: Colour) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Principal axis of the colours by eight steps of power iteration.
fn principal(colours: &[Colour]) -> Colour {
    let mut mean = [0.0f32; 3];
    for colour in colours {
        mean = std::array::from_fn(|axis| mean[axis] + colour[axis]);
    }
    let mean = mean.map(|sum| sum * 0.0625);
    let mut covariance = [[0.0f32; 3]; 3];
    for colour in colours {
        let d: Colour = std::array::from_fn(|axis| colour[axis] - mean[axis]);
        for (row, one) in covariance.iter_mut().zip(d) {
            for (sum, other) in row.iter_mut().zip(d) {
                *sum = one.mul_add(other, *sum);
            }
        }
    }
    let mut axis = [1.0f32; 3];
    for _ in 0..8 {
        let next = covariance.map(|row| dot(row, axis));
        let most = next[0].max(next[1]).max(next[2]);
        let scale = 1.0 / if most == 0.0 { 1.0 } else { most };
        axis = next.map(|coordinate| coordinate * scale);
    }
    axis
}

/// Error of a cut (less a constant) and its two ends with 5, 6 and 5 bits a component.
fn fit(ordered: &[Colour], cut: [usize; 3]) -> Option<(f32, [u32; 2])> {
    const SHARES: [f32; 4] = [1.0, 0.666_666_7, 0.333_333_34, 0.0];
    let (mut aa, mut bb, mut ab) = (0.0f32, 0.0f32, 0.0f32);
    let (mut ax, mut bx) = ([0.0f32; 3], [0.0f32; 3]);
    for (position, colour) in ordered.iter().enumerate() {
        let alpha = SHARES[part(cut, position)];
        let beta = 1.0 - alpha;
        aa = alpha.mul_add(alpha, aa);
        bb = beta.mul_add(beta, bb);
        ab = alpha.mul_add(beta, ab);
        ax = std::array::from_fn(|axis| alpha.mul_add(colour[axis], ax[axis]));
        bx = std::array::from_fn(|axis| beta.mul_add(colour[axis], bx[axis]));
    }
    let determinant = aa.mul_add(bb, -(ab * ab));
    if determinant <= 1e-4 {
        return None;
    }
    let by = 1.0 / determinant;
    let mut errors = [0.0; 3];
    let mut ends = [0u32; 2];
    for axis in 0..3 {
        let (a, b, most) = (ax[axis], bx[axis], MOST[axis]);
        let level = |x: f32| (x * by).clamp(0.0, 1.0).mul_add(most, 0.5) as u32;
        let levels = [
            level(a.mul_add(bb, -(b * ab))),
            level(b.mul_add(aa, -(a * ab))),
        ];
        let [s, e] = levels.map(|level| level as f32 * (1.0 / most));
        let cross = (ab * s).mul_add(e, -a.mul_add(s, b * e));
        errors[axis] = (aa * s).mul_add(s, (bb * e).mul_add(e, 2.0 * cross));
        let shift = [11, 5, 0][axis];
        ends = [ends[0] | levels[0] << shift, ends[1] | levels[1] << shift];
    }
    Some(((errors[0] + errors[1]) + errors[2], ends))
}
