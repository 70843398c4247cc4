// The micro-benchmarks as rows: which kernel, on which data, by how many threads, and what an iteration of a thread does.
#pragma once

#include "benchmark.cuh"
#include "device.cuh"
#include "hopper.cuh"

using Kernel = void (*)(const uint4*, uint4*, unsigned, unsigned);

enum class From { table, first_level, second_level, dram, texture };

struct Micro {
  const char *name, *part;
  Kernel kernel;
  Data data;
  int block, blocks_an_sm;  // zero blocks: as many as fit
  double share_of_sms;
  From from;
  const char* operation;
  double operations, bytes;  // of a thread in an iteration
  int needs;
};

// The largest power of two that is not above `value`.
inline unsigned long long power_below(unsigned long long value) {
  unsigned long long power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

inline unsigned long long bytes_of(From from, const cudaDeviceProp& device) {
  switch (from) {
    case From::first_level:
    case From::texture: return 16 << 10;
    case From::second_level: return power_below(device.l2CacheSize / 4);
    case From::dram: {
      size_t left = 0, all = 0;
      CHECKED(cudaMemGetInfo(&left, &all));
      const unsigned long long some = power_below(left / 4), most = 1ull << 30;
      return some < most ? some : most;
    }
    default: return 4 << 20;
  }
}

inline cudaTextureObject_t texture_of(void* words, unsigned long long bytes) {
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = words;
  what.res.linear.desc = cudaCreateChannelDesc<uint4>();
  what.res.linear.sizeInBytes = bytes;
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECKED(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  return texture;
}

inline int resident_blocks(const Micro& row) {
  if (row.blocks_an_sm > 0) return row.blocks_an_sm;
  int blocks = 0;
  CHECKED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, row.kernel, row.block, 0));
  return blocks;
}

inline Launch prepared(const Micro& row, const cudaDeviceProp& device) {
  Launch launch;
  const int sms = static_cast<int>(device.multiProcessorCount * row.share_of_sms + 0.5);
  launch.block = row.block;
  launch.grid = (sms > 0 ? sms : 1) * resident_blocks(row);
  const double threads = static_cast<double>(launch.grid) * launch.block;
  launch.operations = row.operations * threads;
  launch.bytes = row.bytes * threads;
  const unsigned long long bytes = bytes_of(row.from, device);
  const uint4* in = static_cast<const uint4*>(filled(bytes / 4, row.data, 1));
  const unsigned long long results = bytes > threads * 16 ? bytes : static_cast<unsigned long long>(threads) * 16;
  uint4* out = static_cast<uint4*>(filled(results / 4, Data::zeros, 0));
  CHECKED(cudaMemcpyToSymbol(constant_table, in, sizeof(constant_table), 0, cudaMemcpyDeviceToDevice));
  if (row.from == From::texture) {
    in = reinterpret_cast<const uint4*>(texture_of(const_cast<uint4*>(in), bytes));
  }
  const unsigned words = static_cast<unsigned>(bytes / 16);
  const int grid = launch.grid;
  launch.start = [row, in, out, words, grid](unsigned iterations) {
    row.kernel<<<grid, row.block>>>(in, out, words, iterations);
  };
  return launch;
}

