//! The native half of the Python package `warpwatt`: GPUs, kernels and studies for the classes in `estimator/python/warpwatt`.
//!
//! Nothing is computed here that the command does not compute: launches are read, executed, timed, priced and told by the crates that the command uses. What
//! crosses to Python is text (JSON), bytes of buffers, and Arrow tables.

mod arrays;
mod at_work;
mod boards;
mod errors;
mod gpu;
mod kernel;
mod outline;
mod study;
mod table;
mod workers;

use pyo3::prelude::*;

/// The native half of `warpwatt`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    at_work::quietly();
    errors::add(module)?;
    module.add_class::<boards::Board>()?;
    module.add_class::<gpu::Gpu>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<kernel::Run>()?;
    module.add_function(wrap_pyfunction!(outline::entry, module)?)?;
    module.add_function(wrap_pyfunction!(outline::object_entry, module)?)?;
    module.add_class::<table::Table>()?;
    module.add_class::<study::Study>()?;
    module.add_class::<study::Results>()?;
    module.add_function(wrap_pyfunction!(arrays::array, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::arrays, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::logic, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::technology, module)?)?;
    module.add_function(wrap_pyfunction!(boards::calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(boards::predict, module)?)?;
    Ok(())
}
