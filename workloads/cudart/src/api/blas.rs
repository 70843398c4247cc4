//! The functions of cuBLAS (`libcublas.so`) that have kernels here. Their codes are those of `cublasStatus_t`.

use std::ffi::{CStr, c_char};

use super::entries;
use crate::blas::product::{Matrix, Product};
use crate::blas::vector::{Change, Sum, Vector};
use crate::blas_handle::{Element, Handle};
use crate::error::{Code, Outcome};
use crate::foreign::Out;
use crate::gpu::{Gpu, answer_other};
use crate::graph::{Copying, Op, Side};

/// Of cuBLAS 13.0, as its function answers it.
const VERSION: i32 = 130_000;
const NO_STATUS: &CStr = c"unknown status";

/// Codes with their names and what they say (cuBLAS documentation, `cublasStatus_t`).
const STATUS: [(i32, &CStr, &CStr); 9] = [
    (0, c"CUBLAS_STATUS_SUCCESS", c"success"),
    (1, c"CUBLAS_STATUS_NOT_INITIALIZED", c"not initialized"),
    (3, c"CUBLAS_STATUS_ALLOC_FAILED", c"allocation failed"),
    (7, c"CUBLAS_STATUS_INVALID_VALUE", c"invalid value"),
    (8, c"CUBLAS_STATUS_ARCH_MISMATCH", c"architecture mismatch"),
    (11, c"CUBLAS_STATUS_MAPPING_ERROR", c"mapping error"),
    (13, c"CUBLAS_STATUS_EXECUTION_FAILED", c"execution failed"),
    (14, c"CUBLAS_STATUS_INTERNAL_ERROR", c"internal error"),
    (15, c"CUBLAS_STATUS_NOT_SUPPORTED", c"not supported"),
];

/// A code of the runtime's as cuBLAS has it.
pub(super) fn status(code: Code) -> i32 {
    match code {
        Code::SUCCESS => 0,
        Code::INVALID_HANDLE => 1,
        Code::MEMORY_ALLOCATION => 3,
        Code::INVALID_VALUE => 7,
        Code::NO_IMAGE => 8,
        Code::NOT_SUPPORTED => 15,
        _ => 13,
    }
}

fn answered(work: impl FnOnce(&mut Gpu) -> Outcome) -> i32 {
    status(answer_other(work))
}

/// One function; the first argument is a handle, and the work gets what it stands for.
macro_rules! blas_entry {
    ($name:ident ($($arg:ident: $type:ty),* $(,)?) |$gpu:pat_param, $handle:pat_param| $work:expr) => {
        #[doc = concat!("`", stringify!($name), "` of cuBLAS.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(handle: u64 $(, $arg: $type)*) -> i32 {
            answered(|gpu| {
                let known = *gpu.blas_handle(handle)?;
                let work = |$gpu: &mut Gpu, $handle: Handle| -> Outcome { $work };
                work(gpu, known)
            })
        }
    };
}

/// As `entries` beside this, of functions whose first argument is a handle.
macro_rules! blas_entries {
    ($($($name:ident)|+: $arguments:tt |$gpu:pat_param, $handle:pat_param| $work:expr;)*) => {
        $($(blas_entry! { $name $arguments |$gpu, $handle| $work })+)*
    };
}

