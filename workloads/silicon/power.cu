// One kind of work at a time, for watts: threads do it `turns` times over on operands that they are given, so that what is computed has the bits of real data.
#include "../kernels/common/device.cuh"

// Sixteen of it, four by four independent.
#define FOUR(step) step(0) step(1) step(2) step(3)
#define SIXTEEN(step) FOUR(step) FOUR(step) FOUR(step) FOUR(step)

// `values` holds 1024 words and more; nothing is written unless a sum is what it never is.
#define WORK(name, type, step)                                                                   \
  extern "C" __global__ void name(const type* values, type* out, unsigned turns) {              \
    const unsigned t = threadIdx.x;                                                              \
    type x[4];                                                                                   \
    const type y = values[t + 512];                                                              \
    for (int k = 0; k < 4; ++k) x[k] = values[t + k];                                            \
    _Pragma("unroll 1") for (unsigned i = 0; i < turns; ++i) { SIXTEEN(step) }                   \
    const type sum = x[0] + x[1] + x[2] + x[3];                                                  \
    if (sum == (type)123.456) out[0] = sum;                                                      \
  }

// Floating point follows x^2 - 1.9, which stays between -1.9 and 1.9 and never settles; logarithms of magnitudes neither.
#define ADD(k) asm volatile("add.s32 %0, %0, %1;" : "+r"(x[k]) : "r"(x[(k + 1) & 3]));
#define LOGIC(k) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x[k]) : "r"(y), "r"(x[(k + 1) & 3]));
#define SHIFT(k) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(x[k]) : "r"(x[(k + 1) & 3]));
#define MULTIPLY(k) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x[k]) : "r"(y), "r"(x[(k + 1) & 3]));
#define FADD(k) asm volatile("sub.rn.f32 %0, %1, %0;" : "+f"(x[k]) : "f"(y));
#define FFMA(k) asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(x[k]) : "f"(-1.9f));
#define DFMA(k) asm volatile("fma.rn.f64 %0, %0, %0, %1;" : "+d"(x[k]) : "d"(-1.9));
#define HFMA(k) asm volatile("fma.rn.f16x2 %0, %0, %0, %1;" : "+r"(x[k]) : "r"(0xbf9abf9a));
#define LOGARITHM(k) asm volatile("{ .reg .f32 a; abs.ftz.f32 a, %0; lg2.approx.ftz.f32 %0, a; }" : "+f"(x[k]));
#define MIXED(k)                                                                                 \
  asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(x[k]) : "f"(-1.9f));                          \
  asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(bits[k]) : "r"(t), "r"(bits[(k + 1) & 3]));

WORK(int_logic, unsigned, LOGIC)
WORK(int_multiply, unsigned, MULTIPLY)
WORK(float_add, float, FADD)

#define ALONE(name, type, step, lanes)                                                           \
  extern "C" __global__ void name(const type* values, type* out, unsigned turns) {              \
    const unsigned t = threadIdx.x;                                                              \
    if ((t & 31) >= lanes) return;                                                               \
    type x[4];                                                                                   \
    for (int k = 0; k < 4; ++k) x[k] = values[t + k];                                            \
    _Pragma("unroll 1") for (unsigned i = 0; i < turns; ++i) { SIXTEEN(step) }                   \
    const type sum = x[0] + x[1] + x[2] + x[3];                                                  \
    if (sum == (type)123.456) out[0] = sum;                                                      \
  }

ALONE(int_add, unsigned, ADD, 32)
ALONE(int_shift, unsigned, SHIFT, 32)
ALONE(float_fma, float, FFMA, 32)
ALONE(float_fma_8_lanes, float, FFMA, 8)
ALONE(double_fma, double, DFMA, 32)
ALONE(half_fma, unsigned, HFMA, 32)
ALONE(float_logarithm, float, LOGARITHM, 32)

// Floating point and logic by turns.
extern "C" __global__ void float_and_logic(const float* values, float* out, unsigned turns) {
  const unsigned t = threadIdx.x;
  float x[4];
  unsigned bits[4];
  for (int k = 0; k < 4; ++k) x[k] = values[t + k], bits[k] = ((const unsigned*)values)[t + 128 + k];
#pragma unroll 1
  for (unsigned i = 0; i < turns; ++i) { SIXTEEN(MIXED) }
  const float sum = x[0] + x[1] + x[2] + x[3] + (float)(bits[0] ^ bits[1] ^ bits[2] ^ bits[3]);
  if (sum == 123.456f) out[0] = sum;
}

