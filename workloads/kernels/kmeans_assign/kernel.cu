// Assignment step of k-means: nearest of 16 centroids in 8 dimensions, points stored dimension by dimension.
#include "../common/device.cuh"

extern "C" __global__ void kmeans_assign(const float* points, const float* centroids, int* member, int n) {
  __shared__ float centre[16][8];
  const int t = threadIdx.x;
  if (t < 128) centre[t / 8][t % 8] = centroids[t];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + t;
  if (i >= n) return;
  float p[8];
  for (int d = 0; d < 8; ++d) p[d] = points[d * n + i];
  int best = 0;
  float best_distance = 3.0e38f;
  for (int k = 0; k < 16; ++k) {
    float distance = 0.0f;
    for (int d = 0; d < 8; ++d) {
      const float delta = p[d] - centre[k][d];
      distance = fmaf(delta, delta, distance);
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = k;
    }
  }
  member[i] = best;
}
