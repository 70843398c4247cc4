// A function that is not inlined, an array of one's own that lies in scratch.
#include "../common.h"

__attribute__((noinline)) static int mixed(int a, int b, int round) { return a * 31 + (b ^ round) - (a >> 3); }

KERNEL void calls(__global const int *in, __global int *out, int rounds) {
    u32 i = GROUP_ID(x) * 64 + LOCAL_ID(x);
    volatile int own[24];
    for (int k = 0; k < 24; k++)
        own[k] = in[i] + k * 5;
    for (int round = 0; round < rounds; round++) {
        int at = (in[(i + (u32)round) & 127] & 0x7fffffff) % 24;
        own[at] = mixed(own[at], own[(at + 7) % 24], round);
    }
    int sum = 0;
    for (int k = 0; k < 24; k++)
        sum = mixed(sum, own[k], k);
    out[i] = sum;
}
