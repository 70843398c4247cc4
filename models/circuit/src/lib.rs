//! Area, delay, energy and leakage of arrays, caches, buffers and logic.
