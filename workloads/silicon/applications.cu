// Kernels of Rodinia, Parboil and NVIDIA's samples, written anew from their algorithms, with the shapes, the layouts and the precision of those that were measured.
#include "../kernels/common/device.cuh"

// Heat on a chip. Its factors are divided out in each thread and its literals have double precision, as in Rodinia.
extern "C" __global__ void heat(int steps, const float* power, const float* from, float* to, int columns, int rows, int border_columns, int border_rows,
                                float capacity, float rx, float ry, float rz, float step, float) {
  constexpr int TILE = 16;
  __shared__ float here[TILE][TILE], watts[TILE][TILE], later[TILE][TILE];
  const float ambient = 80.0f;
  const float by_capacity = step / capacity, by_rx = 1 / rx, by_ry = 1 / ry, by_rz = 1 / rz;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int inner = TILE - steps * 2;
  const int first_x = inner * (int)blockIdx.x - border_columns, first_y = inner * (int)blockIdx.y - border_rows;
  const int x = first_x + tx, y = first_y + ty;
  const int cell = columns * y + x;
  if (y >= 0 && y <= rows - 1 && x >= 0 && x <= columns - 1) {
    here[ty][tx] = from[cell];
    watts[ty][tx] = power[cell];
  }
  __syncthreads();
  const int least_x = first_x < 0 ? -first_x : 0, least_y = first_y < 0 ? -first_y : 0;
  const int most_x = first_x + TILE - 1 > columns - 1 ? TILE - 1 - (first_x + TILE - columns) : TILE - 1;
  const int most_y = first_y + TILE - 1 > rows - 1 ? TILE - 1 - (first_y + TILE - rows) : TILE - 1;
  const int north = ty - 1 < least_y ? least_y : ty - 1, south = ty + 1 > most_y ? most_y : ty + 1;
  const int west = tx - 1 < least_x ? least_x : tx - 1, east = tx + 1 > most_x ? most_x : tx + 1;
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= TILE - i - 2 && ty >= i + 1 && ty <= TILE - i - 2 && tx >= least_x && tx <= most_x && ty >= least_y && ty <= most_y) {
      computed = true;
      later[ty][tx] = here[ty][tx] + by_capacity * (watts[ty][tx] + (here[south][tx] + here[north][tx] - 2.0 * here[ty][tx]) * by_ry +
                                                    (here[ty][east] + here[ty][west] - 2.0 * here[ty][tx]) * by_rx + (ambient - here[ty][tx]) * by_rz);
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) here[ty][tx] = later[ty][tx];
    __syncthreads();
  }
  if (computed) to[cell] = later[ty][tx];
}

// A layer of 16 hidden units; rows of weights have 17, the first of which is the bias.
extern "C" __global__ void layer_forward(const float* input, float*, float* weights, float* partial, int, int hidden) {
  __shared__ float node[16], product[16][16];
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int at = (hidden + 1) * 16 * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
  if (tx == 0) node[ty] = input[16 * by + ty + 1];
  __syncthreads();
  product[ty][tx] = weights[at];
  __syncthreads();
  product[ty][tx] = product[ty][tx] * node[ty];
  __syncthreads();
  // Rodinia has powers of two by __powf, in a loop to __log2f(16): NVIDIA's compiler (nvcc 13.5) unrolls it and computes them beforehand.
#pragma unroll
  for (int distance = 2; distance <= 16; distance *= 2) {
    if (ty % distance == 0) product[ty][tx] = product[ty][tx] + product[ty + distance / 2][tx];
    __syncthreads();
  }
  weights[at] = product[ty][tx];
  __syncthreads();
  if (tx == 0) partial[by * hidden + ty] = product[tx][ty];
}

// The step of the weights; rate and momentum are 0.3 in double precision.
extern "C" __global__ void adjust_weights(const float* delta, int hidden, const float* values, int, float* weights, float* before) {
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int at = (hidden + 1) * 16 * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
  const int row = 16 * by + ty + 1, column = tx + 1;
  weights[at] += (0.3 * delta[column] * values[row]) + (0.3 * before[at]);
  before[at] = (0.3 * delta[column] * values[row]) + (0.3 * before[at]);
  __syncthreads();
  if (ty == 0 && by == 0) {
    weights[column] += (0.3 * delta[column]) + (0.3 * before[column]);
    before[column] = (0.3 * delta[column]) + (0.3 * before[column]);
  }
}

// C = alpha A B^T + beta C; 16 x 8 threads take 128 rows of 16 columns, each thread a row; 8 x 16 of B in shared memory.
extern "C" __global__ void matrix_product(const float* a, int lda, const float* b, int ldb, float* c, int ldc, int depth, float alpha, float beta) {
  __shared__ float tile[8][16];
  float sums[16];
#pragma unroll
  for (int n = 0; n < 16; ++n) sums[n] = 0.0f;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int row = blockIdx.x * 128 + thread, column = blockIdx.y * 16 + threadIdx.x;
  for (int k = 0; k < depth; k += 8) {
    tile[threadIdx.y][threadIdx.x] = b[column + (k + threadIdx.y) * ldb];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float one = a[row + (k + j) * lda];
#pragma unroll
      for (int n = 0; n < 16; ++n) sums[n] += one * tile[j][n];
    }
    __syncthreads();
  }
  const int at = ldc * blockIdx.y * 16 + row;
