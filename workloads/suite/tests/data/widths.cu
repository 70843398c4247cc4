// What depends on the width of addresses: pointers as parameters, in structures and in memory, into shared, local and constant memory.
#include "../../../kernels/common/device.cuh"

struct Rows {
  const int* rows[2];
  int* out;
  int count;
};

__constant__ int weights[4] = {1, -2, 3, 5};
__device__ int offset = 7;

extern "C" __global__ void widths(Rows rows, const int* const* table, int* shift) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int local[4];
  for (int k = 0; k < 4; ++k) local[k] = weights[k] * i;
  tile[threadIdx.x] = rows.rows[i & 1][i];
  __syncthreads();
  const int* chosen = i % 3 == 0 ? &tile[63 - threadIdx.x] : i % 3 == 1 ? &local[i & 3] : &table[i & 1][i];
  if (i < rows.count) rows.out[i] = *chosen + offset + (int)sizeof(int) * (i % 5);
  if (i == 0) *shift += rows.count;
}
