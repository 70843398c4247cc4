// The micro-benchmarks: each keeps one part of a GPU busy for as long as `iterations` says and leaves a result behind, so that no compiler
// drops the work. All take the same four parameters: data (or a texture of it), where results go, how many words of 16 bytes the data have (a
// power of two), and how often the loop runs. Loops hold the counted instructions and as little else as can be; docs/your-gpu.md says what a loop
// counts, and tests/tests/your_gpu.rs checks it.
#pragma once

#define BENCHMARK(name)                                                                                     \
  extern "C" __global__ void __launch_bounds__(1024) name(const uint4* in, uint4* out, unsigned words, unsigned iterations)

// The loop that is counted: as it is written, neither unrolled nor peeled.
#define REPEAT(i) _Pragma("unroll 1") for (unsigned i = 0; i < iterations; ++i)

__device__ __forceinline__ unsigned thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ uint4 seed_of_thread(const uint4* in, unsigned words, unsigned which) {
  return in[(thread_of_grid() * 4 + which) & (words - 1)];
}

__device__ __forceinline__ void leave(uint4* out, unsigned result) {
  reinterpret_cast<unsigned*>(out)[thread_of_grid()] = result;
}

// ---- Nothing but being there -----------------------------------------------------------------------------------------------------------------

// Warps that are resident and sleep: an SM is switched on and issues next to nothing.
BENCHMARK(sleeping) {
#if __CUDA_ARCH__ >= 700
  REPEAT(i) __nanosleep(1000);
#endif
  leave(out, iterations);
}

// An empty loop: a counter, a comparison, a branch.
BENCHMARK(spin) {
  unsigned i = 0;
  do {
    asm volatile("add.u32 %0, %0, 1;" : "+r"(i));
  } while (i < iterations);
  leave(out, i);
}

// ---- Arithmetic ------------------------------------------------------------------------------------------------------------------------------

// Rotations in the plane as two shears: an orbit that neither settles nor grows, of nothing but multiply-adds. From zeros it stays at zero.
template <typename T, int CHAINS, typename Fma>
__device__ __forceinline__ void rotate(T (&x)[CHAINS], T (&y)[CHAINS], const T (&a)[CHAINS], const T (&minus)[CHAINS], Fma fma_of) {
#pragma unroll
  for (int step = 0; step < 8; ++step) {
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) x[k] = fma_of(a[k], y[k], x[k]);
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) y[k] = fma_of(minus[k], x[k], y[k]);
  }
}

// 64 multiply-adds an iteration in four independent chains. Random data in [0.25, 1.25), or zeros.
BENCHMARK(fma_f32) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1), r = seed_of_thread(in, words, 2);
  float x[4] = {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z), __uint_as_float(p.w)};
  float y[4] = {__uint_as_float(q.x), __uint_as_float(q.y), __uint_as_float(q.z), __uint_as_float(q.w)};
  const float a[4] = {__uint_as_float(r.x), __uint_as_float(r.y), __uint_as_float(r.z), __uint_as_float(r.w)};
  const float minus[4] = {-a[0], -a[1], -a[2], -a[3]};
  REPEAT(i) rotate(x, y, a, minus, [](float a, float b, float c) { return fmaf(a, b, c); });
  leave(out, __float_as_uint(x[0] + x[1] + x[2] + x[3] + y[0] + y[1] + y[2] + y[3]));
}

// 64 additions an iteration: to and fro, so that the sums stay near where they are.
BENCHMARK(add_f32) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1);
  float x[4] = {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z), __uint_as_float(p.w)};
  const float a[4] = {__uint_as_float(q.x), __uint_as_float(q.y), __uint_as_float(q.z), __uint_as_float(q.w)};
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] += a[(k + step) % 4];
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] -= a[(k + step + 1) % 4];
    }
  }
  leave(out, __float_as_uint(x[0] + x[1] + x[2] + x[3]));
}

// 32 multiply-adds an iteration in double precision, two chains.
BENCHMARK(fma_f64) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1);
  const auto wide = [](unsigned bits) { return static_cast<double>(__uint_as_float(bits)); };
  double x[2] = {wide(p.x), wide(p.y)}, y[2] = {wide(p.z), wide(p.w)};
  // Squares and products of random singles have all bits of their significands in use.
  const double a[2] = {wide(q.x) * wide(q.z), wide(q.y) * wide(q.w)};
  const double minus[2] = {-a[0], -a[1]};
  REPEAT(i) rotate(x, y, a, minus, [](double a, double b, double c) { return fma(a, b, c); });
  leave(out, __float_as_uint(static_cast<float>(x[0] + x[1] + y[0] + y[1])));
}

