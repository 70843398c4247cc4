// Heat flow on a chip: several explicit time steps of a 5-point stencil a launch. A block of 16 x 16 threads reads its tile
// with a halo as wide as there are steps; every step the part that is still right shrinks by one cell on each side.
#include "../common/device.cuh"

constexpr int TILE = 16;

extern "C" __global__ void hotspot(const float* power, const float* temperature, float* next, int columns, int rows,
                                   int steps, float by_rx, float by_ry, float by_rz, float step_by_capacity) {
  __shared__ float here[TILE][TILE];
  __shared__ float heat[TILE][TILE];
  __shared__ float later[TILE][TILE];
  const float ambient = 80.0f;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int inner = TILE - 2 * steps;
  const int x = blockIdx.x * inner - steps + tx, y = blockIdx.y * inner - steps + ty;
  const bool on_chip = x >= 0 && x < columns && y >= 0 && y < rows;
  const int cell = y * columns + x;
  if (on_chip) {
    here[ty][tx] = temperature[cell];
    heat[ty][tx] = power[cell];
  }
  __syncthreads();
  // No heat leaves through the chip's edge: a cell there is its own neighbour.
  const int west = x > 0 ? tx - 1 : tx, east = x < columns - 1 ? tx + 1 : tx;
  const int north = y > 0 ? ty - 1 : ty, south = y < rows - 1 ? ty + 1 : ty;
  bool valid = false;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    valid = on_chip && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
    if (valid) {
      const float t = here[ty][tx];
      float flow = heat[ty][tx];
      flow = fmaf(fmaf(-2.0f, t, here[south][tx] + here[north][tx]), by_ry, flow);
      flow = fmaf(fmaf(-2.0f, t, here[ty][east] + here[ty][west]), by_rx, flow);
      flow = fmaf(ambient - t, by_rz, flow);
      later[ty][tx] = fmaf(step_by_capacity, flow, t);
    }
    __syncthreads();
    if (step == steps - 1) break;
    if (valid) here[ty][tx] = later[ty][tx];
    __syncthreads();
  }
  if (valid) next[cell] = later[ty][tx];
}
