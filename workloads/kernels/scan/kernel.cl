// The scan of kernel.cu: exclusive prefix sums of rows of 1024 integers, one work-group a row, four neighbours a work-item; their sums are scanned in
// local memory by doubling distances (Hillis and Steele, CACM 29(12), 1986).
#include "../common/opencl.h"

#define THREADS 256

KERNEL(256) void scan(__global const int4* restrict in, __global int4* restrict out) {
  __local int sums[2][THREADS];
  const int t = ITEM_X, position = GROUP_X * THREADS + t;
  const int4 four = in[position];
  const int two = four.x + four.y, three = two + four.z;
  int sum = three + four.w;
  int side = 0;
  sums[0][t] = sum;
  MEET();
#pragma unroll 1
  for (int distance = 1; distance < THREADS; distance *= 2) {
    if (t >= distance) sum += sums[side][t - distance];
    side ^= 1;
    sums[side][t] = sum;
    MEET();
  }
  const int before = t == 0 ? 0 : sums[side][t - 1];
  out[position] = (int4)(before, before + four.x, before + two, before + three);
}
