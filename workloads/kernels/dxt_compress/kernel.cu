// Compression of 4 x 4 pixels to two colours of 16 bits and sixteen indices of two (DXT1), by a cluster fit: pixels are put in
// order along the principal axis of their colours, and every way to cut this order into four is tried. A block of 64 threads
// takes 4 x 4 pixels.
#include "../common/device.cuh"

constexpr int PIXELS = 16, CUTS = 969, THREADS = 64, ROUNDS = 8;

struct Colour {
  float r, g, b;
};

// What a cut into four comes to.
struct Fit {
  float error;
  int cut;
  unsigned first, last;
};

__device__ __forceinline__ float dot(Colour a, Colour b) { return fmaf(a.r, b.r, fmaf(a.g, b.g, a.b * b.b)); }

// Principal axis by power iteration on the covariance.
__device__ __forceinline__ Colour principal(const Colour* colours) {
  Colour mean = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < PIXELS; ++i) mean = {mean.r + colours[i].r, mean.g + colours[i].g, mean.b + colours[i].b};
  mean = {mean.r * 0.0625f, mean.g * 0.0625f, mean.b * 0.0625f};
  Colour row0 = {0.0f, 0.0f, 0.0f}, row1 = row0, row2 = row0;
#pragma unroll 1
  for (int i = 0; i < PIXELS; ++i) {
    const Colour d = {colours[i].r - mean.r, colours[i].g - mean.g, colours[i].b - mean.b};
    row0 = {fmaf(d.r, d.r, row0.r), fmaf(d.r, d.g, row0.g), fmaf(d.r, d.b, row0.b)};
    row1 = {row0.g, fmaf(d.g, d.g, row1.g), fmaf(d.g, d.b, row1.b)};
    row2 = {row0.b, row1.b, fmaf(d.b, d.b, row2.b)};
  }
  Colour axis = {1.0f, 1.0f, 1.0f};
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) {
    const Colour next = {dot(row0, axis), dot(row1, axis), dot(row2, axis)};
    const float most = max(max(next.r, next.g), next.b);
    const float scale = 1.0f / (most == 0.0f ? 1.0f : most);
    axis = {next.r * scale, next.g * scale, next.b * scale};
  }
  return axis;
}

// A component in [0, 1] to `most` + 1 levels.
__device__ __forceinline__ int level(float x, float most) { return (int)fmaf(min(max(x, 0.0f), 1.0f), most, 0.5f); }

// Error of one component, less a constant.
__device__ __forceinline__ float deviation(float s, float e, float aa, float bb, float ab, float ax, float bx) {
  const float cross = fmaf(ab * s, e, -fmaf(ax, s, bx * e));
  return fmaf(aa * s, s, fmaf(bb * e, e, 2.0f * cross));
}

// Best ends for the cut before `i`, `j` and `k`.
__device__ __forceinline__ Fit fit(const Colour* ordered, int cut, int i, int j, int k) {
  float aa = 0.0f, bb = 0.0f, ab = 0.0f;
  Colour ax = {0.0f, 0.0f, 0.0f}, bx = ax;
#pragma unroll 1
  for (int m = 0; m < PIXELS; ++m) {
    const float alpha = m < i ? 1.0f : m < j ? 0.6666667f : m < k ? 0.33333334f : 0.0f, beta = 1.0f - alpha;
    const Colour colour = ordered[m];
    aa = fmaf(alpha, alpha, aa);
    bb = fmaf(beta, beta, bb);
    ab = fmaf(alpha, beta, ab);
    ax = {fmaf(alpha, colour.r, ax.r), fmaf(alpha, colour.g, ax.g), fmaf(alpha, colour.b, ax.b)};
    bx = {fmaf(beta, colour.r, bx.r), fmaf(beta, colour.g, bx.g), fmaf(beta, colour.b, bx.b)};
  }
  const float determinant = fmaf(aa, bb, -(ab * ab));
  if (!(determinant > 1e-4f)) return {1e30f, cut, 0, 0};
  const float f = 1.0f / determinant;
  const int r0 = level(fmaf(ax.r, bb, -(bx.r * ab)) * f, 31.0f), r1 = level(fmaf(bx.r, aa, -(ax.r * ab)) * f, 31.0f);
  const int g0 = level(fmaf(ax.g, bb, -(bx.g * ab)) * f, 63.0f), g1 = level(fmaf(bx.g, aa, -(ax.g * ab)) * f, 63.0f);
  const int b0 = level(fmaf(ax.b, bb, -(bx.b * ab)) * f, 31.0f), b1 = level(fmaf(bx.b, aa, -(ax.b * ab)) * f, 31.0f);
  const float up31 = 1.0f / 31.0f, up63 = 1.0f / 63.0f;
  const float er = deviation((float)r0 * up31, (float)r1 * up31, aa, bb, ab, ax.r, bx.r);
  const float eg = deviation((float)g0 * up63, (float)g1 * up63, aa, bb, ab, ax.g, bx.g);
  const float eb = deviation((float)b0 * up31, (float)b1 * up31, aa, bb, ab, ax.b, bx.b);
  const unsigned first = r0 << 11 | g0 << 5 | b0, last = r1 << 11 | g1 << 5 | b1;
  return {er + eg + eb, cut, first, last};
}

