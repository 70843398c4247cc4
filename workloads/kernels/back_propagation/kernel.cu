// One layer of a neural network with 16 hidden units in both directions: `layer_forward` sums weighted inputs, a block
// taking 16 inputs; `adjust_weights` moves the weights along the gradient, with momentum.
#include "../common/device.cuh"

constexpr int UNITS = 16, INPUTS = 16;

extern "C" __global__ void layer_forward(const float* input, const float* weights, float* partial) {
  __shared__ float node[INPUTS];
  __shared__ float product[INPUTS][UNITS];
  const int unit = threadIdx.x, row = threadIdx.y;
  const int first = blockIdx.y * INPUTS;
  if (unit == 0) node[row] = input[first + row];
  __syncthreads();
  product[row][unit] = weights[(first + row) * UNITS + unit] * node[row];
  __syncthreads();
#pragma unroll 1
  for (int distance = 1; distance < INPUTS; distance *= 2) {
    if (row % (2 * distance) == 0) product[row][unit] += product[row + distance][unit];
    __syncthreads();
  }
  if (row == 0) partial[blockIdx.y * UNITS + unit] = product[0][unit];
}

extern "C" __global__ void adjust_weights(const float* delta, const float* input, float* weights, float* change,
                                          float rate, float momentum) {
  const int unit = threadIdx.x, row = blockIdx.y * INPUTS + threadIdx.y;
  const int position = row * UNITS + unit;
  const float step = fmaf(rate * delta[unit], input[row], momentum * change[position]);
  weights[position] += step;
  change[position] = step;
}
