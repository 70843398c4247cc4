// Longest matches of reads in a reference text by its suffix array: a thread takes one read and, from each of its positions,
// searches by bisection; letters known to agree with both ends are not compared again (Manber and Myers, SIAM J. Comput. 22, 1993).
#include "../common/device.cuh"

extern "C" __global__ void mummer_array(const int* array, const unsigned char* text, const unsigned char* reads, int* length,
                                        int* position, int size, int count, int letters, int least) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int starts = letters - least + 1;
#pragma unroll 1
  for (int start = 0; start < starts; ++start) {
    const unsigned char* read = reads + i * letters + start;
    const int rest = letters - start;
    int low = 0, high = size, with_low = 0, with_high = 0;
#pragma unroll 1
    while (low < high) {
      const int middle = (low + high) >> 1, suffix = array[middle];
      const int most = min(rest, size - suffix);
      int k = min(with_low, with_high);
      while (k < most && read[k] == text[suffix + k]) ++k;
      const bool below = k < rest && (k == most || text[suffix + k] < read[k]);
      if (below) {
        low = middle + 1;
        with_low = k;
      } else {
        high = middle;
        with_high = k;
      }
    }
    const bool before = with_low > with_high || low == size;
    length[i * starts + start] = before ? with_low : with_high;
    position[i * starts + start] = array[before ? low - 1 : low];
  }
}
