// Tracking of points on a heart's wall through the frames of an ultrasound film (after Szafaryn et al., 2009): in
// `heart_wall` a block looks for the place near a point's last one where the image correlates best with the point's pattern, and
// moves the point there; `heart_adapt` moves the pattern a tenth of the way to what is seen there.
#include "../common/device.cuh"

constexpr int SIDE = 5, SEARCH = 21, OFFSETS = SEARCH * SEARCH, THREADS = 512, REACH = SEARCH / 2 + SIDE / 2;

struct __attribute__((aligned(8))) Place {
  int x, y;
};

__device__ __forceinline__ float pixel(const float* frame, int width, int height, int x, int y) {
  return frame[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}

extern "C" __global__ void heart_wall(const float* film, const float* patterns, Place* places, float* score, int width,
                                      int height, int first) {
  __shared__ float pattern[SIDE * SIDE];
  __shared__ float values[THREADS];
  __shared__ int best[THREADS];
  const int t = threadIdx.x, point = blockIdx.x;
  const float* frame = film + first;
  if (t < SIDE * SIDE) pattern[t] = patterns[point * SIDE * SIDE + t];
  __syncthreads();
  float value = -1e30f;
  if (t < OFFSETS) {
    const Place last = places[point];
    const int x = last.x - REACH + t % SEARCH, y = last.y - REACH + t / SEARCH;
    float sum = 0.0f, squares = 0.0f, expected = 0.0f, common = 0.0f;
#pragma unroll 1
    for (int j = 0; j < SIDE; ++j)
#pragma unroll 1
      for (int i = 0; i < SIDE; ++i) {
        const float seen = pixel(frame, width, height, x + i, y + j), wanted = pattern[j * SIDE + i];
        sum += seen;
        squares = fmaf(seen, seen, squares);
        expected += wanted;
        common = fmaf(seen, wanted, common);
      }
    const float count = SIDE * SIDE;
    const float spread = fmaf(count, squares, -(sum * sum)) + 0.001f;
    value = fmaf(count, common, -(sum * expected)) / sqrtf(spread);
  }
  values[t] = value;
  best[t] = t;
  __syncthreads();
#pragma unroll 1
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      const float other = values[t + half];
      if (other > values[t] || (other == values[t] && best[t + half] < best[t])) {
        values[t] = other;
        best[t] = best[t + half];
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    const Place last = places[point];
    places[point] = {last.x - SEARCH / 2 + best[0] % SEARCH, last.y - SEARCH / 2 + best[0] / SEARCH};
    score[point] = values[0];
  }
}

extern "C" __global__ void heart_adapt(const float* film, float* patterns, const Place* places, int width, int height, int first) {
  const int t = threadIdx.x, point = blockIdx.x;
  if (t >= SIDE * SIDE) return;
  const Place place = places[point];
  const float seen = pixel(film + first, width, height, place.x - SIDE / 2 + t % SIDE, place.y - SIDE / 2 + t / SIDE);
  float* pattern = patterns + point * SIDE * SIDE + t;
  *pattern = fmaf(0.9f, *pattern, 0.1f * seen);
}
