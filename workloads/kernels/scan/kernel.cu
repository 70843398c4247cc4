// Exclusive prefix sums of rows of 1024 integers, one block a row, four neighbours a thread: the threads' sums are
// scanned in shared memory by doubling distances (Hillis and Steele, CACM 29(12), 1986).
#include "../common/device.cuh"

constexpr int THREADS = 256;

extern "C" __global__ void scan(const int4* in, int4* out) {
  __shared__ int sums[2][THREADS];
  const int t = threadIdx.x, position = blockIdx.x * THREADS + t;
  const int4 four = in[position];
  const int two = four.x + four.y, three = two + four.z;
  int sum = three + four.w;
  int side = 0;
  sums[0][t] = sum;
  __syncthreads();
#pragma unroll 1
  for (int distance = 1; distance < THREADS; distance *= 2) {
    if (t >= distance) sum += sums[side][t - distance];
    side ^= 1;
    sums[side][t] = sum;
    __syncthreads();
  }
  const int before = t == 0 ? 0 : sums[side][t - 1];
  int4 result;
  result.x = before;
  result.y = before + four.x;
  result.z = before + two;
  result.w = before + three;
  out[position] = result;
}
