//! What stands in for cuBLAS does what its formulas say, in whatever way matrices and vectors lie.

use proptest::prelude::*;
use warpwatt_cudart::blas::product::{Matrix, Product};
use warpwatt_cudart::blas::vector::{Change, Sum, Vector};
use warpwatt_cudart::blas_handle::{Element, Handle};
use warpwatt_cudart::error::Code;
use warpwatt_cudart::gpu::Gpu;
use warpwatt_cudart::graph::{Copying, Op, Side};
use warpwatt_cudart::protocol::Setup;

/// Numbers that every type holds exactly, without end.
fn numbers(seed: u32) -> impl Iterator<Item = f64> {
    let step = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), step).map(|state| (f64::from(state >> 24) - 128.0) / 64.0)
}

fn bytes_of(element: Element, values: &[f64]) -> Vec<u8> {
    let narrow = |value: f64| (value as f32).to_bits().to_le_bytes();
    let one = |&value: &f64| match element {
        Element::F64 => value.to_le_bytes().to_vec(),
        Element::F32 => narrow(value).to_vec(),
        Element::Bf16 => narrow(value)[2..].to_vec(),
        // 2^-6 times a whole number below 2^8: exact, and never subnormal.
        Element::F16 if value == 0.0 => vec![0, 0],
        Element::F16 => {
            let bits = (value as f32).to_bits();
            let exponent = (bits >> 23 & 255) + 15 - 127;
            let half = bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 1023;
            half.to_le_bytes()[..2].to_vec()
        }
    };
    values.iter().flat_map(one).collect()
}

fn values_of(element: Element, bytes: &[u8]) -> Vec<f64> {
    let half = |bits: u16| {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let size = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -size } else { size }
    };
    let one = |bytes: &[u8]| match element {
        Element::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        Element::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        Element::Bf16 => f64::from(f32::from_le_bytes([0, 0, bytes[0], bytes[1]])),
        Element::F16 => half(u16::from_le_bytes(bytes.try_into().unwrap())),
    };
    bytes
        .chunks_exact(element.bytes() as usize)
        .map(one)
        .collect()
}

/// The largest relative error of one rounding, and of what is added up before it.
fn tolerance(element: Element, terms: usize) -> f64 {
    let (stored, summed) = match element {
        Element::F64 => (1e-15, 1e-15),
        Element::F32 => (1e-7, 1e-7),
        Element::F16 => (5e-4, 1e-7),
        Element::Bf16 => (4e-3, 1e-7),
    };
    stored + summed * terms as f64
}

/// A GPU with a handle.
struct Desk {
    gpu: Gpu,
    handle: Handle,
}

impl Desk {
    fn new() -> Self {
        Self::of(70, 80)
    }

    fn of(capability: u32, sms: u32) -> Self {
        let mut setup = Setup::default();
        setup.device.capability = capability;
        setup.device.sms = sms;
        let mut gpu = Gpu::new(setup);
        let number = gpu.blas_create().unwrap();
        let handle = *gpu.blas_handle(number).unwrap();
        Self { gpu, handle }
    }

    fn copy(&mut self, to: u64, from: u64, bytes: usize) {
        let copying = Copying {
            to: Side::plain(to),
            from: Side::plain(from),
            extent: [bytes as u64, 1, 1],
            kind: 4,
        };
        self.gpu.perform(Op::Copy(copying)).unwrap();
    }

    /// Values in device memory.
    fn put(&mut self, element: Element, values: &[f64]) -> u64 {
        let bytes = bytes_of(element, values);
        let address = self.gpu.memory.allocate(bytes.len().max(1) as u64).unwrap();
        self.copy(address, bytes.as_ptr() as u64, bytes.len());
        address
    }

    fn get(&mut self, element: Element, address: u64, count: usize) -> Vec<f64> {
        let bytes = count as u64 * element.bytes();
        values_of(element, &self.gpu.memory.contents(address, bytes).unwrap())
    }
}

fn close(
    element: Element,
    terms: usize,
    ours: f64,
    expected: f64,
    magnitude: f64,
) -> Result<(), TestCaseError> {
    let allowed = tolerance(element, terms) * magnitude.max(expected.abs()) + 1e-300;
    prop_assert!(
        (ours - expected).abs() <= allowed,
        "{ours} for {expected}, allowed {allowed}"
    );
    Ok(())
}

fn elements() -> impl Strategy<Value = Element> {
    prop_oneof![
        Just(Element::F32),
        Just(Element::F64),
        Just(Element::F16),
        Just(Element::Bf16)
    ]
}

