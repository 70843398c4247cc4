// How launches of streams depend on the size of their blocks, and what a load takes in them.
//   nvcc -std=c++17 -O3 -arch=native -o blocks blocks.cu && ./blocks my-gpu
// writes my-gpu/blocks.csv (microseconds of a launch in a batch of twenty) and my-gpu/loads.csv (cycles of an SM's clock, of the first and the last warp of each block).
#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct Seen { uint32_t sm, start, loaded; };

__device__ uint32_t now() { uint32_t cycles; asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory"); return cycles; }
__device__ uint32_t here() { uint32_t sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); return sm; }
__device__ void note(Seen* seen, uint32_t start, uint32_t loaded) {
  const uint32_t warp = threadIdx.x / 32, last = blockDim.x / 32 - 1;
  if (threadIdx.x % 32 == 0 && (warp == 0 || warp == last)) seen[2 * blockIdx.x + (warp != 0)] = {here(), start, loaded};
}
#define PLACE const long i = (long)blockIdx.x * blockDim.x + threadIdx.x

// What is read must be used; the comparison never holds.
__global__ void empty(double*, const double*, Seen* seen) { const uint32_t start = now(); note(seen, start, start); }
__global__ void read_noted(double* a, const double* b, Seen* seen) {
  const uint32_t start = now(); PLACE; const double value = b[i];
  if (value == 123.456) *a = value;
  note(seen, start, now());
}
__global__ void scale_noted(double* a, const double* b, Seen* seen) {
  const uint32_t start = now(); PLACE; const double value = b[i] * 1.2;
  if (value == 123.456) *seen = {};
  const uint32_t loaded = now(); a[i] = value; note(seen, start, loaded);
}
__global__ void read(double* a, const double* b, Seen*) { PLACE; const double value = b[i]; if (value == 123.456) *a = value; }
__global__ void scale(double* a, const double* b, Seen*) { PLACE; a[i] = b[i] * 1.2; }

using Kernel = void (*)(double*, const double*, Seen*);

// A row of loads.csv: how long an SM has for a block, and percentiles of what a load takes.
static void loads(FILE* file, const char* name, int block, const std::vector<Seen>& seen) {
  std::vector<uint32_t> took;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> span;
  std::map<uint32_t, int> warps;
  for (const Seen& it : seen) {
    took.push_back(it.loaded - it.start);
    auto [at, fresh] = span.emplace(it.sm, std::pair(it.start, it.loaded));
    at->second = {std::min(at->second.first, it.start), std::max(at->second.second, it.loaded)};
    ++warps[it.sm];
  }
  double each = 0, mean = 0;
  for (const auto& [sm, from] : span) each += 2.0 * (from.second - from.first) / warps[sm] / span.size();
  for (uint32_t cycles : took) mean += double(cycles) / took.size();
  std::sort(took.begin(), took.end());
  auto at = [&](double share) { return took[size_t(share * (took.size() - 1))]; };
  fprintf(file, "%s,%d,%zu,%.0f,%u,%u,%u,%u,%.0f\n", name, block, seen.size() / 2, each, at(.1), at(.5), at(.9), at(.99), mean);
}

int main(int count, char** words) {
  if (count != 2) return fprintf(stderr, "usage: blocks FOLDER\n"), 2;
  const std::string folder = words[1];
  FILE *times = fopen((folder + "/blocks.csv").c_str(), "w"), *latencies = fopen((folder + "/loads.csv").c_str(), "w");
  if (!times || !latencies) return fprintf(stderr, "cannot write to %s\n", words[1]), 2;
  const long most = 1L << 24;
  double *a, *b;
  Seen* seen;
  cudaMalloc(&a, most * 8), cudaMalloc(&b, most * 8), cudaMalloc(&seen, most / 128 * 2 * sizeof(Seen));
  cudaMemset(a, 0, most * 8), cudaMemset(b, 0, most * 8);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  fputs("kernel,block,elements,blocks,resident_blocks,us\n", times);
  fputs("kernel,block,blocks,cycles_a_block_and_sm,cycles_p10,cycles_p50,cycles_p90,cycles_p99,cycles_mean\n", latencies);
  const std::pair<const char*, Kernel> kernels[] = {{"empty", empty}, {"read_noted", read_noted}, {"scale_noted", scale_noted}, {"read", read}, {"scale", scale}};
  for (auto [name, kernel] : kernels)
    for (int block : {1024, 512, 256, 128})
      for (long elements : {most / 4, most}) {
        const int grid = elements / block;
        for (int warm = 0; warm < 5; ++warm) kernel<<<grid, block>>>(a, b, seen);
        cudaEventRecord(begin);
        for (int turn = 0; turn < 20; ++turn) kernel<<<grid, block>>>(a, b, seen);
        cudaEventRecord(end), cudaEventSynchronize(end);
        float ms = 0;
        int resident = 0;
        cudaEventElapsedTime(&ms, begin, end), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, 0);
        fprintf(times, "%s,%d,%ld,%d,%d,%.3f\n", name, block, elements, grid, resident, ms * 1000 / 20);
        if (kernel == read || kernel == scale || elements != most) continue;
        std::vector<Seen> noted(2 * grid);
        cudaMemcpy(noted.data(), seen, noted.size() * sizeof(Seen), cudaMemcpyDeviceToHost);
        loads(latencies, name, block, noted);
      }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
