//! Architectural techniques: what they change in a GPU, watch in a run, and cost in circuits.
//!
//! A technique is one file and one line in [`ALL`]. How to add one is in `docs/adding-a-technique.md`.

pub mod aged_sampling_dmr;
mod compiled;
pub mod compiler_spill;
mod compose;
pub mod decode_bypass;
mod definition;
pub mod ecc;
pub mod execution_profile;
pub mod fetch_redundancy;
pub mod fetch_store;
pub mod filter_cache;
pub mod full_dmr;
pub mod hierarchical_register_file;
pub mod lane_check;
pub mod parameter;
pub mod power_gating;
pub mod protection;
pub mod recovery;
pub mod register_file;
pub mod register_shrink;
pub mod register_to_register_protection;
pub mod register_virtualization;
mod registers_over_time;
pub mod row_buffer;
pub mod sawp;
pub mod shared_instruction_buffer;
pub mod sharp;
pub mod static_scalarization;
mod technique;
pub mod thread_block_compaction;
pub mod timing_speculation;
mod together;
pub mod uniform_vector;
pub mod warped_dmr;

pub use compose::{Refusal, Stack};
pub use definition::{Definition, Judged, Parsed, find, headline, judged};
pub use lane_check::{Compared, Copies, LaneCheck, ResultCheck};
pub use parameter::{Kind, Parameter, ParameterProblem};
pub use registers_over_time::{MOST_WINDOWS, RegisterWindow, RegistersOverTime};
pub use technique::{Circuits, Claim, Fit, Metric, Path, Technique};
pub use together::Together;
pub use warpwatt_structures::{Gates, Group, Structure};

/// Every technique, in the order in which lists show them and configurations apply them.
pub static ALL: &[&Definition] = &[
    &filter_cache::DEFINITION,
    &row_buffer::DEFINITION,
    &decode_bypass::DEFINITION,
    &shared_instruction_buffer::DEFINITION,
    &fetch_redundancy::DEFINITION,
    &uniform_vector::DEFINITION,
    &static_scalarization::DEFINITION,
    &compiler_spill::DEFINITION,
    &register_virtualization::DEFINITION,
    &register_shrink::DEFINITION,
    &power_gating::DEFINITION,
    &hierarchical_register_file::DEFINITION,
    &ecc::DEFINITION,
    &sawp::DEFINITION,
    &sharp::DEFINITION,
    &register_to_register_protection::DEFINITION,
    &warped_dmr::DEFINITION,
    &full_dmr::DEFINITION,
    &thread_block_compaction::DEFINITION,
    &aged_sampling_dmr::DEFINITION,
    &timing_speculation::DEFINITION,
    &execution_profile::DEFINITION,
];
