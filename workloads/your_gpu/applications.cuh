// Kernels of the suite on inputs large enough to fill a GPU. They are kept out of fits and check them.
#pragma once

#include "benchmark.cuh"
#include "device.cuh"

#include "../kernels/black_scholes/kernel.cu"
#include "../kernels/histogram/kernel.cu"
#include "../kernels/kmeans_assign/kernel.cu"
#include "../kernels/mandelbrot/kernel.cu"
#include "../kernels/matmul_tiled/kernel.cu"
#include "../kernels/pathfinder/kernel.cu"
#include "../kernels/reduction/kernel.cu"
#include "../kernels/spmv_csr/kernel.cu"
#include "../kernels/stencil5/kernel.cu"
#include "../kernels/transpose_naive/kernel.cu"
#include "../kernels/vector_add/kernel.cu"

template <typename T>
T* some(unsigned long long count, Data data, unsigned seed) {
  return static_cast<T*>(filled(count, data, seed));
}

// One launch of a kernel with its arguments, and the bytes that it must read and write at least.
template <typename... Parameters, typename... Arguments>
Launch application(void (*kernel)(Parameters...), dim3 grid, dim3 block, double bytes, Arguments... arguments) {
  Launch launch;
  launch.has_loop = false;
  launch.grid = grid.x * grid.y * grid.z;
  launch.block = block.x * block.y * block.z;
  launch.bytes = bytes;
  launch.start = [=](unsigned) { kernel<<<grid, block>>>(arguments...); };
  return launch;
}

inline Launch prepare_vector_add(const cudaDeviceProp&) {
  const int n = 1 << 26;
  return application(vector_add, n / 256, 256, 12.0 * n, some<float>(n, Data::floats, 1), some<float>(n, Data::floats, 2),
                     some<float>(n, Data::zeros, 0), n);
}

inline Launch prepare_matmul_tiled(const cudaDeviceProp&) {
  const int n = 4096;
  return application(matmul_tiled, dim3(n / 16, n / 16), dim3(16, 16), 12.0 * n * n, some<float>(n * n, Data::floats, 1),
                     some<float>(n * n, Data::floats, 2), some<float>(n * n, Data::zeros, 0), n);
}

inline Launch prepare_stencil5(const cudaDeviceProp&) {
  const int n = 8192;
  return application(stencil5, dim3(n / 16, n / 16), dim3(16, 16), 12.0 * n * n, some<float>(n * n, Data::floats, 1),
                     some<float>(n * n, Data::floats, 2), some<float>(n * n, Data::zeros, 0), n, n, 0.1f, 0.05f, 0.01f, 0.5f);
}

inline Launch prepare_black_scholes(const cudaDeviceProp&) {
  const int n = 1 << 24;
  return application(black_scholes, n / 128, 128, 20.0 * n, some<float>(n, Data::floats, 1), some<float>(n, Data::floats, 2),
                     some<float>(n, Data::floats, 3), some<float>(n, Data::zeros, 0), some<float>(n, Data::zeros, 0), 0.02f, 0.3f, n);
}

inline Launch prepare_kmeans_assign(const cudaDeviceProp&) {
  const int n = 1 << 24;
  return application(kmeans_assign, n / 256, 256, 36.0 * n, some<float>(8ull * n, Data::floats, 1), some<float>(128, Data::floats, 2),
                     some<int>(n, Data::zeros, 0), n);
}

inline Launch prepare_transpose_naive(const cudaDeviceProp&) {
  const int n = 8192;
  return application(transpose_naive, dim3(n / 16, n / 16), dim3(16, 16), 8.0 * n * n, some<float>(n * n, Data::floats, 1),
                     some<float>(n * n, Data::zeros, 0), n, n);
}

inline Launch prepare_reduction(const cudaDeviceProp& device) {
  const int n = 1 << 28, blocks = 8 * device.multiProcessorCount;
  return application(reduction, blocks, 256, 4.0 * n, some<int>(n, Data::bits, 1), some<int>(blocks, Data::zeros, 0), n);
}

inline Launch prepare_histogram(const cudaDeviceProp& device) {
  const int n = 1 << 26, blocks = 8 * device.multiProcessorCount;
  return application(histogram, blocks, 256, 4.0 * n, some<unsigned>(n, Data::bits, 1), some<unsigned>(256 * blocks, Data::zeros, 0), n);
}

inline Launch prepare_mandelbrot(const cudaDeviceProp&) {
  const int n = 4096;
  return application(mandelbrot, dim3(n / 16, n / 16), dim3(16, 16), 4.0 * n * n, some<int>(n * n, Data::zeros, 0), n, n, -2.0f, -1.5f,
                     3.0f / n, 256);
}

__global__ void fill_rows(int* row_start, int* column, int rows, int entries) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row > rows) return;
  row_start[row] = row * entries;
  for (int k = 0; k < entries && row < rows; ++k) column[row * entries + k] = hashed(row * entries + k, 7) % rows;
}

inline Launch prepare_spmv_csr(const cudaDeviceProp&) {
  const int rows = 1 << 22, entries = 16;
  int* row_start = some<int>(rows + 1, Data::zeros, 0);
  int* column = some<int>(rows * entries, Data::zeros, 0);
  fill_rows<<<rows / 256 + 1, 256>>>(row_start, column, rows, entries);
  CHECKED(cudaGetLastError());
  return application(spmv_csr, rows / 128, 128, (8.0 * entries + 12.0) * rows, row_start, column,
                     some<float>(rows * entries, Data::floats, 1), some<float>(rows, Data::floats, 2),
                     some<float>(rows, Data::zeros, 0), rows);
}

inline Launch prepare_pathfinder(const cudaDeviceProp&) {
  const int columns = 224 << 14;
  return application(pathfinder, columns / 224, 256, 4.0 * 18 * columns, some<int>(16ull * columns, Data::rising, 1),
                     some<int>(columns, Data::rising, 2), some<int>(columns, Data::zeros, 0), columns);
}

inline std::vector<Benchmark> applications() {
  std::vector<Benchmark> all;
  const auto add = [&all](const char* name, Launch (*prepare)(const cudaDeviceProp&)) {
    all.push_back({name, "check", "application", "", 0, prepare});
  };
  add("black_scholes", prepare_black_scholes);
  add("histogram", prepare_histogram);
  add("kmeans_assign", prepare_kmeans_assign);
  add("mandelbrot", prepare_mandelbrot);
  add("matmul_tiled", prepare_matmul_tiled);
  add("pathfinder", prepare_pathfinder);
  add("reduction", prepare_reduction);
  add("spmv_csr", prepare_spmv_csr);
  add("stencil5", prepare_stencil5);
  add("transpose_naive", prepare_transpose_naive);
  add("vector_add", prepare_vector_add);
  return all;
}
