// One explicit step of heat flow on a chip floorplan (5-point stencil plus a power map), tile in shared memory.
#include "../common/device.cuh"

extern "C" __global__ void stencil5(const float* temp, const float* power, float* next, int width, int height, float spread,
                                    float heat, float sink, float ambient) {
  __shared__ float tile[18][18];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  tile[ty + 1][tx + 1] = temp[y * width + x];
  if (tx == 0) tile[ty + 1][0] = temp[y * width + max(x - 1, 0)];
  if (tx == 15) tile[ty + 1][17] = temp[y * width + min(x + 1, width - 1)];
  if (ty == 0) tile[0][tx + 1] = temp[max(y - 1, 0) * width + x];
  if (ty == 15) tile[17][tx + 1] = temp[min(y + 1, height - 1) * width + x];
  __syncthreads();
  const float here = tile[ty + 1][tx + 1];
  const float around = (tile[ty][tx + 1] + tile[ty + 2][tx + 1]) + (tile[ty + 1][tx] + tile[ty + 1][tx + 2]);
  float value = fmaf(spread, fmaf(-4.0f, here, around), here);
  value = fmaf(heat, power[y * width + x], value);
  next[y * width + x] = fmaf(sink, ambient - here, value);
}
