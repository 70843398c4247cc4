// Bitonic sort (Batcher, AFIPS 1968) over global memory: a launch compares and exchanges all pairs of one pass, a thread a pair.
#include "../common/device.cuh"

extern "C" __global__ void bitonic_sort(unsigned* keys, int stage, int pass) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int distance = 1 << (stage - pass);
  const int low = t & (distance - 1);
  const int one = 2 * t - low, other = one + distance;
  const unsigned a = keys[one], b = keys[other];
  const bool ascending = (t >> stage & 1) == 0;
  const unsigned less = a < b ? a : b, more = a < b ? b : a;
  keys[one] = ascending ? less : more;
  keys[other] = ascending ? more : less;
}