/// How a matrix lies: its values with what lies between columns, and its leading dimension.
fn laid(rows: usize, columns: usize, more: usize, seed: u32) -> (Vec<f64>, usize) {
    // Two more: so that columns begin where eight halves at a time can be read.
    let leading = if rows == 0 {
        1
    } else if more == 2 {
        rows.next_multiple_of(8)
    } else {
        rows + more
    };
    (
        numbers(seed).take(leading * columns.max(1)).collect(),
        leading,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_are_sums_of_products(
        element in elements(), turned in [0..3i32, 0..3i32], size in [1..150usize, 1..150usize, 0..80usize], more in [0..3usize, 0..3usize, 0..3usize],
        factors in (prop_oneof![Just(1.0), Just(-0.5)], prop_oneof![Just(0.0), Just(1.0), Just(0.25)]), batch in 1..3usize, list: bool, on_device: bool,
        capability in prop_oneof![Just(60), Just(70), Just(90)], sms in prop_oneof![Just(1), Just(80)],
    ) {
        let mut desk = Desk::of(capability, sms);
        desk.handle.on_device = on_device;
        let [m, n, k] = size;
        let shapes = [if turned[0] == 0 { (m, k) } else { (k, m) }, if turned[1] == 0 { (k, n) } else { (n, k) }, (m, n)];
        let mut kept = Vec::new();
        let mut matrices = Vec::new();
        for (at, (rows, columns)) in shapes.into_iter().enumerate() {
            let (one, leading) = laid(rows, columns, more[at], at as u32);
            let mut all: Vec<f64> = (0..batch).flat_map(|b| numbers(99 * b as u32 + at as u32).take(one.len())).collect();
            if at == 2 && factors.1 == 0.0 && element == Element::F64 {
                // What is not added is not read.
                all.fill(f64::NAN);
            }
            let address = desk.put(element, &all);
            let apart = one.len() as i64;
            let matrix = if list {
                let places: Vec<u64> = (0..batch as u64).map(|b| address + b * apart as u64 * element.bytes()).collect();
                let bits: Vec<f64> = places.iter().map(|&place| f64::from_bits(place)).collect();
                Matrix::list(desk.put(Element::F64, &bits), leading as i32)
            } else {
                Matrix::apart(address, leading as i32, apart)
            };
            matrices.push(matrix);
            kept.push((all, leading, one.len(), address));
        }
        let scale = if element == Element::F64 { Element::F64 } else { Element::F32 };
        let scalars = [bytes_of(scale, &[factors.0]), bytes_of(scale, &[factors.1])];
        let on_device_too = [desk.put(scale, &[factors.0]), desk.put(scale, &[factors.1])];
        let on_host = [scalars[0].as_ptr() as u64, scalars[1].as_ptr() as u64];
        let product = Product {
            element, scale, turned, size: [m as i32, n as i32, k as i32],
            factors: if on_device { on_device_too } else { on_host },
            matrices: [matrices[0], matrices[1], matrices[2]], batch: batch as i32,
        };
        let handle = desk.handle;
        desk.gpu.blas_product(handle, &product).unwrap();
        let (c, leading, apart, address) = &kept[2];
        let ours = desk.get(element, *address, c.len());
        let at = |which: usize, turn: bool, b: usize, row: usize, column: usize| {
            let (all, leading, apart, _) = &kept[which];
            let (row, column) = if turn { (column, row) } else { (row, column) };
            all[b * apart + column * leading + row]
        };
        for b in 0..batch {
            for column in 0..n {
                for row in 0..m {
                    let terms = (0..k).map(|p| at(0, turned[0] != 0, b, row, p) * at(1, turned[1] != 0, b, p, column));
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
                    let place = b * apart + column * leading + row;
                    let before = if factors.1 == 0.0 { 0.0 } else { factors.1 * c[place] };
                    close(element, k + 2, ours[place], factors.0 * sum + before, size + before.abs())?;
                }
                // What lies between columns is left alone.
                for gap in m..*leading {
                    let place = b * apart + column * leading + gap;
                    prop_assert!(ours[place] == c[place] || c[place].is_nan());
                }
            }
        }
    }

    #[test]
    fn vectors_are_added_up(element in elements(), count in 0..3000usize, steps in [prop_oneof![1..4i32, -3..0i32], prop_oneof![1..4i32, -3..0i32]], on_device: bool) {
        let mut desk = Desk::new();
        desk.handle.on_device = on_device;
        let length = |step: i32| 1 + count.max(1) * step.unsigned_abs() as usize;
        let [x, y] = [0, 1].map(|at| numbers(at as u32 + 5).take(length(steps[at])).collect::<Vec<f64>>());
        let vectors = [Vector(desk.put(element, &x), steps[0]), Vector(desk.put(element, &y), steps[1])];
        let place = |at: usize, step: i32| if step > 0 { at * step as usize } else { (count - 1 - at) * step.unsigned_abs() as usize };
        let pairs: Vec<(f64, f64)> = (0..count).map(|at| (x[place(at, steps[0])], y[place(at, steps[1])])).collect();
        let handle = desk.handle;
        for (sum, term) in [(Sum::Products, (|(a, b)| a * b) as fn((f64, f64)) -> f64), (Sum::Squares, |(a, _)| a * a), (Sum::Magnitudes, |(a, _)| a.abs())] {
            let mut host = [0u8; 8];
            let there = desk.put(Element::F64, &[0.0]);
            let to = if on_device { there } else { host.as_mut_ptr() as u64 };
            desk.gpu.blas_add_up(handle, element, sum, count as i32, vectors, to).unwrap();
            let ours = if on_device { desk.get(element, there, 1)[0] } else { values_of(element, &host[..element.bytes() as usize])[0] };
            let all = pairs.iter().map(|&pair| term(pair));
            let (expected, size) = all.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
            // Beyond the largest half there is nothing.
            if element == Element::F16 && expected.abs() > 60000.0 {
                continue;
            }
            let expected = if sum == Sum::Squares { expected.sqrt() } else { expected };
            close(element, 32, ours, expected, if sum == Sum::Squares { expected } else { size })?;
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_done() {
    let mut desk = Desk::new();
    let a = desk.put(Element::F32, &[1.0; 16]);
    let one = 1f32.to_le_bytes();
    let factors = [one.as_ptr() as u64; 2];
    let right = Product {
        element: Element::F32,
        scale: Element::F32,
        turned: [0, 0],
        size: [4, 4, 4],
        factors,
        matrices: [Matrix::one(a, 4); 3],
        batch: 1,
    };
    let wrong = [
        Product {
            size: [-1, 4, 4],
            ..right
        },
        Product {
            turned: [3, 0],
            ..right
        },
        Product {
            matrices: [Matrix::one(a, 3); 3],
            ..right
        },
        Product {
            factors: [0, factors[1]],
            ..right
        },
        Product { batch: -1, ..right },
    ];
    let handle = desk.handle;
    for wrong in wrong {
        assert_eq!(
            desk.gpu.blas_product(handle, &wrong),
            Err(Code::INVALID_VALUE),
            "{wrong:?}"
        );
    }
    assert_eq!(Element::of(3), Err(Code::NOT_SUPPORTED));
    assert_eq!(desk.get(Element::F32, a, 16), [1.0; 16]);
    assert!(desk.gpu.blas_handle(1).is_err());
}

#[test]
fn vectors_become_what_is_asked() {
    let mut desk = Desk::new();
    let handle = desk.handle;
    let (x, y) = (
        desk.put(Element::F64, &[1.0, 2.0, 3.0]),
        desk.put(Element::F64, &[10.0, 20.0, 30.0]),
    );
    let two = 2f64.to_le_bytes();
    let two = two.as_ptr() as u64;
    let vectors = [Vector(x, 1), Vector(y, 1)];
    let change = |desk: &mut Desk, change| {
        desk.gpu
            .blas_change(handle, Element::F64, change, 3, vectors)
            .unwrap();
        [desk.get(Element::F64, x, 3), desk.get(Element::F64, y, 3)]
    };
    assert_eq!(
        change(&mut desk, Change::Axpy(two, Element::F64))[1],
        [12.0, 24.0, 36.0]
    );
    assert_eq!(
        change(&mut desk, Change::Scal(two, Element::F64))[0],
        [2.0, 4.0, 6.0]
    );
    assert_eq!(
        change(&mut desk, Change::Swap),
        [vec![12.0, 24.0, 36.0], vec![2.0, 4.0, 6.0]]
    );
    assert_eq!(change(&mut desk, Change::Copy)[1], [12.0, 24.0, 36.0]);
}

#[test]
fn matrices_times_vectors_and_sums() {
    let mut desk = Desk::new();
    let handle = desk.handle;
    // [[1, 3, 5], [2, 4, 6]] column by column.
    let a = Matrix::one(desk.put(Element::F32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2);
    let (x, y) = (
        desk.put(Element::F32, &[1.0, 10.0, 100.0]),
        desk.put(Element::F32, &[0.5, 0.5, 0.5]),
    );
    let (one, two) = (1f32.to_le_bytes(), 2f32.to_le_bytes());
    let (one, two) = (one.as_ptr() as u64, two.as_ptr() as u64);
    let vectors = [Vector(x, 1), Vector(y, 1)];
    desk.gpu
        .blas_times_vector(handle, Element::F32, (0, [2, 3]), [one, two], a, vectors)
        .unwrap();
    assert_eq!(desk.get(Element::F32, y, 3), [532.0, 643.0, 0.5]);
    desk.gpu
        .blas_times_vector(handle, Element::F32, (1, [2, 3]), [one, two], a, vectors)
        .unwrap();
    assert_eq!(
        desk.get(Element::F32, y, 3),
        [1064.0 + 21.0, 1286.0 + 43.0, 66.0]
    );
    desk.gpu
        .blas_outer(
            handle,
            Element::F32,
            [2, 3],
            two,
            [Vector(x, 1), Vector(x, 1)],
            a,
        )
        .unwrap();
    assert_eq!(
        desk.get(Element::F32, a.address, 6),
        [3.0, 22.0, 23.0, 204.0, 205.0, 2006.0]
    );
    let turned = Matrix::one(desk.put(Element::F32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3);
    let c = Matrix::one(desk.put(Element::F32, &[0.0; 6]), 2);
    let sum = Product {
        element: Element::F32,
        scale: Element::F32,
        turned: [0, 1],
        size: [2, 3, 0],
        factors: [one, two],
        matrices: [a, turned, c],
        batch: 1,
    };
    desk.gpu.blas_sum(handle, &sum).unwrap();
    assert_eq!(
        desk.get(Element::F32, c.address, 6),
        [5.0, 30.0, 27.0, 214.0, 211.0, 2018.0]
    );
}
