// What one level of the memory system takes or gives.
#include "../kernels/common/device.cuh"

// Makes of `lines` lines of 128 bytes one ring in an order without a pattern: a linear congruential generator with a full period (Hull and Dobell, SIAM Review 4, 1962).
extern "C" __global__ void link(unsigned long* ring, unsigned lines) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < lines) ring[i * 16] = (unsigned long)(ring + ((i * 1664525u + 1013904223u) & (lines - 1)) * 16);
}

// A load that is made each time.
__device__ __forceinline__ double loaded(const double* at) {
  double value;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(at));
  return value;
}

__device__ __forceinline__ float loaded(const float* at) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(at));
  return value;
}

// One thread follows it, a line a step.
extern "C" __global__ void chase(unsigned long* ring, unsigned steps) {
  unsigned long at = (unsigned long)ring;
#pragma unroll 1
  for (unsigned i = 0; i < steps; i += 32) {
#pragma unroll
    for (int k = 0; k < 32; ++k) asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
  }
  ring[1] = at;
}

// The same in shared memory, where a pointer is a word.
extern "C" __global__ void chase_shared(unsigned* out, unsigned steps) {
  __shared__ unsigned ring[512];
  const unsigned start = (unsigned)(unsigned long)(__attribute__((address_space(3))) unsigned*)ring;
  for (unsigned i = 0; i < 512; ++i) ring[i] = start + ((i + 33) & 511) * 4;
  unsigned at = start;
#pragma unroll 1
  for (unsigned i = 0; i < steps; i += 32) {
#pragma unroll
    for (int k = 0; k < 32; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at) : : "memory");
  }
  out[0] = at;
}

// Blocks of 1024 read 512 KB each, `parts` such pieces in turn: what the second level gives.
extern "C" __global__ void read_pieces(const double* a, double* out, unsigned parts) {
  double sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned at = (1024 * parts * i + (blockIdx.x % parts) * 1024) * 2 + threadIdx.x;
    sum += a[at] * a[at + 1024];
  }
  if (sum == 23.12) *out = sum;
}

// The same long after the start: of the blocks that begin together, `first` of them, each reads a longer end of its piece than the one before, so that from then on
// blocks begin one after the other. Those that read one piece would stay side by side otherwise, and all but one find what that one has brought.
extern "C" __global__ void read_pieces_apart(const double* a, double* out, unsigned parts, unsigned first) {
  double sum = 0;
#pragma unroll 8
  for (unsigned i = blockIdx.x < first ? 32 - 32 * (blockIdx.x + 1) / first : 0; i < 32; ++i) {
    const unsigned at = (1024 * parts * i + (blockIdx.x % parts) * 1024) * 2 + threadIdx.x;
    sum += a[at] * a[at + 1024];
  }
  if (sum == 23.12) *out = sum;
}

// A block an SM reads 64 KB of its own again and again: what the first level gives.
extern "C" __global__ void read_own(const double* a, double* out, unsigned turns) {
  double sum = 0;
  const double* mine = a + blockIdx.x * 8192 + threadIdx.x;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) sum += loaded(mine + k * 1024);
  }
  if (sum == 23.12) *out = sum;
}

// Warps read words a stride apart from an array in the first level.
extern "C" __global__ void read_strided(const float* a, float* out, unsigned stride, unsigned turns) {
  float sum = 0;
  const float* mine = a + (threadIdx.x % 32) * stride;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) sum += loaded(mine + turn % 2 * 1024 + k);
  }
  if (sum == 123.456f) *out = sum;
}

// Warps write words, or add to them, `stride` apart, in `span` words that stay in the second level.
__device__ __forceinline__ unsigned place(unsigned turn, unsigned stride, unsigned span) {
  return ((turn * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) * stride & (span - 1);
}

extern "C" __global__ void write_words(unsigned* out, unsigned span, unsigned stride, unsigned turns) {
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) out[place(turn, stride, span)] = turn;
}

extern "C" __global__ void add_words(unsigned* out, unsigned span, unsigned stride, unsigned turns) {
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) asm volatile("red.global.add.u32 [%0], %1;" : : "l"(out + place(turn, stride, span)), "r"(turn) : "memory");
}

// Short runs of words of constant and of shared memory in turn, by blocks of 8 x 8.
__constant__ float table[64];

extern "C" __global__ void constant_and_shared(float* out, unsigned turns) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.y * 8 + threadIdx.x;
  tile[t] = (float)t;
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) sum = fmaf(table[threadIdx.y * 8 + k], tile[threadIdx.x * 8 + k], sum);
  }
  out[blockIdx.x * 64 + t] = sum;
}
