#!/bin/sh
# Regenerates the PTX of the kernels that stand in for those of cuBLAS. It is kept in the repository: nobody needs a CUDA compiler to use it. Multiply-adds are fused
# as NVIDIA's compilers do by default.
set -eu
cd "$(dirname "$0")"
build() {
  "${CLANG:-clang-19}" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch="$1" --cuda-feature="+$2" -DWITH_BFLOAT="$3" -O3 -ffp-contract=fast -std=c++17 -Wall \
    -Wextra -Werror -Wno-unknown-cuda-version -fno-ident -S "$4.cu" -o "$5.ptx"
}
build sm_52 ptx60 0 kernels kernels
build sm_70 ptx60 0 tensor tensor70 # halves came with Volta
build sm_80 ptx71 1 tensor tensor80 # bfloats with Ampere
