// What every part of the runner needs of the device: checked calls, memory, and data to compute on.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECKED(call)                                                                                    \
  do {                                                                                                   \
    const cudaError_t checked = (call);                                                                  \
    if (checked != cudaSuccess) {                                                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(checked));   \
      std::exit(3);                                                                                      \
    }                                                                                                    \
  } while (0)

// What the bits of data stand for. Values decide what toggles, and with it a good part of the power.
enum class Data {
  zeros,
  bits,      // any word
  floats,    // [0.25, 1.25)
  halves,    // pairs of f16, [0.25, 1)
  brains,    // pairs of bf16 of both signs, 0.25 to 1
  rising,    // 0, 1, 2 ...
};

__device__ __forceinline__ unsigned hashed(unsigned x, unsigned seed) {
  x += seed * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

__device__ __forceinline__ unsigned word_of(Data data, unsigned place, unsigned seed) {
  const unsigned bits = hashed(place, seed);
  switch (data) {
    case Data::zeros: return 0;
    case Data::floats: return __float_as_uint(0.25f + static_cast<float>(bits >> 8) * 0x1p-24f);
    // From 0.25 on: of f16 the exponents 13 and 14, of bf16 125 and 126, all significands.
    case Data::halves: return (bits & 0x07ff07ffu) + 0x34003400u;
    case Data::brains: return (bits & 0x80ff80ffu) + 0x3e803e80u;
    case Data::rising: return place;
    default: return bits;
  }
}

__global__ void fill_words(unsigned* out, unsigned long long count, Data data, unsigned seed) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x; i < count; i += step) {
    out[i] = word_of(data, static_cast<unsigned>(i), seed);
  }
}

// Device memory of `count` words of 32 bits that hold `data`. It lives as long as the process does.
inline void* filled(unsigned long long count, Data data, unsigned seed) {
  void* words = nullptr;
  CHECKED(cudaMalloc(&words, count * 4));
  fill_words<<<1024, 256>>>(static_cast<unsigned*>(words), count, data, seed);
  CHECKED(cudaGetLastError());
  CHECKED(cudaDeviceSynchronize());
  return words;
}
