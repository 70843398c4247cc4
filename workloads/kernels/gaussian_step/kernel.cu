// One elimination step of Gaussian elimination on a dense matrix, out of place: rows below the pivot lose
// their multiple of the pivot row, everything else is copied.
#include "../common/device.cuh"

extern "C" __global__ void gaussian_step(const float* a, float* next, int n, int pivot) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float value = a[y * n + x];
  if (y > pivot && x >= pivot) {
    const float factor = a[y * n + pivot] / a[pivot * n + pivot];
    value = fmaf(-factor, a[pivot * n + x], value);
  }
  next[y * n + x] = value;
}
