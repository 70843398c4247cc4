//! Least squares, in logarithms, for the two parameters of compiled memories: `SELF_TIMING_MARGIN` and `MACRO_RING` of `techlib::rules`. Every second macro is
//! used; the others only judge. IHP's compiler and the foundry's macros are in it; the memories of 5 V transistors are not, as their node is assumed.
//!
//! usage: cargo run --release -p warpwatt-validation --example calibrate_macros

use warpwatt_techlib::rules;
use warpwatt_validation::macros::{Family, MacroCheck, TRUTH, macros};

/// Ours with the calibrated part scaled by `factor`.
fn scaled(check: &MacroCheck, factor: f64) -> f64 {
    check.ours * (1.0 + check.calibrated * (factor - 1.0))
}

fn errors(checks: &[&MacroCheck], factor: f64) -> Vec<f64> {
    let log = |check: &&MacroCheck| (scaled(check, factor) / check.published).ln();
    checks.iter().map(log).collect()
}

fn square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let checks = macros(TRUTH)?;
    let of = |figure: &str, held_out: bool| -> Vec<&MacroCheck> {
        let wanted = |check: &&MacroCheck| {
            let compiled = matches!(check.family, Family::Ihp | Family::Foundry);
            compiled && check.figure == figure && check.held_out == held_out
        };
        checks.iter().filter(wanted).collect()
    };
    for (figure, name, value, offset) in [
        (
            "access_time_s",
            "SELF_TIMING_MARGIN",
            rules::SELF_TIMING_MARGIN - 1.0,
            1.0,
        ),
        ("area_m2", "MACRO_RING", rules::MACRO_RING, 0.0),
    ] {
        let (used, held) = (of(figure, false), of(figure, true));
        let best = (0..400)
            .map(|step| f64::from(step) * 0.01)
            .min_by(|a, b| square(&errors(&used, *a)).total_cmp(&square(&errors(&used, *b))));
        let best = best.unwrap_or(1.0);
        println!(
            "{name}: now {:.2}, best {:.2}; rms of the logarithms {:.3} over {} macros used, {:.3} over {} held out",
            offset + value,
            offset + value * best,
            square(&errors(&used, best)),
            used.len(),
            square(&errors(&held, best)),
            held.len(),
        );
    }
    Ok(())
}
