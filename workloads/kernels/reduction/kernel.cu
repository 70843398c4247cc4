// Sum of integers per block: grid-stride accumulation, shared-memory tree, last warp by shuffles.
#include "../common/device.cuh"

extern "C" __global__ void reduction(const int* in, int* partial, int n) {
  __shared__ int scratch[256];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += in[i];
  scratch[t] = sum;
  __syncthreads();
  for (int half = 128; half >= 32; half >>= 1) {
    if (t < half) scratch[t] += scratch[t + half];
    __syncthreads();
  }
  if (t < 32) {
    sum = scratch[t];
    for (int delta = 16; delta > 0; delta >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, delta);
    if (t == 0) partial[blockIdx.x] = sum;
  }
}
