//! How much harder heat gets through a plate when it enters only in the middle.

use std::f64::consts::PI;

/// Resistance (K/W) that a small source adds to a plate it heats: mean over the source.
///
/// Source and plate are areas in m², `thickness` of the plate in m, `conductivity` in W/mK; `beyond` is the resistance (K/W) from the plate's far side to the end of
/// the way. S. Lee, S. Song, V. Au, K. P. Moran, "Constriction/Spreading Resistance Model for Electronics Packaging", ASME/JSME Thermal Engineering Conference 1995,
/// eqs. 10 to 14; squares are taken as circles of their area. Zero for a source as large as the plate.
pub(super) fn spreading(
    source: f64,
    plate: f64,
    thickness: f64,
    conductivity: f64,
    beyond: f64,
) -> f64 {
    let (a, b) = ((source / PI).sqrt(), (plate / PI).sqrt());
    let epsilon = a / b;
    if epsilon >= 1.0 {
        return 0.0;
    }
    let tau = thickness / b;
    let biot = 1.0 / (PI * conductivity * b * beyond);
    let lambda = PI + 1.0 / (PI.sqrt() * epsilon);
    let tanh = libm::tanh(lambda * tau);
    let phi = (tanh + lambda / biot) / (1.0 + lambda / biot * tanh);
    let psi = 0.5 * libm::pow(1.0 - epsilon, 1.5) * phi;
    psi / (conductivity * a * PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_as_large_as_the_plate_spreads_nothing() {
        assert_eq!(spreading(1e-4, 1e-4, 1e-3, 400.0, 0.1), 0.0);
        assert!(spreading(0.99e-4, 1e-4, 1e-3, 400.0, 0.1) < 1e-3);
    }

    /// A disc on a half space is the limit of a small source on a thick plate: mean resistance 8 / (3 pi^2 k a) at uniform flux (Carslaw and Jaeger, section 8.2).
    /// Lee's fit is within 5 % of it.
    #[test]
    fn a_small_source_on_a_thick_plate_is_a_disc_on_a_half_space() {
        let a: f64 = 1e-4;
        let found = spreading(PI * a * a, 1.0, 1.0, 400.0, 1e-6);
        let exact = 8.0 / (3.0 * PI * PI * 400.0 * a);
        assert!((found / exact - 1.0).abs() < 0.06, "{found} {exact}");
    }

    #[test]
    fn smaller_sources_are_hotter() {
        let at = |source| spreading(source, 9e-4, 1e-3, 400.0, 0.15);
        assert!(at(1e-5) > at(1e-4) && at(1e-4) > at(8e-4));
    }
}
