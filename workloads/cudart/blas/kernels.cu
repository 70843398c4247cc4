// What stands in for the kernels of cuBLAS, whose machine code nothing here can run: the textbook's way of each, in matrices that lie column by column.
#include "common.cuh"

// C = alpha A B + beta C. A block of 256 threads makes SIDE by SIDE elements, each thread EACH by EACH of them, DEEP products at a time; those that come next are
// loaded meanwhile. Elements of a thread lie 16 apart, so that a warp reads neighbours.
template <typename T, typename S, int SIDE, int DEEP>
__device__ __forceinline__ void product(int m, int n, int k, S alpha, S beta, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, S (&left)[DEEP][SIDE + 1], S (&right)[DEEP][SIDE + 1]) {
  constexpr int EACH = SIDE / 16, LOADS = SIDE * DEEP / 256;
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, rows = blockIdx.x * SIDE, columns = blockIdx.y * SIDE, batch = blockIdx.z;
  const T *const as = a.of(batch), *const bs = b.of(batch);
  S sum[EACH][EACH] = {}, next_a[LOADS], next_b[LOADS];
  // Neighbouring threads take what lies side by side.
  const bool by_rows = a.row == 1, by_columns = b.column == 1;
  auto load = [&](int from) {
    _Pragma("unroll") for (int at = 0; at < LOADS; at++) {
      const int e = t + at * 256;
      const int i = by_rows ? e % SIDE : e / DEEP, p = by_rows ? e / SIDE : e % DEEP;
      next_a[at] = rows + i < m && from + p < k ? wide(as[(rows + i) * a.row + (from + p) * a.column]) : S(0);
      const int j = by_columns ? e % SIDE : e / DEEP, q = by_columns ? e / SIDE : e % DEEP;
      next_b[at] = columns + j < n && from + q < k ? wide(bs[(from + q) * b.row + (columns + j) * b.column]) : S(0);
    }
  };
  load(0);
  for (int from = 0; from < k; from += DEEP) {
    _Pragma("unroll") for (int at = 0; at < LOADS; at++) {
      const int e = t + at * 256;
      left[by_rows ? e / SIDE : e % DEEP][by_rows ? e % SIDE : e / DEEP] = next_a[at];
      right[by_columns ? e / SIDE : e % DEEP][by_columns ? e % SIDE : e / DEEP] = next_b[at];
    }
    __syncthreads();
    if (from + DEEP < k) load(from + DEEP);
    _Pragma("unroll") for (int p = 0; p < DEEP; p++) {
      S ours[EACH], theirs[EACH];
      _Pragma("unroll") for (int i = 0; i < EACH; i++) ours[i] = left[p][tx + 16 * i];
      _Pragma("unroll") for (int j = 0; j < EACH; j++) theirs[j] = right[p][ty + 16 * j];
      _Pragma("unroll") for (int i = 0; i < EACH; i++)
        _Pragma("unroll") for (int j = 0; j < EACH; j++) sum[i][j] += ours[i] * theirs[j];
    }
    __syncthreads();
  }
  T* const cs = c.of(batch);
  _Pragma("unroll") for (int j = 0; j < EACH; j++)
    _Pragma("unroll") for (int i = 0; i < EACH; i++) {
      const int row = rows + tx + 16 * i, column = columns + ty + 16 * j;
      if (row >= m || column >= n) continue;
      T& to = cs[row * c.row + column * c.column];
      // What is not to be added is not read: it may be no number.
      narrow(to, beta == S(0) ? alpha * sum[i][j] : alpha * sum[i][j] + beta * wide(to));
    }
}

#define PRODUCT(name, T, S, SIDE)                                                                                                                              \
  extern "C" __global__ void name(int m, int n, int k, S alpha, S beta, Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {                                    \
    __shared__ S left[8][SIDE + 1], right[8][SIDE + 1];                                                                                                        \
    product<T, S, SIDE, 8>(m, n, k, alpha, beta, a, b, c, left, right);                                                                                        \
  }
PRODUCT(gemm_f32_128, float, float, 128)
PRODUCT(gemm_f32_64, float, float, 64)
PRODUCT(gemm_f32_32, float, float, 32)
PRODUCT(gemm_f64_64, double, double, 64)
PRODUCT(gemm_f64_32, double, double, 32)
PRODUCT(gemm_f16_128, half, float, 128)
PRODUCT(gemm_f16_32, half, float, 32)
PRODUCT(gemm_bf16_128, bfloat, float, 128)
PRODUCT(gemm_bf16_32, bfloat, float, 32)

// C = alpha A + beta B, a thread a row and as many columns as there are for each of the grid.
template <typename T> __device__ __forceinline__ void added(int m, int n, T alpha, T beta, Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = blockIdx.y; row < m && column < n; column += gridDim.y) {
    T sum = 0;
    if (alpha != 0) sum += alpha * a.first[row * a.row + column * a.column];
    if (beta != 0) sum += beta * b.first[row * b.row + column * b.column];
    c.first[row * c.row + column * c.column] = sum;
  }
}

// Sums of a block's 256 threads, which the first one gets.
template <typename S> __device__ __forceinline__ S together(S mine, S (&part)[256]) {
  part[threadIdx.x] = mine;
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  return part[0];
}

