// Breadth-first search of a graph in compressed rows, one level a round: `bfs_visit` follows the edges of the frontier,
// `bfs_advance` makes what it found the next frontier and says whether there is one.
#include "../common/device.cuh"

extern "C" __global__ void bfs_visit(const int* row_start, const int* edge, unsigned char* frontier,
                                     unsigned char* found, const unsigned char* visited, int* level, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < nodes && frontier[node]) {
    frontier[node] = 0;
    const int end = row_start[node + 1];
#pragma unroll 1
    for (int k = row_start[node]; k < end; ++k) {
      const int neighbour = edge[k];
      if (!visited[neighbour]) {
        level[neighbour] = level[node] + 1;
        found[neighbour] = 1;
      }
    }
  }
}

extern "C" __global__ void bfs_advance(unsigned char* frontier, unsigned char* found, unsigned char* visited,
                                       unsigned char* over, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < nodes && found[node]) {
    frontier[node] = 1;
    visited[node] = 1;
    found[node] = 0;
    *over = 1;
  }
}
