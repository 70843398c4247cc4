// Single and double precision, selections, a partial last wavefront.
#include "../common.h"

KERNEL void gather_scale(__global const float *a, __global const u32 *at, __global float *out, __global double *wide,
                         float factor, int n) {
    u32 i = GROUP_ID(x) * 100 + LOCAL_ID(x);
    if (i >= (u32)n)
        return;
    float v = a[at[i] % (u32)n];
    float w = v < 0.0f ? v * factor : v + factor;
    out[i] = __builtin_floorf(w) - 0.5f * v;
    wide[i] = (double)v * 3.0 + (double)(int)i;
}