// The places of cut number `cut`: all 0 <= i <= j <= k <= 16 in order.
__device__ __forceinline__ void places(int cut, int& i, int& j, int& k) {
  int left = cut;
  i = 0;
#pragma unroll 1
  for (int many = 17 * 18 / 2; left >= many; many = (17 - i) * (18 - i) / 2) {
    left -= many;
    ++i;
  }
  j = i;
#pragma unroll 1
  for (int many = 17 - j; left >= many; many = 17 - j) {
    left -= many;
    ++j;
  }
  k = j + left;
}

extern "C" __global__ void dxt_compress(const unsigned* image, unsigned* out) {
  __shared__ Colour colours[PIXELS];
  __shared__ Colour ordered[PIXELS];
  __shared__ float along[PIXELS];
  __shared__ int place[PIXELS];  // of a pixel in the order
  __shared__ Colour axis;
  __shared__ float errors[THREADS];
  __shared__ int cuts[THREADS];
  const int t = threadIdx.x;
  if (t < PIXELS) {
    const unsigned pixel = image[blockIdx.x * PIXELS + t];
    const float scale = 1.0f / 255.0f;
    colours[t] = {(float)(pixel & 255u) * scale, (float)(pixel >> 8 & 255u) * scale, (float)(pixel >> 16 & 255u) * scale};
  }
  __syncthreads();
  if (t == 0) axis = principal(colours);
  __syncthreads();
  if (t < PIXELS) along[t] = dot(colours[t], axis);
  __syncthreads();
  if (t < PIXELS) {
    int before = 0;
#pragma unroll 1
    for (int i = 0; i < PIXELS; ++i) before += along[i] < along[t] || (along[i] == along[t] && i < t);
    place[t] = before;
    ordered[before] = colours[t];
  }
  __syncthreads();
  Fit best = {1e30f, CUTS, 0, 0};
#pragma unroll 1
  for (int cut = t; cut < CUTS; cut += THREADS) {
    int i, j, k;
    places(cut, i, j, k);
    const Fit other = fit(ordered, cut, i, j, k);
    if (other.error < best.error) best = other;
  }
  errors[t] = best.error;
  cuts[t] = best.cut;
  __syncthreads();
#pragma unroll 1
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      const float error = errors[t + half];
      if (error < errors[t] || (error == errors[t] && cuts[t + half] < cuts[t])) {
        errors[t] = error;
        cuts[t] = cuts[t + half];
      }
    }
    __syncthreads();
  }
  if (best.cut != cuts[0] || best.cut == CUTS) return;
  int i, j, k;
  places(best.cut, i, j, k);
  unsigned indices = 0;
#pragma unroll 1
  for (int pixel = 0; pixel < PIXELS; ++pixel) {
    const int m = place[pixel];
    const unsigned index = m < i ? 0u : m < j ? 2u : m < k ? 3u : 1u;
    indices |= index << 2 * pixel;
  }
  const bool swap = best.first < best.last;
  out[blockIdx.x * 2] = swap ? best.last | best.first << 16 : best.first | best.last << 16;
  out[blockIdx.x * 2 + 1] = swap ? indices ^ 0x55555555u : indices;
}
