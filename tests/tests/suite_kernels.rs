//! The suite's kernels, executed.

#[test]
fn every_ptx_file_loads() {
    for kernel in warpwatt_suite::kernels() {
        for (file, ptx) in kernel.ptx_files() {
            if let Err(errors) = warpwatt_ptx::load(ptx) {
                panic!("{} {file}: {errors:#?}", kernel.name);
            }
        }
    }
}
