#!/bin/sh
# Regenerates the PTX of the kernels that are measured beside silicon. It is kept in the repository: nobody needs a CUDA compiler to use it. Multiply-adds are fused as
# NVIDIA's compilers do by default.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
for source in *.cu; do
  "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 --cuda-feature=+ptx60 -O3 -ffp-contract=fast -std=c++17 -Wall -Wextra -Werror -Wno-sign-compare \
    -Wno-unknown-cuda-version -fno-ident -S "$source" -o "${source%.cu}.ptx"
done