/// Functions that a type has under a name of its own.
macro_rules! of_type {
    ($element:expr; $gemm:ident $strided:ident $batched:ident) => {
        blas_entries! {
            $gemm: (ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, lda: i32, b: u64, ldb: i32, beta: u64, c: u64, ldc: i32) |gpu, handle|
                gpu.blas_product(handle, &Product {
                    element: $element, scale: $element, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
                    matrices: [Matrix::one(a, lda), Matrix::one(b, ldb), Matrix::one(c, ldc)], batch: 1,
                });
            $strided: (
                ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, lda: i32, a_apart: i64, b: u64, ldb: i32, b_apart: i64,
                beta: u64, c: u64, ldc: i32, c_apart: i64, batch: i32,
            ) |gpu, handle| gpu.blas_product(handle, &Product {
                element: $element, scale: $element, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
                matrices: [Matrix::apart(a, lda, a_apart), Matrix::apart(b, ldb, b_apart), Matrix::apart(c, ldc, c_apart)], batch,
            });
            $batched: (
                ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, lda: i32, b: u64, ldb: i32, beta: u64, c: u64, ldc: i32, batch: i32,
            ) |gpu, handle| gpu.blas_product(handle, &Product {
                element: $element, scale: $element, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
                matrices: [Matrix::list(a, lda), Matrix::list(b, ldb), Matrix::list(c, ldc)], batch,
            });
        }
    };
    ($element:expr; $gemv:ident $ger:ident $geam:ident $axpy:ident $scal:ident $copy:ident $swap:ident $dot:ident $nrm2:ident $asum:ident) => {
        blas_entries! {
            $gemv: (turned: i32, m: i32, n: i32, alpha: u64, a: u64, lda: i32, x: u64, incx: i32, beta: u64, y: u64, incy: i32) |gpu, handle|
                gpu.blas_times_vector(handle, $element, (turned, [m, n]), [alpha, beta], Matrix::one(a, lda), [Vector(x, incx), Vector(y, incy)]);
            $ger: (m: i32, n: i32, alpha: u64, x: u64, incx: i32, y: u64, incy: i32, a: u64, lda: i32) |gpu, handle|
                gpu.blas_outer(handle, $element, [m, n], alpha, [Vector(x, incx), Vector(y, incy)], Matrix::one(a, lda));
            $geam: (ta: i32, tb: i32, m: i32, n: i32, alpha: u64, a: u64, lda: i32, beta: u64, b: u64, ldb: i32, c: u64, ldc: i32) |gpu, handle|
                gpu.blas_sum(handle, &Product {
                    element: $element, scale: $element, turned: [ta, tb], size: [m, n, 0], factors: [alpha, beta],
                    matrices: [Matrix::one(a, lda), Matrix::one(b, ldb), Matrix::one(c, ldc)], batch: 1,
                });
            $axpy: (n: i32, alpha: u64, x: u64, incx: i32, y: u64, incy: i32) |gpu, handle|
                gpu.blas_change(handle, $element, Change::Axpy(alpha, $element), n, [Vector(x, incx), Vector(y, incy)]);
            $scal: (n: i32, alpha: u64, x: u64, incx: i32) |gpu, handle|
                gpu.blas_change(handle, $element, Change::Scal(alpha, $element), n, [Vector(x, incx); 2]);
            $copy: (n: i32, x: u64, incx: i32, y: u64, incy: i32) |gpu, handle|
                gpu.blas_change(handle, $element, Change::Copy, n, [Vector(x, incx), Vector(y, incy)]);
            $swap: (n: i32, x: u64, incx: i32, y: u64, incy: i32) |gpu, handle|
                gpu.blas_change(handle, $element, Change::Swap, n, [Vector(x, incx), Vector(y, incy)]);
            $dot: (n: i32, x: u64, incx: i32, y: u64, incy: i32, to: u64) |gpu, handle|
                gpu.blas_add_up(handle, $element, Sum::Products, n, [Vector(x, incx), Vector(y, incy)], to);
            $nrm2: (n: i32, x: u64, incx: i32, to: u64) |gpu, handle|
                gpu.blas_add_up(handle, $element, Sum::Squares, n, [Vector(x, incx); 2], to);
            $asum: (n: i32, x: u64, incx: i32, to: u64) |gpu, handle|
                gpu.blas_add_up(handle, $element, Sum::Magnitudes, n, [Vector(x, incx); 2], to);
        }
    };
}

of_type!(Element::F32; cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched);
of_type!(Element::F64; cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched);
of_type!(Element::F16; cublasHgemm cublasHgemmStridedBatched cublasHgemmBatched);
of_type!(Element::F32; cublasSgemv_v2 cublasSger_v2 cublasSgeam cublasSaxpy_v2 cublasSscal_v2 cublasScopy_v2 cublasSswap_v2 cublasSdot_v2 cublasSnrm2_v2 cublasSasum_v2);
of_type!(Element::F64; cublasDgemv_v2 cublasDger_v2 cublasDgeam cublasDaxpy_v2 cublasDscal_v2 cublasDcopy_v2 cublasDswap_v2 cublasDdot_v2 cublasDnrm2_v2 cublasDasum_v2);

