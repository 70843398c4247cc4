// Dyadic convolution of two signals by fast Walsh-Hadamard transforms (Fino and Algazi, IEEE Trans. Computers C-25, 1976):
// `walsh_pass` does two butterfly stages over global memory, `walsh_block` the last eleven in shared memory, and
// `walsh_multiply` multiplies the spectra.
#include "../common/device.cuh"

constexpr int BLOCK = 2048, THREADS = 512;

// Two stages: distances 2 * stride and stride, for the four elements that both connect.
__device__ __forceinline__ void butterfly(float* data, int first, int stride) {
  const float a = data[first], b = data[first + stride], c = data[first + 2 * stride], d = data[first + 3 * stride];
  const float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
  data[first] = ac + bd;
  data[first + stride] = ac - bd;
  data[first + 2 * stride] = a_c + b_d;
  data[first + 3 * stride] = a_c - b_d;
}

extern "C" __global__ void walsh_pass(float* data, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = i & (stride - 1);
  butterfly(data, (i - low) * 4 + low, stride);
}

extern "C" __global__ void walsh_block(float* data) {
  __shared__ float part[BLOCK];
  const int t = threadIdx.x;
  float* base = data + blockIdx.x * BLOCK;
#pragma unroll
  for (int k = 0; k < BLOCK / THREADS; ++k) part[t + k * THREADS] = base[t + k * THREADS];
  __syncthreads();
#pragma unroll 1
  for (int stride = BLOCK / 4; stride >= 2; stride /= 4) {
    const int low = t & (stride - 1);
    butterfly(part, (t - low) * 4 + low, stride);
    __syncthreads();
  }
  // Eleven stages are odd in number: the last has distance one.
#pragma unroll
  for (int k = 0; k < BLOCK / 2; k += THREADS) {
    const int first = 2 * (t + k);
    const float a = part[first], b = part[first + 1];
    part[first] = a + b;
    part[first + 1] = a - b;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < BLOCK / THREADS; ++k) base[t + k * THREADS] = part[t + k * THREADS];
}

extern "C" __global__ void walsh_multiply(float* spectrum, const float* other, float scale, int count) {
  const int threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
    spectrum[i] = spectrum[i] * (other[i] * scale);
}
