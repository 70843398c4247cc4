// Sums of integers, one a block: every thread adds four neighbours, then a tree in shared memory adds the threads' sums.
#include "../common/device.cuh"

constexpr int MOST_THREADS = 256;

extern "C" __global__ void reduction_tree(const int4* in, int* out) {
  __shared__ int sums[MOST_THREADS];
  const int t = threadIdx.x;
  const int4 four = in[blockIdx.x * blockDim.x + t];
  sums[t] = (four.x + four.y) + (four.z + four.w);
  __syncthreads();
#pragma unroll 1
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
