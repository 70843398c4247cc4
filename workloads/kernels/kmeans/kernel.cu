// k-means clustering (Lloyd, IEEE Trans. Inf. Theory 28(2), 1982) of points stored dimension by dimension: `kmeans_nearest`
// finds every point's nearest centre, `kmeans_centre` (a block a centre and dimension) moves the centres to the means.
#include "../common/device.cuh"

constexpr int THREADS = 256;

extern "C" __global__ void kmeans_nearest(const float* points, const float* centres, int* member, int count, int clusters,
                                          int dimensions) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int best = 0;
  float least = 3.0e38f;
#pragma unroll 1
  for (int k = 0; k < clusters; ++k) {
    float distance = 0.0f;
#pragma unroll 1
    for (int d = 0; d < dimensions; ++d) {
      const float delta = points[d * count + i] - centres[k * dimensions + d];
      distance = fmaf(delta, delta, distance);
    }
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  member[i] = best;
}

extern "C" __global__ void kmeans_centre(const float* points, float* centres, const int* member, int count) {
  __shared__ float sums[THREADS];
  __shared__ int members[THREADS];
  const int t = threadIdx.x, cluster = blockIdx.x, dimension = blockIdx.y;
  float sum = 0.0f;
  int many = 0;
#pragma unroll 1
  for (int i = t; i < count; i += THREADS)
    if (member[i] == cluster) {
      sum += points[dimension * count + i];
      ++many;
    }
  sums[t] = sum;
  members[t] = many;
  __syncthreads();
#pragma unroll 1
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      sums[t] += sums[t + half];
      members[t] += members[t + half];
    }
    __syncthreads();
  }
  if (t == 0 && members[0] > 0) centres[cluster * gridDim.y + dimension] = sums[0] / (float)members[0];
}