// y = alpha A x + beta y. Where rows lie side by side, 32 rows a block, eight threads a row; else a row a block.
template <typename T> __device__ __forceinline__ void times_vector(int m, int n, T alpha, T beta, Matrix<const T> a, const T* x, long x_step, T* y, long y_step, T (&part)[256]) {
  const int t = threadIdx.x;
  const bool side_by_side = a.row == 1;
  const int row = side_by_side ? blockIdx.x * 32 + t % 32 : blockIdx.x;
  T sum = 0;
  if (row < m)
    for (int column = side_by_side ? t / 32 : t; column < n; column += side_by_side ? 8 : 256) sum += a.first[row * a.row + column * a.column] * x[column * x_step];
  if (side_by_side) {
    part[t] = sum;
    __syncthreads();
    for (int at = 1; t < 32 && at < 8; at++) sum += part[t + 32 * at];
  } else {
    sum = together(sum, part);
  }
  if (row >= m || t >= (side_by_side ? 32 : 1)) return;
  T& to = y[row * y_step];
  to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
}

// A = alpha x y' + A, likewise.
template <typename T> __device__ __forceinline__ void outer(int m, int n, T alpha, const T* x, long x_step, const T* y, long y_step, Matrix<T> a) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = blockIdx.y; row < m && column < n; column += gridDim.y) a.first[row * a.row + column * a.column] += alpha * x[row * x_step] * y[column * y_step];
}

// Vectors: elements a step apart, by threads that are as many as the grid has.
#define EACH(i, n) for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)

enum Kind { DOT, SQUARES, MAGNITUDES };
// A part of a sum a block; `summed` adds the parts.
template <typename T, typename S> __device__ __forceinline__ void parts(int kind, long n, const T* x, long x_step, const T* y, long y_step, S* to, S (&part)[256]) {
  S sum = 0;
  EACH(i, n) {
    const S a = wide(x[i * x_step]);
    sum += kind == DOT ? a * S(wide(y[i * y_step])) : kind == SQUARES ? a * a : a < 0 ? -a : a;
  }
  sum = together(sum, part);
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}
template <typename T, typename S> __device__ __forceinline__ void summed(int kind, int n, const S* from, T* to, S (&part)[256]) {
  S sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += from[i];
  sum = together(sum, part);
  if (threadIdx.x == 0) narrow(*to, kind == SQUARES ? root(sum) : sum);
}

#define VECTORS(name, T, S)                                                                                                                                    \
  extern "C" __global__ void axpy_##name(long n, S alpha, const T* x, long x_step, T* y, long y_step) {                                                         \
    EACH(i, n) narrow(y[i * y_step], alpha * wide(x[i * x_step]) + wide(y[i * y_step]));                                                                       \
  }                                                                                                                                                            \
  extern "C" __global__ void scal_##name(long n, S alpha, T* x, long x_step) { EACH(i, n) narrow(x[i * x_step], alpha * wide(x[i * x_step])); }                 \
  extern "C" __global__ void copy_##name(long n, const T* x, long x_step, T* y, long y_step) { EACH(i, n) y[i * y_step] = x[i * x_step]; }                      \
  extern "C" __global__ void swap_##name(long n, T* x, long x_step, T* y, long y_step) {                                                                        \
    EACH(i, n) {                                                                                                                                               \
      const T kept = x[i * x_step];                                                                                                                            \
      x[i * x_step] = y[i * y_step];                                                                                                                           \
      y[i * y_step] = kept;                                                                                                                                    \
    }                                                                                                                                                          \
  }                                                                                                                                                            \
  extern "C" __global__ void parts_##name(int kind, long n, const T* x, long x_step, const T* y, long y_step, S* to) {                                          \
    __shared__ S part[256];                                                                                                                                    \
    parts<T, S>(kind, n, x, x_step, y, y_step, to, part);                                                                                                      \
  }                                                                                                                                                            \
  extern "C" __global__ void summed_##name(int kind, int n, const S* from, T* to) {                                                                             \
    __shared__ S part[256];                                                                                                                                    \
    summed<T, S>(kind, n, from, to, part);                                                                                                                     \
  }
VECTORS(f32, float, float)
VECTORS(f64, double, double)
VECTORS(f16, half, float)
VECTORS(bf16, bfloat, float)

#define MATRICES(name, T)                                                                                                                                      \
  extern "C" __global__ void geam_##name(int m, int n, T alpha, T beta, Matrix<const T> a, Matrix<const T> b, Matrix<T> c) { added<T>(m, n, alpha, beta, a, b, c); } \
  extern "C" __global__ void gemv_##name(int m, int n, T alpha, T beta, Matrix<const T> a, const T* x, long x_step, T* y, long y_step) {                        \
    __shared__ T part[256];                                                                                                                                    \
    times_vector<T>(m, n, alpha, beta, a, x, x_step, y, y_step, part);                                                                                         \
  }                                                                                                                                                            \
  extern "C" __global__ void ger_##name(int m, int n, T alpha, const T* x, long x_step, const T* y, long y_step, Matrix<T> a) { outer<T>(m, n, alpha, x, x_step, y, y_step, a); }
MATRICES(f32, float)
MATRICES(f64, double)
