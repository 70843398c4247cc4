// One compare-exchange step of a bitonic sort over global memory (span k, distance j), out of place.
#include "../common/device.cuh"

extern "C" __global__ void bitonic_step(const unsigned* in, unsigned* out, int span, int distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int partner = i ^ distance;
  if (partner > i) {
    const unsigned a = in[i], b = in[partner];
    const bool ascending = (i & span) == 0;
    if ((a > b) == ascending) {
      out[i] = b;
      out[partner] = a;
    } else {
      out[i] = a;
      out[partner] = b;
    }
  }
}
