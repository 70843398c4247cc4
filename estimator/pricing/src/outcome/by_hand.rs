//! What tests of outcomes begin with.

use super::{BASELINE, KernelName, Point, Provenance, TechnologyName};

/// A kernel on a plain GPU at 32 nm.
pub fn point() -> Point {
    Point {
        kernel: KernelName {
            name: "k".to_owned(),
            case: "c".to_owned(),
            paper: Vec::new(),
        }
        .into(),
        gpu: "g".into(),
        axes: Default::default(),
        technology: TechnologyName {
            library: "itrs".into(),
            node: "32nm".into(),
            flavour: "hp".into(),
            profile: "cacti65".into(),
            temperature_k: 350.0,
            vdd_v: 0.9,
            interpolation: None,
            provenance: Provenance::default(),
            sources: Default::default(),
        },
        technique: BASELINE.into(),
    }
}
