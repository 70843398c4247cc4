#!/bin/sh
# Regenerates the PTX of the kernels that are measured beside silicon. It is kept in the repository: nobody needs a CUDA compiler to use it. Multiply-adds are fused as
# NVIDIA's compilers do by default.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
for source in *.cu; do
  case "$source" in power.cu) target="sm_80 --cuda-feature=+ptx70" ;; *) target="sm_70 --cuda-feature=+ptx60" ;; esac # products of matrices by a warp came with Ampere
  "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=$target -O3 -ffp-contract=fast -std=c++17 -Wall -Wextra -Werror -Wno-sign-compare \
    -Wno-unknown-cuda-version -fno-ident -S "$source" -o "${source%.cu}.ptx"
done
