#!/bin/sh
# Runs the study of this directory again, and compares every point bit for bit.
set -eu
cd "$(dirname "$0")"
if ! command -v warpwatt > /dev/null; then
    echo "warpwatt is not installed: cargo install --locked warpwatt@@version@" >&2
    exit 2
fi
if command -v sha256sum > /dev/null; then
    sha256sum --check --quiet SHA256SUMS
fi
exec warpwatt reproduce results/manifest.json --from . "$@"
