// C = A * B for matrices of any shape in tiles of 16 x 16 held in shared memory; a thread computes one element.
#include "../common/device.cuh"

constexpr int TILE = 16;

extern "C" __global__ void matrix_mul(const float* a, const float* b, float* c, int depth, int columns) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
  float sum = 0.0f;
#pragma unroll 1
  for (int start = 0; start < depth; start += TILE) {
    a_tile[ty][tx] = a[row * depth + start + tx];
    b_tile[ty][tx] = b[(start + ty) * columns + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum = fmaf(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();
  }
  c[row * columns + column] = sum;
}
