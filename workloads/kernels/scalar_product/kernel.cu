// Scalar products of pairs of vectors: a block sums every 1024th product into each of 1024 accumulators in shared memory and
// adds them up by a tree.
#include "../common/device.cuh"

constexpr int ACCUMULATORS = 1024;

extern "C" __global__ void scalar_product(const float* a, const float* b, float* out, int vectors, int length) {
  __shared__ float sums[ACCUMULATORS];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
    const int base = vector * length;
#pragma unroll 1
    for (int i = t; i < ACCUMULATORS; i += blockDim.x) {
      float sum = 0.0f;
#pragma unroll 1
      for (int k = i; k < length; k += ACCUMULATORS) sum = fmaf(a[base + k], b[base + k], sum);
      sums[i] = sum;
    }
#pragma unroll 1
    for (int stride = ACCUMULATORS / 2; stride > 0; stride /= 2) {
      __syncthreads();
#pragma unroll 1
      for (int i = t; i < stride; i += blockDim.x) sums[i] += sums[stride + i];
    }
    __syncthreads();
    if (t == 0) out[vector] = sums[0];
    __syncthreads();
  }
}
