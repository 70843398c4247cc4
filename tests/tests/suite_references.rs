//! The references and the input rules against the files of an independent implementation (its sources, compiled for the host,
//! wrote inputs and accepted outputs), kept here as checksums.

use warpwatt_suite::launch::{Access, ElementType, Role};
use warpwatt_suite::{kernel, kernels};

/// FNV-1a, 64 bits, of the files of the default cases: inputs, and outputs that must agree bit for bit.
#[rustfmt::skip]
const CHECKSUMS: &[(&str, &str, u64)] = &[
    ("bitonic_step", "in", 0x76f043c48f79bd92),
    ("bitonic_step", "out", 0x75322aec51a0090e),
    ("black_scholes", "spot", 0x4c05793adedaac17),
    ("black_scholes", "strike", 0xe99bfdab7823f46b),
    ("black_scholes", "years", 0xa78f66a2181e6b8c),
    ("gaussian_step", "a", 0x1fd7da658ad2f969),
    ("gaussian_step", "next", 0x500c69c2ea412e7c),
    ("histogram", "counts", 0xb8dc4be9dd062131),
    ("histogram", "words", 0xd7ffcc310ad5ac6b),
    ("kmeans_assign", "centroids", 0xc54308db26a60198),
    ("kmeans_assign", "member", 0xe3d5acaca3f33480),
    ("kmeans_assign", "points", 0x3f22776575dfef3a),
    ("mandelbrot", "escape", 0x0631c12176488c89),
    ("matmul_tiled", "a", 0xfd28859400388f18),
    ("matmul_tiled", "b", 0xa66643a2016f0567),
    ("matmul_tiled", "c", 0xf05a223b0e72bea0),
    ("mc_twister", "hits", 0xade753ed1a66f4fe),
    ("mc_twister", "seeds", 0x80a255e80a309fe1),
    ("pathfinder", "cost", 0x2e872433310d517b),
    ("pathfinder", "result", 0xdd511eb4b098eb27),
    ("pathfinder", "start", 0xb21e079f2132361e),
    ("reduction", "in", 0x5d5d7f9f20c0f3a8),
    ("reduction", "partial", 0x5956e4d036dd9601),
    ("spmv_csr", "column", 0x22bc1984eb89c824),
    ("spmv_csr", "row_start", 0xf7d20165c1efb87b),
    ("spmv_csr", "value", 0x8385c2f32074c62e),
    ("spmv_csr", "x", 0x306e205e18b919f1),
    ("spmv_csr", "y", 0x802bd639c889e0bd),
    ("stencil5", "next", 0xe524d61c74b7ae5d),
    ("stencil5", "power", 0x239607a48d57159d),
    ("stencil5", "temp", 0xefb9eae78eba1825),
    ("transpose_naive", "in", 0x77d7059f883a2dae),
    ("transpose_naive", "out", 0x507fdbd1484ea336),
    ("vector_add", "a", 0x8c1313a044df8b39),
    ("vector_add", "b", 0x7f5e7973fde7a2c1),
    ("vector_add", "c", 0x815a64e513a07fc0),
];

/// FNV-1a with 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn inputs_and_references_agree_bit_for_bit_with_an_independent_implementation() {
    for (name, buffer, checksum) in CHECKSUMS {
        let (_, prepared) = kernel(name).unwrap().prepare(None).unwrap();
        let buffer = prepared.buffer(buffer).unwrap();
        let contents = buffer.expected.as_ref().unwrap_or(&buffer.before);
        assert_eq!(fnv1a(contents), *checksum, "{name}: {}", buffer.name);
    }
}

/// Sums of all elements, as the launch files state them; the only check of outputs that approximate functions leave inexact.
#[test]
fn references_have_the_sums_that_launch_files_state() {
    let mut checked = 0;
    for kernel in kernels() {
        let file: toml::Table = kernel.launch.parse().unwrap();
        let (_, prepared) = kernel.prepare(Some("default")).unwrap();
        for argument in file["default"]["arg"].as_array().unwrap() {
            let number = |key: &str| {
                let value = argument.get(key)?;
                value
                    .as_float()
                    .or(value.as_integer().map(|integer| integer as f64))
            };
            let Some(sum) = number("expect_sum") else {
                continue;
            };
            let buffer = prepared.buffer(argument["name"].as_str().unwrap()).unwrap();
            let elements = buffer.expected.as_ref().unwrap();
            let count = elements.len() / buffer.element.bytes();
            let got: f64 = (0..count)
                .map(|i| buffer.element.read(elements, i).to_f64())
                .sum();
            // Twelve digits were written; approximate functions are as near as their tolerance.
            let bound = (1e-11 + buffer.tolerance.relative) * number("expect_sum_abs").unwrap();
            assert!(
                (got - sum).abs() <= bound,
                "{}: {got} for {sum}",
                kernel.name
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 15, "outputs with a stated sum");
}

#[test]
fn every_case_of_every_kernel_is_readable_and_every_output_has_a_reference() {
    for kernel in kernels() {
        let file = kernel.launch_file().unwrap();
        assert_eq!(file.name, kernel.name);
        assert_eq!(file.cases[0].name.get_ref(), "default", "{}", kernel.name);
        // Those of many millions of instructions are prepared where they are executed.
        let small = file.cases.iter().filter(|case| {
            let counts = kernel.counts(case.name.get_ref());
            counts.is_none_or(|counts| counts.thread_instructions < 20_000_000)
        });
        for case in small {
            let (case, prepared) = kernel.prepare(Some(case.name.get_ref())).unwrap();
            for (argument, buffer) in case.arguments.iter().zip(&prepared.buffers) {
                if let (Role::Buffer(role), Some(buffer)) = (&argument.role, buffer) {
                    let place = format!("{} {}: {}", kernel.name, case.name.get_ref(), buffer.name);
                    assert_eq!(
                        buffer.expected.is_some(),
                        role.access != Access::In,
                        "{place}"
                    );
                    let expected = buffer.expected.as_ref().unwrap_or(&buffer.before);
                    assert_eq!(expected.len(), buffer.before.len(), "{place}");
                }
            }
        }
    }
}

#[test]
fn the_suite_is_in_order_and_has_no_duplicates() {
    let names: Vec<_> = kernels().iter().map(|kernel| kernel.name).collect();
    assert!(names.is_sorted_by(|one, other| one < other));
    assert!(names.len() >= 20);
}

/// A breadth-first search has one level more than the longest distance, and every placement's completions make all solutions.
#[test]
fn references_of_searches_agree_with_known_results() {
    let (_, queens) = kernel("n_queens").unwrap().prepare(Some("paper")).unwrap();
    let solutions = queens
        .buffer("solutions")
        .unwrap()
        .expected
        .as_ref()
        .unwrap();
    let total: f64 = (0..solutions.len() / 4)
        .map(|i| ElementType::U32.read(solutions, i).to_f64())
        .sum();
    assert_eq!(total, 46.0); // OEIS A000170 has 92 for 8 queens, half of them with the first queen on the left
    let (_, bfs) = kernel("bfs").unwrap().prepare(Some("paper")).unwrap();
    let levels = bfs.buffer("level").unwrap().expected.as_ref().unwrap();
    let deepest = (0..4096)
        .map(|i| ElementType::I32.read(levels, i).to_integer())
        .max();
    assert_eq!(deepest, Some(7)); // eight rounds of two launches, as in the paper
}
