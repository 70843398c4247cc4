#!/bin/sh
# Regenerates the PTX of the kernels that are compiled with clang. Their PTX is kept in the repository: nobody needs a CUDA
# compiler to use it. The other kernels' PTX comes from NVIDIA's compilers (see docs/kernels.md) and is left alone.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
for kernel in back_propagation bfs binary_search bitonic_sort convolution coulombic dct8x8 dxt_compress dyn_proc fft \
  heart_wall hotspot kmeans laplace3d libor lu_decomposition matrix_mul mersenne_twister mummer_array mummer_tree \
  n_queens nearest_neighbor needleman_wunsch neural_network ray_trace reduction_tree scalar_product scan scan_large \
  srad walsh; do
  "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 \
    -O3 -ffp-contract=off -std=c++17 -Wall -Wextra -Werror -Wno-unknown-cuda-version \
    -fno-ident -S "$kernel/kernel.cu" -o "$kernel/kernel.ptx"
done

# As compilers of the papers' time made them (`kernel.papers.ptx`, of every kernel): addresses of 32 bits, and loops with a known number of passes unrolled ("by default,
# the compiler unrolls small loops with a known trip count": CUDA Programming Guide 2.3, section on #pragma unroll), others not.
for kernel in */kernel.cu; do
  kernel=${kernel%/kernel.cu}
  sed '/#pragma unroll 1$/d' "$kernel/kernel.cu" | "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -m32 \
    --cuda-feature=+ptx60 -mllvm -unroll-runtime=false -I"$kernel" -O3 -ffp-contract=off -std=c++17 -Wall -Wextra -Werror \
    -Wno-unknown-cuda-version -fno-ident -S - -o "$kernel/kernel.papers.ptx"
done

# For Southern Islands (`kernel.gfx600.o`), of the kernels that have an OpenCL source: `docs/southern-islands.md`.
for kernel in */kernel.cl; do
  kernel=${kernel%/kernel.cl}
  "$clang" -x cl -cl-std=CL2.0 -O2 -nogpulib -ffp-contract=off -target amdgcn-amd-amdhsa -mcpu=gfx600 -Wall -Wextra -Werror \
    -fno-ident -c "$kernel/kernel.cl" -o "$kernel/kernel.gfx600.o"
done