#pragma unroll
  for (int n = 0; n < 16; ++n) c[at + n * ldc] = c[at + n * ldc] * beta + alpha * sums[n];
}

// Walsh-Hadamard: two stages over global memory.
extern "C" __global__ void walsh_pass(float* to, const float* from, int stride) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, count = blockDim.x * gridDim.x * 4;
  to += blockIdx.y * count;
  from += blockIdx.y * count;
  const int low = at & (stride - 1);
  const int i0 = ((at - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
  const float d0 = from[i0], d1 = from[i1], d2 = from[i2], d3 = from[i3];
  const float s0 = d0 + d2, s2 = d0 - d2, s1 = d1 + d3, s3 = d1 - d3;
  to[i0] = s0 + s1;
  to[i1] = s0 - s1;
  to[i2] = s2 + s3;
  to[i3] = s2 - s3;
}

// Walsh-Hadamard: the last `log_count` stages in shared memory, two at a time.
extern "C" __global__ void walsh_block(float* to, const float* from, int log_count) {
  extern __shared__ float part[];
  const int count = 1 << log_count, t = threadIdx.x;
  to += blockIdx.x << log_count;
  from += blockIdx.x << log_count;
  for (int i = t; i < count; i += blockDim.x) part[i] = from[i];
  int stride = count >> 2;
  for (; stride > 0; stride >>= 2) {
    const int low = t & (stride - 1);
    const int i0 = ((t - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    const float d0 = part[i0], d1 = part[i1], d2 = part[i2], d3 = part[i3];
    const float s0 = d0 + d2, s2 = d0 - d2, s1 = d1 + d3, s3 = d1 - d3;
    part[i0] = s0 + s1;
    part[i1] = s0 - s1;
    part[i2] = s2 + s3;
    part[i3] = s2 - s3;
  }
  if (log_count & 1) {
    __syncthreads();
    for (int i = t; i < count / 2; i += blockDim.x) {
      const int i0 = i << 1, i1 = i0 + 1;
      const float d0 = part[i0], d1 = part[i1];
      part[i0] = d0 + d1;
      part[i1] = d0 - d1;
    }
  }
  __syncthreads();
  for (int i = t; i < count; i += blockDim.x) to[i] = part[i];
}

// Sobol's numbers, a dimension a row of blocks: the first by its Gray code, each later one by the bits in which the codes of two places a stride apart differ.
__device__ __forceinline__ int lowest(unsigned bits) { return bits ? __builtin_ctz(bits) : -1; }

extern "C" __global__ void sobol(unsigned vectors, unsigned, const unsigned* directions, float* out) {
  __shared__ unsigned direction[32];
  directions += 32 * blockIdx.y;
  out += vectors * blockIdx.y;
  if (threadIdx.x < 32) direction[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  const int first = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
  unsigned gray = first ^ (first >> 1), bits = 0;
  for (int k = 0; k < lowest(stride); ++k) {
    bits ^= -(gray & 1) & direction[k];
    gray = gray >> 1;
  }
  if (first < (int)vectors) out[first] = (float)bits * 2.3283064e-10f;
  const unsigned of_stride = direction[lowest(stride) - 1], mask = stride - 1;
  for (unsigned i = first + stride; i < vectors; i += stride) {
    bits ^= of_stride ^ direction[lowest(~((i - stride) | mask))];
    out[i] = (float)bits * 2.3283064e-10f;
  }
}

// Counts of the upper six bits of bytes: 64 counters of a byte for each of 64 threads, laid out so that threads meet different banks.
__device__ __forceinline__ void count_byte(unsigned char* mine, unsigned bits) { mine[bits * 64]++; }

__device__ __forceinline__ void count_word(unsigned char* mine, unsigned word) {
  count_byte(mine, (word >> 2) & 63);
  count_byte(mine, (word >> 10) & 63);
  count_byte(mine, (word >> 18) & 63);
  count_byte(mine, (word >> 26) & 63);
}

extern "C" __global__ void histogram64(unsigned* partial, const int4* data, unsigned count) {
  __shared__ unsigned words[64 * 64 / 4];
  unsigned char* counters = (unsigned char*)words;
  const unsigned t = threadIdx.x;
  unsigned char* mine = counters + ((t & ~63u) | ((t & 15) << 2) | ((t & 48) >> 4));
#pragma unroll
  for (unsigned i = 0; i < 16; ++i) words[t + i * 64] = 0;
  __syncthreads();
  for (unsigned at = blockIdx.x * blockDim.x + t; at < count; at += blockDim.x * gridDim.x) {
    const int4 word = data[at];
    count_word(mine, word.x);
    count_word(mine, word.y);
    count_word(mine, word.z);
    count_word(mine, word.w);
  }
  __syncthreads();
  const unsigned* row = words + t * 16;
  unsigned sum = 0;
  unsigned place = 4 * (t & 3);
#pragma unroll
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned four = row[place];
    sum += (four & 255) + ((four >> 8) & 255) + ((four >> 16) & 255) + (four >> 24);
    place = (place + 1) & 15;
  }
  partial[blockIdx.x * 64 + t] = sum;
}
