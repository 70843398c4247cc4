// Tracking of points on a heart's wall through the frames of an ultrasound film (after Szafaryn et al., 2009): a block looks
// for the place near a point's last one where the image correlates best with the point's template, then moves the point there
// and the template a tenth of the way to what it found.
#include "../common/device.cuh"

constexpr int SIDE = 5, SEARCH = 21, OFFSETS = SEARCH * SEARCH, THREADS = 512;

__device__ __forceinline__ float pixel(const float* frame, int width, int height, int x, int y) {
  return frame[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}

extern "C" __global__ void heart_wall(const float* film, float* patterns, int* column, int* row, float* score, int width,
                                      int height, int first) {
  __shared__ float pattern[SIDE * SIDE];
  __shared__ float values[THREADS];
  __shared__ int places[THREADS];
  const int t = threadIdx.x, point = blockIdx.x;
  const float* frame = film + first;
  if (t < SIDE * SIDE) pattern[t] = patterns[point * SIDE * SIDE + t];
  const int x0 = column[point] - SEARCH / 2 - SIDE / 2, y0 = row[point] - SEARCH / 2 - SIDE / 2;
  __syncthreads();
  float value = -1e30f;
  if (t < OFFSETS) {
    const int x = x0 + t % SEARCH, y = y0 + t / SEARCH;
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
  places[t] = t;
  __syncthreads();
#pragma unroll 1
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      const float other = values[t + half];
      if (other > values[t] || (other == values[t] && places[t + half] < places[t])) {
        values[t] = other;
        places[t] = places[t + half];
      }
    }
    __syncthreads();
  }
  const int x = x0 + places[0] % SEARCH, y = y0 + places[0] / SEARCH;
  if (t < SIDE * SIDE) {
    const float seen = pixel(frame, width, height, x + t % SIDE, y + t / SIDE);
    patterns[point * SIDE * SIDE + t] = fmaf(0.9f, pattern[t], 0.1f * seen);
  }
  if (t == 0) {
    column[point] = x + SIDE / 2;
    row[point] = y + SIDE / 2;
    score[point] = values[0];
  }
}
