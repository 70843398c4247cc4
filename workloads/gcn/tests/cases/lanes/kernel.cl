// Bytes and halves, 64-bit integers, divergent loops, division, bit fields.
#include "../common.h"

KERNEL void lanes(__global const u8 *bytes, __global const short *halves, __global const u64 *longs, __global u32 *words,
                  __global u64 *out, __global u8 *low) {
    u32 i = GROUP_ID(x) * 64 + LOCAL_ID(x);
    u32 a = bytes[i];
    int b = halves[i];
    u64 c = longs[i];
    u32 steps = 0;
    u32 n = a + 1;
    while (n != 1 && steps < 200) {
        n = (n & 1) ? 3 * n + 1 : n >> 1;
        steps++;
    }
    // All bits: of an unsigned numerator with a sign's bits LLVM 19 computes too few.
    u32 all = (u32)(b + 40000) * 77777u;
    words[2 * i] = steps + all / (a + 3) * 7 + (a << 20 >> 3);
    words[2 * i + 1] = (u32)(b >> 3) ^ __builtin_popcount(a * 0x01010101u);
    out[i] = c * 0x100000001b3ul + (c >> (a & 63)) - (u64)(long)b;
    low[i] = (u8)((a * 37 + (u32)b) >> 2);
}
