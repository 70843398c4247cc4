// What is stored, what is computed with, and how matrices lie.
#pragma once
#include "../../kernels/common/device.cuh"

struct half { unsigned short bits; };
struct bfloat { unsigned short bits; };

__device__ __forceinline__ float wide(float a) { return a; }
__device__ __forceinline__ double wide(double a) { return a; }
__device__ __forceinline__ float wide(half a) {
  float to;
  asm("cvt.f32.f16 %0, %1;" : "=f"(to) : "h"(a.bits));
  return to;
}
__device__ __forceinline__ float wide(bfloat a) { return __builtin_bit_cast(float, unsigned(a.bits) << 16); }
__device__ __forceinline__ void narrow(float& to, float a) { to = a; }
__device__ __forceinline__ void narrow(double& to, double a) { to = a; }
__device__ __forceinline__ void narrow(half& to, float a) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(a)); }
// To the nearest, of two that are as near to the even one; no number stays none.
__device__ __forceinline__ void narrow(bfloat& to, float a) {
  const unsigned bits = __builtin_bit_cast(unsigned, a);
  to.bits = a != a ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
__device__ __forceinline__ float root(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ __forceinline__ double root(double a) { return __nvvm_sqrt_rn_d(a); }

// A matrix: its first element, or that of the first of several, how far apart rows, columns and matrices are; or a list with the address of each.
template <typename T> struct Matrix {
  T* first;
  long row, column, apart;
  T* const* list;
  __device__ __forceinline__ T* of(int batch) const { return list ? list[batch] : first + batch * apart; }
};
