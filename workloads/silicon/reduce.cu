// Sums of an array, a block of 256 threads a part, in the steps in which such kernels are usually made faster (M. Harris, "Optimizing Parallel Reduction in CUDA",
// 2007), and products of a matrix of few columns with a vector.
#include "../kernels/common/device.cuh"

constexpr unsigned BLOCK = 256;

// One element a thread.
__device__ __forceinline__ float* loaded(const float* in, float* part) {
  part[threadIdx.x] = in[blockIdx.x * BLOCK + threadIdx.x];
  __syncthreads();
  return part;
}

// As it stands: compilers that see that the divisor is a power of two would make a mask of it, which that of the measurement did not.
__device__ __forceinline__ unsigned remainder(unsigned a, unsigned b) {
  unsigned rest;
  asm("rem.u32 %0, %1, %2;" : "=r"(rest) : "r"(a), "r"(b));
  return rest;
}

// Threads whose number is a multiple: warps are divided, and the remainder has to be computed.
extern "C" __global__ void reduce0(const float* in, float* out) {
  __shared__ float part[BLOCK];
  const unsigned t = threadIdx.x;
  loaded(in, part);
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    if (remainder(t, 2 * step) == 0) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// The first threads, on elements far apart: banks conflict.
extern "C" __global__ void reduce1(const float* in, float* out) {
  __shared__ float part[BLOCK];
  const unsigned t = threadIdx.x;
  loaded(in, part);
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const unsigned at = 2 * step * t;
    if (at < blockDim.x) part[at] += part[at + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// The first threads, on neighbours.
extern "C" __global__ void reduce2(const float* in, float* out) {
  __shared__ float part[BLOCK];
  const unsigned t = threadIdx.x;
  loaded(in, part);
  for (unsigned step = (unsigned)blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// The last warp needs no barriers: it is in step.
__device__ __forceinline__ void last_warp(volatile float* part, unsigned t) {
#pragma unroll
  for (unsigned step = 32; step > 0; step /= 2) part[t] += part[t + step];
}

// Steps of a number that is known.
__device__ __forceinline__ void unrolled(float* part, unsigned t, float* out) {
  __syncthreads();
  if (t < 128) part[t] += part[t + 128];
  __syncthreads();
  if (t < 64) part[t] += part[t + 64];
  __syncthreads();
  if (t < 32) last_warp(part, t);
  if (t == 0) out[blockIdx.x] = part[0];
}

// Two elements a thread, all steps unrolled.
extern "C" __global__ void reduce5(const float* in, float* out) {
  __shared__ float part[BLOCK];
  const unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  part[t] = in[i] + in[i + blockDim.x];
  unrolled(part, t, out);
}

// As many elements a thread as 1024 blocks have to take.
extern "C" __global__ void reduce6(const float* in, float* out, unsigned each) {
  __shared__ float part[BLOCK];
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * (BLOCK * each) + t;
  float sum = 0;
  for (unsigned k = 0; k < each; ++k) sum += in[i + k * BLOCK];
  part[t] = sum;
  unrolled(part, t, out);
}

__device__ __forceinline__ float sum_of_lanes(float sum, int lanes) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (step < lanes)
      sum += __builtin_bit_cast(float, __shfl_down_sync(0xffffffffu, __builtin_bit_cast(int, sum), step));
  }
  return sum;
}

// Between lanes by shuffles.
extern "C" __global__ void reduce7(const float* in, float* out, unsigned count) {
  __shared__ float of_warp[32];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  float sum = 0;
  for (unsigned i = blockIdx.x * (BLOCK * 2) + t; i < count; i += BLOCK * 2 * gridDim.x) sum += in[i] + in[i + BLOCK];
  sum = sum_of_lanes(sum, 32);
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  sum = t < (unsigned)blockDim.x / 32 ? of_warp[lane] : 0;
  if (warp == 0) sum = sum_of_lanes(sum, BLOCK / 32);
  if (t == 0) out[blockIdx.x] = sum;
}

// A row of 32 columns a warp.
extern "C" __global__ void gemv32(const float* matrix, const float* vector, float* out, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = blockDim.y * blockIdx.x + threadIdx.y;
  if (row >= rows) return;
  float sum = 0;
  int turns = columns / 32;
  if (turns == 0) turns = 1;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const int column = turn * 32 + lane;
    sum += matrix[row * columns + column] * vector[column];
  }
  sum = sum_of_lanes(sum, 32);
  if (lane == 0) out[row] = sum;
}

// Two rows of 16 columns a warp.
extern "C" __global__ void gemv16(const float* matrix, const float* vector, float* out, int rows, int columns) {
  const int lane = threadIdx.x % 16, row = (blockDim.y * blockIdx.x + threadIdx.y) * 2 + threadIdx.x / 16;
  if (row >= rows) return;
  float sum = matrix[row * columns + lane] * vector[lane];
  sum = sum_of_lanes(sum, 16);
  if (lane == 0) out[row] = sum;
}