// 64 packed multiply-adds of halves an iteration. The data are pairs of halves.
BENCHMARK(fma_f16x2) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1), r = seed_of_thread(in, words, 2);
  unsigned x[4] = {p.x, p.y, p.z, p.w}, y[4] = {q.x, q.y, q.z, q.w};
  const unsigned a[4] = {r.x, r.y, r.z, r.w};
  const unsigned minus[4] = {r.x ^ 0x80008000u, r.y ^ 0x80008000u, r.z ^ 0x80008000u, r.w ^ 0x80008000u};
  const auto fma_of = [](unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
  };
  REPEAT(i) rotate(x, y, a, minus, fma_of);
  leave(out, x[0] ^ x[1] ^ x[2] ^ x[3] ^ y[0] ^ y[1] ^ y[2] ^ y[3]);
}

// 64 additions of integers an iteration: pairs of Fibonacci sequences.
BENCHMARK(add_s32) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1);
  unsigned x[4] = {p.x, p.y, p.z, p.w}, y[4] = {q.x, q.y, q.z, q.w};
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] += y[k];
#pragma unroll
      for (int k = 0; k < 4; ++k) y[k] += x[k];
    }
  }
  leave(out, x[0] ^ x[1] ^ x[2] ^ x[3] ^ y[0] ^ y[1] ^ y[2] ^ y[3]);
}

// 64 multiply-adds of integers an iteration: four linear congruential generators.
BENCHMARK(mad_s32) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1);
  unsigned x[4] = {p.x, p.y, p.z, p.w};
  const unsigned a[4] = {(q.x & ~7u) | 5u, (q.y & ~7u) | 5u, (q.z & ~7u) | 5u, (q.w & ~7u) | 5u};
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] = x[k] * a[k] + a[(k + 1) % 4];
    }
  }
  leave(out, x[0] ^ x[1] ^ x[2] ^ x[3]);
}

// 96 logic operations and shifts an iteration, half of them each: Marsaglia's xorshift generator, four times.
BENCHMARK(logic_b32) {
  const uint4 p = seed_of_thread(in, words, 0);
  unsigned x[4] = {p.x | 1u, p.y | 1u, p.z | 1u, p.w | 1u};
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] ^= x[k] << 13;
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] ^= x[k] >> 17;
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] ^= x[k] << 5;
    }
  }
  leave(out, x[0] ^ x[1] ^ x[2] ^ x[3]);
}

// 64 logarithms an iteration: x becomes log2|x|, an orbit that does not settle. It begins anew each iteration, near where it began before, since one
// that met 1 exactly would stay at infinity.
BENCHMARK(sfu_lg2) {
  const uint4 p = seed_of_thread(in, words, 0);
  const float start[4] = {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z), __uint_as_float(p.w)};
  float kept = 0.0f;
  REPEAT(i) {
    float x[4] = {start[0] + kept, start[1] + kept, start[2] + kept, start[3] + kept};
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(x[k]) : "f"(fabsf(x[k])));
    }
    kept = fminf(fabsf(x[0] + x[1] + x[2] + x[3]) * 0.03125f, 0.5f);
  }
  leave(out, __float_as_uint(kept));
}

// 32 exchanges between lanes an iteration.
BENCHMARK(shuffle) {
  const uint4 p = seed_of_thread(in, words, 0);
  unsigned x[4] = {p.x, p.y, p.z, p.w};
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] = __shfl_xor_sync(0xffffffffu, x[k], 1 << (step + k) % 5);
    }
  }
  leave(out, x[0] ^ x[1] ^ x[2] ^ x[3]);
}

// ---- Tensor cores ----------------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void multiply_tiles(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Where the sums of a product begin: a single in [1, 2), or zero where the data are zeros.
__device__ __forceinline__ float start_of_sum(unsigned bits) {
  return bits == 0 ? 0.0f : __uint_as_float((bits & 0x007fffffu) | 0x3f800000u);
}

// 16 products of tiles m16n8k16 of bf16 an iteration in four chains, half of them with the sign changed so that sums stay small. The data are
// pairs of bf16, or zeros. Needs sm_80.
BENCHMARK(mma_bf16) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1), r = seed_of_thread(in, words, 2);
  const unsigned a[2][4] = {{p.x, p.y, p.z, p.w}, {q.x, q.y, q.z, q.w}};
  const unsigned s = r.x != 0 ? 0x80008000u : 0;
  const unsigned minus[2][4] = {{p.x ^ s, p.y ^ s, p.z ^ s, p.w ^ s}, {q.x ^ s, q.y ^ s, q.z ^ s, q.w ^ s}};
  const unsigned b[2][2] = {{r.x, r.y}, {r.z, r.w}};
  float c[4][4];
  for (int k = 0; k < 4; ++k) {
    const uint4 start = seed_of_thread(in, words, 3 + 4 * k);
    c[k][0] = start_of_sum(start.x), c[k][1] = start_of_sum(start.y), c[k][2] = start_of_sum(start.z), c[k][3] = start_of_sum(start.w);
  }
  REPEAT(i) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply_tiles(c[k], a[k % 2], b[k / 2]);
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply_tiles(c[k], minus[k % 2], b[k / 2]);
    }
  }
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
  leave(out, __float_as_uint(sum));
}

