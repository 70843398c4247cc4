//! What of a price is uncertain: the values of a technology, the models' own errors, the variation of transistors, and how each is drawn (JCGM 101:2008).

mod draws;
pub mod input;
mod method;
pub mod process;
pub mod upsets;

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

pub use draws::Draws;
pub use method::{Figure, method_cause, own_error};
pub use process::ProcessVariation;
pub use upsets::UPSETS;

/// The coverage of every interval that a report gives.
pub const CONFIDENCE: f64 = 0.95;

/// Half the width of the interval that holds a value of standard deviation `sigma` with probability [`CONFIDENCE`], for normal errors.
pub fn half_width(sigma: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0) * sigma
}

/// By how much a standard deviation that is estimated from so many squares is too small for [`half_width`] (Student, Biometrika 6, 1908): of one, 6.5 times, of ten 1.14.
pub fn of_few(squares: usize) -> f64 {
    let upper = 0.5 + CONFIDENCE / 2.0;
    let student = StudentsT::new(0.0, 1.0, squares.max(1) as f64);
    student.map_or(1.0, |student| student.inverse_cdf(upper)) / half_width(1.0)
}
