// Each thread computes a row of results; tests/tests/compilers.rs computes the same in Rust. Compiled by several compilers for several targets.
__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__constant__ unsigned table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
extern "C" __global__ void mixed(unsigned *out, const unsigned *a, const unsigned *b, int n) {
  __shared__ unsigned shared[64];
  __shared__ unsigned counts[8], most[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  if (t < 8) counts[t] = most[t] = 0;
  shared[t] = a[i];
  __syncthreads();
  unsigned x = a[i], y = b[i], local[8];
  unsigned long long wide = (unsigned long long)x << 32 | y;
  for (int k = 0; k < 8; k++) local[k] = x * k + table[k];
  atomicAdd(&counts[x & 7], y & 15);
  atomicMax(&most[y & 7], x & 63);
  out[i] = __byte_perm(x, y, 0x5247);
  out[n + i] = __funnelshift_l(x, y, t) ^ __brev(x) ^ __popc(y) ^ __clz(x);
  out[2 * n + i] = (unsigned)(wide / (y | 1)) ^ (unsigned)(wide % (x | 1));
  out[3 * n + i] = (unsigned)__umul64hi(wide, wide + 12345) ^ __umulhi(x, y);
  out[4 * n + i] = local[y & 7] + (unsigned)ackermann(2, (int)(x & 3));
  out[5 * n + i] = __float_as_uint(__fmaf_rn(__uint2float_rn(x), 0.25f, __uint2float_rd(y)));
  out[6 * n + i] = __float_as_uint(__fdiv_rn((float)(x & 1023), (float)((y & 255) + 1)) + __fsqrt_rn((float)(y & 65535)));
  double d = __ddiv_rn((double)x, (double)y + 1.0);
  out[7 * n + i] = (unsigned)__double_as_longlong(d) ^ (unsigned)(__double_as_longlong(d) >> 32) ^ (unsigned)(long long)(d * 1000.0);
  switch (x % 7) {
    case 0: y += 1; break;
    case 1: y *= 3; break;
    case 2: y ^= 0x55; break;
    case 3: y = ~y; break;
    case 4: y >>= 3; break;
    case 5: y |= 0x100; break;
    default: y -= x;
  }
  out[8 * n + i] = y;
  out[9 * n + i] = (unsigned)((int)x >> 5) + (unsigned)((short)y * (signed char)x) + (unsigned)((int)x % ((int)y | 1));
  __syncthreads();
  out[10 * n + i] = shared[(t * 5 + 3) & 63] + counts[t & 7] + most[t & 7];
  out[11 * n + i] = (unsigned)__syncthreads_count(x & 1);
}