// Words of shared memory, then four at once: sixteen loads a turn, from one half or the other.
#define SHARED(name, words, load)                                                                \
  extern "C" __global__ void name(const unsigned* values, unsigned* out, unsigned turns) {      \
    __shared__ __attribute__((aligned(16))) unsigned tile[2048 * words];                         \
    const unsigned t = threadIdx.x;                                                              \
    for (unsigned k = t; k < 2048 * words; k += 256) tile[k] = values[k & 1023];                 \
    __syncthreads();                                                                             \
    const unsigned start = (unsigned)(unsigned long)(__attribute__((address_space(3))) unsigned*)tile + t * 4 * words; \
    unsigned sum = 0;                                                                            \
    _Pragma("unroll 1") for (unsigned i = 0; i < turns; ++i) {                                   \
      const unsigned at = start + (i & 1) * 4096 * words;                                        \
      _Pragma("unroll") for (unsigned k = 0; k < 16; ++k) {                                      \
        unsigned a, b = 0, c = 0, d = 0;                                                         \
        load;                                                                                    \
        sum ^= a ^ b ^ c ^ d;                                                                    \
      }                                                                                          \
    }                                                                                            \
    if (sum == 0x12345678) out[0] = sum;                                                         \
  }

SHARED(shared_words, 1, asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a) : "r"((at + k % 4 * 1024) ^ (k / 4 * 128))))
SHARED(shared_quads, 4, asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"((at + k % 4 * 4096) ^ (k / 4 * 128))))

// Words from the first level, 32 KB for all blocks; four words at once from the second level, where blocks follow one another through `span` words.
extern "C" __global__ void first_level(const unsigned* values, unsigned* out, unsigned turns) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < turns; ++i) {
    const unsigned* at = values + threadIdx.x + (i & 1) * 4096;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      unsigned a;
      asm volatile("ld.global.ca.b32 %0, [%1];" : "=r"(a) : "l"(at + k * 256));
      sum ^= a;
    }
  }
  if (sum == 0x12345678) out[0] = sum;
}

extern "C" __global__ void second_level(const unsigned* values, unsigned* out, unsigned turns, unsigned span) {
  unsigned x[4] = {0, 0, 0, 0}, sum = 0;
  unsigned place = (blockIdx.x * 256 + threadIdx.x) * 4;
#pragma unroll 1
  for (unsigned i = 0; i < turns; ++i) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "l"(values + ((place + k * 262144) & (span - 1))));
      sum ^= x[0] ^ x[1] ^ x[2] ^ x[3];
    }
    place += 4 * 262144;
  }
  if (sum == 0x12345678) out[0] = sum;
}

// Products of matrices by a warp: 16 x 8 x 16 of f16, 16 x 8 x 32 of s8. Each of four sums has 16 rows of 8.
#define MMA(name, kind, sum_type, constraint)                                                    \
  extern "C" __global__ void name(const unsigned* values, sum_type* out, unsigned turns) {      \
    const unsigned t = threadIdx.x;                                                              \
    unsigned a[8], b[2];                                                                         \
    sum_type d[4][4] = {};                                                                       \
    for (int k = 0; k < 8; ++k) a[k] = values[t + k * 64];                                       \
    for (int k = 0; k < 2; ++k) b[k] = values[t + 512 + k * 64];                                 \
    _Pragma("unroll 1") for (unsigned i = 0; i < turns; ++i) {                                   \
      _Pragma("unroll") for (int k = 0; k < 16; ++k)                                             \
        asm volatile("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
            : "+" constraint(d[k & 3][0]), "+" constraint(d[k & 3][1]), "+" constraint(d[k & 3][2]), "+" constraint(d[k & 3][3]) \
            : "r"(a[4 * (k & 1)]), "r"(a[4 * (k & 1) + 1]), "r"(a[4 * (k & 1) + 2]), "r"(a[4 * (k & 1) + 3]), "r"(b[0]), "r"(b[1]));                 \
    }                                                                                            \
    sum_type sum = 0;                                                                            \
    for (int k = 0; k < 16; ++k) sum += d[k & 3][k >> 2];                                        \
    if (sum == (sum_type)123.456) out[0] = sum;                                                  \
  }

MMA(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
MMA(mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
