// Products of halves and bfloats on tensor cores, in matrices that lie column by column.
#include "common.cuh"

constexpr int DEEP = 32;

// Pieces of 16 by 16 that a warp works on, by how they lie: 0 row by row, 1 column by column.
template <typename T> struct Piece;
template <> struct Piece<half> {
  int words[8];
  template <int LAYOUT> __device__ __forceinline__ void left(const half* from, int leading) { __hmma_m16n16k16_ld_a(words, reinterpret_cast<const int*>(from), leading, LAYOUT); }
  template <int LAYOUT> __device__ __forceinline__ void right(const half* from, int leading) { __hmma_m16n16k16_ld_b(words, reinterpret_cast<const int*>(from), leading, LAYOUT); }
  template <int LAYOUTS> static __device__ __forceinline__ void times(float* sum, const Piece& a, const Piece& b) { __hmma_m16n16k16_mma_f32f32(sum, a.words, b.words, sum, LAYOUTS, 0); }
};
#if WITH_BFLOAT
template <> struct Piece<bfloat> {
  int words[4];
  template <int LAYOUT> __device__ __forceinline__ void left(const bfloat* from, int leading) { __mma_bf16_m16n16k16_ld_a(words, reinterpret_cast<const int*>(from), leading, LAYOUT); }
  template <int LAYOUT> __device__ __forceinline__ void right(const bfloat* from, int leading) { __mma_bf16_m16n16k16_ld_b(words, reinterpret_cast<const int*>(from), leading, LAYOUT); }
  template <int LAYOUTS> static __device__ __forceinline__ void times(float* sum, const Piece& a, const Piece& b) { __mma_bf16_m16n16k16_mma_f32(sum, a.words, b.words, sum, LAYOUTS, 0); }
};
#endif

// A part of a matrix on its way to shared memory: SIDE rows or columns of the result by DEEP of the products of each element. It lies there as it lay before: in lines
// along the result where `FLAT`, else along the products. A thread brings eight elements of a line at a time.
template <typename T, int SIDE, bool FLAT> struct Tile {
  static constexpr int LENGTH = FLAT ? SIDE : DEEP, LINES = FLAT ? DEEP : SIDE, LEADING = LENGTH + 8, LOADS = SIDE * DEEP / 8 / 256;
  int4 got[LOADS];

  // `lines` and `length` are what is left of the matrix from `first` on.
  __device__ __forceinline__ void load(const T* first, long apart, int lines, int length) {
    _Pragma("unroll") for (int at = 0; at < LOADS; at++) {
      const int e = threadIdx.x + at * 256, line = e / (LENGTH / 8), begin = e % (LENGTH / 8) * 8;
      const T* from = first + line * apart + begin;
      const int there = line < lines ? length - begin : 0;
      if (there >= 8 && (reinterpret_cast<unsigned long>(from) & 15) == 0) {
        got[at] = *reinterpret_cast<const int4*>(from);
      } else {
        auto one = [&](int i) -> int { return i < there ? from[i].bits : 0; };
        got[at] = {one(0) | one(1) << 16, one(2) | one(3) << 16, one(4) | one(5) << 16, one(6) | one(7) << 16};
      }
    }
  }

  __device__ __forceinline__ void keep(T* to) {
    _Pragma("unroll") for (int at = 0; at < LOADS; at++) {
      const int e = threadIdx.x + at * 256;
      *reinterpret_cast<int4*>(&to[e / (LENGTH / 8) * LEADING + e % (LENGTH / 8) * 8]) = got[at];
    }
  }
};

// Elements of shared memory that a part takes, however it lies.
constexpr int room(int side) { return DEEP * (side + 8) > side * (DEEP + 8) ? DEEP * (side + 8) : side * (DEEP + 8); }