/// The one type that all of some numbers of `cudaDataType` name.
fn same(numbers: &[i32]) -> Outcome<Element> {
    let first = Element::of(numbers[0])?;
    let all = numbers.iter().all(|number| *number == numbers[0]);
    all.then_some(first).ok_or(Code::NOT_SUPPORTED)
}

/// The type of the factors of a product, by its `cublasComputeType_t`, or `cudaDataType` of old.
fn scale(compute: i32) -> Outcome<Element> {
    match compute {
        64 | 65 | 2 => Ok(Element::F16),
        68 | 69 | 74 | 75 | 77 | 78 | 0 => Ok(Element::F32),
        70 | 71 | 1 => Ok(Element::F64),
        _ => Err(Code::NOT_SUPPORTED),
    }
}

blas_entries! {
    cublasGemmEx: (
        ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, a_type: i32, lda: i32, b: u64, b_type: i32, ldb: i32,
        beta: u64, c: u64, c_type: i32, ldc: i32, compute: i32, _algorithm: i32,
    ) |gpu, handle| gpu.blas_product(handle, &Product {
        element: same(&[a_type, b_type, c_type])?, scale: scale(compute)?, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
        matrices: [Matrix::one(a, lda), Matrix::one(b, ldb), Matrix::one(c, ldc)], batch: 1,
    });
    cublasGemmStridedBatchedEx: (
        ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, a_type: i32, lda: i32, a_apart: i64, b: u64, b_type: i32, ldb: i32, b_apart: i64,
        beta: u64, c: u64, c_type: i32, ldc: i32, c_apart: i64, batch: i32, compute: i32, _algorithm: i32,
    ) |gpu, handle| gpu.blas_product(handle, &Product {
        element: same(&[a_type, b_type, c_type])?, scale: scale(compute)?, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
        matrices: [Matrix::apart(a, lda, a_apart), Matrix::apart(b, ldb, b_apart), Matrix::apart(c, ldc, c_apart)], batch,
    });
    cublasGemmBatchedEx: (
        ta: i32, tb: i32, m: i32, n: i32, k: i32, alpha: u64, a: u64, a_type: i32, lda: i32, b: u64, b_type: i32, ldb: i32,
        beta: u64, c: u64, c_type: i32, ldc: i32, batch: i32, compute: i32, _algorithm: i32,
    ) |gpu, handle| gpu.blas_product(handle, &Product {
        element: same(&[a_type, b_type, c_type])?, scale: scale(compute)?, turned: [ta, tb], size: [m, n, k], factors: [alpha, beta],
        matrices: [Matrix::list(a, lda), Matrix::list(b, ldb), Matrix::list(c, ldc)], batch,
    });
    cublasDotEx | cublasDotcEx: (n: i32, x: u64, x_type: i32, incx: i32, y: u64, y_type: i32, incy: i32, to: u64, to_type: i32, _compute: i32) |gpu, handle|
        gpu.blas_add_up(handle, same(&[x_type, y_type, to_type])?, Sum::Products, n, [Vector(x, incx), Vector(y, incy)], to);
    cublasNrm2Ex: (n: i32, x: u64, x_type: i32, incx: i32, to: u64, to_type: i32, _compute: i32) |gpu, handle|
        gpu.blas_add_up(handle, same(&[x_type, to_type])?, Sum::Squares, n, [Vector(x, incx); 2], to);
    cublasAsumEx: (n: i32, x: u64, x_type: i32, incx: i32, to: u64, to_type: i32, _compute: i32) |gpu, handle|
        gpu.blas_add_up(handle, same(&[x_type, to_type])?, Sum::Magnitudes, n, [Vector(x, incx); 2], to);
    cublasAxpyEx: (n: i32, alpha: u64, alpha_type: i32, x: u64, x_type: i32, incx: i32, y: u64, y_type: i32, incy: i32, _compute: i32) |gpu, handle|
        gpu.blas_change(handle, same(&[x_type, y_type])?, Change::Axpy(alpha, Element::of(alpha_type)?), n, [Vector(x, incx), Vector(y, incy)]);
    cublasScalEx: (n: i32, alpha: u64, alpha_type: i32, x: u64, x_type: i32, incx: i32, _compute: i32) |gpu, handle|
        gpu.blas_change(handle, Element::of(x_type)?, Change::Scal(alpha, Element::of(alpha_type)?), n, [Vector(x, incx); 2]);
    cublasGetStream_v2: (to: Out<u64>) |_, handle| to.put(handle.stream);
    cublasGetPointerMode_v2: (to: Out<i32>) |_, handle| to.put(i32::from(handle.on_device));
    cublasGetMathMode: (to: Out<i32>) |_, handle| to.put(handle.math);
    cublasGetAtomicsMode: (to: Out<i32>) |_, handle| to.put(handle.atomics);
    cublasSetWorkspace_v2: (_workspace: u64, _bytes: u64) |_, _| Ok(());
    cublasSetSmCountTarget: (_count: i32) |_, _| Ok(());
    cublasGetSmCountTarget: (to: Out<i32>) |_, _| to.put(0);
}

