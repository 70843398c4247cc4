// Electrostatic potential of point charges on a plane of a lattice, summed directly; a thread computes one lattice point.
#include "../common/device.cuh"

extern "C" __global__ void coulombic(const float4* atoms, float* energy, int count, float spacing) {
  // An atom is its x and y, the square of its distance from the plane, and its charge.
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const float x = spacing * (float)column, y = spacing * (float)row;
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const float4 atom = atoms[i];
    const float dx = x - atom.x, dy = y - atom.y;
    sum = fmaf(atom.w, rsqrtf(fmaf(dx, dx, fmaf(dy, dy, atom.z))), sum);
  }
  energy[row * (gridDim.x * blockDim.x) + column] = sum;
}
