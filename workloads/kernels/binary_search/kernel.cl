// The search of kernel.cu: in every launch each work-item looks at one of equal parts of what is left, and the one whose part holds the key says so.
#include "../common/opencl.h"

typedef struct __attribute__((aligned(8))) {
  int first, length;
} Range;

KERNEL(256) void binary_search(__global const int* restrict sorted, __global const Range* restrict before, __global Range* restrict after, int key, int size) {
  const int t = GROUP_X * ITEMS_X + ITEM_X, threads = GROUPS_X * ITEMS_X;
  const Range range = *before;
  const int part = (range.length + threads - 1) / threads;
  const int first = range.first + t * part, limit = range.first + range.length;
  const int end = first + part < limit ? first + part : limit;
  if (first >= end) return;
  const bool not_before = sorted[first] <= key;
  const bool not_behind = end >= size || key < sorted[end];
  if (not_before && not_behind) {
    after->first = first;
    after->length = end - first;
  }
}
