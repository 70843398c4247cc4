// One Jacobi iteration of Laplace's equation on a box. A block holds three planes of its column of the box in shared memory
// and walks through it along z; points on the box's faces keep their values.
#include "../common/device.cuh"

constexpr int WIDTH = 32, HEIGHT = 4;

extern "C" __global__ void laplace3d(const float* before, float* after, int nx, int ny, int nz) {
  __shared__ float plane[3][HEIGHT + 2][WIDTH + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
  const bool inside = x < nx && y < ny;
  const bool on_face = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;
  int below = 0, here = 1, above = 2;
#pragma unroll 1
  for (int z = -1; z < nz; ++z) {
    // Plane z + 1 enters, with its halo.
    if (inside && z + 1 < nz) {
      const float* source = before + (z + 1) * ny * nx + y * nx + x;
      plane[above][ty][tx] = source[0];
      if (tx == 1 && x > 0) plane[above][ty][0] = source[-1];
      if (tx == WIDTH && x < nx - 1) plane[above][ty][WIDTH + 1] = source[1];
      if (ty == 1 && y > 0) plane[above][0][tx] = source[-nx];
      if (ty == HEIGHT && y < ny - 1) plane[above][HEIGHT + 1][tx] = source[nx];
    }
    __syncthreads();
    if (inside && z >= 0) {
      float value = plane[here][ty][tx];
      if (!on_face && z > 0 && z < nz - 1) {
        const float sides = (plane[here][ty][tx - 1] + plane[here][ty][tx + 1]) +
                            (plane[here][ty - 1][tx] + plane[here][ty + 1][tx]);
        value = (sides + (plane[below][ty][tx] + plane[above][ty][tx])) * (1.0f / 6.0f);
      }
      after[z * ny * nx + y * nx + x] = value;
    }
    __syncthreads();
    const int oldest = below;
    below = here;
    here = above;
    above = oldest;
  }
}
