// What the other cases do not exercise: double precision, division of 32 and 64 bits, conversions, narrow stores, atomics of local memory of every kind, calls,
// private arrays, jumps through a switch, vectors, and functions that need no library. `generate.py` says what each must compute.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define K __attribute__((amdgpu_flat_work_group_size(64, 64))) __kernel
#define ID ((int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()))
#define T ((int)__builtin_amdgcn_workitem_id_x())
#define BAR() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
K void f64arith(__global const double* a, __global const double* b, __global double* o) {
  int i = ID; double x = a[i], y = b[i];
  __global double* p = o + 12 * i;
  p[0] = x + y; p[1] = x - y; p[2] = x * y; p[3] = x / y; p[4] = __builtin_sqrt(x < 0 ? -x : x);
  p[5] = __builtin_fma(x, y, 1.5); p[6] = __builtin_floor(x); p[7] = __builtin_rint(y); p[8] = __builtin_trunc(x); p[9] = __builtin_ceil(y);
  p[10] = __builtin_fmin(x, y); p[11] = __builtin_fmax(x, y) + __builtin_fabs(y) - __builtin_copysign(2.0, x);
}
K void i64div(__global const long* a, __global const long* b, __global long* o) {
  int i = ID; long x = a[i], y = b[i]; ulong ux = x, uy = y;
  __global long* p = o + 8 * i;
  p[0] = x / y; p[1] = x % y; p[2] = ux / uy; p[3] = ux % uy; p[4] = x * y; p[5] = x << (y & 63); p[6] = x >> (y & 63); p[7] = ux >> (uy & 63);
}
K void i32div(__global const int* a, __global const int* b, __global int* o) {
  int i = ID; int x = a[i], y = b[i]; uint ux = x, uy = y;
  __global int* p = o + 8 * i;
  p[0] = x / y; p[1] = x % y; p[2] = ux / uy; p[3] = ux % uy; p[4] = x * y; p[5] = (int)(((long)x * y) >> 32); p[6] = (int)(((ulong)ux * uy) >> 32); p[7] = __builtin_popcount(x) + __builtin_clz(ux | 1) + __builtin_ctz(ux | 0x80000000u) + (int)__builtin_bitreverse32(x);
}
K void conv(__global const float* a, __global const double* d, __global const int* n, __global const long* l, __global long* o) {
  int i = ID; float f = a[i]; double g = d[i]; int k = n[i]; long m = l[i];
  __global long* p = o + 20 * i;
  p[0] = (int)f; p[1] = (uint)__builtin_fabsf(f); p[2] = (long)f; p[3] = (ulong)__builtin_fabsf(f); p[4] = (int)g; p[5] = (uint)__builtin_fabs(g); p[6] = (long)g; p[7] = (ulong)__builtin_fabs(g);
  float q; double r;
  q = k; p[8] = as_int(q); q = (uint)k; p[9] = as_int(q); q = m; p[10] = as_int(q); q = (ulong)m; p[11] = as_int(q);
  r = k; p[12] = as_long(r); r = (uint)k; p[13] = as_long(r); r = m; p[14] = as_long(r); r = (ulong)m; p[15] = as_long(r);
  r = f; p[16] = as_long(r); q = g; p[17] = as_int(q); p[18] = (char)k + 3 * (short)k + 5 * (uchar)(k >> 8) + 7 * (ushort)(k >> 3);
  half h = (half)f; p[19] = as_ushort(h) + (long)as_int((float)h) * 65536;
}
K void narrow(__global const int* a, __global uchar* b, __global short* s, __global char4* v, __global ushort* u) {
  int i = ID; int x = a[i];
  b[i] = x; s[i] = x >> 3; v[i] = (char4)(x, x >> 4, x >> 8, x >> 12); u[i] = (ushort)b[i] * 3 + (ushort)s[i];
}
K void ldsatom(__global const int* a, __global int* o) {
  __local int c[40]; __local ulong w[16]; __local float fl[2];
  int t = T; int x = a[ID];
  if (t < 40) c[t] = 100; if (t < 16) w[t] = 1000; if (t < 2) fl[t] = 1.0f;
  BAR();
  __opencl_atomic_fetch_add((__local atomic_int*)&c[0], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_sub((__local atomic_int*)&c[1], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_min((__local atomic_int*)&c[2], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_max((__local atomic_int*)&c[3], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_min((__local atomic_uint*)&c[4], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_max((__local atomic_uint*)&c[5], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_and((__local atomic_int*)&c[6], x | 64, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_or((__local atomic_int*)&c[7], x, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_xor((__local atomic_int*)&c[8], x, memory_order_relaxed, memory_scope_work_group);
  c[9 + (t & 7)] = 0; BAR();
  if (t < 8) { int e = 0; __opencl_atomic_compare_exchange_strong((__local atomic_int*)&c[9 + t], &e, x, memory_order_relaxed, memory_order_relaxed, memory_scope_work_group); }
  if (t >= 8 && t < 16) { c[17 + t - 8] = __opencl_atomic_exchange((__local atomic_int*)&c[25 + t - 8], x, memory_order_relaxed, memory_scope_work_group); }
  long y = (long)x * 0x100000001L;
  __opencl_atomic_fetch_add((__local atomic_long*)&w[0], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_sub((__local atomic_long*)&w[1], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_min((__local atomic_long*)&w[2], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_max((__local atomic_long*)&w[3], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_min((__local atomic_ulong*)&w[4], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_max((__local atomic_ulong*)&w[5], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_and((__local atomic_long*)&w[6], y | 64, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_or((__local atomic_long*)&w[7], y, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_xor((__local atomic_long*)&w[8], y, memory_order_relaxed, memory_scope_work_group);
  BAR();
  if (t < 40) o[ID] = c[t]; else o[ID] = t < 52 ? (int)(w[t - 40] >> 32) ^ (int)w[t - 40] * 3 : 0;
}
__attribute__((noinline)) int fib(int n, int a, int b) { int r = b; for (int i = 0; i < n; i++) { r = a + b; a = b; b = r; } return r; }
__attribute__((noinline)) float poly(float x, int k) { return fib(k, 1, 2) * x + k; }
K void calls(__global const int* a, __global float* o) { int i = ID; o[i] = poly(a[i] * 0.25f, a[i] & 7) + fib(i & 3, 2, 5); }
K void priv(__global const int* a, __global int* o) {
  int i = ID; int buf[200]; uchar by[64]; long lo[20];
  for (int k = 0; k < 200; k++) buf[k] = a[(i + k) & 63] * k;
  for (int k = 0; k < 64; k++) by[k] = (uchar)(a[(i * 3 + k) & 63] + k);
  for (int k = 0; k < 20; k++) lo[k] = (long)buf[(a[i] + k * 7) & 127] * 0x10001L;
  int s = 0; for (int k = 0; k < 50; k++) { int at = (a[k] ^ i) & 127; s = s * 31 + buf[at] + by[at & 63] + (int)(lo[at % 20] >> 7); }
  o[i] = s;
}
K void sw(__global const int* a, __global int* o) {
  int i = ID; int x = a[i], r = 0;
  for (int k = 0; k < 5; k++) switch ((x + k) & 15) { case 0: r += 3; break; case 1: r ^= x; case 2: r = r * 5 + 1; break; case 3: r -= k; break; case 4: r = ~r; break; case 5: r <<= 1; break; case 7: r += x >> 3; break; case 8: r = -r; break; case 11: r %= 1009; break; case 12: r |= 5; break; default: r += x; }
  o[i] = r;
}
K void vec(__global const float4* a, __global const int3* b, __global float8* o, __global int16* q) {
  int i = ID; float4 x = a[i]; int3 n = b[i];
  o[i] = (float8)(x.wzyx * 2.0f, x.s0213 + (float4)(n.x, n.y, n.z, 1)); q[i] = (int16)(n.xyz, n.zyx, n.xx, n.yy, n.zz, (int4)((int)x.x,(int)x.y,(int)x.z,(int)x.w) );
}
K void fmath(__global const float* a, __global const float* b, __global float* o) {
  int i = ID; float x = a[i], y = b[i]; __global float* p = o + 16 * i;
  p[0] = x / y; p[1] = __builtin_sqrtf(__builtin_fabsf(x)); p[2] = __builtin_floorf(x); p[3] = __builtin_rintf(y); p[4] = __builtin_fmaf(x, y, 0.5f);
  p[5] = __builtin_fminf(x, y); p[6] = __builtin_fmaxf(x, y); p[7] = __builtin_copysignf(x, y); p[8] = __builtin_truncf(x); p[9] = __builtin_ceilf(y);
  p[10] = x * y + 1.0f; p[11] = __builtin_amdgcn_fractf(x); p[12] = __builtin_amdgcn_ldexpf(x, 5); p[13] = (float)__builtin_amdgcn_frexp_expf(x); p[14] = __builtin_amdgcn_frexp_mantf(x); p[15] = __builtin_amdgcn_fmed3f(x, y, 1.0f);
}
