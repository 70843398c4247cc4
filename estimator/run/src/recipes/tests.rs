use crate::diag::Sink;
use crate::outcome::Outcome;
use crate::recipe::{Built, Recipes, reprice};
use crate::study::Catalogue;
use crate::{resolve_text_with, run_all};
use std::path::Path;
use std::sync::Arc;

const STUDY: &str = r#"
[study]
title = "recipes"
[gpu]
preset = "tesla-16sm"
node = ["7nm", "28nm"]
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "power_gating"
"#;

/// A chip, each structure of which is of transistors of its own.
const CHIP: &str = r#"
[study]
title = "recipes"
[gpu]
preset = "v100"
node = "12nm"
[workloads]
kernels = ["vector_add"]
"#;

#[test]
fn what_was_priced_is_priced_again_from_what_is_written_down() {
    let outcomes = again(STUDY);
    assert!(
        outcomes
            .iter()
            .any(|o| o.structures.iter().any(|s| s.actions.get("wake").is_some())),
        "sleep transistors are among what is checked"
    );
}

#[test]
fn flavours_of_structures_are_written_down_too() {
    let outcomes = again(CHIP);
    let mixed = |outcome: &Outcome| outcome.structures.iter().any(|it| it.flavour.is_some());
    assert!(outcomes.iter().all(mixed));
}

/// Prices a study, and again from its recipes.
fn again(study: &str) -> Vec<Outcome> {
    let mut sink = Sink::default();
    let names = Catalogue::shipped(Arc::new(()));
    let resolved = resolve_text_with("study.toml", study, Path::new(""), &names, &mut sink);
    let resolved = resolved.unwrap();
    let outcomes = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap();
    let text = serde_json::to_string(&Recipes::from(&resolved.plan)).unwrap();
    let recipes: Recipes = serde_json::from_str(&text).unwrap();
    assert_eq!(recipes, Recipes::from(&resolved.plan));
    assert_eq!(recipes.points.len(), outcomes.len());
    for (outcome, recipe) in outcomes.iter().zip(&recipes.points) {
        let built = Built::new(
            &recipes.gpus[recipe.gpu],
            &recipes.processes[recipe.process],
        )
        .unwrap();
        let mut again = outcome.clone();
        for structure in &mut again.structures {
            structure.area_m2 = 0.0;
            structure.leakage_j = 0.0;
            for (_, action) in structure.actions.iter_mut() {
                action.unit_j = 0.0;
            }
        }
        let parts = built.parts.iter().map(|part| (part.part, part.figures()));
        reprice(&mut again, parts);
        assert_eq!(&again, outcome, "{}", outcome.point.technique);
    }
    outcomes
}
