//! Discrete-event model of a GPU, driven by warp traces.