// ---- Memory next to the lanes ----------------------------------------------------------------------------------------------------------------

constexpr unsigned SHARED_WORDS = 4096;

__device__ __forceinline__ void fill(unsigned (&line)[SHARED_WORDS], const uint4* in, unsigned words) {
  for (unsigned i = threadIdx.x; i < SHARED_WORDS / 4; i += blockDim.x) reinterpret_cast<uint4*>(line)[i] = in[i & (words - 1)];
  __syncthreads();
}

// `stride` words lie between neighbouring lanes: 1 for no conflict, 8 for eight passes. 16 loads an iteration.
template <unsigned STRIDE>
__device__ __forceinline__ void read_shared(const uint4* in, uint4* out, unsigned words, unsigned iterations) {
  __shared__ __align__(16) unsigned line[SHARED_WORDS];
  fill(line, in, words);
  unsigned sum = 0, at = threadIdx.x * STRIDE % 1024;
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) sum ^= line[at + 128 * k];
    at = (at + 32) % 1024;
  }
  leave(out, sum);
}

BENCHMARK(shared_read) { read_shared<1>(in, out, words, iterations); }
BENCHMARK(shared_conflict) { read_shared<8>(in, out, words, iterations); }

// 16 stores an iteration, values that change.
BENCHMARK(shared_write) {
  __shared__ __align__(16) unsigned line[SHARED_WORDS];
  fill(line, in, words);
  const uint4 p = seed_of_thread(in, words, 0);
  const unsigned values[4] = {p.x, p.y, p.z, p.w};
  unsigned at = threadIdx.x % 1024;
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) *const_cast<volatile unsigned*>(&line[at + 128 * k]) = values[(k + k / 4) % 4];
    at = (at + 32) % 1024;
  }
  __syncthreads();
  leave(out, line[threadIdx.x]);
}

__constant__ unsigned constant_table[1024];

// 16 reads an iteration of one word for all lanes, in a kibibyte.
BENCHMARK(constant_read) {
  unsigned sum = 0, at = words & 3;
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) sum ^= constant_table[at + 12 * k];
    at = (at + 5) & 63;
  }
  leave(out, sum);
}

// ---- Caches and DRAM -------------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ uint4 load_l1(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

__device__ __forceinline__ uint4 load_l2(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

__device__ __forceinline__ unsigned folded(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

// Four loads of 16 bytes an iteration, from the same 16 KiB by all SMs: they come from the first level.
BENCHMARK(l1_read) {
  unsigned sum = 0, at = threadIdx.x & 255;
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) sum ^= folded(load_l1(in + at + 256 * k));
    at = (at + 32) & 255;
  }
  leave(out, sum);
}

// Four loads of 16 bytes an iteration past the first level, side by side over the whole grid: the size of the data decides whether they come
// from the second level or from DRAM.
BENCHMARK(global_read) {
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned sum = 0, at = thread_of_grid();
  REPEAT(i) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load_l2(in + ((at + k * threads) & (words - 1)));
#pragma unroll
    for (int k = 0; k < 4; ++k) sum ^= folded(v[k]);
    at += 4 * threads;
  }
  leave(out, sum);
}

// Four stores of 16 bytes an iteration, likewise.
BENCHMARK(global_write) {
  const unsigned threads = gridDim.x * blockDim.x;
  uint4 value = seed_of_thread(in, words, 0);
  unsigned at = thread_of_grid();
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) out[(at + k * threads) & (words - 1)] = make_uint4(value.x ^ i, value.y + k, value.z ^ at, value.w);
    at += 4 * threads;
  }
}

// Four loads and four stores of 16 bytes an iteration.
BENCHMARK(global_copy) {
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned at = thread_of_grid();
  REPEAT(i) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load_l2(in + ((at + k * threads) & (words - 1)));
#pragma unroll
    for (int k = 0; k < 4; ++k) out[(at + k * threads) & (words - 1)] = v[k];
    at += 4 * threads;
  }
}

// Four atomic additions an iteration without a result, spread over the data: the second level's adders.
BENCHMARK(atomic_add) {
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned* sums = reinterpret_cast<unsigned*>(out);
  unsigned at = thread_of_grid();
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) atomicAdd(sums + ((at + k * threads) & (4 * words - 1)), i + k);
    at += 4 * threads;
  }
}

// Four fetches an iteration from 16 KiB that are bound as a texture; `in` is the texture object.
BENCHMARK(texture_read) {
  unsigned sum = 0, at = threadIdx.x & 255;
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint4 v;
      asm volatile("tex.1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5}];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "l"(in), "r"(at + 256 * k));
      sum ^= folded(v);
    }
    at = (at + 32) & 255;
  }
  leave(out, sum);
}

