//! Lloyd's k-means (IEEE Trans. Inf. Theory 28(2), 1982): three rounds of assignments and means. A mean's sum takes every 256th
//! member of the points and adds the 256 sums half to half.

use super::{Inputs, Outputs};

const ROUNDS: usize = 3;
const SUMS: usize = 256;

pub(crate) fn kmeans(inputs: &Inputs<'_>) -> Outputs {
    let [count, clusters, dimensions] =
        ["count", "clusters", "dimensions"].map(|name| inputs.size(name));
    let points = inputs.f32s("points");
    let mut centres = inputs.f32s("centres");
    let mut members = Vec::new();
    for _ in 0..ROUNDS {
        members = (0..count)
            .map(|i| {
                let distances = centres.chunks(dimensions).map(|centre| {
                    let pairs = centre.iter().enumerate();
                    pairs.fold(0.0f32, |sum, (d, there)| {
                        let delta = points[d * count + i] - there;
                        delta.mul_add(delta, sum)
                    })
                });
                let nearest = distances
                    .enumerate()
                    .min_by(|one, other| one.1.total_cmp(&other.1));
                nearest.map_or(0, |(cluster, _)| cluster as i32)
            })
            .collect::<Vec<_>>();
        for cluster in 0..clusters {
            for dimension in 0..dimensions {
                let values = &points[dimension * count..][..count];
                if let Some(mean) = mean(values, &members, cluster as i32) {
                    centres[cluster * dimensions + dimension] = mean;
                }
            }
        }
    }
    Outputs::default()
        .f32s("centres", &centres)
        .i32s("member", &members)
}

/// The mean of a cluster's values, if it has members.
fn mean(values: &[f32], members: &[i32], cluster: i32) -> Option<f32> {
    let mut sums = vec![0.0f32; SUMS];
    let mut many = 0;
    for (i, (value, member)) in values.iter().zip(members).enumerate() {
        if *member == cluster {
            sums[i % SUMS] += value;
            many += 1;
        }
    }
    while sums.len() > 1 {
        let upper = sums.split_off(sums.len() / 2);
        for (sum, other) in sums.iter_mut().zip(upper) {
            *sum += other;
        }
    }
    (many > 0).then(|| sums[0] / many as f32)
}
