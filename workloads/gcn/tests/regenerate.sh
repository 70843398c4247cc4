#!/usr/bin/env bash
# Makes encodings.txt: words and text of every instruction, by LLVM's assembler, which refuses some of the candidates. Needs llvm-mc-19.
set -euo pipefail
cd "$(dirname "$0")"

cargo run --quiet --example candidates >candidates.s
llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx600 -show-encoding candidates.s 2>/dev/null >assembled.txt || true
python3 -c '
import collections, re, sys
seen = collections.Counter()
for line in sys.stdin:
    found = re.match(r"\s*(.*?)\s*; encoding: \[(.*)\]", line)
    if not found or "A" in found[2]:
        continue
    seen[found[1].split()[0]] += 1
    if seen[found[1].split()[0]] > 2:
        continue
    data = [int(byte, 16) for byte in found[2].split(",")]
    words = [int.from_bytes(bytes(data[at:at + 4]), "little") for at in range(0, len(data), 4)]
    print(" ".join(f"{word:08x}" for word in words) + "  " + found[1].replace("\t", " "))
' <assembled.txt >encodings.txt
rm candidates.s assembled.txt
