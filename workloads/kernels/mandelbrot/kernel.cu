// Escape times of the Mandelbrot iteration: neighbouring threads leave the loop at very different times.
#include "../common/device.cuh"

extern "C" __global__ void mandelbrot(int* escape, int width, int height, float x0, float y0, float step, int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cr = fmaf((float)px, step, x0), ci = fmaf((float)py, step, y0);
  float zr = 0.0f, zi = 0.0f;
  int n = 0;
  while (n < limit) {
    const float rr = zr * zr, ii = zi * zi;
    if (rr + ii > 4.0f) break;
    zi = fmaf(2.0f * zr, zi, ci);
    zr = (rr - ii) + cr;
    ++n;
  }
  escape[py * width + px] = n;
}
