// Convolution of an image with a separable kernel of 17 x 17: `convolve_rows`, then `convolve_columns`, tiles with halos in
// shared memory. Outside the image is zero.
#include "../common/device.cuh"

constexpr int RADIUS = 8, TAPS = 2 * RADIUS + 1, LINE = 128, TILE = 16;

extern "C" __global__ void convolve_rows(const float* in, float* out, const float* taps, int width) {
  __shared__ float line[LINE + 2 * RADIUS];
  const int t = threadIdx.x, first = blockIdx.x * LINE - RADIUS, row = blockIdx.y * width;
#pragma unroll 1
  for (int i = t; i < LINE + 2 * RADIUS; i += LINE) {
    const int x = first + i;
    line[i] = x >= 0 && x < width ? in[row + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < TAPS; ++k) sum = fmaf(taps[k], line[t + k], sum);
  out[row + blockIdx.x * LINE + t] = sum;
}

extern "C" __global__ void convolve_columns(const float* in, float* out, const float* taps, int width, int height) {
  __shared__ float tile[TILE + 2 * RADIUS][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * TILE + tx, first = blockIdx.y * TILE - RADIUS;
#pragma unroll 1
  for (int i = ty; i < TILE + 2 * RADIUS; i += TILE) {
    const int y = first + i;
    tile[i][tx] = y >= 0 && y < height ? in[y * width + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < TAPS; ++k) sum = fmaf(taps[k], tile[ty + k][tx], sum);
  out[(blockIdx.y * TILE + ty) * width + x] = sum;
}
