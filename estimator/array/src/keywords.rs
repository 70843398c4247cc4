//! Words that settings are written with, in CACTI's spelling and in ours.

use warpwatt_circuit::{Access, Layer, Objective, Profile, Projection, Signalling};
use warpwatt_techlib::Flavour;

use super::Refusal;
use crate::diag::did_you_mean;

/// One of `words`, whatever its case.
pub(super) fn word<T: Copy>(what: &str, text: &str, words: &[(&str, T)]) -> Result<T, Refusal> {
    let text = text.trim();
    let found = words
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or_else(|| {
        Refusal::new(format!("no {what} is called `{text}`"))
            .help(did_you_mean(text, words.iter().map(|(name, _)| *name)))
    })
}

/// A profile by its name.
///
/// # Errors
/// There is none of that name.
pub fn parse_profile(text: &str) -> Result<Profile, Refusal> {
    word(
        "profile",
        text,
        &[
            ("silicon", Profile::Silicon),
            ("cacti7", Profile::Cacti7),
            ("cacti65", Profile::Cacti65),
        ],
    )
}

/// `hp` or CACTI's `itrs-hp`.
pub(super) fn flavour(text: &str) -> Result<Flavour, Refusal> {
    let bare = text.trim();
    if bare.to_ascii_lowercase().ends_with("dram") {
        return Err(Refusal::new(format!(
            "cells of `{bare}` are embedded DRAM, which is not modelled"
        ))
        .help("SRAM cells are hp, lstp or lop"));
    }
    let bare = bare.strip_prefix("itrs-").unwrap_or(bare);
    let words = Flavour::ALL.map(|flavour| (flavour.name(), flavour));
    word("transistor flavour", bare, &words)
}

pub(super) fn access(text: &str) -> Result<Access, Refusal> {
    word(
        "access mode",
        text,
        &[
            ("normal", Access::Normal),
            ("sequential", Access::Sequential),
            ("fast", Access::Fast),
        ],
    )
}

pub(super) fn objective(text: &str) -> Result<Objective, Refusal> {
    word(
        "objective",
        text,
        &[
            ("ED", Objective::EnergyDelay),
            ("ED^2", Objective::EnergyDelaySquared),
            ("NONE", Objective::Weighted),
            ("ED2", Objective::EnergyDelaySquared),
            ("weights", Objective::Weighted),
        ],
    )
}

pub(super) fn layer(text: &str) -> Result<Layer, Refusal> {
    word(
        "wire layer",
        text,
        &[
            ("semi-global", Layer::SemiGlobal),
            ("global", Layer::Global),
        ],
    )
}

pub(super) fn projection(text: &str) -> Result<Projection, Refusal> {
    word(
        "interconnect projection",
        text,
        &[
            ("conservative", Projection::Conservative),
            ("aggressive", Projection::Aggressive),
        ],
    )
}

pub(super) fn signalling(text: &str) -> Result<Signalling, Refusal> {
    word(
        "wire signalling",
        text,
        &[
            ("Global", Signalling::Global),
            ("Global_5", Signalling::Global5),
            ("Global_10", Signalling::Global10),
            ("Global_20", Signalling::Global20),
            ("Global_30", Signalling::Global30),
            ("lowswing", Signalling::LowSwing),
            ("fullswing", Signalling::Any),
            ("default", Signalling::Any),
        ],
    )
}

pub(super) fn truth(text: &str) -> Result<bool, Refusal> {
    word(
        "truth value",
        text,
        &[("0", false), ("1", true), ("false", false), ("true", true)],
    )
}
