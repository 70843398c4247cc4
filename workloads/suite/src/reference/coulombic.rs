//! Electrostatic potential of point charges by direct summation, in double precision.

use super::{Inputs, Outputs};

pub(crate) fn coulombic(inputs: &Inputs<'_>) -> Outputs {
    let spacing = f64::from(inputs.f32("spacing"));
    let atoms: Vec<_> = inputs.f32s("atoms").into_iter().map(f64::from).collect();
    let (atoms, _) = atoms.as_chunks::<4>();
    let (grid, block) = inputs.launch();
    let extent = |axis: usize| grid[axis] * block[axis];
    let mut energies = Vec::new();
    for row in 0..extent(1) {
        for column in 0..extent(0) {
            let (x, y) = (spacing * f64::from(column), spacing * f64::from(row));
            let terms = atoms.iter().map(|[ax, ay, z2, charge]| {
                let distance2 = (x - ax).powi(2) + (y - ay).powi(2) + z2;
                charge / distance2.sqrt()
            });
            energies.push(terms.sum::<f64>() as f32);
        }
    }
    Outputs::default().f32s("energy", &energies)
}
