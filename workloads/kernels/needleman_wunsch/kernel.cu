// Scores of the best global alignments of all prefixes of two sequences (Needleman and Wunsch, J. Mol. Biol. 48, 1970).
// A block of 16 threads computes a tile of 16 x 16 along its anti-diagonals; a launch computes one diagonal of tiles,
// first those above the matrix's long diagonal (`nw_grow`), then those below it (`nw_shrink`).
#include "../common/device.cuh"

constexpr int TILE = 16;

__device__ __forceinline__ void align(int (&score)[TILE + 1][TILE + 1], int (&match)[TILE][TILE], int x, int y, int gap) {
  const int both = score[y - 1][x - 1] + match[y - 1][x - 1];
  score[y][x] = max(both, max(score[y][x - 1], score[y - 1][x]) - gap);
}

__device__ __forceinline__ void tile(const int* similarity, int* scores, int width, int gap, int tile_x, int tile_y) {
  __shared__ int score[TILE + 1][TILE + 1];
  __shared__ int match[TILE][TILE];
  const int t = threadIdx.x;
  const int corner = tile_y * TILE * width + tile_x * TILE;  // the element left of and above the tile
  if (t == 0) score[0][0] = scores[corner];
  score[0][t + 1] = scores[corner + t + 1];
  score[t + 1][0] = scores[corner + (t + 1) * width];
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) match[row][t] = similarity[corner + (row + 1) * width + t + 1];
  __syncthreads();
#pragma unroll 1
  for (int diagonal = 0; diagonal < TILE; ++diagonal) {
    if (t <= diagonal) align(score, match, t + 1, diagonal - t + 1, gap);
    __syncthreads();
  }
#pragma unroll 1
  for (int diagonal = TILE - 2; diagonal >= 0; --diagonal) {
    if (t <= diagonal) align(score, match, t + TILE - diagonal, TILE - t, gap);
    __syncthreads();
  }
#pragma unroll 1
  for (int row = 0; row < TILE; ++row) scores[corner + (row + 1) * width + t + 1] = score[row + 1][t + 1];
}

extern "C" __global__ void nw_grow(const int* similarity, int* scores, int width, int gap, int diagonal) {
  const int tile_x = blockIdx.x;
  tile(similarity, scores, width, gap, tile_x, diagonal - 1 - tile_x);
}

extern "C" __global__ void nw_shrink(const int* similarity, int* scores, int width, int gap, int diagonal) {
  const int tiles = (width - 1) / TILE;
  const int tile_x = tiles - diagonal + blockIdx.x;
  tile(similarity, scores, width, gap, tile_x, tiles - 1 - blockIdx.x);
}