inline const std::vector<Micro>& micro_rows() {
  constexpr Data zeros = Data::zeros, bits = Data::bits, floats = Data::floats, halves = Data::halves, brains = Data::brains;
  constexpr From table = From::table, dram = From::dram, l1 = From::first_level, l2 = From::second_level, bound = From::texture;
  // Blocks go to the emptiest SM: with one an SM at most, a share of the SMs stays empty. Where blocks are four of 256, an SM has 32 warps, eight a
  // scheduler, which is enough for the four chains of each to fill a pipeline.
  static const std::vector<Micro> rows = {
      {"sleep", "resident", sleeping, zeros, 256, 4, 1, table, "", 0, 0, 70},
      {"active_1_of_4", "resident", spin, zeros, 256, 1, 0.25, table, "turn", 1, 0, 0},
      {"active_2_of_4", "resident", spin, zeros, 256, 1, 0.5, table, "turn", 1, 0, 0},
      {"active_3_of_4", "resident", spin, zeros, 256, 1, 0.75, table, "turn", 1, 0, 0},
      {"active_4_of_4", "resident", spin, zeros, 256, 1, 1, table, "turn", 1, 0, 0},
      {"spin", "control", spin, zeros, 256, 4, 1, table, "turn", 1, 0, 0},
      {"fma_f32", "fp32", fma_f32, floats, 256, 4, 1, table, "fma.f32", 64, 0, 0},
      {"fma_f32_zeros", "fp32", fma_f32, zeros, 256, 4, 1, table, "fma.f32", 64, 0, 0},
      {"fma_f32_1_of_2", "fp32", fma_f32, floats, 1024, 1, 0.5, table, "fma.f32", 64, 0, 0},
      {"fma_f32_1_warp", "fp32", fma_f32, floats, 32, 1, 1, table, "fma.f32", 64, 0, 0},
      {"fma_f32_4_warps", "fp32", fma_f32, floats, 128, 1, 1, table, "fma.f32", 64, 0, 0},
      {"add_f32", "fp32", add_f32, floats, 256, 4, 1, table, "add.f32", 64, 0, 0},
      {"fma_f16x2", "fp16", fma_f16x2, halves, 256, 4, 1, table, "fma.f16x2", 64, 0, 53},
      {"fma_f64", "fp64", fma_f64, floats, 256, 4, 1, table, "fma.f64", 32, 0, 0},
      {"add_s32", "int", add_s32, bits, 256, 4, 1, table, "add.s32", 64, 0, 0},
      {"mad_s32", "int", mad_s32, bits, 256, 4, 1, table, "mad.s32", 64, 0, 0},
      {"logic_b32", "int", logic_b32, bits, 256, 4, 1, table, "xor.b32 or shift", 96, 0, 0},
      {"sfu_lg2", "sfu", sfu_lg2, floats, 256, 4, 1, table, "lg2.f32", 64, 0, 0},
      {"shuffle", "shuffle", shuffle, bits, 256, 4, 1, table, "shfl.b32", 32, 0, 0},
      // A product of tiles m16n8k16 are 2048 multiply-adds, 64 a lane; one of m64n256k16 are 2048 a thread.
      {"mma_bf16", "tensor", mma_bf16, brains, 256, 4, 1, table, "fma.bf16", 1024, 0, 80},
      {"mma_bf16_zeros", "tensor", mma_bf16, zeros, 256, 4, 1, table, "fma.bf16", 1024, 0, 80},
      {"wgmma_bf16", "tensor", wgmma_bf16, brains, 128, 2, 1, table, "fma.bf16", 8192, 0, 90},
      {"wgmma_bf16_zeros", "tensor", wgmma_bf16, zeros, 128, 2, 1, table, "fma.bf16", 8192, 0, 90},
      {"shared_read", "shared", shared_read, bits, 256, 4, 1, table, "ld.shared.b32", 16, 64, 0},
      {"shared_conflict", "shared", shared_conflict, bits, 256, 4, 1, table, "ld.shared.b32", 16, 64, 0},
      {"shared_write", "shared", shared_write, bits, 256, 4, 1, table, "st.shared.b32", 16, 64, 0},
      {"constant_read", "constant", constant_read, bits, 256, 4, 1, table, "ld.const.b32", 16, 64, 0},
      {"texture_read", "texture", texture_read, bits, 256, 4, 1, bound, "tex.1d.v4", 4, 64, 0},
      {"l1_read", "l1", l1_read, bits, 256, 4, 1, l1, "ld.global.v4", 4, 64, 0},
      {"l2_read", "l2", global_read, bits, 256, 0, 1, l2, "ld.global.v4", 4, 64, 0},
      {"l2_write", "l2", global_write, bits, 256, 0, 1, l2, "st.global.v4", 4, 64, 0},
      {"atomic_add", "l2", atomic_add, bits, 256, 0, 1, l2, "red.add.u32", 4, 16, 0},
      {"dram_read", "dram", global_read, bits, 256, 0, 1, dram, "ld.global.v4", 4, 64, 0},
      {"dram_read_zeros", "dram", global_read, zeros, 256, 0, 1, dram, "ld.global.v4", 4, 64, 0},
      {"dram_write", "dram", global_write, bits, 256, 0, 1, dram, "st.global.v4", 4, 64, 0},
      {"dram_copy", "dram", global_copy, bits, 256, 0, 1, dram, "ld and st.global.v4", 8, 128, 0},
      {"divergent", "control", divergent, floats, 256, 4, 1, table, "fma.f32", 64, 0, 0},
      {"mix_fma_dram", "mix", mix_fma_dram, floats, 256, 0, 1, dram, "fma.f32", 64, 64, 0},
      {"mix_mad_shared", "mix", mix_mad_shared, bits, 256, 4, 1, table, "mad.s32", 32, 64, 0},
      {"mix_all", "mix", mix_all, floats, 256, 4, 1, l2, "fma.f32", 16, 16, 0},
  };
  return rows;
}

inline std::vector<Benchmark> micro_benchmarks() {
  std::vector<Benchmark> all;
  for (const Micro& row : micro_rows()) {
    const auto prepare = [row](const cudaDeviceProp& device) { return prepared(row, device); };
    all.push_back({row.name, "fit", row.part, row.operation, row.needs, prepare});
  }
  return all;
}
