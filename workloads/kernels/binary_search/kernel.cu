// Search of a key in a sorted array by many threads: in every launch each thread looks at one of equal parts of what is left,
// and the one whose part holds the key says so.
#include "../common/device.cuh"

struct __attribute__((aligned(8))) Range {
  int first, length;
};

extern "C" __global__ void binary_search(const int* sorted, const Range* before, Range* after, int key, int size) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const Range range = *before;
  const int part = (range.length + threads - 1) / threads;
  const int first = range.first + t * part, end = min(first + part, range.first + range.length);
  if (first >= end) return;
  const bool not_before = sorted[first] <= key;
  const bool not_behind = end >= size || key < sorted[end];
  if (not_before && not_behind) *after = {first, end - first};
}
