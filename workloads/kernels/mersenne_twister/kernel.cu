// Normally distributed random numbers: every thread has its own small Mersenne twister of 19 words (Matsumoto and Nishimura,
// ACM TOMACS 8(1), 1998), its state in local memory; `twister_draw` leaves uniform numbers, `twister_normal` transforms pairs
// (Box and Muller, Ann. Math. Stat. 29, 1958).
#include "../common/device.cuh"

constexpr int WORDS = 19, MIDDLE = 9;

extern "C" __global__ void twister_draw(const unsigned* seed, const unsigned* twist, const unsigned* mask_b,
                                        const unsigned* mask_c, float* out, int draws) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const unsigned a = twist[t], b = mask_b[t], c = mask_c[t];
  unsigned state[WORDS];
  state[0] = seed[t];
#pragma unroll 1
  for (int i = 1; i < WORDS; ++i) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  int here = 0;
#pragma unroll 1
  for (int k = 0; k < draws; ++k) {
    const int next = here + 1 < WORDS ? here + 1 : 0;
    const int middle = here + MIDDLE < WORDS ? here + MIDDLE : here + MIDDLE - WORDS;
    const unsigned joined = (state[here] & ~1u) | (state[next] & 1u);
    unsigned x = state[middle] ^ (joined >> 1) ^ (joined & 1u ? a : 0u);
    state[here] = x;
    here = next;
    x ^= x >> 12;
    x ^= (x << 7) & b;
    x ^= (x << 15) & c;
    x ^= x >> 18;
    out[k * threads + t] = ((float)x + 1.0f) * 2.3283064365386963e-10f;
  }
}

extern "C" __global__ void twister_normal(float* numbers, int draws) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int k = 0; k < draws; k += 2) {
    float* first = numbers + k * threads + t;
    float* second = first + threads;
    const float radius = sqrtf(-1.3862943611f * __log2f(*first)), angle = 6.2831853072f * *second;
    *first = radius * __cosf(angle);
    *second = radius * __sinf(angle);
  }
}
