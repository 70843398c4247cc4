// Monte Carlo in the LIBOR market model (Brace, Gatarek, Musiela, Math. Finance 7(2), 1997): a thread follows one path of all
// forward rates, held in local memory, and values a portfolio of fifteen swaptions on it.
#include "../common/device.cuh"

constexpr int RATES = 80, SWAPTIONS = 15;
constexpr float DELTA = 0.25f, LOG2_E = 1.44269504f;

// Rates after `steps` time steps. `sigma` falls with the distance of a rate from the present.
__device__ __forceinline__ void follow(float* rate, const float* sigma, const float* shocks, int rates, int steps, int threads, int t) {
#pragma unroll 1
  for (int n = 0; n < steps; ++n) {
    const float shock = 0.5f * shocks[n * threads + t];  // times the square root of DELTA
    float drift = 0.0f;
#pragma unroll 1
    for (int i = n + 1; i < rates; ++i) {
      const float level = sigma[i - n - 1], change = DELTA * level;
      drift += change * rate[i] / fmaf(DELTA, rate[i], 1.0f);
      const float exponent = fmaf(change, drift - 0.5f * level, level * shock);
      rate[i] *= exp2f(exponent * LOG2_E);
    }
  }
}

// Discounted payoff of the portfolio.
__device__ __forceinline__ float portfolio(const float* rate, const int* maturity, const float* swap_rate, int rates, int steps) {
  float bond[RATES], annuity[RATES];
  float b = 1.0f, s = 0.0f;
#pragma unroll 1
  for (int n = steps; n < rates; ++n) {
    b /= fmaf(DELTA, rate[n], 1.0f);
    s = fmaf(DELTA, b, s);
    bond[n] = b;
    annuity[n] = s;
  }
  float value = 0.0f;
#pragma unroll 1
  for (int k = 0; k < SWAPTIONS; ++k) {
    const int last = maturity[k] + steps - 1;
    const float payoff = fmaf(swap_rate[k], annuity[last], bond[last]) - 1.0f;
    if (payoff < 0.0f) value = fmaf(-100.0f, payoff, value);
  }
#pragma unroll 1
  for (int n = 0; n < steps; ++n) value /= fmaf(DELTA, rate[n], 1.0f);
  return value;
}

extern "C" __global__ void libor(const float* initial, const float* sigma, const float* shocks, const int* maturity,
                                 const float* swap_rate, float* value, int rates, int steps) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float rate[RATES];
#pragma unroll 1
  for (int i = 0; i < rates; ++i) rate[i] = initial[i];
  follow(rate, sigma, shocks, rates, steps, threads, t);
  value[t] = portfolio(rate, maturity, swap_rate, rates, steps);
}
