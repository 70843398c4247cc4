// Arrays and matrices that are read, written, copied and turned.
#include "../kernels/common/device.cuh"

struct __attribute__((aligned(8))) float2 { float x, y; };

#define PLACE const long i = (long)blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void init(double* a, double value) { PLACE; a[i] = value; }

// What is read must be used; the comparison never holds.
extern "C" __global__ void read(const double* a, double* sum) {
  PLACE;
  const double value = a[i];
  if (value == 123.456) *sum = value;
}

extern "C" __global__ void scale(double* a, const double* b) { PLACE; a[i] = b[i] * 1.2; }

extern "C" __global__ void triad(double* a, const double* b, const double* c, const double* d) { PLACE; a[i] = b[i] + c[i] * d[i]; }

extern "C" __global__ void add2(const float2* a, const float2* b, float2* c) {
  PLACE;
  const float2 x = a[i], y = b[i];
  c[i] = {x.x + y.x, x.y + y.y};
}

extern "C" __global__ void add4(const float4* a, const float4* b, float4* c) {
  PLACE;
  const float4 x = a[i], y = b[i];
  c[i] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
}

// Of a matrix of `columns` x `rows`, a block of 32 x 32 threads takes 32 x PARTS columns of 32 rows.
template <unsigned PARTS>
__device__ __forceinline__ void copy_parts(const float* in, float* out, unsigned columns, unsigned rows) {
  const unsigned x = PARTS * blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (PARTS - 1) * blockDim.x >= columns || y >= rows) return;
  const unsigned at = y * columns + x;
#pragma unroll
  for (unsigned part = 0; part < PARTS; ++part) out[at + part * blockDim.x] = in[at + part * blockDim.x];
}

extern "C" __global__ void copy1(const float* in, float* out, unsigned columns, unsigned rows) { copy_parts<1>(in, out, columns, rows); }
extern "C" __global__ void copy2(const float* in, float* out, unsigned columns, unsigned rows) { copy_parts<2>(in, out, columns, rows); }
extern "C" __global__ void copy4(const float* in, float* out, unsigned columns, unsigned rows) { copy_parts<4>(in, out, columns, rows); }

// Rows are read, columns written.
template <unsigned PARTS>
__device__ __forceinline__ void turn_parts(const float* in, float* out, unsigned columns, unsigned rows) {
  const unsigned x = PARTS * blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (PARTS - 1) * blockDim.x >= columns || y >= rows) return;
#pragma unroll
  for (unsigned part = 0; part < PARTS; ++part) out[x * rows + y + part * rows * blockDim.x] = in[y * columns + x + part * blockDim.x];
}

extern "C" __global__ void turn1(const float* in, float* out, unsigned columns, unsigned rows) { turn_parts<1>(in, out, columns, rows); }
extern "C" __global__ void turn2(const float* in, float* out, unsigned columns, unsigned rows) { turn_parts<2>(in, out, columns, rows); }
extern "C" __global__ void turn4(const float* in, float* out, unsigned columns, unsigned rows) { turn_parts<4>(in, out, columns, rows); }

// Through shared memory; quotient and remainder by an extent of the block, which the compiler does not know.
template <unsigned PARTS, unsigned PAD>
__device__ __forceinline__ void turn_tiles(const float* in, float* out, unsigned columns, unsigned rows) {
  __shared__ float tile[32 * (32 * PARTS + PAD)];
  constexpr unsigned WIDTH = 32 * PARTS + PAD;
  const unsigned x = blockIdx.x * (PARTS * blockDim.x) + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (PARTS - 1) * blockDim.x >= columns || y >= rows) return;
#pragma unroll
  for (unsigned part = 0; part < PARTS; ++part) tile[threadIdx.y * WIDTH + threadIdx.x + part * 32] = in[y * columns + x + part * 32];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned column = thread % (unsigned)blockDim.y, row = thread / (unsigned)blockDim.y;
  const unsigned to = (blockIdx.x * (PARTS * blockDim.x) + row) * rows + blockIdx.y * blockDim.y + column;
  __syncthreads();
#pragma unroll
  for (unsigned part = 0; part < PARTS; ++part) out[to + part * rows * 32] = tile[column * WIDTH + row + part * 32];
}

extern "C" __global__ void tiles(const float* in, float* out, unsigned columns, unsigned rows) { turn_tiles<1, 0>(in, out, columns, rows); }
extern "C" __global__ void tiles_pad(const float* in, float* out, unsigned columns, unsigned rows) { turn_tiles<1, 1>(in, out, columns, rows); }
extern "C" __global__ void tiles_pad4(const float* in, float* out, unsigned columns, unsigned rows) { turn_tiles<4, 1>(in, out, columns, rows); }
