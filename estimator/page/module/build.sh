#!/usr/bin/env bash
# Makes page.wasm.gz, the models for a browser. Needs the target wasm32-unknown-unknown; `FILE.gz` as an argument writes there instead.
# Where it was made must not show: paths in messages of panics are cut.
set -euo pipefail
cd "$(dirname "$0")/../../.."

to="$(realpath -m "${1:-estimator/page/module/page.wasm.gz}")"
target=wasm32-unknown-unknown
cargo="${CARGO_HOME:-$HOME/.cargo}"
export CARGO_TARGET_DIR="$(realpath -m "${CARGO_TARGET_DIR:-target}")/page"
export CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_PANIC=abort
export CARGO_PROFILE_RELEASE_STRIP=true
export RUSTFLAGS="--remap-path-prefix=$CARGO_TARGET_DIR=target --remap-path-prefix=$PWD=. --remap-path-prefix=$cargo=cargo --remap-path-prefix=$(rustc --print sysroot)=rust"
cargo rustc --locked --release --target "$target" -p warpwatt-page --crate-type cdylib
gzip -9 --no-name --stdout "$CARGO_TARGET_DIR/$target/release/warpwatt_page.wasm" > "$to"
if [ $# = 0 ]; then
    rustc --version > "$(dirname "$to")/rustc.txt"
fi
