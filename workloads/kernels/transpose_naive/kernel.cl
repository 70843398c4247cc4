// The transpose of kernel.cu, straight through global memory: coalesced reads, strided writes.
#include "../common/opencl.h"

KERNEL(1024) void transpose_naive(__global const float* restrict in, __global float* restrict out, int width, int height) {
  const int x = GROUP_X * ITEMS_X + ITEM_X, y = GROUP_Y * ITEMS_Y + ITEM_Y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
