// A convolutional network for handwritten digits of 29 x 29 pixels (after Simard, Steinkraus, Platt, ICDAR 2003): two layers
// of 5 x 5 convolutions with stride 2, two fully connected layers. blockIdx.y is the image; weights begin with the bias.
#include "../common/device.cuh"

constexpr int SIDE0 = 29, SIDE1 = 13, SIDE2 = 5, WINDOW = 5, MAPS1 = 6;

// 1.7159 tanh(2x / 3), from 2^x.
__device__ __forceinline__ float squash(float x) {
  const float e = exp2f(x * 1.9235933879f);
  return fmaf(-2.0f * 1.7159f, 1.0f / (e + 1.0f), 1.7159f);
}

__device__ __forceinline__ float window(const float* map, const float* weights, int side, int x, int y, float sum) {
#pragma unroll 1
  for (int row = 0; row < WINDOW; ++row)
#pragma unroll
    for (int column = 0; column < WINDOW; ++column)
      sum = fmaf(weights[row * WINDOW + column], map[(2 * y + row) * side + 2 * x + column], sum);
  return sum;
}

extern "C" __global__ void nn_first(const float* images, const float* weights, float* out) {
  const int map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
  const float* own = weights + map * (WINDOW * WINDOW + 1);
  const float sum = window(images + image * SIDE0 * SIDE0, own + 1, SIDE0, x, y, own[0]);
  out[((image * MAPS1 + map) * SIDE1 + y) * SIDE1 + x] = squash(sum);
}

extern "C" __global__ void nn_second(const float* in, const float* weights, float* out) {
  const int map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
  const float* own = weights + map * (MAPS1 * WINDOW * WINDOW + 1);
  float sum = own[0];
#pragma unroll 1
  for (int k = 0; k < MAPS1; ++k)
    sum = window(in + (image * MAPS1 + k) * SIDE1 * SIDE1, own + 1 + k * WINDOW * WINDOW, SIDE1, x, y, sum);
  out[((image * gridDim.x + map) * SIDE2 + y) * SIDE2 + x] = squash(sum);
}

// A fully connected layer: a block of one thread is a neuron.
extern "C" __global__ void nn_full(const float* in, const float* weights, float* out, int inputs) {
  const int neuron = blockIdx.x, image = blockIdx.y;
  const float* own = weights + neuron * (inputs + 1);
  float sum = own[0];
#pragma unroll 1
  for (int k = 0; k < inputs; ++k) sum = fmaf(own[k + 1], in[image * inputs + k], sum);
  out[image * gridDim.x + neuron] = squash(sum);
}
