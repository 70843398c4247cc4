// The scan of kernel.cu (Blelloch, CMU-CS-90-190): `scan_blocks` scans what a work-group holds by a sweep up and a sweep down a tree in local memory and
// leaves its sum, `scan_sums` scans the sums with one work-group, `scan_add` adds them.
#include "../common/opencl.h"

#define THREADS 64
#define ITEMS (2 * THREADS)

// Scans ITEMS elements in local memory; returns their sum to every work-item.
static inline int sweep(__local int* items, int t) {
  int offset = 1;
#pragma unroll 1
  for (int some = THREADS; some > 0; some /= 2) {
    MEET();
    if (t < some) items[offset * (2 * t + 2) - 1] += items[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  MEET();
  const int sum = items[ITEMS - 1];
  MEET();
  if (t == 0) items[ITEMS - 1] = 0;
#pragma unroll 1
  for (int some = 1; some <= THREADS; some *= 2) {
    offset /= 2;
    MEET();
    if (t < some) {
      const int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
      const int below = items[low];
      items[low] = items[high];
      items[high] += below;
    }
  }
  MEET();
  return sum;
}

KERNEL(64) void scan_blocks(__global const int* restrict in, __global int* restrict out, __global int* restrict sums) {
  __local int items[ITEMS];
  const int t = ITEM_X, first = GROUP_X * ITEMS;
  items[t] = in[first + t];
  items[t + THREADS] = in[first + t + THREADS];
  const int sum = sweep(items, t);
  out[first + t] = items[t];
  out[first + t + THREADS] = items[t + THREADS];
  if (t == 0) sums[GROUP_X] = sum;
}

KERNEL(64) void scan_sums(__global int* restrict sums, int count) {
  __local int items[ITEMS];
  const int t = ITEM_X;
  items[t] = t < count ? sums[t] : 0;
  items[t + THREADS] = t + THREADS < count ? sums[t + THREADS] : 0;
  sweep(items, t);
  if (t < count) sums[t] = items[t];
  if (t + THREADS < count) sums[t + THREADS] = items[t + THREADS];
}

KERNEL(64) void scan_add(__global int* restrict out, __global const int* restrict sums) {
  const int first = GROUP_X * ITEMS + ITEM_X, sum = sums[GROUP_X];
  out[first] += sum;
  out[first + THREADS] += sum;
}
