//! Which techniques go together.

use crate::Technique;

/// Two techniques that cannot be in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} cannot be combined: {reason}")]
pub struct Refusal {
    /// The earlier one.
    pub first: String,
    /// The later one.
    pub second: String,
    /// Why not.
    pub reason: String,
}

/// Checks that the techniques of a configuration go together.
///
/// # Errors
/// The first pair that does not.
pub fn compose(techniques: &[&dyn Technique]) -> Result<(), Refusal> {
    for (index, second) in techniques.iter().enumerate() {
        for first in &techniques[..index] {
            if let Some(reason) = conflict(*first, *second) {
                return Err(Refusal {
                    first: first.label(),
                    second: second.label(),
                    reason,
                });
            }
        }
    }
    Ok(())
}

fn conflict(first: &dyn Technique, second: &dyn Technique) -> Option<String> {
    if first.name() == second.name() {
        return Some("a technique can be in a configuration only once".to_owned());
    }
    let shared = first
        .claims()
        .iter()
        .find(|claim| second.claims().contains(claim))?;
    Some(format!("both want {}", shared.describe()))
}
