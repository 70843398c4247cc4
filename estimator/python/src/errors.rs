//! What is wrong, as Python's exceptions: the text is the command's, the findings come along as data.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use warpwatt_input::diag::{Diag, Severity, Sink, Sources, render, to_json};

create_exception!(
    warpwatt,
    Error,
    PyValueError,
    "What is asked for cannot be. The text is what the command says: what, where, and what to do about it; `diagnostics` has the findings as a list of dicts \
     (code, severity, message, help, places)."
);
create_exception!(
    warpwatt,
    PtxError,
    Error,
    "PTX that cannot be read, or that needs something which is not modelled."
);
create_exception!(
    warpwatt,
    KernelFault,
    Error,
    "A kernel stopped: an access out of bounds or misaligned, a barrier that not all threads reach, a limit of instructions."
);
create_exception!(
    warpwatt,
    Defect,
    PyRuntimeError,
    "A fault of warpwatt itself. Please report it with what led to it."
);

/// Puts the exceptions into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("PtxError", py.get_type::<PtxError>())?;
    module.add("KernelFault", py.get_type::<KernelFault>())?;
    module.add("Defect", py.get_type::<Defect>())
}

/// Everything that was found, as one exception.
pub fn rejected(sink: &Sink) -> PyErr {
    let mut errors = sink.diags.iter();
    let first = errors.find(|diag| diag.severity == Severity::Error);
    let code = first.map_or("", |diag| diag.code);
    let text = render(sink, false).trim_end().to_owned();
    let error = match code {
        _ if code.ends_with("::defect") => return Defect::new_err(text),
        _ if code.starts_with("ptx::") => PtxError::new_err(text),
        "kernel::fault" | "kernel::launch" | "kernel::endless" => KernelFault::new_err(text),
        _ => Error::new_err(text),
    };
    Python::attach(|py| {
        let findings = parsed(py, &to_json(sink).to_string());
        let told = findings.and_then(|findings| error.value(py).setattr("diagnostics", findings));
        told.map_or_else(|failed| failed, |()| error.clone_ref(py))
    })
}

/// A finding about `sources`, as an exception.
pub fn refused(diag: Diag, sources: &Sources) -> PyErr {
    rejected(&Sink {
        sources: sources.clone(),
        diags: vec![diag],
    })
}

/// A JSON text as Python has it.
fn parsed<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// The warnings of what was done all the same, a text each.
pub fn warned(sink: &Sink) -> Vec<String> {
    let warnings = sink
        .diags
        .iter()
        .filter(|diag| diag.severity == Severity::Warning);
    let texts = warnings.map(|diag| {
        let alone = Sink {
            sources: sink.sources.clone(),
            diags: vec![diag.clone()],
        };
        render(&alone, false).trim_end().to_owned()
    });
    texts.collect()
}
