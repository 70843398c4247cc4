// The sums of kernel.cu, one a work-group: every work-item adds four neighbours, then a tree in local memory adds their sums.
#include "../common/opencl.h"

#define MOST_THREADS 256

KERNEL(256) void reduction_tree(__global const int4* restrict in, __global int* restrict out) {
  __local int sums[MOST_THREADS];
  const int t = ITEM_X;
  const int4 four = in[GROUP_X * ITEMS_X + t];
  sums[t] = (four.x + four.y) + (four.z + four.w);
  MEET();
#pragma unroll 1
  for (int half_ = ITEMS_X / 2; half_ > 0; half_ /= 2) {
    if (t < half_) sums[t] += sums[t + half_];
    MEET();
  }
  if (t == 0) out[GROUP_X] = sums[0];
}