/// A copy of elements between vectors, or of columns between matrices: bytes of each, and from one to the next on both sides.
fn copied(
    gpu: &mut Gpu,
    stream: u64,
    from: (u64, u64),
    to: (u64, u64),
    [bytes, pieces]: [i64; 2],
) -> Outcome {
    /// `cudaMemcpyDefault`: addresses say where they lie.
    const BY_ADDRESS: i32 = 4;
    let [bytes, pieces] = [bytes, pieces].map(u64::try_from);
    let op = Op::Copy(Copying {
        to: Side::rows(to.0, to.1),
        from: Side::rows(from.0, from.1),
        extent: [
            bytes.map_err(|_| Code::INVALID_VALUE)?,
            pieces.map_err(|_| Code::INVALID_VALUE)?,
            1,
        ],
        kind: BY_ADDRESS,
    });
    gpu.submit(stream, op)
}

/// A step of a copied vector or matrix in bytes, which must be forward.
fn pitch(elements: i32, bytes: i32) -> Outcome<u64> {
    let pitch = i64::from(elements) * i64::from(bytes);
    u64::try_from(pitch)
        .ok()
        .filter(|&pitch| pitch > 0)
        .ok_or(Code::INVALID_VALUE)
}

fn vector(
    gpu: &mut Gpu,
    stream: u64,
    [n, bytes]: [i32; 2],
    from: (u64, i32),
    to: (u64, i32),
) -> Outcome {
    let (from, to) = ((from.0, pitch(from.1, bytes)?), (to.0, pitch(to.1, bytes)?));
    copied(gpu, stream, from, to, [i64::from(bytes), i64::from(n)])
}

fn matrix(
    gpu: &mut Gpu,
    stream: u64,
    [rows, columns, bytes]: [i32; 3],
    from: (u64, i32),
    to: (u64, i32),
) -> Outcome {
    if from.1 < rows || to.1 < rows {
        return Err(Code::INVALID_VALUE);
    }
    let (from, to) = ((from.0, pitch(from.1, bytes)?), (to.0, pitch(to.1, bytes)?));
    copied(
        gpu,
        stream,
        from,
        to,
        [i64::from(rows) * i64::from(bytes), i64::from(columns)],
    )
}

