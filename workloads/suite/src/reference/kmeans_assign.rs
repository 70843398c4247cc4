//! The nearest of 16 centroids for points in 8 dimensions; of equally near ones the first.

use super::{Inputs, Outputs};

const DIMENSIONS: usize = 8;

pub(crate) fn kmeans_assign(inputs: &Inputs<'_>) -> Outputs {
    let n = inputs.size("n");
    let (points, centroids) = (inputs.f32s("points"), inputs.f32s("centroids"));
    let members: Vec<_> = (0..n)
        .map(|i| {
            let point = std::array::from_fn(|d| points[d * n + i]);
            nearest(point, &centroids)
        })
        .collect();
    Outputs::default().i32s("member", &members)
}

fn nearest(point: [f32; DIMENSIONS], centroids: &[f32]) -> i32 {
    let distances = centroids.chunks(DIMENSIONS).map(|centroid| {
        let deltas = point.iter().zip(centroid).map(|(here, there)| here - there);
        deltas.fold(0.0f32, |sum, delta| delta.mul_add(delta, sum))
    });
    let first_best = distances
        .enumerate()
        .min_by(|one, other| one.1.total_cmp(&other.1));
    first_best.map_or(0, |(index, _)| index as i32)
}
