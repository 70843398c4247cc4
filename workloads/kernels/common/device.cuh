// What the kernels of this suite use of CUDA, so that clang compiles them without NVIDIA's headers.
// With NVIDIA's compilers this file adds nothing: their own headers say the same.
#pragma once

#if defined(__clang__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))

#define WARPWATT_INDEX(name, sreg)                                                          \
  struct name##_t {                                                                         \
    struct X { __device__ operator int() const { return __nvvm_read_ptx_sreg_##sreg##_x(); } } x; \
    struct Y { __device__ operator int() const { return __nvvm_read_ptx_sreg_##sreg##_y(); } } y; \
    struct Z { __device__ operator int() const { return __nvvm_read_ptx_sreg_##sreg##_z(); } } z; \
  };                                                                                        \
  extern const __device__ __attribute__((weak)) name##_t name;

WARPWATT_INDEX(threadIdx, tid)
WARPWATT_INDEX(blockIdx, ctaid)
WARPWATT_INDEX(blockDim, ntid)
WARPWATT_INDEX(gridDim, nctaid)
#undef WARPWATT_INDEX

struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };

__device__ __forceinline__ float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ float min(float a, float b) { return __builtin_fminf(a, b); }
__device__ __forceinline__ float max(float a, float b) { return __builtin_fmaxf(a, b); }
__device__ __forceinline__ float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
__device__ __forceinline__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ __forceinline__ float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
// As CUDA's own are made: the whole part of the exponent, what is left of it in two steps, and the unit's approximations.
__device__ __forceinline__ float expf(float a) {
  const float whole = __builtin_truncf(a * 1.44269504f);
  const float rest = fmaf(whole, -1.90465421e-9f, fmaf(whole, -0.693147182f, a));
  return exp2f(rest * 1.44269504f) * exp2f(whole);
}
__device__ __forceinline__ float logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147182f; }
__device__ __forceinline__ float fabsf(float a) { return __builtin_fabsf(a); }
__device__ __forceinline__ float __log2f(float a) { return __nvvm_lg2_approx_f(a); }
__device__ __forceinline__ float __sinf(float a) { return __nvvm_sin_approx_f(a); }
__device__ __forceinline__ float __cosf(float a) { return __nvvm_cos_approx_f(a); }
__device__ __forceinline__ unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
__device__ __forceinline__ unsigned atomicAdd(unsigned* p, unsigned v) {
  return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
__device__ __forceinline__ int __shfl_down_sync(unsigned mask, int value, unsigned delta) {
  return __nvvm_shfl_sync_down_i32(mask, value, delta, 0x1f);
}

#endif
