// Sparse matrix times vector, compressed rows, one row per thread: irregular row lengths and gathers.
#include "../common/device.cuh"

extern "C" __global__ void spmv_csr(const int* row_start, const int* column, const float* value, const float* x, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int k = row_start[r]; k < row_start[r + 1]; ++k) sum = fmaf(value[k], x[column[k]], sum);
  y[r] = sum;
}
