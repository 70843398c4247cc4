// The sort of kernel.cu (Batcher, AFIPS 1968): a launch compares and exchanges all pairs of one pass, a work-item a pair.
#include "../common/opencl.h"

KERNEL(512) void bitonic_sort(__global uint* restrict keys, int stage, int pass) {
  const int t = GROUP_X * ITEMS_X + ITEM_X;
  const int distance = 1 << (stage - pass);
  const int low = t & (distance - 1);
  const int one = 2 * t - low, other = one + distance;
  const uint a = keys[one], b = keys[other];
  const bool ascending = (t >> stage & 1) == 0;
  const uint less = a < b ? a : b, more = a < b ? b : a;
  keys[one] = ascending ? less : more;
  keys[other] = ascending ? more : less;
}