// C = alpha A B + beta C. Eight warps make SIDE by SIDE elements, four in the direction of rows and two in that of columns.
template <typename T, int SIDE, bool FLAT_A, bool FLAT_B>
__device__ __forceinline__ void product(int m, int n, int k, float alpha, float beta, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, T* left, T* right,
                                        float (&result)[8][256]) {
  constexpr int ROWS = SIDE / 64, COLUMNS = SIDE / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rows = blockIdx.x * SIDE, columns = blockIdx.y * SIDE, batch = blockIdx.z;
  const int row = warp % 4 * ROWS * 16, column = warp / 4 * COLUMNS * 16;
  using Left = Tile<T, SIDE, FLAT_A>;
  using Right = Tile<T, SIDE, FLAT_B>;
  Left next_a;
  Right next_b;
  const T* from_a = a.of(batch) + rows * a.row;
  const T* from_b = b.of(batch) + columns * b.column;
  auto load = [&](int from) {
    next_a.load(from_a + from * a.column, FLAT_A ? a.column : a.row, FLAT_A ? k - from : m - rows, FLAT_A ? m - rows : k - from);
    next_b.load(from_b + from * b.row, FLAT_B ? b.row : b.column, FLAT_B ? k - from : n - columns, FLAT_B ? n - columns : k - from);
  };
  float sum[ROWS][COLUMNS][8] = {};
  load(0);
  for (int from = 0; from < k; from += DEEP) {
    next_a.keep(left);
    next_b.keep(right);
    __syncthreads();
    if (from + DEEP < k) load(from + DEEP);
    _Pragma("unroll") for (int p = 0; p < DEEP; p += 16) {
      Piece<T> ours[ROWS], theirs[COLUMNS];
      _Pragma("unroll") for (int i = 0; i < ROWS; i++) {
        const int r = row + 16 * i;
        ours[i].template left<FLAT_A>(left + (FLAT_A ? p * Left::LEADING + r : r * Left::LEADING + p), Left::LEADING);
      }
      _Pragma("unroll") for (int j = 0; j < COLUMNS; j++) {
        const int s = column + 16 * j;
        theirs[j].template right<!FLAT_B>(right + (FLAT_B ? p * Right::LEADING + s : s * Right::LEADING + p), Right::LEADING);
      }
      _Pragma("unroll") for (int i = 0; i < ROWS; i++)
        _Pragma("unroll") for (int j = 0; j < COLUMNS; j++) Piece<T>::template times<FLAT_A * 2 + !FLAT_B>(sum[i][j], ours[i], theirs[j]);
    }
    __syncthreads();
  }
  T* const cs = c.of(batch);
  _Pragma("unroll") for (int i = 0; i < ROWS; i++)
    _Pragma("unroll") for (int j = 0; j < COLUMNS; j++) {
      // Column by column, so that neighbouring lanes have neighbouring rows.
      __hmma_m16n16k16_st_c_f32(result[warp], sum[i][j], 16, 1);
      __nvvm_bar_warp_sync(0xffffffff);
      _Pragma("unroll 1") for (int at = lane; at < 256; at += 32) {
        const int y = rows + row + 16 * i + at % 16, x = columns + column + 16 * j + at / 16;
        if (y >= m || x >= n) continue;
        T& to = cs[y * c.row + x * c.column];
        narrow(to, beta == 0 ? alpha * result[warp][at] : alpha * result[warp][at] + beta * wide(to));
      }
      __nvvm_bar_warp_sync(0xffffffff);
    }
}

#define PRODUCT(name, T, SIDE)                                                                                                                                 \
  extern "C" __global__ void name(int m, int n, int k, float alpha, float beta, Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {                            \
    __shared__ __attribute__((aligned(32))) T left[room(SIDE)], right[room(SIDE)];                                                                              \
    __shared__ __attribute__((aligned(32))) float result[8][256];                                                                                              \
    if (a.row == 1 && b.column == 1) product<T, SIDE, true, true>(m, n, k, alpha, beta, a, b, c, left, right, result);                                          \
    else if (a.row == 1) product<T, SIDE, true, false>(m, n, k, alpha, beta, a, b, c, left, right, result);                                                     \
    else if (b.column == 1) product<T, SIDE, false, true>(m, n, k, alpha, beta, a, b, c, left, right, result);                                                  \
    else product<T, SIDE, false, false>(m, n, k, alpha, beta, a, b, c, left, right, result);                                                                    \
  }
PRODUCT(gemm_f16_tensor_128, half, 128)
PRODUCT(gemm_f16_tensor_64, half, 64)
#if WITH_BFLOAT
PRODUCT(gemm_bf16_tensor_128, bfloat, 128)
PRODUCT(gemm_bf16_tensor_64, bfloat, 64)
#endif
