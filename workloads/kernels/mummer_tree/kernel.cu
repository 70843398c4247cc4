// Longest matches of reads in a reference text by its suffix tree (after Schatz et al., BMC Bioinformatics 8:474, 2007): a
// thread takes one read and, from each of its positions, walks down the tree for as long as letters agree.
#include "../common/device.cuh"

// A node: four children by letter (0: none), start and length of the edge that leads to it.
constexpr int NODE = 8, START = 4, LENGTH = 5;

extern "C" __global__ void mummer_tree(const int* tree, const unsigned char* text, const unsigned char* reads, int* length,
                                       int* position, int count, int letters, int least) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned char* read = reads + i * letters;
  const int starts = letters - least + 1;
#pragma unroll 1
  for (int start = 0; start < starts; ++start) {
    int node = 0, here = 0, left = 0, at = start;
#pragma unroll 1
    while (at < letters) {
      const int letter = read[at];
      if (left == 0) {
        node = tree[node * NODE + letter];
        if (node == 0) break;
        here = tree[node * NODE + START];
        left = tree[node * NODE + LENGTH];
      }
      if (text[here] != letter) break;
      ++here;
      --left;
      ++at;
    }
    length[i * starts + start] = at - start;
    position[i * starts + start] = here - (at - start);
  }
}
