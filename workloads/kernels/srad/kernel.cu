// Speckle-reducing anisotropic diffusion of an image (Yu and Acton, IEEE Trans. Image Processing 11, 2002): `srad_coefficient`
// computes the diffusion coefficient of every pixel, `srad_diffuse` applies it. Tiles of 16 x 16 in shared memory.
#include "../common/device.cuh"

constexpr int TILE = 16;

// A tile with its neighbours to the north, west, south and east; the image's edge is mirrored.
struct Tile {
  float value[TILE + 2][TILE + 2];
};

__device__ __forceinline__ void load(Tile& tile, const float* image, int width, int height, int x, int y, int tx, int ty) {
  tile.value[ty + 1][tx + 1] = image[y * width + x];
  if (tx == 0) tile.value[ty + 1][0] = image[y * width + max(x - 1, 0)];
  if (tx == TILE - 1) tile.value[ty + 1][TILE + 1] = image[y * width + min(x + 1, width - 1)];
  if (ty == 0) tile.value[0][tx + 1] = image[max(y - 1, 0) * width + x];
  if (ty == TILE - 1) tile.value[TILE + 1][tx + 1] = image[min(y + 1, height - 1) * width + x];
}

extern "C" __global__ void srad_coefficient(const float* image, float* coefficient, int width, int height, float speckle) {
  __shared__ Tile tile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  load(tile, image, width, height, x, y, tx, ty);
  __syncthreads();
  const float here = tile.value[ty + 1][tx + 1];
  const float north = tile.value[ty][tx + 1] - here, south = tile.value[ty + 2][tx + 1] - here;
  const float west = tile.value[ty + 1][tx] - here, east = tile.value[ty + 1][tx + 2] - here;
  const float squares = fmaf(north, north, fmaf(south, south, fmaf(west, west, east * east)));
  const float gradient = squares / (here * here);
  const float laplacian = ((north + south) + (west + east)) / here;
  const float numerator = fmaf(0.5f, gradient, -0.0625f * (laplacian * laplacian));
  const float spread = fmaf(0.25f, laplacian, 1.0f);
  const float variation = numerator / (spread * spread);
  const float excess = (variation - speckle) / (speckle * (1.0f + speckle));
  coefficient[y * width + x] = min(max(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

extern "C" __global__ void srad_diffuse(const float* image, const float* coefficient, float* next, int width, int height, float rate) {
  __shared__ Tile tile;
  __shared__ Tile weight;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  load(tile, image, width, height, x, y, tx, ty);
  load(weight, coefficient, width, height, x, y, tx, ty);
  __syncthreads();
  const float here = tile.value[ty + 1][tx + 1];
  const float own = weight.value[ty + 1][tx + 1];
  float flow = own * (tile.value[ty][tx + 1] - here);
  flow = fmaf(weight.value[ty + 2][tx + 1], tile.value[ty + 2][tx + 1] - here, flow);
  flow = fmaf(own, tile.value[ty + 1][tx] - here, flow);
  flow = fmaf(weight.value[ty + 1][tx + 2], tile.value[ty + 1][tx + 2] - here, flow);
  next[y * width + x] = fmaf(0.25f * rate, flow, here);
}
