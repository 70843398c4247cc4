//! Architectural techniques: what they change, watch and cost.
