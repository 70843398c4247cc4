// Exclusive prefix sums of a long array (Blelloch, CMU-CS-90-190): `scan_blocks` scans what a block holds by a sweep up and a
// sweep down a tree in shared memory and leaves its sum, `scan_sums` scans the sums with one block, `scan_add` adds them.
#include "../common/device.cuh"

constexpr int THREADS = 64, ITEMS = 2 * THREADS;

// Scans ITEMS elements in shared memory; returns their sum to every thread.
__device__ __forceinline__ int sweep(int* items, int t) {
  int offset = 1;
#pragma unroll 1
  for (int half = THREADS; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) items[offset * (2 * t + 2) - 1] += items[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  const int sum = items[ITEMS - 1];
  __syncthreads();
  if (t == 0) items[ITEMS - 1] = 0;
#pragma unroll 1
  for (int half = 1; half <= THREADS; half *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < half) {
      const int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
      const int below = items[low];
      items[low] = items[high];
      items[high] += below;
    }
  }
  __syncthreads();
  return sum;
}

extern "C" __global__ void scan_blocks(const int* in, int* out, int* sums) {
  __shared__ int items[ITEMS];
  const int t = threadIdx.x, first = blockIdx.x * ITEMS;
  items[t] = in[first + t];
  items[t + THREADS] = in[first + t + THREADS];
  const int sum = sweep(items, t);
  out[first + t] = items[t];
  out[first + t + THREADS] = items[t + THREADS];
  if (t == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void scan_sums(int* sums, int count) {
  __shared__ int items[ITEMS];
  const int t = threadIdx.x;
  items[t] = t < count ? sums[t] : 0;
  items[t + THREADS] = t + THREADS < count ? sums[t + THREADS] : 0;
  sweep(items, t);
  if (t < count) sums[t] = items[t];
  if (t + THREADS < count) sums[t + THREADS] = items[t + THREADS];
}

extern "C" __global__ void scan_add(int* out, const int* sums) {
  const int first = blockIdx.x * ITEMS + threadIdx.x, sum = sums[blockIdx.x];
  out[first] += sum;
  out[first + THREADS] += sum;
}
