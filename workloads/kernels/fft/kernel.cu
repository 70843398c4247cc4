// Fourier transforms of the rows of a complex matrix, one block a row, by Cooley and Tukey's butterflies (Math. Comput. 19, 1965)
// in shared memory. Results are written transposed: two launches transform rows and columns.
#include "../common/device.cuh"

constexpr int LONGEST = 256;

struct __attribute__((aligned(8))) Complex {
  float re, im;
};

extern "C" __global__ void fft(const Complex* in, Complex* out, int log2_length) {
  __shared__ float re[LONGEST];
  __shared__ float im[LONGEST];
  const int t = threadIdx.x, half = blockDim.x, length = 2 * half, row = blockIdx.x;
  for (int i = t; i < length; i += half) {
    const Complex value = in[row * length + i];
    const int place = __brev(i) >> (32 - log2_length);
    re[place] = value.re;
    im[place] = value.im;
  }
  __syncthreads();
#pragma unroll 1
  for (int span = 1; span < length; span *= 2) {
    const int low = t & (span - 1), one = 2 * t - low, other = one + span;
    const float angle = -3.14159265358979f * ((float)low / (float)span);
    const float c = __cosf(angle), s = __sinf(angle);
    const float x = fmaf(c, re[other], -(s * im[other])), y = fmaf(c, im[other], s * re[other]);
    const float a = re[one], b = im[one];
    re[one] = a + x;
    im[one] = b + y;
    re[other] = a - x;
    im[other] = b - y;
    __syncthreads();
  }
  for (int i = t; i < length; i += half) out[i * gridDim.x + row] = {re[i], im[i]};
}
