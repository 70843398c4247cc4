// Ways of completing placements of queens. A thread takes one placement on the first rows of the board and counts its
// completions by backtracking; its stack of bit masks lies in shared memory. `n_queens` leaves what each thread found,
// `n_queens_block` the sum of each block.
#include "../common/device.cuh"

constexpr int THREADS = 96, DEPTH = 10;

extern "C" __global__ void n_queens(const unsigned* columns, const unsigned* left, const unsigned* right,
                                    unsigned* solutions, int placements, int board) {
  __shared__ unsigned taken[DEPTH][THREADS];      // columns with a queen
  __shared__ unsigned leftward[DEPTH][THREADS];   // columns attacked along one diagonal
  __shared__ unsigned rightward[DEPTH][THREADS];  // and along the other
  __shared__ unsigned open[DEPTH][THREADS];       // columns not tried yet
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  const unsigned full = (1u << board) - 1u;
  unsigned count = 0;
  if (i < placements) {
    unsigned c = columns[i], l = left[i], r = right[i];
    taken[0][t] = c;
    leftward[0][t] = l;
    rightward[0][t] = r;
    open[0][t] = full & ~(c | l | r);
    int depth = 0;
#pragma unroll 1
    while (depth >= 0) {
      const unsigned choices = open[depth][t];
      if (choices == 0) {
        --depth;
        continue;
      }
      const unsigned queen = choices & (0u - choices);
      open[depth][t] = choices ^ queen;
      c = taken[depth][t] | queen;
      if (c == full) {
        ++count;
        continue;
      }
      l = (leftward[depth][t] | queen) << 1;
      r = (rightward[depth][t] | queen) >> 1;
      ++depth;
      taken[depth][t] = c;
      leftward[depth][t] = l;
      rightward[depth][t] = r;
      open[depth][t] = full & ~(c | l | r);
    }
  }
  solutions[i] = count;
}

// The sum over the first `size` threads, halved until one is left; all threads come to every barrier.
template <int HALF>
__device__ __forceinline__ void halve(unsigned (&found)[THREADS], int t) {
  if (t < HALF && t + HALF < THREADS) found[t] += found[t + HALF];
  __syncthreads();
  if constexpr (HALF > 1) halve<HALF / 2>(found, t);
}

extern "C" __global__ void n_queens_block(const unsigned* columns, const unsigned* left, const unsigned* right,
                                          unsigned* solutions, int placements, int board) {
  __shared__ unsigned taken[DEPTH][THREADS];
  __shared__ unsigned leftward[DEPTH][THREADS];
  __shared__ unsigned rightward[DEPTH][THREADS];
  __shared__ unsigned open[DEPTH][THREADS];
  __shared__ unsigned found[THREADS];
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  const unsigned full = (1u << board) - 1u;
  unsigned count = 0;
  if (i < placements) {
    unsigned c = columns[i], l = left[i], r = right[i];
    taken[0][t] = c;
    leftward[0][t] = l;
    rightward[0][t] = r;
    open[0][t] = full & ~(c | l | r);
    int depth = 0;
#pragma unroll 1
    while (depth >= 0) {
      const unsigned choices = open[depth][t];
      if (choices == 0) {
        --depth;
        continue;
      }
      const unsigned queen = choices & (0u - choices);
      open[depth][t] = choices ^ queen;
      c = taken[depth][t] | queen;
      if (c == full) {
        ++count;
        continue;
      }
      l = (leftward[depth][t] | queen) << 1;
      r = (rightward[depth][t] | queen) >> 1;
      ++depth;
      taken[depth][t] = c;
      leftward[depth][t] = l;
      rightward[depth][t] = r;
      open[depth][t] = full & ~(c | l | r);
    }
  }
  found[t] = count;
  __syncthreads();
  halve<64>(found, t);
  if (t == 0) solutions[blockIdx.x] = found[0];
}
