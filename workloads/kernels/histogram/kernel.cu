// 256-bin histogram of bytes with shared-memory atomics; one private histogram per block is written out.
// The input is skewed: half of the bytes fall into 16 bins, so that atomics collide.
#include "../common/device.cuh"

extern "C" __global__ void histogram(const unsigned* words, unsigned* counts, int n_words) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + t; i < n_words; i += gridDim.x * 256) {
    const unsigned w = words[i];
    atomicAdd(&bins[w & 255u], 1u);
    atomicAdd(&bins[(w >> 8) & 255u], 1u);
    atomicAdd(&bins[(w >> 16) & 255u], 1u);
    atomicAdd(&bins[w >> 24], 1u);
  }
  __syncthreads();
  counts[blockIdx.x * 256 + t] = bins[t];
}
