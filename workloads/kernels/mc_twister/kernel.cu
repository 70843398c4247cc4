// Monte Carlo estimate of pi. Each thread owns a small twisted feedback shift register (17 words in shared
// memory, tempered like a Mersenne twister) and counts points that fall inside the quarter circle.
#include "../common/device.cuh"

extern "C" __global__ void mc_twister(const unsigned* seeds, unsigned* hits, int points) {
  __shared__ unsigned state[17][128];
  const int t = threadIdx.x;
  const int id = blockIdx.x * 128 + t;
  unsigned s = seeds[id];
  for (int k = 0; k < 17; ++k) {
    s = 1812433253u * (s ^ (s >> 30)) + k;
    state[k][t] = s;
  }
  unsigned inside = 0, x = 0;
  int k = 0;
  for (int draw = 0; draw < 2 * points; ++draw) {
    const int k1 = k == 16 ? 0 : k + 1, km = k >= 9 ? k - 9 : k + 8;
    const unsigned mixed = (state[k][t] & 0xffff0000u) | (state[k1][t] & 0x0000ffffu);
    unsigned y = state[km][t] ^ (mixed >> 1) ^ ((mixed & 1u) ? 0x9908b0dfu : 0u);
    state[k][t] = y;
    k = k1;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    y ^= y >> 18;
    if (draw & 1) {
      const unsigned a = x >> 16, b = y >> 16;
      inside += a * a + b * b < 0xfffe0001u && a * a <= 0xffffffffu - b * b ? 1u : 0u;
    } else {
      x = y;
    }
  }
  hits[id] = inside;
}
