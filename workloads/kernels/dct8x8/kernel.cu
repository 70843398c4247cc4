// Discrete cosine transform (type II, orthonormal) of an image in blocks of 8 x 8, a thread a coefficient: C X, then (C X) C',
// with C in constant memory (Ahmed, Natarajan, Rao, IEEE Trans. Computers C-23, 1974).
#include "../common/device.cuh"

constexpr int SIDE = 8;

__constant__ float cosines[SIDE][SIDE] = {
  {0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f},
  {0.49039264f, 0.415734806f, 0.277785117f, 0.097545161f, -0.097545161f, -0.277785117f, -0.415734806f, -0.49039264f},
  {0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f, 0.461939766f},
  {0.415734806f, -0.097545161f, -0.49039264f, -0.277785117f, 0.277785117f, 0.49039264f, 0.097545161f, -0.415734806f},
  {0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f},
  {0.277785117f, -0.49039264f, 0.097545161f, 0.415734806f, -0.415734806f, -0.097545161f, 0.49039264f, -0.277785117f},
  {0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f, 0.191341716f},
  {0.097545161f, -0.277785117f, 0.415734806f, -0.49039264f, 0.49039264f, -0.415734806f, 0.277785117f, -0.097545161f},
};

extern "C" __global__ void dct8x8(const float* in, float* out, int width) {
  __shared__ float pixels[SIDE][SIDE];
  __shared__ float half[SIDE][SIDE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int place = (blockIdx.y * SIDE + ty) * width + blockIdx.x * SIDE + tx;
  pixels[ty][tx] = in[place];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < SIDE; ++k) sum = fmaf(cosines[ty][k], pixels[k][tx], sum);
  half[ty][tx] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int k = 0; k < SIDE; ++k) sum = fmaf(half[ty][k], cosines[tx][k], sum);
  out[place] = sum;
}