// ---- Divergence and mixes --------------------------------------------------------------------------------------------------------------------

// The lanes of a warp go two ways, 64 multiply-adds each with half of the lanes.
BENCHMARK(divergent) {
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1), r = seed_of_thread(in, words, 2);
  float x[4] = {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z), __uint_as_float(p.w)};
  float y[4] = {__uint_as_float(q.x), __uint_as_float(q.y), __uint_as_float(q.z), __uint_as_float(q.w)};
  const float a[4] = {__uint_as_float(r.x), __uint_as_float(r.y), __uint_as_float(r.z), __uint_as_float(r.w)};
  const float minus[4] = {-a[0], -a[1], -a[2], -a[3]};
  const auto fma_of = [](float a, float b, float c) { return fmaf(a, b, c); };
  REPEAT(i) {
    if ((threadIdx.x + i) % 2 == 0) {
      rotate(x, y, a, minus, fma_of);
    } else {
      rotate(y, x, a, minus, fma_of);
    }
  }
  leave(out, __float_as_uint(x[0] + x[1] + x[2] + x[3] + y[0] + y[1] + y[2] + y[3]));
}

// A stream with 64 multiply-adds for every 64 bytes.
BENCHMARK(mix_fma_dram) {
  const unsigned threads = gridDim.x * blockDim.x;
  const uint4 p = seed_of_thread(in, words, 0);
  float x[4] = {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z), __uint_as_float(p.w)};
  unsigned at = thread_of_grid();
  REPEAT(i) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load_l2(in + ((at + k * threads) & (words - 1)));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float f[4] = {__uint_as_float(v[k].x), __uint_as_float(v[k].y), __uint_as_float(v[k].z), __uint_as_float(v[k].w)};
#pragma unroll
      for (int step = 0; step < 2; ++step) {
#pragma unroll
        for (int j = 0; j < 4; ++j) x[j] = fmaf(f[j], 0.25f, x[j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) x[j] = fmaf(x[j], -0.5f, f[(j + 1) % 4]);
      }
    }
    at += 4 * threads;
  }
  leave(out, __float_as_uint(x[0] + x[1] + x[2] + x[3]));
}

// Integer multiply-adds beside loads from shared memory: 32 and 16 an iteration.
BENCHMARK(mix_mad_shared) {
  __shared__ __align__(16) unsigned line[SHARED_WORDS];
  fill(line, in, words);
  const uint4 p = seed_of_thread(in, words, 0);
  unsigned x[2] = {p.x, p.y}, at = threadIdx.x % 1024;
  const unsigned a[2] = {(p.z & ~7u) | 5u, (p.w & ~7u) | 5u};
  REPEAT(i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const unsigned word = line[at + 128 * k];
      x[0] = x[0] * a[0] + word;
      x[1] = x[1] * a[1] + word;
    }
    at = (at + 32) % 1024;
  }
  leave(out, x[0] ^ x[1]);
}

// Something of everything an iteration: 16 multiply-adds, 8 of integers, 2 logarithms, 4 loads from shared memory, one of 16 bytes from the
// second level.
BENCHMARK(mix_all) {
  __shared__ __align__(16) unsigned line[SHARED_WORDS];
  fill(line, in, words);
  const unsigned threads = gridDim.x * blockDim.x;
  const uint4 p = seed_of_thread(in, words, 0), q = seed_of_thread(in, words, 1);
  float x[2] = {__uint_as_float(p.x), __uint_as_float(p.y)}, y[2] = {__uint_as_float(p.z), __uint_as_float(p.w)};
  const float a = __uint_as_float(q.x);
  unsigned n[2] = {q.y, q.z}, sum = 0, at = thread_of_grid();
  const unsigned odd = (q.w & ~7u) | 5u;
  REPEAT(i) {
    sum ^= folded(load_l2(in + (at & (words - 1))));
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      x[0] = fmaf(a, y[0], x[0]), x[1] = fmaf(a, y[1], x[1]);
      y[0] = fmaf(-a, x[0], y[0]), y[1] = fmaf(-a, x[1], y[1]);
      const unsigned word = line[(at + 128 * step) % SHARED_WORDS];
      n[0] = n[0] * odd + word, n[1] = n[1] * odd + word;
    }
    float l[2];
    asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(l[0]) : "f"(fabsf(x[0])));
    asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(l[1]) : "f"(fabsf(x[1])));
    sum ^= __float_as_uint(l[0]) ^ __float_as_uint(l[1]);
    at += threads;
  }
  leave(out, sum ^ n[0] ^ n[1] ^ __float_as_uint(x[0] + x[1] + y[0] + y[1]));
}
