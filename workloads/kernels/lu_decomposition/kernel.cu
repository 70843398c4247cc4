// LU decomposition without pivoting, in place, by tiles of 16 x 16: for every tile of the diagonal `lu_diagonal` factors it,
// `lu_border` the tiles right of it and below it (half of its threads each), `lu_inner` updates the rest.
#include "../common/device.cuh"

constexpr int TILE = 16;

// Element (row, column) of the tile at (tile_row, tile_column).
__device__ __forceinline__ float* element(float* matrix, int size, int tile_row, int tile_column, int row, int column) {
  return matrix + (tile_row * TILE + row) * size + tile_column * TILE + column;
}

extern "C" __global__ void lu_diagonal(float* matrix, int size, int step) {
  __shared__ float tile[TILE][TILE];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) tile[row][t] = *element(matrix, size, step, step, row, t);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < TILE - 1; ++k) {
    if (t > k) tile[t][k] /= tile[k][k];
    __syncthreads();
    if (t > k)
#pragma unroll 1
      for (int column = k + 1; column < TILE; ++column) tile[t][column] = fmaf(-tile[t][k], tile[k][column], tile[t][column]);
    __syncthreads();
  }
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) *element(matrix, size, step, step, row, t) = tile[row][t];
}

extern "C" __global__ void lu_border(float* matrix, int size, int step) {
  __shared__ float diagonal[TILE][TILE];
  __shared__ float right[TILE][TILE];
  __shared__ float below[TILE][TILE];
  const int t = threadIdx.x % TILE, other = step + 1 + blockIdx.x;
  const bool rightwards = threadIdx.x < TILE;
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) {
    if (rightwards) {
      diagonal[row][t] = *element(matrix, size, step, step, row, t);
      right[row][t] = *element(matrix, size, step, other, row, t);
    } else {
      below[row][t] = *element(matrix, size, other, step, row, t);
    }
  }
  __syncthreads();
  if (rightwards) {  // column t of the upper factor
#pragma unroll 1
    for (int row = 1; row < TILE; ++row)
#pragma unroll 1
      for (int k = 0; k < row; ++k) right[row][t] = fmaf(-diagonal[row][k], right[k][t], right[row][t]);
  } else {  // row t of the lower factor
#pragma unroll 1
    for (int column = 0; column < TILE; ++column) {
#pragma unroll 1
      for (int k = 0; k < column; ++k) below[t][column] = fmaf(-below[t][k], diagonal[k][column], below[t][column]);
      below[t][column] /= diagonal[column][column];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) {
    if (rightwards)
      *element(matrix, size, step, other, row, t) = right[row][t];
    else
      *element(matrix, size, other, step, row, t) = below[row][t];
  }
}

extern "C" __global__ void lu_inner(float* matrix, int size, int step) {
  __shared__ float lower[TILE][TILE];
  __shared__ float upper[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = step + 1 + blockIdx.y, tile_column = step + 1 + blockIdx.x;
  lower[ty][tx] = *element(matrix, size, tile_row, step, ty, tx);
  upper[ty][tx] = *element(matrix, size, step, tile_column, ty, tx);
  __syncthreads();
  float* place = element(matrix, size, tile_row, tile_column, ty, tx);
  float value = *place;
#pragma unroll
  for (int k = 0; k < TILE; ++k) value = fmaf(-lower[ty][k], upper[k][tx], value);
  *place = value;
}
