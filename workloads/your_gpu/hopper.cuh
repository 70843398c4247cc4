// Tensor cores as Hopper's own instructions feed them: tiles of 64 x 256 x 16 from shared memory, by four warps together. Only for sm_90a.
#pragma once

#include "kernels.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// A matrix in shared memory as `wgmma` takes it, without swizzle: its address, and the distances of its 8 x 8 pieces along both axes, all in
// units of 16 bytes (PTX ISA, "Shared Memory Matrix Layout" and "Matrix Descriptor Format").
__device__ __forceinline__ unsigned long long matrix_descriptor(const void* shared) {
  const unsigned long long address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned long long leading = 128, stride = 256;
  return (address & 0x3ffff) >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32;
}

#define TEN(b) "%" #b "0,%" #b "1,%" #b "2,%" #b "3,%" #b "4,%" #b "5,%" #b "6,%" #b "7,%" #b "8,%" #b "9,"
#define TEN_OF(i)                                                                                                               \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7]), \
      "+f"(d[i + 8]), "+f"(d[i + 9])

template <int SIGN>
__device__ __forceinline__ void multiply_wide_tiles(float (&d)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," TEN(1) TEN(2) TEN(3) TEN(4)
          TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, 1, %130, 1, 0, 0;"
      : TEN_OF(0), TEN_OF(10), TEN_OF(20), TEN_OF(30), TEN_OF(40), TEN_OF(50), TEN_OF(60), TEN_OF(70), TEN_OF(80), TEN_OF(90),
        TEN_OF(100), TEN_OF(110), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]),
        "+f"(d[127])
      : "l"(a), "l"(b), "n"(SIGN));
}

#undef TEN
#undef TEN_OF
#endif

// Four products an iteration by each group of 128 threads, half of them subtracted. The data are pairs of bf16, or zeros.
extern "C" __global__ void __launch_bounds__(128) wgmma_bf16(const uint4* in, uint4* out, unsigned words, unsigned iterations) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ __align__(128) uint4 a[128];
  __shared__ __align__(128) uint4 b[512];
  for (unsigned i = threadIdx.x; i < 512; i += 128) {
    if (i < 128) a[i] = in[i & (words - 1)];
    b[i] = in[(i + 128) & (words - 1)];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long left = matrix_descriptor(a), right = matrix_descriptor(b);
  float d[128];
  for (int k = 0; k < 128; ++k) d[k] = start_of_sum(in[(thread_of_grid() + 128 * k) & (words - 1)].x);
  REPEAT(i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply_wide_tiles<1>(d, left, right);
    multiply_wide_tiles<-1>(d, left, right);
    multiply_wide_tiles<1>(d, left, right);
    multiply_wide_tiles<-1>(d, left, right);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0.0f;
  for (int k = 0; k < 128; ++k) sum += d[k];
  leave(out, __float_as_uint(sum));
#endif
}
