//! A GPU, and where its runs are priced.

use pyo3::prelude::*;
use warpwatt_analysis::single::{Place, spec};
use warpwatt_gpu::{GpuSpec, presets};
use warpwatt_input::diag::{Diag, Sink, did_you_mean};
use warpwatt_pricing::pricing::NodeCircuits;
use warpwatt_ptx::Lower;
use warpwatt_study::lowered;

use crate::at_work::at_work;
use crate::boards::Board;
use crate::errors::rejected;

/// A GPU that is ready to run kernels: settings judged, circuits of its node built.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Gpu {
    /// The preset's name.
    pub preset: String,
    /// The GPU.
    pub spec: GpuSpec,
    /// What prices its runs; nothing if no node is named.
    pub circuits: Option<NodeCircuits>,
    /// The board that it is on.
    pub board: Option<Board>,
}

#[pymethods]
impl Gpu {
    /// `place`: node, library, flavour, temperature, supply, as texts with units.
    #[new]
    #[pyo3(signature = (preset, settings, place, lower, board))]
    fn new(
        py: Python<'_>,
        preset: Option<String>,
        settings: Vec<String>,
        place: [Option<String>; 5],
        lower: Option<String>,
        board: Option<Board>,
    ) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let gpu = open_gpu((preset, lower, board), &settings, place, &mut sink);
            match gpu {
                Some(gpu) if !sink.has_errors() => Ok(gpu),
                _ => Err(rejected(&sink)),
            }
        })
    }

    /// The preset's name.
    #[getter]
    fn preset(&self) -> &str {
        &self.preset
    }

    /// The board's name.
    #[getter]
    fn board(&self) -> Option<&str> {
        self.board
            .as_ref()
            .map(|board| board.board.facts.name.as_str())
    }

    /// The clock of its SMs in Hz.
    #[getter]
    fn clock_hz(&self) -> f64 {
        f64::from(self.spec.sm.clock_mhz) * 1e6
    }

    /// Streaming multiprocessors.
    #[getter]
    fn sms(&self) -> u32 {
        self.spec.sm.count
    }
}

fn open_gpu(
    (preset, lower, board): (Option<String>, Option<String>, Option<Board>),
    settings: &[String],
    place: [Option<String>; 5],
    sink: &mut Sink,
) -> Option<Gpu> {
    let of_board = board.as_ref().map(|board| &board.board.facts.preset);
    let preset = preset.or_else(|| of_board.cloned());
    let preset = preset.unwrap_or_else(|| presets()[0].name.to_owned());
    let lower = lower.map(|name| how(&name, sink));
    let known = lower.flatten().map(lowered);
    let spec = spec(&preset, known, settings, sink);
    let [node, library, flavour, temperature, vdd] = place;
    let place = Place {
        node,
        library,
        flavour,
        temperature,
        vdd,
    };
    let circuits = place.circuits(sink);
    if lower == Some(None) {
        return None;
    }
    Some(Gpu {
        preset,
        spec: spec?,
        circuits,
        board,
    })
}

/// What runs of PTX.
fn how(name: &str, sink: &mut Sink) -> Option<Lower> {
    let found = Lower::ALL.into_iter().find(|lower| lower.name() == name);
    if found.is_none() {
        let known = Lower::ALL.into_iter().map(Lower::name);
        let message = format!("nothing that runs of PTX is called `{name}`");
        let diag = Diag::error("kernel::lower", message);
        sink.push(diag.help(did_you_mean(name, known)));
    }
    found
}
