//! Resistivity of narrow lines: electrons scatter at the surfaces (Fuchs and Sondheimer) and at the boundaries of grains, which are about as wide as the
//! line (Mayadas and Shatzkes), in the form of Steinhoegl et al., PRB 66, 075414 (2002), eq. 1 to 3.

use crate::Sourced;
use crate::quantity::{Length, Resistivity};

/// Scattering in a metal.
pub(crate) struct Metal {
    /// Resistivity of a large piece.
    pub(crate) bulk: Sourced<Resistivity>,
    /// Mean free path of electrons.
    pub(crate) mean_free_path: Sourced<Length>,
    /// Share of electrons that a surface reflects like a mirror.
    pub(crate) specularity: Sourced<f64>,
    /// Share of electrons that a grain boundary reflects.
    pub(crate) reflectivity: Sourced<f64>,
    /// Of the resistivity of a line.
    pub(crate) uncertainty: f64,
}

/// Constant of Steinhoegl's eq. 2 for the surface term.
const SURFACE: f64 = 1.2;

impl Metal {
    /// The resistivity of a line with a core of this width and height.
    pub(crate) fn line(&self, width: Length, height: Length) -> Sourced<Resistivity> {
        let path = self.mean_free_path.value / width;
        let alpha = path * self.reflectivity.value / (1.0 - self.reflectivity.value);
        let series = 1.0 / 3.0 - alpha / 2.0 + alpha * alpha
            - alpha * alpha * alpha * libm::log1p(1.0 / alpha);
        let aspect = height / width;
        let surface =
            0.375 * SURFACE * (1.0 - self.specularity.value) * (1.0 + aspect) / aspect * path;
        let growth = 1.0 / 3.0 / series + surface;
        let rule = "surface and grain-boundary scattering (Steinhoegl et al. 2002)";
        Sourced {
            uncertainty: self.uncertainty,
            ..self.bulk.derived(rule, self.bulk.value * growth)
        }
    }
}
