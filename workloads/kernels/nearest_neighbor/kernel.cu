// Distances of records from a target. A record is text of 32 characters, of which five digits at 12 are a latitude and
// five at 20 a longitude, both in hundredths of a degree; a thread reads one record.
#include "../common/device.cuh"

constexpr int RECORD = 32, LATITUDE = 12, LONGITUDE = 20, DIGITS = 5;

__device__ __forceinline__ float degrees(const unsigned char* text) {
  int number = 0;
#pragma unroll
  for (int k = 0; k < DIGITS; ++k) number = number * 10 + (text[k] - '0');
  return (float)number * 0.01f;
}

extern "C" __global__ void nearest_neighbor(const unsigned char* records, float* distance, int first, int count,
                                            float latitude, float longitude) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned char* record = records + (first + i) * RECORD;
  const float north = degrees(record + LATITUDE) - latitude;
  const float east = degrees(record + LONGITUDE) - longitude;
  distance[first + i] = sqrtf(fmaf(north, north, east * east));
}