entries! {
    answered by answered;
    cublasCreate_v2: (to: Out<u64>) |gpu| {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        to.put(gpu.blas_create()?)
    };
    cublasDestroy_v2: (handle: u64) |gpu| gpu.blas_destroy(handle);
    cublasSetStream_v2: (handle: u64, stream: u64) |gpu| {
        gpu.check_stream(stream)?;
        gpu.blas_handle(handle)?.stream = stream;
        Ok(())
    };
    cublasSetPointerMode_v2: (handle: u64, mode: i32) |gpu| {
        gpu.blas_handle(handle)?.on_device = mode != 0;
        Ok(())
    };
    cublasSetMathMode: (handle: u64, mode: i32) |gpu| {
        gpu.blas_handle(handle)?.math = mode;
        Ok(())
    };
    cublasSetAtomicsMode: (handle: u64, mode: i32) |gpu| {
        gpu.blas_handle(handle)?.atomics = mode;
        Ok(())
    };
    cublasGetVersion_v2: (_handle: u64, to: Out<i32>) |_| to.put(VERSION);
    cublasSetVector | cublasGetVector: (n: i32, bytes: i32, x: u64, incx: i32, y: u64, incy: i32) |gpu| vector(gpu, 0, [n, bytes], (x, incx), (y, incy));
    cublasSetVectorAsync | cublasGetVectorAsync: (n: i32, bytes: i32, x: u64, incx: i32, y: u64, incy: i32, stream: u64) |gpu|
        vector(gpu, stream, [n, bytes], (x, incx), (y, incy));
    cublasSetMatrix | cublasGetMatrix: (rows: i32, columns: i32, bytes: i32, a: u64, lda: i32, b: u64, ldb: i32) |gpu|
        matrix(gpu, 0, [rows, columns, bytes], (a, lda), (b, ldb));
    cublasSetMatrixAsync | cublasGetMatrixAsync: (rows: i32, columns: i32, bytes: i32, a: u64, lda: i32, b: u64, ldb: i32, stream: u64) |gpu|
        matrix(gpu, stream, [rows, columns, bytes], (a, lda), (b, ldb));
}

fn told(
    code: i32,
    text: impl Fn(&(i32, &'static CStr, &'static CStr)) -> &'static CStr,
) -> *const c_char {
    let found = STATUS.iter().find(|(known, ..)| *known == code);
    found.map_or(NO_STATUS, text).as_ptr()
}

/// `cublasGetStatusName`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusName(code: i32) -> *const c_char {
    told(code, |(_, name, _)| name)
}

/// `cublasGetStatusString`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusString(code: i32) -> *const c_char {
    told(code, |(_, _, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_huge_and_unknown_arguments_are_answered() {
        const NOT_INITIALIZED: i32 = 1;
        const INVALID_VALUE: i32 = 7;
        let none = || Out::at_address(0);
        assert_eq!(cublasCreate_v2(none()), INVALID_VALUE);
        let mut handle = 0u64;
        let to = Out::at_address(&raw mut handle as u64);
        assert_eq!(cublasCreate_v2(to), 0);
        assert_eq!(cublasSetStream_v2(handle, 12345), NOT_INITIALIZED);
        let gemm = |handle, alpha, size| {
            cublasSgemm_v2(
                handle, 0, 0, size, size, size, alpha, 8, size, 8, size, alpha, 8, size,
            )
        };
        let one = 1f32;
        let one = &raw const one as u64;
        assert_eq!(gemm(handle, 0, 4), INVALID_VALUE);
        assert_eq!(gemm(handle + 1, one, 4), NOT_INITIALIZED);
        assert_eq!(gemm(handle, one, -1), INVALID_VALUE);
        assert_eq!(gemm(handle, one, 0), INVALID_VALUE);
        // More blocks than a grid has in its second direction.
        assert_eq!(gemm(handle, one, i32::MAX), 13);
        assert_eq!(cublasSdot_v2(handle, 1, 8, 1, 8, 1, 0), INVALID_VALUE);
        assert_eq!(cublasSetVector(-1, 4, 8, 1, 8, 1), INVALID_VALUE);
        assert_eq!(cublasSetMatrix(4, 4, 4, 8, 2, 8, 4), INVALID_VALUE);
        assert_eq!(cublasDestroy_v2(handle), 0);
        assert_eq!(cublasDestroy_v2(handle), NOT_INITIALIZED);
        let name = |code| crate::foreign::Text::at_address(cublasGetStatusName(code) as u64).get();
        assert_eq!(name(15).as_deref(), Ok("CUBLAS_STATUS_NOT_SUPPORTED"));
        assert_eq!(name(99).as_deref(), Ok("unknown status"));
    }
}
