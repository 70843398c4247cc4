//! One Jacobi iteration of Laplace's equation on a box whose faces keep their values.

use super::{Inputs, Outputs};

pub(crate) fn laplace3d(inputs: &Inputs<'_>) -> Outputs {
    let [nx, ny, nz] = ["nx", "ny", "nz"].map(|name| inputs.size(name));
    let before = inputs.f32s("before");
    let mut after = before.clone();
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let cell = (z * ny + y) * nx + x;
                let neighbours =
                    |distance: usize| before[cell - distance] + before[cell + distance];
                let sum = (neighbours(1) + neighbours(nx)) + neighbours(nx * ny);
                after[cell] = sum * (1.0 / 6.0);
            }
        }
    }
    Outputs::default().f32s("after", &after)
}
