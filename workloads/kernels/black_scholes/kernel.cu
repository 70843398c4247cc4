// European call and put prices from the Black-Scholes formula: exp, log, sqrt and division per option.
#include "../common/device.cuh"

__device__ __forceinline__ float normal_cdf(float d) {
  // Rational approximation of the cumulative normal distribution (Abramowitz and Stegun, 26.2.17).
  const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
  float poly = fmaf(k, 1.330274429f, -1.821255978f);
  poly = fmaf(k, poly, 1.781477937f);
  poly = fmaf(k, poly, -0.356563782f);
  poly = fmaf(k, poly, 0.319381530f);
  const float tail = 0.39894228f * expf(-0.5f * d * d) * k * poly;
  return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float* spot, const float* strike, const float* years, float* call, float* put,
                                         float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = spot[i], x = strike[i], t = years[i];
  const float spread = volatility * sqrtf(t);
  const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
  const float c1 = normal_cdf(d1), c2 = normal_cdf(d1 - spread);
  const float discounted = x * expf(-rate * t);
  call[i] = s * c1 - discounted * c2;
  put[i] = discounted * (1.0f - c2) - s * (1.0f - c1);
}
