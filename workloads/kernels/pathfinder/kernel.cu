// Cheapest downward path through a grid of costs: 16 rows per launch, each block recomputes a halo of 16
// columns on both sides so that it never needs its neighbours.
#include "../common/device.cuh"

extern "C" __global__ void pathfinder(const int* cost, const int* start, int* result, int columns) {
  __shared__ int line[2][256];
  const int t = threadIdx.x;
  const int column = blockIdx.x * 224 + t - 16;  // 256 threads produce 224 columns
  const int inside = column >= 0 && column < columns;
  const int clamped = min(max(column, 0), columns - 1);
  line[0][t] = inside ? start[column] : 0x3fffffff;
  __syncthreads();
  int side = 0;
  for (int row = 0; row < 16; ++row) {
    const int left = line[side][max(t - 1, 0)], here = line[side][t], right = line[side][min(t + 1, 255)];
    const int best = min(here, min(left, right));
    side ^= 1;
    line[side][t] = inside ? best + cost[row * columns + clamped] : 0x3fffffff;
    __syncthreads();
  }
  if (inside && t >= 16 && t < 240) result[column] = line[side][t];
}
