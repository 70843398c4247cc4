// Cheapest downward path through a wall of costs, several rows a launch: a block keeps a line of 256 columns in shared
// memory and writes back those in the middle, which no neighbouring block could have changed.
#include "../common/device.cuh"

constexpr int THREADS = 256;

extern "C" __global__ void dyn_proc(const int* wall, const int* before, int* after, int columns, int first_row, int rows) {
  __shared__ int here[THREADS];
  __shared__ int next[THREADS];
  const int t = threadIdx.x;
  const int column = blockIdx.x * (THREADS - 2 * rows) - rows + t;
  const bool inside = column >= 0 && column < columns;
  if (inside) here[t] = before[column];
  __syncthreads();
  const int left = column > 0 ? t - 1 : t, right = column < columns - 1 ? t + 1 : t;
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    const bool valid = inside && t > row && t < THREADS - 1 - row;
    if (valid) next[t] = min(here[t], min(here[left], here[right])) + wall[(first_row + row) * columns + column];
    __syncthreads();
    if (valid) here[t] = next[t];
    __syncthreads();
  }
  if (inside && t >= rows && t < THREADS - rows) after[column] = here[t];
}
